"""Fingerprints: the same thought has the same one, whatever it is called and however it came here."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from taoloop.api.v1 import thought_pb2
from taoloop.plan.fingerprint import thought_fingerprint
from taoloop.plan.model import Binding, Convert, PlanStep, QuerySpan, Reasoning, StepOutput, ThoughtPlan
from taoloop.plan.task import InputField, InputReason
from taoloop.plan.thinking import Answer, NeedInput, ThinkResponse
from taoloop.wire.records.codec import decode, encode

SPAN = Binding(
    pointer="/amount",
    source=QuerySpan(start=0, end=4, text="12.5"),
    convert=Convert(to="number", options={"locale": "de"}),
    value=Decimal("12.5"),
)
REFERENCE = Binding(pointer="/id", source=StepOutput(step_id="1.t1", pointer="/id"))
PLAN = ThoughtPlan(
    steps=(
        PlanStep(step_id="1.t1", tool="find", bindings=(SPAN,)),
        PlanStep(step_id="1.t2", tool="pay", bindings=(REFERENCE, SPAN), depends_on=("1.t1",)),
    )
)
QUESTION = NeedInput(
    input_id="q", fields=(InputField(pointer="/a", tool="t"), InputField(pointer="/b", tool="t", question="b?"))
)


def test_ids_words_and_order_of_bindings_do_not_count() -> None:
    first, second = PLAN.steps
    reference = replace(REFERENCE, source=StepOutput(step_id="3.x", pointer="/id"))
    again = ThoughtPlan(
        thought_id="t",
        iteration=3,
        created_at=datetime(2026, 5, 20, tzinfo=UTC),
        reasoning=Reasoning(why="because"),
        steps=(
            replace(first, step_id="3.x", description="finds"),
            replace(second, step_id="3.y", bindings=(SPAN, reference), depends_on=("3.x",)),
        ),
    )
    assert thought_fingerprint(again) == thought_fingerprint(PLAN)


@pytest.mark.parametrize(
    "other",
    [
        replace(PLAN, steps=PLAN.steps[:1]),
        replace(PLAN, steps=(replace(PLAN.steps[0], tool="seek"), PLAN.steps[1])),
        replace(PLAN, steps=(replace(PLAN.steps[0], bindings=(replace(SPAN, value=Decimal(13)),)), PLAN.steps[1])),
        replace(PLAN, steps=(replace(PLAN.steps[0], bindings=(replace(SPAN, convert=None),)), PLAN.steps[1])),
        replace(PLAN, steps=(PLAN.steps[0], replace(PLAN.steps[1], depends_on=()))),
        replace(PLAN, steps=(PLAN.steps[0], replace(PLAN.steps[1], optional=True))),
    ],
)
def test_what_is_called_with_what_counts(other: ThoughtPlan) -> None:
    assert thought_fingerprint(other) != thought_fingerprint(PLAN)


@pytest.mark.parametrize("outcome", [PLAN, QUESTION])
def test_fingerprint_survives_the_wire(outcome: ThoughtPlan | NeedInput) -> None:
    sent = ThinkResponse(outcome=outcome, run_id="r", iteration=1)
    received = decode(ThinkResponse, encode(sent, thought_pb2.ThinkResponse))
    assert thought_fingerprint(received.outcome) == thought_fingerprint(outcome)


def test_question_is_what_it_asks_for_and_why() -> None:
    first, second = QUESTION.fields
    assert thought_fingerprint(NeedInput(input_id="other", fields=(second, first))) == thought_fingerprint(QUESTION)
    invalid = replace(first, reason=InputReason.INVALID)
    assert thought_fingerprint(NeedInput(input_id="q", fields=(invalid, second))) != thought_fingerprint(QUESTION)


@pytest.mark.parametrize("outcome", [ThoughtPlan(), NeedInput(input_id="q"), Answer(text="x"), None])
def test_nothing_to_compare_has_no_fingerprint(outcome: object) -> None:
    assert thought_fingerprint(outcome) == ""


def test_value_that_is_no_json_has_no_fingerprint() -> None:
    step = replace(PLAN.steps[0], bindings=(replace(SPAN, value="\ud800"),))
    assert thought_fingerprint(ThoughtPlan(steps=(step,))) == ""
