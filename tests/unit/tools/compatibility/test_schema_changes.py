"""Which changes of a schema break those who send values, and which those who read them."""

from __future__ import annotations

from typing import Any

import pytest

from taoloop.tools.compatibility.schema_changes import SchemaSide, schema_changes


def properties(required: tuple[str, ...] = (), **schemas: Any) -> dict[str, Any]:
    """Return the schema of a closed object."""
    return {"type": "object", "required": list(required), "additionalProperties": False, "properties": schemas}


TEXT, NUMBER = {"type": "string"}, {"type": "number"}

CASES: dict[str, tuple[Any, Any, str, bool, bool]] = {
    "field removed": (properties(a=TEXT, b=TEXT), properties(a=TEXT), "FIELD_REMOVED", True, True),
    "optional field added": (properties(a=TEXT), properties(a=TEXT, b=TEXT), "FIELD_ADDED", False, False),
    "required field added": (properties(), properties(("b",), b=TEXT), "FIELD_ADDED", True, False),
    "now required": (properties(a=TEXT), properties(("a",), a=TEXT), "REQUIRED_CHANGED", True, False),
    "no longer required": (properties(("a",), a=TEXT), properties(a=TEXT), "REQUIRED_CHANGED", False, True),
    "type changed": (properties(a=TEXT), properties(a=NUMBER), "TYPE_CHANGED", True, True),
    "type widened": (properties(a=TEXT), properties(a={"type": ["string", "null"]}), "TYPE_CHANGED", False, True),
    "type narrowed": (NUMBER, {"type": "integer"}, "TYPE_CHANGED", True, False),
    "value gone": ({"enum": ["a", "b"]}, {"enum": ["a"]}, "VALUES_CHANGED", True, False),
    "value new": ({"enum": ["a"]}, {"enum": ["a", "b"]}, "VALUES_CHANGED", False, False),
    "values listed": ({}, {"enum": ["a"]}, "VALUES_CHANGED", True, False),
    "values no longer listed": ({"enum": ["a"]}, {}, "VALUES_CHANGED", False, True),
    "minimum raised": ({"minimum": 1}, {"minimum": 2}, "BOUND_CHANGED", True, False),
    "minimum lowered": ({"minimum": 2}, {"minimum": 1}, "BOUND_CHANGED", False, False),
    "maximum lowered": ({"maxLength": 9}, {"maxLength": 8}, "BOUND_CHANGED", True, False),
    "maximum new": ({}, {"maxItems": 8}, "BOUND_CHANGED", True, False),
    "pattern new": (TEXT, {"type": "string", "pattern": "a"}, "CONSTRAINT_CHANGED", True, False),
    "pattern gone": ({"pattern": "a"}, {}, "CONSTRAINT_CHANGED", False, False),
    "format changed": ({"format": "date"}, {"format": "date-time"}, "CONSTRAINT_CHANGED", True, True),
    "format gone": ({"format": "date"}, {}, "CONSTRAINT_CHANGED", False, True),
    "any of changed": ({"anyOf": [TEXT]}, {"anyOf": [NUMBER]}, "SCHEMA_CHANGED", True, True),
    "closed": ({"type": "object"}, properties(), "OPENNESS_CHANGED", True, False),
    "items": ({"items": TEXT}, {"items": NUMBER}, "TYPE_CHANGED", True, True),
    "reference": ({"$ref": "#/$defs/a", "$defs": {"a": TEXT}}, NUMBER, "TYPE_CHANGED", True, True),
    "nothing allowed": (True, False, "SCHEMA_CHANGED", True, False),
}


@pytest.mark.parametrize(("old", "new", "code", "breaks_input", "breaks_output"), CASES.values(), ids=CASES.keys())
def test_a_change_breaks_the_side_that_it_hurts(
    old: Any, new: Any, code: str, breaks_input: bool, breaks_output: bool
) -> None:
    (as_input,) = schema_changes(old, new, SchemaSide.INPUT)
    (as_output,) = schema_changes(old, new, SchemaSide.OUTPUT)
    assert (as_input.code, as_input.is_breaking, as_output.is_breaking) == (code, breaks_input, breaks_output)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"description": "a", "type": "string"}, {"description": "b", "type": "string"}),
        ({"enum": ["a", "b"]}, {"enum": ["b", "a"]}),
        ({"minimum": 1}, {"minimum": 1.0}),
        ({"$ref": "#/$defs/a", "$defs": {"a": TEXT}}, TEXT),
        ({"anyOf": [{"type": "string", "description": "a"}]}, {"anyOf": [{"type": "string"}]}),
        ({"type": "number"}, {"type": ["integer", "number"]}),
    ],
)
def test_words_and_order_are_no_change(old: Any, new: Any) -> None:
    assert list(schema_changes(old, new, SchemaSide.INPUT)) == []


def test_a_change_deep_inside_has_its_place() -> None:
    old, new = properties(a={"items": properties(b=TEXT)}), properties(a={"items": properties(b=NUMBER)})
    (change,) = schema_changes(old, new, SchemaSide.OUTPUT)
    assert change.pointer == "/a/*/b"
    assert change.message == "the type was string and is integer or number"


def test_a_schema_that_refers_to_itself_is_compared_to_an_end() -> None:
    node: dict[str, Any] = {"$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}}}}, "$ref": "#/$defs/n"}
    other: dict[str, Any] = {
        "$defs": {"n": {"properties": {"next": {"$ref": "#/$defs/n"}}, "maxProperties": 1}},
        "$ref": "#/$defs/n",
    }
    assert list(schema_changes(node, other, SchemaSide.INPUT))
