"""The JSON form: both directions, aliases, every fault at once, and the documented examples."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.core.exact_json import ABSENT, dumps, loads
from taoloop.plan.check import CheckContext, check_plan
from taoloop.plan.form.json_form import (
    PlanFormInvalid,
    fault_json,
    plan_from_json,
    plan_from_text,
    plan_to_json,
    refusal_json,
)
from taoloop.plan.model import (
    Binding,
    ContractValue,
    ContractValueKind,
    Convert,
    Decision,
    DecisionKind,
    ForEach,
    Generated,
    InputValue,
    ItemValue,
    Literal,
    PlanStep,
    QuerySpan,
    Reasoning,
    RequestClock,
    StatePath,
    StepOutput,
    Template,
    TemplatePart,
    ThoughtPlan,
)
from taoloop.plan.task import InputField, Role, Turn, Usage
from taoloop.plan.thinking import Answer, NeedInput, Refusal, RefusalReason, ThinkResponse
from taoloop.tools.signature import ToolSignature, Trust

PAGE = Path(__file__).parents[3] / "docs" / "plans.md"
TURNS = (Turn(role=Role.USER, text="My phone is 13800000000, where is the parcel I ordered yesterday?"),)
TOOLS = {
    "find_order": ToolSignature(
        name="find_order",
        description="",
        trust=Trust.TRUSTED,
        parameters={"type": "object", "required": ["phone"], "properties": {"phone": {"type": "string"}}},
        returns={
            "type": "object",
            "properties": {"order": {"type": "object", "properties": {"id": {"type": "string"}}}},
        },
    ),
    "get_parcel": ToolSignature(
        name="get_parcel",
        description="",
        trust=Trust.TRUSTED,
        parameters={
            "type": "object",
            "required": ["order"],
            "properties": {
                "order": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}},
                "since": {"type": "string", "format": "date"},
                "language": {"type": "string", "default": "en"},
            },
        },
    ),
}


def example(name: str) -> Any:
    found = re.search(rf"<!-- example: {name} -->\n```json\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found is not None, name
    return loads(found[1])


def faults_of(value: Any, turns: tuple[Turn, ...] | None = None) -> dict[str, str]:
    with pytest.raises(PlanFormInvalid) as caught:
        plan_from_json(value, turns)
    return {fault.field: str(fault.code) for fault in caught.value.faults}


def args_of(args: Any, turns: tuple[Turn, ...] | None = None) -> tuple[Binding, ...]:
    form: Any = {
        "steps": [{"id": "t1", "tool": "a"}, {"id": "2.t1", "tool": "b"}, {"id": "t2", "tool": "t", "args": args}]
    }
    return plan_from_json(form, turns).steps[2].bindings


def test_documented_plan_passes_the_check_with_its_request() -> None:
    plan = plan_from_json(example("plan"), TURNS)
    assert plan.steps[0].bindings[0].source == QuerySpan(turn=0, start=12, end=23, text="13800000000")
    verdict = check_plan(plan, CheckContext(tools=TOOLS, turns=TURNS))
    assert (verdict.faults, verdict.order) == ((), ("t1", "t2"))


def test_documented_aliases_read_as_the_canonical_fields() -> None:
    plan = plan_from_json(example("aliases"))
    assert plan.created_at == datetime(2026, 3, 11, 4, tzinfo=UTC)
    assert plan.steps[0].step_id == "t1"
    assert plan.steps[0].input_sources == ("user_query",)
    assert plan.final_output_schema == {"type": "object"}
    assert check_plan(plan, CheckContext(tools=TOOLS)).is_valid


def test_documented_faults_are_the_ones_that_come_back() -> None:
    verdict = check_plan(plan_from_json(example("faults")), CheckContext(tools=TOOLS))
    assert [(str(fault.code), fault.field) for fault in verdict.faults] == [
        ("UNKNOWN_TOOL", "/steps/0/tool"),
        ("UNKNOWN_DEPENDENCY", "/steps/0/depends_on/0"),
    ]
    assert verdict.faults[0].candidates[0] == "find_order"


def test_documented_refusals_are_what_is_written() -> None:
    field = InputField(pointer="/order_id", tool="get_parcel")
    asked = ThinkResponse(outcome=NeedInput(input_id="i1", fields=(field, field)))
    refused = ThinkResponse(outcome=Refusal(reason=RefusalReason.MISSING_USER_QUERY))
    assert [refusal_json(asked), refusal_json(refused)] == example("refusals")


def test_insufficient_context_names_the_required_fields() -> None:
    refusal = Refusal(reason=RefusalReason.INSUFFICIENT_CONTEXT, required_fields=("period", "order_id"))
    written = refusal_json(ThinkResponse(outcome=refusal))
    assert written == {"error": "insufficient_context", "required_fields": ["period", "order_id"]}


@pytest.mark.parametrize("outcome", [Answer(text="done"), Refusal(reason=RefusalReason.NO_TOOL), ThoughtPlan(), None])
def test_other_thoughts_have_no_refusal_form(outcome: Any) -> None:
    assert refusal_json(ThinkResponse(outcome=outcome)) is None


def test_every_fault_of_the_form_comes_back_at_once() -> None:
    value = {
        "version": 1,
        "steps": [
            {"tool": "t", "dependson": [], "args": {"a": {"$quote": "x"}}},
            "nothing",
            {"id": "t1", "step_id": "t1", "tool": 3, "depends_on": ["a", 1], "timeout_seconds": -1},
        ],
        "created_at": "yesterday",
    }
    assert set(faults_of(value)) == {
        "/version", "/steps/0/id", "/steps/0/dependson", "/steps/0/args/a", "/steps/1", "/steps/2/step_id",
        "/steps/2/tool", "/steps/2/depends_on/1", "/steps/2/timeout_seconds", "/created_at",
    }  # fmt: skip


def test_misspelt_field_is_refused_with_the_near_one() -> None:
    with pytest.raises(PlanFormInvalid) as caught:
        plan_from_json({"steps": [{"id": "a", "tool": "t", "depends": []}]})
    assert caught.value.faults[0].candidates[0] == "depends_on"


@pytest.mark.parametrize("value", [None, [], "plan", 1, {}])
def test_value_that_is_no_plan_is_refused(value: Any) -> None:
    assert faults_of(value)


def test_text_that_is_no_json_is_refused_with_its_place() -> None:
    with pytest.raises(PlanFormInvalid) as caught:
        plan_from_text('{"steps": [')
    assert "line 1" in caught.value.faults[0].message


def test_text_keeps_numbers_exact() -> None:
    plan = plan_from_text('{"steps":[{"id":"a","tool":"t","args":{"n":12345678901234567,"price":0.10}}]}')
    assert dumps(plan_to_json(plan)["steps"][0]["args"]) == '{"n":12345678901234567,"price":0.10}'  # type: ignore[index,call-overload]


@pytest.mark.parametrize(
    ("reference", "step", "pointer"),
    [
        ("t1", "t1", ""),
        ("t1/order/id", "t1", "/order/id"),
        ("t1.order.id", "t1", "/order/id"),
        ("t1.items[0].id", "t1", "/items/0/id"),
        ("t1[0]", "t1", "/0"),
        ("2.t1.order", "2.t1", "/order"),
        ("2.t1/order", "2.t1", "/order"),
        ("s9.order", "s9", "/order"),
        ({"step": "t1", "pointer": "/a.b"}, "t1", "/a.b"),
    ],
)
def test_reference_is_read_in_each_of_its_forms(reference: Any, step: str, pointer: str) -> None:
    assert args_of({"x": {"$ref": reference}})[0].source == StepOutput(step_id=step, pointer=pointer)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"$state": "/a"}, StatePath(pointer="/a")),
        ({"$input": {"input_id": "i", "pointer": "/a"}}, InputValue(input_id="i", pointer="/a")),
        ({"$clock": True}, RequestClock()),
        ({"$generated": "hello"}, Generated(text="hello")),
        ({"$default": True}, ContractValue(kind=ContractValueKind.DEFAULT, pointer="/properties/x/default")),
        ({"$enum": 1}, ContractValue(kind=ContractValueKind.ENUM, pointer="/properties/x/enum/1")),
        ({"$const": "/properties/y/const"}, ContractValue(kind=ContractValueKind.CONST, pointer="/properties/y/const")),
        (
            {"$template": ["no. ", {"$ref": "t1/n"}]},
            Template(parts=(TemplatePart(source=Literal(text="no. ")),
                            TemplatePart(source=StepOutput(step_id="t1", pointer="/n")))),
        ),
    ],
)  # fmt: skip
def test_source_object_is_read_as_its_source(source: Any, expected: Any) -> None:
    assert args_of({"x": source}) == (Binding(pointer="/x", source=expected),)


@pytest.mark.parametrize(
    "source",
    [
        {"$state": "a"}, {"$state": 1}, {"$clock": False}, {"$clock": 1}, {"$default": False}, {"$enum": True},
        {"$enum": -1},
        {"$query": [0, 1]}, {"$query": 3}, {"$template": "x"}, {"$template": [{"$clock": True}]}, {"$template": [{}]},
        {"$template": [{"$ref": "t1", "convert": "date"}]}, {"$ref": ""}, {"$ref": {"step": "t1", "pointer": "x"}},
        {"$ref": "t1", "$state": ""}, {"$ref": "t1", "converts": "date"}, {"$input": "i1"}, {"$unknown": 1},
    ],
)  # fmt: skip
def test_malformed_source_object_is_refused_at_its_place(source: Any) -> None:
    found = faults_of({"steps": [{"id": "t1", "tool": "t", "args": {"x": source}}]})
    assert all(place.startswith("/steps/0/args/x") for place in found)


def test_quote_is_found_in_the_latest_turn_of_the_user() -> None:
    turns = (
        Turn(role=Role.USER, text="order A1"),
        Turn(role=Role.USER, text="the order A1, A1"),
        Turn(role=Role.ASSISTANT, text="A1"),
    )  # fmt: skip
    assert args_of({"x": {"$query": "A1"}}, turns)[0].source == QuerySpan(turn=1, start=10, end=12, text="A1")


def test_quote_that_nobody_said_is_unresolved() -> None:
    value = {"steps": [{"id": "t1", "tool": "t", "args": {"x": {"$query": "tomorrow"}}}]}
    assert faults_of(value, TURNS) == {"/steps/0/args/x/$query": "UNRESOLVED_REFERENCE"}


def test_quote_without_a_request_waits_for_its_source() -> None:
    assert args_of({"x": {"$query": "A1"}}) == (Binding(pointer="/x", value="A1"),)


def test_objects_and_arrays_become_one_binding_per_leaf() -> None:
    bindings = args_of({"a": {"b/c": [1, {"$state": "/s"}]}, "e": [], "f": {}, "g": None})
    assert [(binding.pointer, binding.value) for binding in bindings] == [
        ("/a/b~1c/0", 1), ("/a/b~1c/1", ABSENT), ("/e", []), ("/f", {}), ("/g", None),
    ]  # fmt: skip


def test_object_that_would_come_back_as_an_array_is_refused() -> None:
    assert faults_of({"steps": [{"id": "a", "tool": "t", "args": {"x": {"0": 1, "1": 2}}}]}) == {
        "/steps/0/args/x": "INVALID_PLAN"
    }


def test_fault_is_written_without_what_is_not_set() -> None:
    fault = check_plan(ThoughtPlan(), CheckContext(tools={})).faults[0]
    assert fault_json(fault) == {
        "code": "EMPTY_PLAN", "stage": "plan", "message": "The plan has no step.", "field": "/steps",
        "suggestion": fault.suggestion,
    }  # fmt: skip


words = st.text("abcdefgh", min_size=1, max_size=4)
pointer_texts = st.lists(words | st.sampled_from(["a/b", "m~n", "0"]), max_size=3).map(
    lambda tokens: "".join("/" + token.replace("~", "~0").replace("/", "~1") for token in tokens)
)
scalars = (
    st.none() | st.booleans() | st.integers() | st.decimals(allow_nan=False, allow_infinity=False, places=2) | words
)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(words, inner, max_size=2), max_leaves=4
)
spans = st.builds(QuerySpan, turn=st.integers(0, 9), start=st.integers(0, 99), end=st.integers(0, 99), text=words)
states = st.builds(StatePath, pointer=pointer_texts)
references = st.builds(StepOutput, step_id=words | st.sampled_from(["2.t1", "odd/id"]), pointer=pointer_texts)
given_inputs = st.builds(InputValue, input_id=words, pointer=pointer_texts)
items = st.builds(ItemValue, pointer=pointer_texts)
part_sources = st.builds(Literal, text=words) | spans | states | references | given_inputs | items
sources = st.one_of(
    spans, states, references, given_inputs, items,
    st.builds(ContractValue, kind=st.sampled_from(ContractValueKind), pointer=pointer_texts),
    st.builds(RequestClock),
    st.builds(Template, parts=st.lists(st.builds(TemplatePart, source=part_sources), max_size=3).map(tuple)),
    st.builds(Generated, text=words),
)  # fmt: skip
converts = st.none() | st.builds(
    Convert, to=words, options=st.just(ABSENT) | st.dictionaries(words, scalars, max_size=2)
)
pointed = st.builds(Binding, pointer=st.just(""), source=sources, convert=converts, value=st.just(ABSENT) | values)
literals = st.builds(Binding, pointer=st.just(""), source=st.none(), convert=converts, value=values)


@st.composite
def bindings_of_a_step(draw: st.DrawFn) -> tuple[Binding, ...]:
    names = draw(st.lists(words, max_size=3, unique=True))
    made = []
    for name in names:
        tails = draw(st.sampled_from([("",), ("/x", "/y/z"), ("/0", "/1")]))
        made += [
            Binding(pointer=f"/{name}{tail}", source=one.source, convert=one.convert, value=one.value)
            for tail in tails
            for one in [draw(pointed | literals)]
        ]
    return tuple(made)


steps = st.builds(
    PlanStep,
    step_id=words, description=st.text(max_size=4), tool=words, bindings=bindings_of_a_step(),
    depends_on=st.lists(words, max_size=2).map(tuple), input_sources=st.lists(words, max_size=2).map(tuple),
    output_schema=st.just(ABSENT) | values, expect=st.just(ABSENT) | values, when=st.just(ABSENT) | values,
    for_each=st.none() | st.builds(ForEach, items=st.none() | references, max_items=st.integers(0, 9)),
    optional=st.booleans(), timeout_seconds=st.none() | st.sampled_from([0.5, 3.0]),
    projection=st.sampled_from(["", "is_vip"]),
)  # fmt: skip
usages = st.builds(Usage, input_tokens=st.integers(0, 10**6), model_time_seconds=st.none() | st.floats(0, 86_400))
plans = st.builds(
    ThoughtPlan,
    version=st.just("1.0"), thought_id=words, run_id=words, iteration=st.integers(0, 9),
    created_at=st.none() | st.datetimes(timezones=st.just(UTC)), catalogue_digest=words, planner=words,
    reasoning=st.none() | st.builds(Reasoning, known=st.lists(words).map(tuple), why=words),
    steps=st.lists(steps, max_size=3).map(tuple), state_snapshot=st.just(ABSENT) | values,
    final_output_schema=st.just(ABSENT) | values, tainted_context=st.booleans(),
    decision=st.none() | st.builds(Decision, kind=st.sampled_from(DecisionKind), fit=st.floats(0, 1)),
    model=words, usage=st.none() | usages, content_ref=words,
)  # fmt: skip


@given(plans)
def test_plan_survives_its_json_text(plan: ThoughtPlan) -> None:
    assert plan_from_text(dumps(plan_to_json(plan))) == plan


@pytest.mark.parametrize("seconds", [-1, 86_401])
def test_a_time_beyond_a_day_is_no_models(seconds: int) -> None:
    with pytest.raises(PlanFormInvalid) as invalid:
        plan_from_json({"steps": [], "usage": {"model_time_seconds": seconds}})
    assert [fault.field for fault in invalid.value.faults] == ["/usage/model_time_seconds"]


def test_exact_decimals_are_part_of_the_property() -> None:
    plan = plan_from_json({"steps": [{"id": "a", "tool": "t", "args": {"n": Decimal("0.10")}}]})
    assert str(plan.steps[0].bindings[0].value) == "0.10"
