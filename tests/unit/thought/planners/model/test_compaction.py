"""A plan and its skeleton are the same plan: compacted and expanded again, nothing is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.core.exact_json import JsonValue
from taoloop.plan.model import Binding, PlanStep, QuerySpan, StepOutput, Template, ThoughtPlan
from taoloop.plan.task import ProvidedInput
from taoloop.plan.thinking import CompletedStep
from taoloop.thought.planners.model.compaction import NotExpressible, compact
from taoloop.thought.planners.model.expansion import expand
from taoloop.tools.signature import Trust
from tests.unit.thought.planners.model.tools import offer_of, request_of

N = None
REQUEST = request_of(
    inputs=(ProvidedInput(input_id="i", values={"phone": "1"}),),
    completed=(CompletedStep(step_id="1.t1", tool="find_guest", exposed={"id": "g-7"}, trust=Trust.TRUSTED),),
)
OFFER = offer_of(REQUEST)
ARGUMENTS: list[st.SearchStrategy[JsonValue]] = [
    st.sampled_from(["555-0199", {"1": "id"}, {"a": "id"}, {"input": "phone"}]),
    st.sampled_from(["next Monday", {"now": True}]),
    st.sampled_from([N, 0, 1, 2]),
    st.sampled_from([N, "3"]),
    st.sampled_from([N, {"true": "with breakfast"}, {"false": "Osaka"}]),
    st.sampled_from([N, ["Osaka"], ["Osaka", "towels"]]),
    st.sampled_from([N, ["cot"], ["cot", "towels"], {"1": "stays.0.room"}]),
    st.sampled_from([N, {"now": True}]),
    st.sampled_from([N, {"text": "quiet"}]),
    st.sampled_from([N, {"state": "user.token"}]),
]


def planned(skeleton: JsonValue) -> ThoughtPlan | None:
    outcome = expand(skeleton, OFFER, REQUEST).outcome
    return outcome if isinstance(outcome, ThoughtPlan) else None


@given(st.tuples(*ARGUMENTS))
def test_what_is_expanded_compacts_to_what_expands_to_it(values: tuple[JsonValue, ...]) -> None:
    listed = list(values)
    if listed[6] == {"1": "stays.0.room"}:
        listed[6] = N  # a text is no list
    plan = planned({"plan": [[1, "555-0199"], [2, *listed]]})

    assert plan is not None
    assert planned(compact(plan, OFFER)) == plan


def test_a_tool_that_does_not_say_what_it_returns_can_be_pointed_at() -> None:
    plan = planned({"plan": [[3, "Osaka"], [1, {"1": "found.0.phone"}]]})

    assert plan is not None
    assert compact(plan, OFFER) == {"plan": [[3, "Osaka"], [1, {"1": "found.0.phone"}]]}


def test_words_for_a_value_of_the_schema_become_its_number() -> None:
    span = QuerySpan(start=7, end=17, text="Double Bed")
    step = PlanStep(
        step_id="2.t1", tool="book_room", bindings=(Binding(pointer="/kind", source=span, value="double bed"),)
    )

    assert compact(ThoughtPlan(steps=(step,)), OFFER) == {"plan": [[2, None, None, 2]]}


@pytest.mark.parametrize(
    "step",
    [
        PlanStep(step_id="2.t1", tool="nobody"),
        PlanStep(step_id="2.t1", tool="find_guest", bindings=(Binding(pointer="/phone", source=Template()),)),
        PlanStep(
            step_id="2.t1",
            tool="find_guest",
            bindings=(Binding(pointer="/phone", source=StepOutput(step_id="9", pointer="")),),
        ),
        PlanStep(
            step_id="2.t1",
            tool="find_guest",
            bindings=(Binding(pointer="/mail", source=QuerySpan(start=0, end=1, text="B")),),
        ),
    ],
    ids=["tool", "template", "step", "parameter"],
)
def test_what_has_no_word_is_named(step: PlanStep) -> None:
    with pytest.raises(NotExpressible):
        compact(ThoughtPlan(steps=(step,)), OFFER)
