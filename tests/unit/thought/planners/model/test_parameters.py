"""Parameters are read through references and alternatives, by position, and never without end."""

from __future__ import annotations

import time
from typing import Any

import pytest

from taoloop.plan.model import ContractValueKind
from taoloop.thought.planners.model.parameters import MAX_NODES, Parameter, ParameterKind, alone, parameters_of
from taoloop.thought.planners.model.places import MAX_PLACES, places_of_schema, places_of_value
from taoloop.tools.signature import ToolSignature


def read(schema: dict[str, Any]) -> dict[str, Parameter]:
    tool = ToolSignature(name="t", description="", parameters=schema)
    return {parameter.name: parameter for parameter in parameters_of(tool)}


def count(parameters: tuple[Parameter, ...]) -> int:
    return sum(1 + count(parameter.members) for parameter in parameters)


def test_required_parameters_come_first_in_the_order_that_requires_them() -> None:
    found = read({"properties": {"a": {}, "b": {}, "c": {}}, "required": ["c", "b", "gone"]})

    assert list(found) == ["c", "b", "a"]
    assert [parameter.is_required for parameter in found.values()] == [True, True, False]


def test_references_and_all_of_are_laid_together() -> None:
    found = read(
        {
            "allOf": [{"properties": {"day": {"$ref": "#/$defs/day", "description": "Day of arrival"}}}],
            "$defs": {"day": {"type": "string", "format": "date"}},
        }
    )["day"]

    assert found.kind is ParameterKind.LEAF
    assert (found.schema["format"], found.description) == ("date", "Day of arrival")
    assert found.compiled is not None
    assert not found.compiled.is_valid("soon")


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_null_as_an_alternative_changes_nothing(keyword: str) -> None:
    inner = {"type": "object", "properties": {"x": {"enum": ["p", "q"]}}}
    found = read({"properties": {"o": {keyword: [{"type": "null"}, inner]}}})["o"]

    assert found.kind is ParameterKind.OBJECT
    assert [(c.number, c.pointer) for c in found.members[0].choices] == [
        (1, f"/properties/o/{keyword}/1/properties/x/enum/0"),
        (2, f"/properties/o/{keyword}/1/properties/x/enum/1"),
    ]


def test_a_constant_is_a_choice_and_so_is_a_default() -> None:
    found = read({"properties": {"c": {"const": 7}, "d": {"default": "x"}}})

    assert [(choice.number, choice.kind, choice.value) for choice in found["c"].choices] == [
        (0, ContractValueKind.CONST, 7)
    ]
    assert found["d"].choices[0].pointer == "/properties/d/default"


def test_what_is_not_described_can_only_be_pointed_at() -> None:
    found = read({"properties": {"o": {"type": "object"}, "l": {"type": "array"}, "any": {}}})

    assert [found[name].kind for name in ("o", "l", "any")] == [
        ParameterKind.OPAQUE,
        ParameterKind.OPAQUE,
        ParameterKind.LEAF,
    ]


def test_a_recursive_schema_has_an_end() -> None:
    names = {f"n{number}": {"$ref": "#"} for number in range(50)}
    began = time.process_time()
    found = read({"type": "object", "properties": names})

    assert count(tuple(found.values())) <= MAX_NODES + 60 * 50
    assert time.process_time() - began < 6.0
    assert len(places_of_schema({"type": "object", "properties": names})) == MAX_PLACES


def test_places_of_results_and_values_have_short_names() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"properties": {"b": {}}}}}}

    assert [place.name for place in places_of_schema(schema)] == [".", "a", "a.0", "a.0.b"]
    assert [place.pointer for place in places_of_value({"x": [{"y/z": 1}], "n": None})] == [
        "/x",
        "/n",
        "/x/0",
        "/x/0/y~1z",
    ]
    assert [place.name for place in places_of_value([1])] == [".", "0"]


def test_a_part_of_a_schema_takes_the_definitions_along_that_it_refers_to() -> None:
    root = {"$defs": {"d": {"type": "string"}}}

    assert alone({"items": {"$ref": "#/$defs/d"}}, root) == {"items": {"$ref": "#/$defs/d"}, **root}
    assert alone({"type": "string"}, root) == {"type": "string"}
