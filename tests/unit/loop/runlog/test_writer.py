"""The writer of a run: events together, in an epoch of its own, and none once the run is another host's."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, EventTooLarge, RunConflict
from taoloop.loop.runlog.writer import RunWriter
from taoloop.loop.state import RunState
from taoloop.plan.acting import ActionStatus
from taoloop.plan.running import (
    ActionReturned,
    LimitReached,
    RunEvent,
    RunFinished,
    RunResumed,
    RunStarted,
    RunSummary,
)
from taoloop.plan.task import Outcome
from taoloop.testing.run_log import InMemoryRunLog
from taoloop.testing.services import ScriptedAction, ScriptedThought
from tests.unit.loop.driving import Run, ended, plan, step

CLOCK = SystemClock()
RUN_ID = "1" * 32


def writer(log: InMemoryRunLog, state: RunState | None = None) -> RunWriter:
    return RunWriter(log, "acme", state or RunState(RUN_ID), CLOCK, timeout_seconds=1.0)


async def events_in(log: InMemoryRunLog) -> tuple[RunEvent, ...]:
    return await log.read("acme", RUN_ID, 1, Deadline.after(1.0, CLOCK))


async def test_events_that_are_emitted_together_are_one_append_at_one_time() -> None:
    appends: list[Sequence[RunEvent]] = []

    class Listening(InMemoryRunLog):
        async def append(self, tenant: str, events: Sequence[RunEvent], deadline: Deadline) -> None:
            appends.append(events)
            await super().append(tenant, events, deadline)

    log = Listening()
    here = writer(log)
    heard = here.listen()
    await here.emit(RunStarted(), LimitReached(limit="x"), RunFinished(outcome=Outcome.LIMIT_REACHED))

    assert [len(append) for append in appends] == [3]
    assert len({event.time for event in appends[0]}) == 1
    assert [heard.get_nowait() for _ in range(3)] == list(appends[0])
    assert here.state.last_sequence == 3


async def test_who_opens_a_run_writes_in_the_next_epoch() -> None:
    log = InMemoryRunLog()
    first = writer(log)
    await first.emit(RunStarted())
    second = writer(log, RunState.from_events(RUN_ID, await events_in(log)))
    await second.emit(RunResumed(reason="take_over"))

    with pytest.raises(RunConflict):
        await first.emit(LimitReached(limit="x"))
    assert [event.host_epoch for event in await events_in(log)] == [1, 2]
    assert first.state.last_sequence == 1, "what was refused did not happen"


async def test_a_sealed_writer_writes_nothing() -> None:
    log = InMemoryRunLog()
    here = writer(log)
    await here.emit(RunStarted())
    here.seal()

    with pytest.raises(RunConflict):
        await here.emit(RunFinished(outcome=Outcome.CANCELLED))
    assert len(await events_in(log)) == 1


async def test_a_list_that_is_away_does_not_undo_an_end_and_is_remembered() -> None:
    class ListAway(InMemoryRunLog):
        async def note(self, tenant: str, summary: RunSummary, deadline: Deadline) -> None:
            raise BackendUnavailable("away")

    log = ListAway()
    here = writer(log)
    await here.emit(RunStarted(), RunFinished(outcome=Outcome.ANSWERED))

    assert not here.is_noted
    assert here.state.is_at_rest


class TightLog(InMemoryRunLog):
    """A log that takes no result of an action that went well."""

    async def append(self, tenant: str, events: Sequence[RunEvent], deadline: Deadline) -> None:
        for event in events:
            result = event.body.result if isinstance(event.body, ActionReturned) else None
            if result is not None and result.status is ActionStatus.SUCCEEDED:
                raise EventTooLarge.of_event(event.run_id, event.sequence, 5000, 4096)
        await super().append(tenant, events, deadline)


async def test_an_event_that_is_too_large_ends_the_run_at_that_limit() -> None:
    run = Run(ScriptedThought(plan(step("1.t1", "find"))), ScriptedAction({"find": {"n": 1}}))
    run.log = TightLog()
    run.writer = RunWriter(run.log, "acme", RunState(RUN_ID), run.clock, timeout_seconds=1.0)
    state = await run.drive()

    assert ended(state) == (Outcome.LIMIT_REACHED, "LIMIT_REACHED")
    assert state.finished is not None
    assert state.finished.fault is not None
    assert state.finished.fault.field == "max_event_bytes"
    limits = [body for body in await run.bodies() if isinstance(body, LimitReached)]
    assert [(limit.limit, limit.value) for limit in limits] == [("max_event_bytes", 4096.0)]
