"""The grammar allows what expands and bounds everything; whatever is written expands or is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.core.exact_json import JsonValue
from taoloop.plan.task import ProvidedInput
from taoloop.plan.thinking import CompletedStep
from taoloop.thought.planners.model.expansion import SkeletonRefused, expand
from taoloop.thought.planners.model.grammar import skeleton_schema
from taoloop.thought.planners.model.offer import Mode, Offer, Reason
from taoloop.tools.schemas import CompiledSchema
from tests.unit.thought.planners.model.tools import TEXT, offer_of, request_of

N = None
REQUEST = request_of(
    inputs=(ProvidedInput(input_id="i", values={"phone": "1"}),),
    completed=(CompletedStep(step_id="1.t1", tool="find_guest", exposed={"id": "g-7", "n": 1}),),
)
OFFER = offer_of(REQUEST)
SCHEMA = skeleton_schema(OFFER)
GRAMMAR = CompiledSchema.compile(SCHEMA)


@pytest.mark.parametrize(
    "skeleton",
    [
        {"plan": [[1, "555-0199"]]},
        {"plan": [[1, "555-0199"], [2, {"1": "id"}, "next Monday", 2, "3", {"true": "with breakfast"}, ["Osaka"]]]},
        {"plan": [[2, {"a": "id"}, {"now": True}, 0, N, N, N, ["cot"], N, {"text": "x"}, {"state": "user.token"}]]},
        {"plan": [[1, {"input": "phone"}], [3, {"1": "anything"}]]},
        {"ask": [2, "address.city", "guest"]},
        {"none": True},
        {"done": ["a"]},
    ],
)
def test_skeletons_that_expand_are_in_the_grammar(skeleton: JsonValue) -> None:
    assert GRAMMAR.violations(skeleton) == ()


@pytest.mark.parametrize(
    "skeleton",
    [
        {"plan": []},
        {"plan": [[1, "x"]] * 8},
        {"plan": [[4]]},
        {"plan": [[1]]},
        {"plan": [[1, N]]},
        {"plan": [[1, "x", "y"]]},
        {"plan": [[1, "x" * 201]]},
        {"plan": [[1, ""]]},
        {"plan": [[1, {"1": "id"}]]},
        {"plan": [[1, "x"], [1, {"2": "id"}]]},
        {"plan": [[1, {"text": "x"}]]},
        {"plan": [[1, {"state": "user.age"}]]},
        {"plan": [[1, {"a": "n"}]]},
        {"plan": [[2, "x", "y", 3]]},
        {"plan": [[2, "x", "y", "single"]]},
        {"plan": [[2, "x", "y", N, N, N, N, N, N, "x"]]},
        {"plan": [[1, "x"]], "none": True},
        {"ask": [1, "guest"]},
        {"done": ["b"]},
        {"why": "x", "none": True},
    ],
)
def test_what_cannot_be_meant_is_not_in_the_grammar(skeleton: JsonValue) -> None:
    assert not GRAMMAR.is_valid(skeleton)


def test_a_place_is_offered_only_where_it_fits() -> None:
    request = request_of()
    grammar = CompiledSchema.compile(skeleton_schema(offer_of(request)))

    assert grammar.is_valid({"plan": [[1, "x"], [2, "y", "z", N, {"1": "anything"}]]})  # `echo` does not say
    only = CompiledSchema.compile(skeleton_schema(_without_echo()))
    assert only.is_valid({"plan": [[1, "x"], [2, {"1": "stays.0.room"}, "z"]]})
    assert not only.is_valid({"plan": [[1, "x"], [2, {"1": "stays"}, "z"]]})
    assert not only.is_valid({"plan": [[1, "x"], [2, "y", "z", N, {"1": "id"}]]})


def _without_echo() -> Offer:
    return replace(offer_of(request_of()), tools=OFFER.tools[:2])


@pytest.mark.parametrize(
    ("reason", "skeleton"),
    [
        (Reason.BRIEF, {"why": "x", "none": True}),
        (Reason.FULL, {"known": ["x"], "gap": [], "tool": 1, "why": "y", "expected": "z", "none": True}),
    ],
)
def test_reasoning_stands_before_the_decision(reason: Reason, skeleton: dict[str, JsonValue]) -> None:
    grammar = CompiledSchema.compile(skeleton_schema(OFFER, reason))

    assert grammar.is_valid(skeleton)
    assert not grammar.is_valid({"none": True})
    form = skeleton_schema(OFFER, reason)["anyOf"][0]["properties"]
    assert list(form)[-1] == "plan"


def test_only_modes_that_are_allowed_are_in_the_grammar() -> None:
    offer = offer_of(REQUEST, frozenset({Mode.ASK, Mode.DONE}))
    grammar = CompiledSchema.compile(skeleton_schema(offer))

    assert grammar.is_valid({"ask": [1, "phone"]})
    assert not grammar.is_valid({"none": True})
    assert not grammar.is_valid({"plan": [[1, "x"]]})


def test_nothing_can_be_answered_before_a_step_is_done() -> None:
    assert Mode.DONE not in offer_of(request_of()).modes


def test_equal_parts_are_written_once() -> None:
    assert len(str(SCHEMA)) < 40_000


LEAF: st.SearchStrategy[Any] = (
    st.none()
    | st.booleans()
    | st.integers(-2, 9)
    | st.sampled_from(["555-0199", "next Monday", "with breakfast", "nobody", "", "3", "Osaka", TEXT])
    | st.dictionaries(
        st.sampled_from(["1", "2", "9" * 400, "a", "state", "input", "true", "now", "text", "²", "x"]),
        st.sampled_from(["id", "stays", ".", "user.token", "phone", "with breakfast", "~", 1, None, []]),
        max_size=2,
    )
)
VALUE = st.recursive(LEAF, lambda inner: st.lists(inner, max_size=4), max_leaves=8)
STEP = st.tuples(st.integers(0, 4), st.lists(VALUE, max_size=12)).map(lambda step: [step[0], *step[1]])
SKELETON = st.fixed_dictionaries(
    {},
    optional={
        "plan": st.lists(STEP | VALUE, max_size=4) | VALUE,
        "ask": st.lists(VALUE, max_size=3),
        "done": VALUE,
        "none": VALUE,
        "tool": VALUE,
        "known": VALUE,
    },
)


@given(SKELETON | VALUE)
def test_any_object_expands_or_is_refused_with_faults(skeleton: Any) -> None:
    try:
        expansion = expand(skeleton, OFFER, REQUEST)
    except SkeletonRefused as refused:
        faults = refused.faults
    else:
        faults = ()
        assert expansion.outcome is not None
    assert all(fault.code and fault.message for fault in faults)


@given(STEP.map(lambda step: {"plan": [step]}))
def test_what_the_grammar_allows_is_never_a_fault_of_form(skeleton: Any) -> None:
    if not GRAMMAR.is_valid(skeleton):
        return
    try:
        expand(skeleton, OFFER, REQUEST)
    except SkeletonRefused as refused:
        assert all(fault.field.startswith("/steps") for fault in refused.faults)  # noqa: PT017 - the plan's check alone
