"""What may stand at a pointer, and what fits where."""

from typing import Any

import pytest

from taoloop.tools.schema_paths import Shape, incompatibility, is_compatible, types_at

_ORDER: dict[str, Any] = {
    "type": "object",
    "required": ["id", "lines"],
    "$defs": {"line": {"type": "object", "required": ["sku"], "properties": {"sku": {"type": "string"}}}},
    "properties": {
        "id": {"type": "string"},
        "eta": {"type": "string", "format": "date-time"},
        "state": {"enum": ["open", "closed"]},
        "total": {"type": "number"},
        "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
        "pair": {"type": "array", "prefixItems": [{"type": "integer"}], "items": False},
        "payload": {"type": "object"},
        "either": {"anyOf": [{"type": "string"}, {"type": "object", "properties": {"x": {"type": "integer"}}}]},
        "both": {"allOf": [{"properties": {"a": {"type": "string"}}}, {"properties": {"b": {"type": "null"}}}]},
        "tags": {"type": "object", "additionalProperties": {"type": "boolean"}},
        "tree": {"$ref": "#"},
        "never": False,
    },
}


@pytest.mark.parametrize(
    ("pointer", "types"),
    [
        ("", {"object"}),
        ("/id", {"string"}),
        ("/total", {"number", "integer"}),
        ("/state", {"string"}),
        ("/lines/0/sku", {"string"}),
        ("/lines/17/sku", {"string"}),
        ("/pair/0", {"integer"}),
        ("/either", {"string", "object"}),
        ("/either/x", {"integer"}),
        ("/both/a", {"string"}),
        ("/both/b", {"null"}),
        ("/tags/anything", {"boolean"}),
        ("/tree/tree/id", {"string"}),
    ],
)
def test_the_types_at_a_place_that_exists(pointer: str, types: set[str]) -> None:
    shape = types_at(_ORDER, pointer)
    assert shape is not None
    assert shape.types == types


@pytest.mark.parametrize(
    "pointer", ["/nope", "/id/x", "/lines/sku", "/lines/-1", "/lines/0/nope", "/pair/1", "/both/c", "/never"]
)
def test_a_place_that_no_valid_document_has_is_none(pointer: str) -> None:
    assert types_at(_ORDER, pointer) is None


def test_an_object_that_declares_nothing_may_hold_anything() -> None:
    assert types_at(_ORDER, "/payload/any/thing") is not None
    assert types_at(True, "/any") is not None


def test_format_values_and_requirement_are_told() -> None:
    eta, state, sku = types_at(_ORDER, "/eta"), types_at(_ORDER, "/state"), types_at(_ORDER, "/id")
    assert eta is not None
    assert state is not None
    assert sku is not None
    assert (eta.formats, eta.is_required) == (frozenset({"date-time"}), False)
    assert state.values == ("open", "closed")
    assert sku.is_required


def test_a_schema_with_very_many_alternatives_is_answered_at_once() -> None:
    node: dict[str, Any] = {"type": "string"}
    for _ in range(25):
        node = {"allOf": [{"anyOf": [node, node]}, {"anyOf": [node, node]}]}
    assert types_at(node, "") is not None


def test_patterns_of_names_are_judged_in_linear_time() -> None:
    schema: Any = {"type": "object", "patternProperties": {"^(a+)+$": {"type": "string"}}, "properties": {}}
    assert types_at(schema, "/aaa") is not None
    assert types_at(schema, "/" + "a" * 40 + "!") is None


@pytest.mark.parametrize(
    ("source", "target", "fits"),
    [
        ({"type": "string"}, {"type": "string"}, True),
        ({"type": "integer"}, {"type": "number"}, True),
        ({"type": "number"}, {"type": "integer"}, True),
        ({"type": "string"}, {"type": "integer"}, False),
        ({"type": ["string", "null"]}, {"type": "string"}, True),
        ({"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}, False),
        ({"type": "string"}, {"type": "string", "format": "date"}, True),
        ({"enum": ["a", "b"]}, {"enum": ["b", "c"]}, True),
        ({"enum": ["a"]}, {"enum": ["b"]}, False),
        ({"enum": [1]}, {"const": 1.0}, True),
        ({"enum": [1]}, {"const": True}, False),
        ({}, {"type": "array"}, True),
        (False, {}, False),
    ],
)
def test_compatibility_asks_whether_some_value_fits(source: Any, target: Any, fits: bool) -> None:
    assert is_compatible(source, target) is fits


def test_the_reason_names_what_is_held_and_what_is_needed() -> None:
    source, target = Shape(types=frozenset({"integer", "number"})), Shape(types=frozenset({"array", "null"}))
    assert incompatibility(source, target) == "it holds number, and array or null is needed"
