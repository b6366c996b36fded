"""Rules of deadlines."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import pytest

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline, in_time

START = datetime(2026, 3, 1, tzinfo=UTC)

T = TypeVar("T")


class _ManualClock(SystemClock):
    def __init__(self) -> None:
        self.seconds = 100.0

    def monotonic(self) -> float:
        return self.seconds

    def now(self) -> datetime:
        return START + timedelta(seconds=self.seconds - 100.0)


def test_a_deadline_shrinks_and_never_goes_below_zero() -> None:
    clock = _ManualClock()
    deadline = Deadline.after(5.0, clock)
    clock.seconds += 3
    assert deadline.remaining_seconds() == 2.0
    expiries = [deadline.is_expired]
    clock.seconds += 2
    expiries.append(deadline.is_expired)
    assert expiries == [False, True]
    clock.seconds += 10
    assert deadline.remaining_seconds() == 0.0


def test_a_step_gets_the_smaller_of_its_limit_and_what_is_left() -> None:
    deadline = Deadline.at(103.0, _ManualClock())
    assert deadline.bounded(1.0) == 1.0
    assert deadline.bounded(9.0) == 3.0
    assert deadline.bounded(-1.0) == 0.0


def test_a_shortened_deadline_is_never_later() -> None:
    deadline = Deadline.after(3.0, _ManualClock())
    assert deadline.shortened(1.0).remaining_seconds() == 1.0
    assert deadline.shortened(9.0).remaining_seconds() == 3.0


def test_a_deadline_travels_as_a_moment() -> None:
    here, there = _ManualClock(), _ManualClock()
    there.seconds += 1
    moment = Deadline.after(5.0, here).moment()
    assert moment == START + timedelta(seconds=5)
    assert Deadline.until(moment, there).remaining_seconds() == pytest.approx(4.0)


class _Late(Exception):
    pass


def _bounded(seconds: float, work: Callable[[], Awaitable[T]]) -> Awaitable[T]:
    async def run() -> T:
        return await work()

    return in_time(Deadline.after(seconds, SystemClock()), run(), _Late)


async def test_work_that_does_not_wait_is_done_whatever_the_time() -> None:
    async def work() -> str:
        return "done"

    assert await _bounded(-1.0, work) == "done"


@pytest.mark.parametrize("waits", [0, 1, 3])
async def test_what_work_in_time_returns_or_raises_comes_out(waits: int) -> None:
    async def work() -> int:
        for _ in range(waits):
            await asyncio.sleep(0)
        return waits

    async def failing() -> int:
        raise KeyError(await work())

    async with asyncio.timeout(5):
        assert await _bounded(30.0, work) == waits
        with pytest.raises(KeyError, match=str(waits)):
            await _bounded(30.0, failing)


async def test_work_that_waits_past_its_deadline_is_cancelled() -> None:
    ended = []

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await asyncio.sleep(0)  # to clean up may take a wait, too
            ended.append("cancelled")
            raise

    async with asyncio.timeout(5):
        with pytest.raises(_Late):
            await _bounded(0.0, work)
    assert ended == ["cancelled"]


async def test_a_timeout_of_the_work_itself_is_not_the_deadlines() -> None:
    async def work() -> None:
        await asyncio.sleep(0)
        raise TimeoutError

    with pytest.raises(TimeoutError):
        await _bounded(30.0, work)


async def test_work_inside_its_time_is_cancelled_by_whoever_cancels_its_task() -> None:
    begun, ended = asyncio.Event(), []

    async def work() -> str:
        begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
        return "outlived"

    async with asyncio.timeout(5), asyncio.TaskGroup() as group:

        async def bounded() -> str:
            return await _bounded(30.0, work)

        task = group.create_task(bounded(), name="bounded")
        await begun.wait()
        task.cancel()
    assert ended == ["cancelled"]
    assert task.result() == "outlived"
