"""Resolving of bindings into arguments."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from taoloop.core.exact_json import dumps, loads
from taoloop.plan.form.json_form import plan_from_json
from taoloop.plan.model import Binding, PlanStep
from taoloop.plan.resolve import Resolution, ResolveContext, StepResult, resolve_step
from taoloop.plan.task import ProvidedInput, Role, Turn
from taoloop.tools.schemas import CompiledSchema
from taoloop.tools.signature import Trust
from taoloop.values.conversions import ConversionContext

OPEN = CompiledSchema.compile({"type": "object"})
RESULTS = {
    "s1": StepResult(
        {"id": 901, "price": Decimal("0.10"), "no": 12345678901234567, "tags": ["a"], "none": None}, Trust.TRUSTED
    ),
    "2.w": StepResult({"page": "text"}, Trust.UNTRUSTED),
}  # fmt: skip
CONTEXT = ResolveContext(
    parameters=OPEN,
    turns=(Turn(role=Role.USER, text="订单 A100，昨天，3 件"),),
    state={"user": {"id": "u1"}},
    results=RESULTS,
    inputs=tuple(ProvidedInput(input_id="i1", values={"day": day}) for day in ("old", "2024-01-02")),
    conversion=ConversionContext(
        reference_time=datetime(2026, 3, 11, 20, tzinfo=UTC), time_zone="Asia/Shanghai", locale="zh-CN"
    ),
)  # fmt: skip


def resolved(args: Any, schema: Any = None, **changes: Any) -> Any:
    step = plan_from_json({"steps": [{"id": "x", "tool": "t", "args": args}]}, CONTEXT.turns).steps[0]
    values = {name: getattr(CONTEXT, name) for name in CONTEXT.__slots__}
    if schema is not None:
        values["parameters"] = CompiledSchema.compile(schema)
    return resolve_step(step, ResolveContext(**{**values, **changes}))


def arguments(args: Any, schema: Any = None) -> Any:
    result = resolved(args, schema)
    assert isinstance(result, Resolution), result
    return result.arguments


def faults(args: Any, schema: Any = None) -> list[tuple[str, str]]:
    result = resolved(args, schema)
    assert isinstance(result, tuple), result
    return [(str(fault.code), fault.field) for fault in result]


def test_reference_that_is_the_whole_value_keeps_its_type() -> None:
    # Case C052-1.
    assert arguments({"filter": {"id": {"$ref": "s1/id"}}}) == {"filter": {"id": 901}}
    assert arguments({"x": {"$ref": "s1/tags"}, "y": {"$ref": "s1/none"}}) == {"x": ["a"], "y": None}


def test_numbers_come_through_digit_for_digit() -> None:
    args = {"no": {"$ref": "s1/no"}, "price": {"$ref": "s1/price"}}
    assert dumps(arguments(args)) == '{"no":12345678901234567,"price":0.10}'


def test_reference_inside_of_a_template_becomes_text() -> None:
    args = {"x": {"$template": ["#", {"$ref": "s1/id"}, "/", {"$ref": "s1/price"}, {"$query": "A100"}]}}
    assert arguments(args) == {"x": "#901/0.10A100"}
    assert faults({"x": {"$template": [{"$ref": "s1/none"}]}}) == [("CONVERSION_REFUSED", "/x")]


def test_every_kind_of_source_gives_its_value() -> None:
    schema = {"properties": {"state": {"enum": ["open", "shut"]}, "lang": {"default": "zh"}}}
    args = {
        "query": {"$query": "A100"}, "user": {"$state": "/user/id"},
        "day": {"$input": {"input_id": "i1", "pointer": "/day"}},
        "state": {"$enum": 1}, "lang": {"$default": True}, "now": {"$clock": True}, "text": {"$generated": "hi"},
    }  # fmt: skip
    result = resolved(args, schema)
    assert result.arguments == {
        "query": "A100", "user": "u1", "day": "2024-01-02", "state": "shut", "lang": "zh",
        "now": "2026-03-12T04:00:00+08:00", "text": "hi",
    }  # fmt: skip
    assert [entry.source for entry in result.provenance] == [
        "query_span", "state_path", "input_value", "contract_value", "contract_value", "request_clock", "generated",
    ]  # fmt: skip


def test_conversion_is_done_by_code_and_must_come_to_the_expected_value() -> None:
    args = {"day": {"$query": "昨天", "convert": "date", "value": "2026-03-11"}}
    assert arguments(args) == {"day": "2026-03-11"}
    args["day"]["value"] = "2026-03-10"
    result = resolved(args)
    assert (result[0].code, result[0].expected, result[0].actual) == ("VALUE_MISMATCH", "2026-03-10", "2026-03-11")


def test_expected_number_may_be_spelt_otherwise() -> None:
    assert arguments({"x": {"$ref": "s1/price", "value": loads("1e-1")}}) == {"x": Decimal("0.10")}


def test_refused_conversion_names_the_candidates() -> None:
    result = resolved({"x": {"$ref": "s1/tags/0", "convert": "date"}, "y": {"$literal": "x"}})
    assert [(str(fault.code), fault.field) for fault in result] == [
        ("CONVERSION_REFUSED", "/x"), ("UNRESOLVED_REFERENCE", "/y"),
    ]  # fmt: skip
    enum = {"to": "enum", "options": {"values": ["open", "shut"]}}
    assert resolved({"x": {"$query": "A100", "convert": enum}})[0].candidates == ("open", "shut")


@pytest.mark.parametrize(
    "source",
    [
        {"$ref": "s1/nope"}, {"$ref": "s9/id"}, {"$state": "/nope"}, {"$input": {"input_id": "i2", "pointer": ""}},
        {"$default": True}, {"$query": [0, 5, 99]},
    ],
)  # fmt: skip
def test_place_that_holds_nothing_fails_the_step(source: Any) -> None:
    assert faults({"x": source}) == [("UNRESOLVED_REFERENCE", "/x")]


def test_every_binding_that_fails_is_reported_with_the_step_it_came_from() -> None:
    result = resolved({"a": {"$ref": "s1/nope"}, "b": {"$ref": "s1/id"}, "c": {"$state": "/no"}})
    assert [(fault.field, fault.cause_step_id) for fault in result] == [("/a", "s1"), ("/c", "")]


def test_arguments_must_keep_the_parameter_schema() -> None:
    schema = {
        "type": "object", "required": ["order_id", "n"], "additionalProperties": False,
        "properties": {"order_id": {"type": "string", "minLength": 12}, "n": {"type": "integer"}},
    }  # fmt: skip
    result = resolved({"order_id": {"$query": "A100"}, "n": {"$query": "3", "convert": "integer"}}, schema)
    assert [(str(fault.code), fault.field, fault.expected, fault.actual) for fault in result] == [
        ("INVALID_PARAMETER", "/order_id", 12, "A100")
    ]


def test_arrays_are_made_where_the_schema_says_so_in_the_order_of_their_indexes() -> None:
    items = {"type": "array", "items": {"type": "object", "properties": {"id": {}}}}
    schema: Any = {"type": "object", "properties": {"items": items}}
    args = {"items": [{"id": {"$ref": "s1/id"}}, {"id": {"$ref": "s1/no"}}]}
    assert arguments(args, schema) == {"items": [{"id": 901}, {"id": 12345678901234567}]}
    step = PlanStep(
        step_id="x", tool="t",
        bindings=tuple(Binding(pointer=f"/items/{n}/id", source=_ref("/id")) for n in range(11, -1, -1)),
    )  # fmt: skip
    result = resolve_step(step, ResolveContext(parameters=CompiledSchema.compile(schema), results=RESULTS))
    assert isinstance(result, Resolution)
    assert result.arguments == {"items": [{"id": 901}] * 12}


def _ref(pointer: str) -> Any:
    step: Any = {"id": "x", "tool": "t", "args": {"a": {"$ref": {"step": "s1", "pointer": pointer}}}}
    return plan_from_json({"steps": [step]}).steps[0].bindings[0].source


def test_hole_in_an_array_is_a_fault() -> None:
    step = PlanStep(step_id="x", tool="t", bindings=(Binding(pointer="/items/1", source=_ref("/id")),))
    schema = CompiledSchema.compile({"type": "object", "properties": {"items": {"type": "array"}}})
    result = resolve_step(step, ResolveContext(parameters=schema, results=RESULTS))
    assert isinstance(result, tuple)
    assert (result[0].code, result[0].field) == ("INVALID_PARAMETER", "/items/1")


def test_provenance_names_the_untrusted_step() -> None:
    args = {
        "a": {"$ref": "2.w/page"},
        "b": {"$ref": "s1/id"},
        "c": {"$template": [{"$ref": "s1/id"}, {"$ref": "2.w/page"}]},
    }
    provenance = resolved(args).provenance
    assert [(entry.pointer, entry.step_id, entry.trust.value) for entry in provenance] == [
        ("/a", "2.w", "untrusted"), ("/b", "s1", "trusted"), ("/c", "2.w", "untrusted"),
    ]  # fmt: skip


def test_generated_text_is_untrusted_in_a_tainted_context() -> None:
    args = {"a": {"$generated": "x"}, "b": {"$query": "A100"}}
    trusts = [entry.trust for entry in resolved(args, tainted_context=True).provenance]
    assert trusts == [Trust.UNTRUSTED, Trust.TRUSTED]


def test_results_are_not_changed_by_what_is_assembled() -> None:
    whole = Binding(pointer="/x", source=_ref(""))
    inner = Binding(pointer="/x/tags", source=_ref("/id"))
    resolve_step(PlanStep(step_id="x", tool="t", bindings=(whole, inner)), CONTEXT)
    assert isinstance(RESULTS["s1"].data, dict)
    assert RESULTS["s1"].data["tags"] == ["a"]
