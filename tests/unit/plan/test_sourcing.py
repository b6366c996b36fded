"""Sources for literals."""

from __future__ import annotations

from typing import Any

import pytest

from taoloop.plan.check import CheckContext, check_plan
from taoloop.plan.form.json_form import plan_from_json
from taoloop.plan.model import Binding, ContractValue, ContractValueKind, Convert, Generated, QuerySpan
from taoloop.plan.sourcing import source_literals
from taoloop.plan.task import Role, Turn
from taoloop.tools.signature import ToolSignature

TOOLS = {
    "t": ToolSignature(
        name="t",
        description="",
        parameters={
            "type": "object",
            "properties": {
                "id": {"type": "string"},
                "n": {"type": "number"},
                "state": {"type": "string", "enum": ["open", "shut"]},
                "unit": {"$ref": "#/$defs/unit"},
                "flag": {"type": "boolean", "default": False},
                "text": {"type": "string", "x-taoloop-source": ["generated"]},
                "tags": {"type": "array", "items": {"type": "string", "enum": ["x", "y"]}},
            },
            "$defs": {"unit": {"const": "kg"}},
        },
    )
}
TURNS = (Turn(role=Role.USER, text="is A10 open? A100 costs 3, not 12.5, cat"), Turn(role=Role.ASSISTANT, text="B7"))


def sourced(args: Any) -> Binding:
    plan = plan_from_json({"steps": [{"id": "a", "tool": "t", "args": args}]})
    return source_literals(plan, TOOLS, TURNS).steps[0].bindings[0]


@pytest.mark.parametrize(
    ("args", "kind", "pointer"),
    [
        ({"state": "open"}, ContractValueKind.ENUM, "/properties/state/enum/0"),
        ({"unit": "kg"}, ContractValueKind.CONST, "/$defs/unit/const"),
        ({"flag": False}, ContractValueKind.DEFAULT, "/properties/flag/default"),
        ({"tags": ["y"]}, ContractValueKind.ENUM, "/properties/tags/items/enum/1"),
    ],
)
def test_value_that_the_schema_offers_becomes_a_contract_value(args: Any, kind: Any, pointer: str) -> None:
    assert sourced(args).source == ContractValue(kind=kind, pointer=pointer)


def test_text_of_the_user_becomes_a_span_of_whole_words() -> None:
    assert sourced({"id": "A10"}).source == QuerySpan(turn=0, start=3, end=6, text="A10")
    assert sourced({"id": "A100"}).source == QuerySpan(turn=0, start=13, end=17, text="A100")
    for missing in ("A1", "at", "B7", ""):
        assert sourced({"id": missing}).source is None


def test_number_of_the_user_becomes_a_span_with_its_conversion() -> None:
    found = sourced({"n": 3})
    assert (found.source, found.convert, found.value) == (
        QuerySpan(turn=0, start=24, end=25, text="3"), Convert(to="integer"), 3,
    )  # fmt: skip
    assert sourced({"n": 12}).source is None


def test_text_becomes_generated_only_where_the_contract_lists_it() -> None:
    assert sourced({"text": "A100"}).source == Generated(text="A100")
    assert sourced({"id": "made up"}).source is None


def test_literal_without_a_source_is_refused_by_the_check_with_its_request() -> None:
    plan = plan_from_json({"steps": [{"id": "a", "tool": "t", "args": {"id": "made up", "state": "open"}}]})
    verdict = check_plan(source_literals(plan, TOOLS, TURNS), CheckContext(tools=TOOLS, turns=TURNS))
    assert [(fault.code, fault.field) for fault in verdict.faults] == [("SOURCE_NOT_ALLOWED", "/steps/0/args/id")]


@pytest.mark.parametrize("args", [{"nope": "x"}, {"id": None}, {"id": ["A100"]}])
def test_what_cannot_be_sourced_stays_as_it_is(args: Any) -> None:
    assert sourced(args).source is None
