"""Rules of checking the arguments of a plan's steps: what stands where, and where it comes from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from taoloop.plan.check import check_plan
from taoloop.plan.form.json_form import plan_from_json
from taoloop.plan.model import Binding, ContractValue, ContractValueKind, PlanStep, StepOutput, ThoughtPlan
from taoloop.plan.task import ProvidedInput
from tests.unit.plan.checking import A100, TOOLS, TURNS, context, faults, full_faults, step


@pytest.mark.parametrize(
    ("args", "code", "field"),
    [
        ({}, "MISSING_PARAMETER", "/id"),
        ({"id": "x1y", "filter": {"b": "x"}}, "MISSING_PARAMETER", "/filter/a"),
        ({"id": "x1y", "filter": {"a": "x", "c": "x"}}, "UNKNOWN_PARAMETER", "/filter/c"),
        ({"id": "x1y", "limits": 1}, "UNKNOWN_PARAMETER", "/limits"),
        ({"id": "x"}, "INVALID_PARAMETER", "/id"),
        ({"id": "x1y", "limit": "1"}, "INVALID_PARAMETER", "/limit"),
        ({"id": "x1y", "state": "ajar"}, "INVALID_PARAMETER", "/state"),
        ({"id": "x1y", "day": "2024-02-30"}, "INVALID_PARAMETER", "/day"),
        ({"id": {"$ref": "a/count"}}, "TYPE_MISMATCH", "/id"),
        ({"id": "x1y", "limit": {"$ref": "a/id"}}, "TYPE_MISMATCH", "/limit"),
        ({"id": "x1y", "numbers": {"$ref": "a/tags"}}, "TYPE_MISMATCH", "/numbers"),
        ({"id": "x1y", "day": {"$ref": "a/when"}}, "TYPE_MISMATCH", "/day"),
        ({"id": {"$ref": "a/nope"}}, "UNKNOWN_REFERENCE", "/id"),
        ({"id": {"$ref": "a/lines/0/nope"}}, "UNKNOWN_REFERENCE", "/id"),
        ({"id": {"$ref": "q/id"}}, "UNKNOWN_REFERENCE", "/id"),
        ({"id": {"$template": [{"$ref": "a/nope"}]}}, "UNKNOWN_REFERENCE", "/id"),
        ({"id": "x1y", "limit": {"$generated": "5"}}, "SOURCE_NOT_ALLOWED", "/limit"),
        ({"id": {"$template": ["order ", {"$ref": "a/id"}]}}, "SOURCE_NOT_ALLOWED", "/id"),
        ({"id": "x1y", "own": {"$ref": "a/id"}}, "SOURCE_NOT_ALLOWED", "/own"),
        ({"id": {"$ref": "a/id", "convert": "phone"}}, "INVALID_PLAN", "/id/convert"),
        (
            {"id": {"$ref": "a/id", "convert": {"to": "date", "options": {"order": "YDM"}}}},
            "INVALID_PLAN",
            "/id/convert",
        ),
        ({"id": "x1y", "state": {"$ref": "a/id", "convert": "enum"}}, "INVALID_PLAN", "/state/convert"),
        ({"id": "x1y", "limit": {"$clock": True}}, "TYPE_MISMATCH", "/limit"),
        ({"id": "x1y", "state": {"$enum": 2}}, "UNKNOWN_REFERENCE", "/state"),
        ({"id": "x1y", "state": {"$default": True}}, "UNKNOWN_REFERENCE", "/state"),
        ({"id": {"$ref": "a/id", "convert": "integer"}}, "TYPE_MISMATCH", "/id"),
    ],
)
def test_argument_that_cannot_be_is_refused_at_its_place(args: Any, code: str, field: str) -> None:
    found = faults(step("a", "find"), step("b", "get", args, ["a"]))
    assert (code, f"/steps/1/args{field}") in found
    assert all(place.startswith(f"/steps/1/args{field}") for _, place in found)


@pytest.mark.parametrize(
    "args",
    [
        {"id": {"$ref": "a/id"}},
        {"id": {"$ref": "a/note"}},
        {"id": {"$ref": "a/lines/0/sku"}},
        {"id": "x1y", "price": {"$ref": "a/count"}},
        {"id": "x1y", "limit": {"$ref": "a/id", "convert": "integer"}},
        {"id": "x1y", "day": {"$ref": "a/when", "convert": "date"}},
        {"id": "x1y", "state": {"$enum": 1}},
        {"id": {"$template": [{"$ref": "a/id"}, "-", {"$ref": "a/count"}]}},
        {"id": "x1y", "free": {"$generated": "words of a model"}},
        {"id": "x1y", "filter": {"a": "x"}},
    ],
)
def test_argument_that_can_be_is_accepted(args: Any) -> None:
    assert faults(step("a", "find"), step("b", "get", args, ["a"])) == []


def test_type_mismatch_names_both_sides() -> None:
    (fault,) = full_faults(step("a", "find"), step("b", "get", {"id": "xyz", "limit": {"$ref": "a/id"}}, ["a"]))
    assert (fault.expected, fault.actual) == ({"type": "integer"}, {"type": "string"})


def test_unknown_field_of_an_output_names_those_that_exist() -> None:
    (fault,) = full_faults(step("a", "find"), step("b", "get", {"id": {"$ref": "a/idd"}}, ["a"]))
    assert fault.candidates[0] == "/id"


def test_reference_needs_a_declared_dependency_direct_or_through_others() -> None:
    chain = [step("a", "find"), step("b", "get", {"id": "xyz"}, ["a"])]
    reference = {"id": {"$ref": "a/id"}}
    assert faults(*chain, step("c", "get", reference, ["b"])) == []
    assert faults(*chain, step("c", "get", reference)) == [("UNDECLARED_DEPENDENCY", "/steps/2/args/id")]
    assert faults(step("c", "get", {"id": {"$ref": "c/status"}})) == [("UNDECLARED_DEPENDENCY", "/steps/0/args/id")]


def test_output_of_a_tool_that_does_not_say_is_left_to_the_value() -> None:
    tools = {**TOOLS, "find": replace(TOOLS["find"], returns=None)}
    assert faults(step("a", "find"), step("b", "get", {"id": {"$ref": "a/x"}}, ["a"]), tools=tools) == []


def test_bindings_do_not_overlap() -> None:
    reference = StepOutput(step_id="a", pointer="/id")
    bindings = tuple(Binding(pointer=pointer, source=reference) for pointer in ("/id", "/filter", "/filter/a", "/id"))
    plan = plan_from_json({"steps": [step("a", "find")]})
    plan = replace(plan, steps=(*plan.steps, PlanStep(step_id="b", tool="get", bindings=bindings, depends_on=("a",))))
    found = [fault.field for fault in check_plan(plan, context()).faults if fault.code == "INVALID_PLAN"]
    assert found == ["/steps/1/args/filter/a", "/steps/1/args/id"]


@pytest.mark.parametrize("pointer", ["", "id", "/a~2"])
def test_binding_without_a_pointer_is_refused_and_not_a_crash(pointer: str) -> None:
    source = ContractValue(kind=ContractValueKind.ENUM, pointer="bad~")
    plan = ThoughtPlan(steps=(PlanStep(step_id="a", tool="find", bindings=(Binding(pointer=pointer, source=source),)),))
    codes = {fault.code for fault in check_plan(plan, context(turns=TURNS)).faults}
    assert "INVALID_PLAN" in codes


def test_span_must_be_the_text_that_stands_there() -> None:
    def with_span(start: int, end: int, text: str, turn: int = 0) -> list[tuple[str, str]]:
        span = {"turn": turn, "start": start, "end": end, "text": text}
        return faults(step("a", "find", {"text": {"$query": span}}), turns=TURNS)

    place = "/steps/0/args/text"
    assert with_span(6, 10, "A100") == []
    assert with_span(6, 10, "A101") == [("VALUE_MISMATCH", place)]
    assert with_span(6, 99, "A100") == [("UNKNOWN_REFERENCE", place)]
    assert with_span(6, 6, "") == [("UNKNOWN_REFERENCE", place)]
    assert with_span(6, 10, "A100", turn=1) == [("UNKNOWN_REFERENCE", place)]


def test_state_and_inputs_must_hold_a_value_of_the_right_type() -> None:
    request = {
        "turns": TURNS,
        "state": {"order": {"id": "A100", "n": 3}},
        "inputs": (ProvidedInput(input_id="i1", values={"id": 7}),),
    }  # fmt: skip
    place = "/steps/0/args/text"
    for source, wanted in [
        ({"$state": "/order/id"}, []),
        ({"$state": "/order/no"}, [("UNKNOWN_REFERENCE", place)]),
        ({"$state": "/order/n"}, [("TYPE_MISMATCH", place)]),
        ({"$input": {"input_id": "i1", "pointer": "/id"}}, [("TYPE_MISMATCH", place)]),
        ({"$input": {"input_id": "i1", "pointer": "/id"}, "convert": "string"}, []),
        ({"$input": {"input_id": "i2", "pointer": "/id"}}, [("UNKNOWN_REFERENCE", place)]),
    ]:
        assert faults(step("a", "find", {"text": source}), **request) == wanted


def test_literal_is_accepted_without_a_request_and_refused_with_one() -> None:
    assert faults(step("a", "find", {"text": "A100"})) == []
    assert faults(step("a", "find", {"text": "A100"}), turns=TURNS) == [("SOURCE_NOT_ALLOWED", "/steps/0/args/text")]
    unbound = ThoughtPlan(steps=(PlanStep(step_id="a", tool="find", bindings=(Binding(pointer="/text"),)),))
    assert [fault.code for fault in check_plan(unbound, context()).faults] == ["SOURCE_NOT_ALLOWED"]


def test_input_sources_allow_nothing_else() -> None:
    args = {"text": A100}
    assert faults(step("a", "find", args, input_sources=["user_query"]), turns=TURNS) == []
    assert faults(step("a", "find", args, input_sources=["session_state"]), turns=TURNS) == [
        ("SOURCE_NOT_ALLOWED", "/steps/0/args/text")
    ]
    chain = step("b", "get", {"id": {"$ref": "a/id"}}, ["a"], input_sources=["a"])
    assert faults(step("a", "find"), chain) == []
    assert faults(step("a", "find", input_sources=["user_qery"])) == [
        ("UNKNOWN_DEPENDENCY", "/steps/0/input_sources/0")
    ]
