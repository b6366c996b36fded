"""Rules of the fake clock."""

import asyncio
from datetime import datetime, timedelta

import pytest

from taoloop.testing.clock import DEFAULT_START, FakeClock


def test_time_stands_still_until_it_is_advanced() -> None:
    clock = FakeClock()
    assert (clock.now(), clock.monotonic()) == (DEFAULT_START, 0.0)
    clock.advance(90)
    assert (clock.now(), clock.monotonic()) == (DEFAULT_START + timedelta(seconds=90), 90.0)


async def test_sleepers_wake_in_the_order_of_their_times() -> None:
    clock = FakeClock()
    woken: list[str] = []

    async def nap(name: str, seconds: float) -> None:
        await clock.sleep(seconds)
        woken.append(name)

    async with asyncio.TaskGroup() as group:
        group.create_task(nap("late", 2))
        group.create_task(nap("early", 1))
        await asyncio.sleep(0)
        assert clock.sleepers == 2
        clock.advance(1)
        await asyncio.sleep(0)
        assert woken == ["early"]
        clock.advance(1)
    assert woken == ["early", "late"]
    assert clock.sleepers == 0


async def test_an_impatient_clock_sleeps_without_waiting() -> None:
    clock = FakeClock(is_impatient=True)
    await clock.sleep(3600)
    assert clock.monotonic() == 3600


def test_a_naive_start_and_a_step_back_are_refused() -> None:
    with pytest.raises(ValueError, match="aware"):
        FakeClock(datetime(2026, 1, 1))  # noqa: DTZ001 - the fault under test
    with pytest.raises(ValueError, match="never goes back"):
        FakeClock().advance(-1)
