"""Rules of what a run's events tell in the demonstration's closing table."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from taoloop.cli.demo.telling import was_done, went_wrong
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.acting import ActionResult, ActionStatus, Attempt, ServedBy
from taoloop.plan.effects import ApprovalDecision
from taoloop.plan.observing import CheckFailure, CheckVerdict, Drift, DriftKind, ObservationResult
from taoloop.plan.running import (
    ActionReturned,
    ApprovalOutcome,
    ApprovalRequired,
    CorrectionMade,
    EventBody,
    InputRequired,
    ResultObserved,
    RunEvent,
    RunResumed,
    StepSkipped,
    StepStarted,
)
from taoloop.plan.task import InputField
from taoloop.tools.signature import Trust

NOW = datetime(2026, 3, 10, tzinfo=UTC)


def events(*bodies: EventBody) -> list[RunEvent]:
    return [RunEvent(run_id="r", sequence=number, time=NOW, body=body) for number, body in enumerate(bodies, start=1)]


def called(*attempts: Attempt, status: ActionStatus = ActionStatus.SUCCEEDED, **fields: object) -> ActionReturned:
    plain = {"trust": Trust.TRUSTED, **fields}
    return ActionReturned(result=ActionResult(step_id="1.t1", tool="look", status=status, attempts=attempts, **plain))  # type: ignore[arg-type]  # fields of the record


def fault(code: FaultCode, cause: str = "") -> Fault:
    return Fault(code=code, stage=FaultStage.ACTION, message="no", cause_step_id=cause)


@pytest.mark.parametrize(
    ("body", "wrong", "done"),
    [
        (called(Attempt(start=NOW, outcome="answered", code=200)), (), ()),
        (
            called(Attempt(start=NOW, outcome="x", code=503), Attempt(start=NOW, outcome="x", code=503)),
            ("look answers 503",),
            ("tries 2 times",),
        ),
        (called(Attempt(start=NOW, outcome="TOOL_TIMEOUT")), ("look: TOOL_TIMEOUT",), ()),
        (called(served_by=ServedBy.FALLBACK, served_by_tool="spare"), (), ("spare answers instead",)),
        (called(served_by=ServedBy.DUPLICATE), (), ("gives look the answer of the same call",)),
        (called(trust=Trust.UNTRUSTED), ("look returns other people's words",), ()),
        (
            called(status=ActionStatus.REJECTED, fault=fault(FaultCode.BREAKER_OPEN)),
            (),
            ("refuses look without a request: BREAKER_OPEN",),
        ),
        (
            ResultObserved(
                result=ObservationResult(
                    step_id="1.t1",
                    tool="look",
                    valid=False,
                    failures=(CheckFailure(stage="rule", rule_id="is_known", verdict=CheckVerdict.FAIL),),
                )
            ),
            ("look: rule is_known fails",),
            (),
        ),
        (
            ResultObserved(
                result=ObservationResult(
                    step_id="1.t1",
                    tool="look",
                    valid=False,
                    drift=(Drift(kind=DriftKind.NEW_ENUM_VALUE, pointer="/state", value="LOST"),),
                )
            ),
            ('look says "LOST" at /state, never seen before',),
            (),
        ),
        (CorrectionMade(fault=fault(FaultCode.NOT_FOUND), reaction="replan"), (), ("plans again, knowing NOT_FOUND",)),
        (CorrectionMade(fault=fault(FaultCode.NOT_FOUND), reaction="fail"), (), ("ends with NOT_FOUND",)),
        (CorrectionMade(fault=fault(FaultCode.NOT_FOUND), reaction="hand_over"), (), ()),
        (
            StepSkipped(step_id="1.t1", tool="look", fault=fault(FaultCode.LOOP_DETECTED)),
            (),
            ("refuses: LOOP_DETECTED",),
        ),
        (StepSkipped(step_id="1.t2", tool="look", fault=fault(FaultCode.UPSTREAM_STEP_FAILED, "1.t1")), (), ()),
        (InputRequired(input_id="i", fields=(InputField(pointer="/size", tool="look"),)), (), ("asks for size",)),
        (ApprovalRequired(tool="write"), (), ("asks a person's leave for write",)),
        (
            RunResumed(
                reason="approval", approval=ApprovalOutcome(approval_id="a", decision=ApprovalDecision.REJECTED)
            ),
            (),
            ("a person rejected it",),
        ),
        (RunResumed(reason="input"), (), ("goes on with the answer",)),
    ],
)
def test_each_event_tells_what_went_wrong_and_what_was_done(
    body: EventBody, wrong: tuple[str, ...], done: tuple[str, ...]
) -> None:
    assert went_wrong(events(body)) == wrong
    assert was_done(events(body)) == done


def test_calls_side_by_side_are_counted_at_their_most() -> None:
    first, second = StepStarted(step_id="1.t1", tool="look"), StepStarted(step_id="1.t2", tool="look")
    assert was_done(events(first, second, called(), called())) == ("makes 2 calls side by side",)
    assert was_done(events(first, called(), second, called())) == ()


def test_the_same_thing_is_told_once() -> None:
    again = called(Attempt(start=NOW, outcome="x", code=503))
    assert went_wrong(events(again, again)) == ("look answers 503",)
