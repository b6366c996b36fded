"""Runs as their events tell them, for the tests of what is remembered of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from taoloop.core.exact_json import Json, JsonValue
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.loop.state import RunState
from taoloop.plan.acting import ActionResult, ActionStatus, ServedBy
from taoloop.plan.model import PlanStep, ThoughtPlan
from taoloop.plan.observing import ObservationResult
from taoloop.plan.running import (
    ActionReturned,
    EventBody,
    ResultObserved,
    RunEvent,
    RunFinished,
    RunStarted,
    StepStarted,
    ThoughtMade,
)
from taoloop.plan.task import Outcome, Role, Task, Turn
from taoloop.plan.thinking import Answer, ThinkResponse
from taoloop.tools.signature import Trust

NOW = datetime(2026, 3, 10, 8, 0, tzinfo=UTC)
FAULT = Fault(code=FaultCode.TOOL_TIMEOUT, stage=FaultStage.ACTION, message="too slow")


def user(text: str) -> Turn:
    return Turn(role=Role.USER, text=text)


def assistant(text: str) -> Turn:
    return Turn(role=Role.ASSISTANT, text=text)


def task(*turns: Turn, session: str = "s1", who: str = "", state: Json = None, line: str = "") -> Task:
    return Task(request_id="q", session_id=session, user_id=who, business_line=line, turns=turns, state=state or {})


def run(
    given: Task,
    *,
    run_id: str = "1" * 32,
    tool: str = "list_claims",
    answer: str = "",
    snapshot: Mapping[str, JsonValue] | None = None,
    fault: Fault | None = None,
    trust: Trust = Trust.TRUSTED,
) -> RunState:
    """Return a run that called one tool and then answered, or ended with its fault."""
    bodies: list[EventBody] = [RunStarted(task=given)]
    if tool:
        step = PlanStep(step_id="1.t1", tool=tool)
        plan = ThoughtPlan(steps=(step,), state_snapshot=dict(snapshot or {}))
        status = ActionStatus.SUCCEEDED if fault is None else ActionStatus.FAILED
        result = ActionResult(
            step_id="1.t1",
            tool=tool,
            status=status,
            served_by=ServedBy.PRIMARY,
            trust=trust,
            arguments_hash="ab" * 32,
            fault=fault,
        )
        observed = ObservationResult(step_id="1.t1", tool=tool, valid=fault is None, fault=fault, trust=trust)
        bodies += [
            ThoughtMade(response=ThinkResponse(outcome=plan, iteration=1, thought_id="2" * 32)),
            StepStarted(step_id="1.t1", tool=tool, arguments={"month": "2024-03"}),
            ActionReturned(result=result),
            ResultObserved(result=observed),
        ]
    if answer:
        bodies.append(Answer(text=answer))
    bodies.append(RunFinished(outcome=Outcome.ANSWERED if answer else Outcome.FAILED, fault=fault))
    return RunState.from_events(run_id, events(run_id, *bodies))


def events(run_id: str, *bodies: EventBody) -> list[RunEvent]:
    return [RunEvent(run_id=run_id, sequence=place, time=NOW, body=body) for place, body in enumerate(bodies, start=1)]
