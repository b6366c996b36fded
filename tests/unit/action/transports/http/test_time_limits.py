"""Rules of time limits: as `asyncio.timeout` has them, with one timer for all."""

import asyncio

import pytest

from taoloop.action.transports.http.time_limits import NEVER, TimeLimits


async def waited(limits: TimeLimits, seconds: float) -> None:
    with limits.within(seconds):
        await asyncio.Event().wait()


async def test_what_takes_too_long_is_cancelled_and_raises() -> None:
    limits = TimeLimits()
    with pytest.raises(TimeoutError):
        await waited(limits, 0.01)
    assert repr(limits) == "<TimeLimits 0 open>"
    task = asyncio.current_task()
    assert task is not None
    assert task.cancelling() == 0


async def test_each_ends_at_its_own_time_whatever_the_order_in_which_they_began() -> None:
    limits, ended = TimeLimits(), list[float]()

    async def one(seconds: float) -> None:
        with pytest.raises(TimeoutError):
            await waited(limits, seconds)
        ended.append(seconds)

    async with asyncio.timeout(5.0), asyncio.TaskGroup() as group:
        for seconds in (0.03, 0.01, 0.05, 0.02):
            group.create_task(one(seconds))
    assert ended == [0.01, 0.02, 0.03, 0.05]


async def test_a_limit_that_has_passed_already_still_lets_the_block_begin() -> None:
    began = False
    with pytest.raises(TimeoutError), TimeLimits().within(-1.0):  # noqa: PT012 - what happens inside is the rule
        began = True
        await asyncio.Event().wait()
    assert began


async def test_what_ends_in_time_is_left_alone_and_needs_no_timer_of_its_own() -> None:
    limits = TimeLimits()
    with limits.within(10.0):
        first = limits.rings_at
    with limits.within(20.0):
        assert limits.rings_at == first
    with limits.within(5.0):
        assert limits.rings_at < first
    limits.close()
    assert limits.rings_at == float("inf")


async def test_somebody_elses_cancellation_stays_one() -> None:
    limits = TimeLimits()
    task = asyncio.ensure_future(waited(limits, 10.0))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert repr(limits) == "<TimeLimits 0 open>"
    limits.close()


async def test_an_error_of_the_block_is_what_is_raised() -> None:
    limits = TimeLimits()
    with pytest.raises(KeyError), limits.within(10.0):
        raise KeyError
    limits.close()


async def test_what_is_watched_hears_once_when_its_time_is_over() -> None:
    class Watched:
        def __init__(self, ends_at: float) -> None:
            self.ends_at = ends_at
            self.heard: list[float] = []

        def pass_by(self) -> None:
            self.heard.append(self.ends_at)

    limits, now = TimeLimits(), asyncio.get_running_loop().time()
    soon, never, taken_out = Watched(now + 0.01), Watched(NEVER), Watched(now + 0.005)
    for each in (never, soon, taken_out):
        limits.watch(each)
    limits.open.discard(taken_out)
    async with asyncio.timeout(5.0):
        while not soon.heard:  # noqa: ASYNC110 - nothing else tells
            await asyncio.sleep(0)
    assert (soon.heard, never.heard, taken_out.heard) == ([soon.ends_at], [], [])
    assert limits.open == {never}
    assert limits.rings_at == NEVER
    limits.close()
