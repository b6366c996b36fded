"""Rules of what a run's events tell in the demonstration's closing table."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from taoloop.cli.demo.telling import breakers_opened, was_done, went_wrong
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.acting import ActionResult, ActionStatus, Attempt, Breaker, BreakerState, ServedBy
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
        (called(Attempt(start=NOW, outcome="TOOL_TIMEOUT")), ("look does not answer",), ()),
        (
            called(Attempt(start=NOW, outcome="RESPONSE_MALFORMED")),
            ("look fails: the body is not of the content type that it claims",),
            (),
        ),
        (
            called(Attempt(start=NOW, outcome="TOOL_TIMEOUT"), breaker=Breaker(state=BreakerState.OPEN)),
            ("look does not answer",),
            ("opens the breaker of look",),
        ),
        (called(Attempt(start=NOW, outcome="OUT_OF_PAPER")), ("look fails: OUT_OF_PAPER",), ()),
        (called(served_by=ServedBy.FALLBACK, served_by_tool="spare"), (), ("takes the answer of spare instead",)),
        (
            called(
                Attempt(start=NOW, outcome="x", code=503),
                Attempt(start=NOW, outcome="answered", code=200),
                served_by=ServedBy.FALLBACK,
                served_by_tool="spare",
            ),
            ("look answers 503",),
            ("tries 2 times in all and takes the answer of spare instead",),
        ),
        (called(served_by=ServedBy.DUPLICATE), (), ("uses the answer of look again, without a second request",)),
        (called(trust=Trust.UNTRUSTED), ("look returns text that is not trusted",), ()),
        (
            called(status=ActionStatus.REJECTED, fault=fault(FaultCode.BREAKER_OPEN)),
            (),
            ("makes no request to look: its breaker is open",),
        ),
        (
            called(
                Attempt(start=NOW, outcome="x", code=503),
                status=ActionStatus.FAILED,
                fault=fault(FaultCode.RETRY_BUDGET_EXHAUSTED),
            ),
            ("look answers 503",),
            ("makes no more requests to look: it had too many repeats lately",),
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
            ("look answers what its contract's rule is_known forbids",),
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
            ('look answers "LOST" at /state, a value never seen before',),
            (),
        ),
        (
            CorrectionMade(fault=fault(FaultCode.NOT_FOUND), reaction="replan"),
            (),
            ("plans again with the failure in mind",),
        ),
        (CorrectionMade(fault=fault(FaultCode.NOT_FOUND), reaction="fail"), (), ("gives up",)),
        (
            CorrectionMade(fault=fault(FaultCode.NOT_FOUND), reaction="fail", is_told_to_user=True),
            (),
            ("gives up and tells the user why",),
        ),
        (
            CorrectionMade(fault=fault(FaultCode.NO_TOOL), reaction="fail", is_told_to_user=True),
            (),
            ("finds no tool that serves this and tells the user so",),
        ),
        (CorrectionMade(fault=fault(FaultCode.NOT_FOUND), reaction="hand_over"), (), ()),
        (
            StepSkipped(step_id="1.t1", tool="look", fault=fault(FaultCode.LOOP_DETECTED)),
            (),
            ("does not call look: the run goes round in circles",),
        ),
        (StepSkipped(step_id="1.t2", tool="look", fault=fault(FaultCode.UPSTREAM_STEP_FAILED, "1.t1")), (), ()),
        (InputRequired(input_id="i", fields=(InputField(pointer="/size", tool="look"),)), (), ("asks for size",)),
        (ApprovalRequired(tool="write"), (), ("asks a person's leave for write",)),
        (
            ApprovalRequired(tool="write", reason="It costs much."),
            (),
            ("asks a person's leave for write (It costs much)",),
        ),
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


@pytest.mark.parametrize(
    ("stage", "told"),
    [
        ("status", ()),
        ("success", ("look answers 200, and its body says that it failed",)),
        ("schema", ("look answers a body that its contract does not allow",)),
        ("latency", ("look answers too late",)),
    ],
)
def test_a_verdict_tells_in_plain_words_what_the_answer_was(stage: str, told: tuple[str, ...]) -> None:
    failure = CheckFailure(stage=stage, rule_id="success_rule", verdict=CheckVerdict.FAIL)
    judged = ResultObserved(
        result=ObservationResult(step_id="1.t1", tool="look", valid=False, failures=(failure,)),
    )
    assert went_wrong(events(called(status_code=200), judged)) == told


@pytest.mark.parametrize("kind", list(DriftKind))
def test_every_kind_of_drift_has_words(kind: DriftKind) -> None:
    drift = Drift(kind=kind, pointer="/state")
    [told] = went_wrong(
        events(ResultObserved(result=ObservationResult(step_id="1.t1", tool="look", valid=True, drift=(drift,))))
    )
    assert "look answers" in told
    assert "at /state" in told or "the field /state" in told


def test_a_tool_that_the_planner_leaves_alone_is_told_with_the_breaker_that_an_earlier_task_opened() -> None:
    opened = breakers_opened(events(called(breaker=Breaker(state=BreakerState.OPEN)), called()))
    withheld = Fault(code=FaultCode.TOOL_UNAVAILABLE, stage=FaultStage.PLAN, message="no", actual="look")
    told = events(CorrectionMade(fault=withheld, reaction="fail", is_told_to_user=True))
    assert opened == {"look"}
    assert went_wrong(told, opened) == ("look failed before, so its breaker is open",)
    assert was_done(told, opened) == (
        "makes no request to look, since its breaker is open; gives up and tells the user why",
    )
    assert went_wrong(told) == ()
    assert was_done(told) == (
        "makes no request to look, since it cannot be called now; gives up and tells the user why",
    )


def test_closed_breakers_are_not_open() -> None:
    assert breakers_opened(events(called(breaker=Breaker(state=BreakerState.CLOSED)), called())) == set()
