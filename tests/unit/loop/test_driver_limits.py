"""Every limit of a run has its event, ends the run with its name, and moves its counter."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from taoloop.core.exact_json import JsonValue
from taoloop.core.faults import FaultCode
from taoloop.core.telemetry import names
from taoloop.loop.state import RunState
from taoloop.plan.acting import ActionResult, ActionStatus, Body, ExecuteRequest, ServedBy
from taoloop.plan.model import Binding, QuerySpan
from taoloop.plan.running import EventBody, LimitReached, RunEvent, RunResumed, RunStarted
from taoloop.plan.task import Limits, Outcome, Usage
from taoloop.testing.services import ScriptedAction, ScriptedThought
from tests.unit.loop.driving import LIMITS, TEXT, Run, ended, plan, step
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
        (Limits(max_wall_time_seconds=0.05), ScriptedAction({"find": never}), "max_wall_time"),
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
