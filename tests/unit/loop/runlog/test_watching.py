"""Following a run: to its next rest, or through its rests to its end."""

from __future__ import annotations

import asyncio

import pytest

from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import DeadlineExceeded, UnknownRun
from taoloop.loop.runlog.watching import watch
from taoloop.plan.running import ApprovalExpiring, EventBody, RunEvent, RunFinished, RunResumed, RunStarted
from taoloop.plan.task import Outcome
from taoloop.testing.run_log import InMemoryRunLog

CLOCK = SystemClock()
RUN_ID = "1" * 32
STARTED = RunStarted()
RESTS = RunFinished(outcome=Outcome.NEEDS_APPROVAL)
WARNED = ApprovalExpiring(approval_id="a")
RESUMED = RunResumed(reason="approval")
ENDED = RunFinished(outcome=Outcome.ANSWERED)


async def written(log: InMemoryRunLog, first: int, *bodies: EventBody) -> None:
    events = [
        RunEvent(run_id=RUN_ID, sequence=first + offset, time=CLOCK.now(), host_epoch=1, body=body)
        for offset, body in enumerate(bodies)
    ]
    await log.append("acme", events, Deadline.after(1.0, CLOCK))


async def seen(
    log: InMemoryRunLog, from_sequence: int = 1, *, through_waits: bool = False, seconds: float = 5.0
) -> list[EventBody | None]:
    call = CallContext(deadline=Deadline.after(seconds, CLOCK), tenant="acme")
    return [event.body async for event in watch(log, RUN_ID, from_sequence, call, through_waits=through_waits)]


async def log_of(*bodies: EventBody) -> InMemoryRunLog:
    log = InMemoryRunLog()
    await written(log, 1, *bodies)
    return log


async def test_a_rest_ends_the_events_and_a_warning_does_not_open_them_again() -> None:
    assert await seen(await log_of(STARTED, RESTS)) == [STARTED, RESTS]
    assert await seen(await log_of(STARTED, RESTS, WARNED)) == [STARTED, RESTS, WARNED]
    assert await seen(await log_of(STARTED, RESTS, WARNED), 4) == []


async def test_what_comes_is_followed_to_the_next_rest() -> None:
    log = await log_of(STARTED, RESTS, WARNED, RESUMED)
    following = asyncio.ensure_future(seen(log))
    await asyncio.sleep(0)
    await written(log, 5, RESTS, WARNED)

    assert await following == [STARTED, RESTS, WARNED, RESUMED, RESTS]


async def test_who_follows_through_waits_sees_all_to_the_end() -> None:
    log = await log_of(STARTED, RESTS)
    following = asyncio.ensure_future(seen(log, through_waits=True))
    later: tuple[EventBody, ...] = (WARNED, RESUMED, RESTS, RESUMED, ENDED)
    for first, body in enumerate(later, 3):
        await asyncio.sleep(0)
        await written(log, first, body)

    assert await following == [STARTED, RESTS, WARNED, RESUMED, RESTS, RESUMED, ENDED]


async def test_an_end_ends_both_ways() -> None:
    log = await log_of(STARTED, ENDED)

    assert await seen(log) == await seen(log, through_waits=True) == [STARTED, ENDED]


async def test_a_number_beyond_the_end_is_waited_for_while_the_run_goes_on() -> None:
    log = await log_of(STARTED)
    following = asyncio.ensure_future(seen(log, 4))
    await asyncio.sleep(0)
    await written(log, 2, WARNED, ENDED)

    assert await following == []  # the run ended before it


async def test_a_deadline_that_passes_is_told() -> None:
    with pytest.raises(DeadlineExceeded):
        await seen(await log_of(STARTED), seconds=0.02)
    with pytest.raises(DeadlineExceeded):
        await seen(await log_of(STARTED, RESTS), through_waits=True, seconds=0.02)
    with pytest.raises(UnknownRun):
        await seen(InMemoryRunLog())
