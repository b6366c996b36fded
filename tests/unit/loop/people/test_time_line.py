"""A run's events as sentences: every kind has one, and none repeats what a result holds."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any, get_args

import pytest

from taoloop.core.exact_json import JsonValue
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.loop.people.time_line import sentence
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.plan.effects import ApprovalDecision
from taoloop.plan.model import PlanStep, ThoughtPlan
from taoloop.plan.observing import ObservationResult
from taoloop.plan.running import (
    ActionReturned,
    ApprovalOutcome,
    EventBody,
    HandoverDecision,
    HandoverOutcome,
    ResultObserved,
    RunFinished,
    RunResumed,
    StepSkipped,
    ThoughtMade,
)
from taoloop.plan.task import Outcome, ProvidedInput
from taoloop.plan.thinking import Answer as AnswerRecord
from taoloop.plan.thinking import Escalation, NeedInput, Refusal, RefusalReason, ThinkResponse

SECRET: JsonValue = {"phone": "13800138000"}
LATE = Fault(code=FaultCode.TOOL_TIMEOUT, stage=FaultStage.ACTION, message="no answer in 3 s.")


def least(kind: Any) -> Any:
    """Return an event with nothing but what it must have."""
    return kind(**{each.name: "x" for each in fields(kind) if each.default is MISSING})


@pytest.mark.parametrize("kind", get_args(EventBody))
def test_every_kind_of_event_has_a_sentence(kind: Any) -> None:
    told = sentence(least(kind))

    assert told.endswith((".", ": x"))
    assert "does not know" not in told


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (
            ThoughtMade(
                response=ThinkResponse(
                    iteration=2,
                    planner="graph/1",
                    outcome=ThoughtPlan(steps=(PlanStep(step_id="2.t1", tool="find"),)),
                )
            ),
            "Thought 2 by graph/1: a plan of 1 step.",
        ),
        (
            ActionReturned(
                result=ActionResult(
                    step_id="1.t1", tool="find", status=ActionStatus.TIMED_OUT, parsed=SECRET, fault=LATE
                )
            ),
            "Step 1.t1: find came back timed_out (TOOL_TIMEOUT: no answer in 3 s).",
        ),
        (
            ResultObserved(
                result=ObservationResult(step_id="1.t1", tool="find", valid=True, data=SECRET, confidence=0.94)
            ),
            "Step 1.t1: the result may be used, confidence 0.94.",
        ),
        (
            StepSkipped(step_id="1.t2", tool="tell", fault=LATE),
            "Step 1.t2 (tell) was not run (TOOL_TIMEOUT: no answer in 3 s).",
        ),
        (
            RunResumed(
                reason="approval",
                approval=ApprovalOutcome(approval_id="a", decision=ApprovalDecision.EXPIRED),
            ),
            "Approval a lapsed: nobody decided in time.",
        ),
        (
            RunResumed(
                reason="handover",
                handover=HandoverOutcome(
                    handover_id="h", decision=HandoverDecision.RESUMED, decided_by="ana", comment="up again"
                ),
            ),
            "The handover was resumed by ana: up again.",
        ),
        (
            RunResumed(reason="input", input=ProvidedInput(input_id="i", values=SECRET)),
            "The user gave the values that were asked for.",
        ),
        (RunFinished(outcome=Outcome.ANSWERED), "The run came to rest: answered."),
    ],
)
def test_a_sentence_says_what_happened(body: EventBody, told: str) -> None:
    assert sentence(body) == told
    assert "13800138000" not in sentence(body)


@pytest.mark.parametrize(
    ("outcome", "word"),
    [
        (AnswerRecord(text="secret"), "answer"),
        (NeedInput(input_id="i"), "ask the user"),
        (Refusal(reason=RefusalReason.NO_TOOL), "no_tool"),
        (Escalation(message="x"), "hand over to a person"),
        (None, "nothing"),
    ],
)
def test_whatever_was_thought_is_told(outcome: Any, word: str) -> None:
    told = sentence(ThoughtMade(response=ThinkResponse(outcome=outcome, iteration=1)))

    assert word in told
    assert "secret" not in told
