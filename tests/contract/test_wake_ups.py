"""One suite for every store of wake-ups: what brings a resting run back to a host's mind."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from datetime import timedelta

import pytest
from pydantic import SecretStr

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable
from taoloop.core.settings import RedisSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.loop.people.redis_wake_ups import RedisWakeUps
from taoloop.loop.people.wake_ups import WakeUps
from taoloop.loop.ports import RunKey
from taoloop.testing.loop_stores.wake_ups import InMemoryWakeUps
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.wire.redis.redis_link import redis_link

CLOCK = SystemClock()
ONE, OTHER = RunKey("acme", "1" * 32), RunKey("ten:ant", "2" * 32)
PAST, FUTURE = timedelta(seconds=-10), timedelta(hours=1)

Opener = Callable[[float], WakeUps]


def soon() -> Deadline:
    return Deadline.after(5.0, CLOCK)


@pytest.fixture(params=["memory", "redis"])
async def opened(request: pytest.FixtureRequest, valkey: EmbeddedValkey) -> AsyncIterator[Opener]:
    """Give what opens a store whose claims last for so many seconds."""
    if request.param == "memory":
        yield lambda claim_seconds: InMemoryWakeUps(CLOCK, claim_seconds)
        return
    prefix = f"test-{uuid.uuid4().hex[:8]}"
    async with redis_link(
        RedisSettings(url=SecretStr(valkey.url)), Telemetry.build(TelemetrySettings(), "test")
    ) as link:
        yield lambda claim_seconds: RedisWakeUps(link, prefix, claim_seconds)


@pytest.fixture
def wake_ups(opened: Opener) -> WakeUps:
    return opened(30.0)


async def test_a_run_comes_up_when_its_moment_has_come_and_not_before(wake_ups: WakeUps) -> None:
    await wake_ups.set(ONE, CLOCK.now() + PAST, soon())
    await wake_ups.set(OTHER, CLOCK.now() + FUTURE, soon())

    assert [each.run for each in await wake_ups.claim(10, soon())] == [ONE]


async def test_a_claimed_run_is_hidden_from_other_hosts(wake_ups: WakeUps) -> None:
    await wake_ups.set(ONE, CLOCK.now() + PAST, soon())
    await wake_ups.claim(10, soon())

    assert await wake_ups.claim(10, soon()) == ()


async def test_a_run_whose_host_died_comes_up_again(opened: Opener) -> None:
    wake_ups = opened(0.02)
    await wake_ups.set(ONE, CLOCK.now() + PAST, soon())
    await wake_ups.claim(10, soon())

    async with asyncio.timeout(5.0):
        while not (again := await wake_ups.claim(10, soon())):  # noqa: ASYNC110 - the time is the server's
            await asyncio.sleep(0.005)
    assert [each.run for each in again] == [ONE]


async def test_the_longest_due_come_first_and_no_more_than_wanted(wake_ups: WakeUps) -> None:
    await wake_ups.set(ONE, CLOCK.now() + PAST, soon())
    await wake_ups.set(OTHER, CLOCK.now() + 2 * PAST, soon())

    assert [each.run for each in await wake_ups.claim(1, soon())] == [OTHER]
    assert [each.run for each in await wake_ups.claim(1, soon())] == [ONE]


async def test_a_settled_run_comes_up_no_more(opened: Opener) -> None:
    wake_ups = opened(0.001)
    await wake_ups.set(ONE, CLOCK.now() + PAST, soon())
    (claimed,) = await wake_ups.claim(10, soon())
    await wake_ups.settle(claimed, None, soon())

    await asyncio.sleep(0.005)
    assert await wake_ups.claim(10, soon()) == ()


async def test_a_settled_run_comes_up_at_its_next_moment(wake_ups: WakeUps) -> None:
    await wake_ups.set(ONE, CLOCK.now() + PAST, soon())
    (claimed,) = await wake_ups.claim(10, soon())
    await wake_ups.settle(claimed, CLOCK.now() + PAST, soon())

    assert [each.run for each in await wake_ups.claim(10, soon())] == [ONE]


@pytest.mark.parametrize("again_at", [None, FUTURE])
async def test_a_moment_that_was_set_since_the_claim_stands(wake_ups: WakeUps, again_at: timedelta | None) -> None:
    await wake_ups.set(ONE, CLOCK.now() + PAST, soon())
    (claimed,) = await wake_ups.claim(10, soon())
    await wake_ups.set(ONE, CLOCK.now() + PAST, soon())
    await wake_ups.settle(claimed, None if again_at is None else CLOCK.now() + again_at, soon())

    assert [each.run for each in await wake_ups.claim(10, soon())] == [ONE]


async def test_the_last_moment_set_counts(wake_ups: WakeUps) -> None:
    await wake_ups.set(ONE, CLOCK.now() + PAST, soon())
    await wake_ups.set(ONE, CLOCK.now() + FUTURE, soon())

    assert await wake_ups.claim(10, soon()) == ()


async def test_a_store_that_is_away_says_so() -> None:
    wake_ups = InMemoryWakeUps(CLOCK)
    wake_ups.is_down = True
    with pytest.raises(BackendUnavailable):
        await wake_ups.set(ONE, CLOCK.now(), soon())
