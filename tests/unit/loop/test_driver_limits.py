"""Every limit of a run has its event, ends the run with its name, and moves its counter."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from taoloop.core.deadlines import Deadline
from taoloop.core.errors import EventTooLarge
from taoloop.core.exact_json import JsonValue
from taoloop.core.faults import FaultCode
from taoloop.core.telemetry import names
from taoloop.loop.runlog.writer import RunWriter
from taoloop.loop.state import RunState
from taoloop.plan.acting import ActionResult, ActionStatus, Body, ExecuteRequest, ServedBy, ToolSummary
from taoloop.plan.model import Binding, QuerySpan
from taoloop.plan.running import (
    ActionReturned,
    EventBody,
    HandoverDecision,
    HandoverOutcome,
    HandoverRequired,
    LimitReached,
    RunEvent,
    RunResumed,
    RunStarted,
)
from taoloop.plan.task import Limits, Outcome, Usage
from taoloop.testing.run_log import InMemoryRunLog
from taoloop.testing.services import ListedTools, ScriptedAction, ScriptedThought
from taoloop.tools.signature import Effect
from tests.unit.loop.driving import LIMITS, RUN_ID, TEXT, Run, ended, plan, step
from tests.unit.loop.test_runs import TASK, events_of, host, outcome_of

LARGE = ActionResult(
    step_id="",
    tool="",
    status=ActionStatus.SUCCEEDED,
    served_by=ServedBy.PRIMARY,
    parsed={"n": 1},
    body=Body(size_bytes=600),
)
LETTER = Binding(pointer="/letter", source=QuerySpan(start=0, end=1, text=TEXT[0]))


async def never(_: ExecuteRequest) -> JsonValue:
    await asyncio.Event().wait()
    return {}


def thoughts() -> ScriptedThought:
    """Return a plan whose second call comes after the first."""
    return ScriptedThought(plan(step("1.t1", "find"), step("1.t2", "find", ("1.t1",), LETTER)))


@pytest.mark.parametrize(
    ("limits", "action", "name"),
    [
        (Limits(max_calls_per_tool=1), ScriptedAction({"find": LARGE}), "max_calls_per_tool"),
        (Limits(max_result_bytes=500), ScriptedAction({"find": LARGE}), "max_result_bytes"),
        (Limits(max_wall_time_seconds=0.3), ScriptedAction({"find": never}), "max_wall_time"),
    ],
    ids=["calls", "bytes", "time"],
)
async def test_a_limit_ends_the_run_with_its_event_and_its_name(
    limits: Limits, action: ScriptedAction, name: str
) -> None:
    run = Run(thoughts(), action)
    state = await run.drive(limits)
    assert ended(state) == (Outcome.LIMIT_REACHED, FaultCode.LIMIT_REACHED)
    assert state.finished is not None
    assert state.finished.fault is not None
    assert state.finished.fault.field == name
    assert [body.limit for body in await run.bodies() if isinstance(body, LimitReached)] == [name]
    assert state.limits_reached == (name,)
    assert len(action.requests) == 1


@pytest.mark.parametrize(
    ("limits", "expected", "actual"),
    [
        (Limits(max_calls_per_tool=1), "at most 1 calls", 2),
        (Limits(max_result_bytes=500), "less than 500 bytes", 600),
    ],
    ids=["calls", "bytes"],
)
async def test_a_limit_of_calls_says_what_was_used_and_what_to_raise(
    limits: Limits, expected: str, actual: int
) -> None:
    state = await Run(thoughts(), ScriptedAction({"find": LARGE})).drive(limits)
    assert state.finished is not None
    found = state.finished.fault
    assert found is not None
    assert (found.expected, found.actual) == (expected, actual)
    assert found.suggestion.startswith(f"Raise limits.{found.field} if the task needs more")


@pytest.mark.parametrize(
    ("used", "name"),
    [(Usage(iterations=5), "max_iterations"), (Usage(input_tokens=960, output_tokens=40), "max_tokens")],
)
def test_thoughts_and_tokens_are_looked_at_before_each_thought(used: Usage, name: str) -> None:
    assert LIMITS.reached(used, 0) == (name, float(getattr(LIMITS, name)))
    assert LIMITS.reached(Usage(iterations=4, input_tokens=999), 0) is None


async def test_each_limit_moves_the_counter_once_a_run() -> None:
    letters = (Binding(pointer="/n", source=QuerySpan(start=n, end=n + 1, text=TASK.turns[0].text[n])) for n in (0, 1))
    steps = [step(f"1.t{n}", "find", (), letter) for n, letter in enumerate(letters)]
    async with host(plan(*steps)) as here:
        events = await events_of(here, replace(TASK, limits=Limits(max_calls_per_tool=1)))
        assert outcome_of(events) is Outcome.LIMIT_REACHED
        counter = here.telemetry.metrics.counter(names.LIMIT_REACHED)
        assert counter.labels(limit="max_calls_per_tool")._value.get() == 1


def test_a_limit_counts_once_until_a_person_lets_the_run_go_on() -> None:
    bodies: tuple[EventBody, ...] = (
        RunStarted(),
        LimitReached(limit="step_timeout", value=1.0),
        LimitReached(limit="step_timeout", value=1.0),
        RunResumed(reason="take_over"),
    )
    now = datetime(2026, 3, 10, tzinfo=UTC)
    events = [RunEvent(run_id="r", sequence=n, time=now, body=body) for n, body in enumerate(bodies, 1)]
    assert RunState.from_events("r", events).limits_reached == ("step_timeout",)


WRITES = ListedTools((ToolSummary(name="pay", effect=Effect.WRITE, parameters={}), ToolSummary(name="find")))


@pytest.mark.parametrize(
    ("limits", "deadline_seconds", "reached"),
    [(Limits(max_wall_time_seconds=0.3), 10.0, ["max_wall_time"]), (Limits(), 0.3, [])],
    ids=["wall time", "caller's deadline"],
)
async def test_every_write_that_the_end_of_the_time_cuts_off_goes_to_a_person(
    limits: Limits, deadline_seconds: float, reached: list[str]
) -> None:
    run = hanging()

    state = await run.drive(limits, deadline_seconds)

    assert ended(state) == (Outcome.NEEDS_HUMAN, FaultCode.OUTCOME_UNKNOWN)
    handed = [body for body in await run.bodies() if isinstance(body, HandoverRequired)]
    assert [(each.step_id, each.fault and each.fault.code) for each in handed] == [
        ("1.t1", FaultCode.OUTCOME_UNKNOWN), ("1.t2", FaultCode.OUTCOME_UNKNOWN),
    ]  # fmt: skip
    assert state.summary().handovers_required == tuple(handed)
    assert [body.limit for body in await run.bodies() if isinstance(body, LimitReached)] == reached
    assert list(state.limits_reached) == reached


async def test_a_write_that_was_handed_over_is_not_handed_over_again_when_the_run_ends_at_a_limit_later() -> None:
    run = hanging()
    state = await run.drive(Limits(max_wall_time_seconds=0.3))
    for each in state.waits.open_handovers:
        outcome = HandoverOutcome(handover_id=each.handover_id, decision=HandoverDecision.RESUMED)
        await run.writer.emit(RunResumed(reason="handover", handover=outcome))

    state = await run.go_on()

    assert ended(state)[0] is Outcome.FAILED  # no thought finds a way
    assert len(state.waits.handovers) == 2


async def test_a_write_whose_result_is_too_large_for_the_log_goes_to_a_person() -> None:
    run = hanging()
    run.action = ScriptedAction({"pay": {"n": "x" * 5000}, "find": {}}, WRITES)
    run.thought = ScriptedThought(plan(step("1.t1", "pay")))
    run.log = SmallLog()
    run.writer = RunWriter(run.log, "acme", RunState(RUN_ID), run.clock, timeout_seconds=1.0)

    state = await run.drive()

    assert ended(state) == (Outcome.NEEDS_HUMAN, FaultCode.OUTCOME_UNKNOWN)
    assert [each.step_id for each in state.waits.open_handovers] == ["1.t1"]
    assert state.limits_reached == ("max_event_bytes",)


async def test_a_cancelled_run_stays_cancelled_and_its_summary_names_the_writes_that_may_have_taken_effect() -> None:
    run, has_started = hanging(), asyncio.Event()

    async def hang(request: ExecuteRequest) -> JsonValue:
        has_started.set()
        return await never(request)

    run.action = ScriptedAction({"pay": hang, "find": never}, WRITES)
    run.thought = ScriptedThought(plan(step("1.t1", "pay"), step("1.t3", "find")))
    async with asyncio.TaskGroup() as group:
        driving = group.create_task(run.drive())
        await has_started.wait()
        driving.cancel()

    summary = run.writer.state.summary()
    assert summary.outcome is Outcome.CANCELLED
    assert summary.fault is not None
    assert summary.fault.code == FaultCode.CANCELLED
    assert summary.fault.message == "The run was cancelled. Whether these steps took effect is not known: 1.t1."
    assert not summary.handovers_required


class SmallLog(InMemoryRunLog):
    """A log that takes no tool's words."""

    async def append(self, tenant: str, events: Sequence[RunEvent], deadline: Deadline) -> None:
        for event in events:
            result = event.body.result if isinstance(event.body, ActionReturned) else None
            if result is not None and result.served_by is not None:
                raise EventTooLarge.of_event(event.run_id, event.sequence, 5000, 4096)
        await super().append(tenant, events, deadline)


def hanging() -> Run:
    """Return a run of two writes and a read that all hang, while a second goes by on the clock of deadlines."""

    async def hang(request: ExecuteRequest) -> JsonValue:
        run.clock.advance(1.0)
        return await never(request)

    steps = step("1.t1", "pay"), step("1.t2", "pay", (), LETTER), step("1.t3", "find")
    run = Run(ScriptedThought(plan(*steps)), ScriptedAction({"pay": never, "find": hang}, WRITES))
    return run
