"""Rules of schemas carried into contracts."""

from __future__ import annotations

from typing import Any

import pytest

from taoloop.tools.importing.findings import Notes
from taoloop.tools.importing.openapi import OpenApiDocument
from taoloop.tools.importing.openapi.schemas import MAX_NODES, Direction, SchemaConverter
from taoloop.tools.schema_refusals import subschemas
from taoloop.tools.schemas import CompiledSchema


def convert(
    schema: Any, *, version: str = "3.1", direction: Direction = Direction.RESPONSE, **schemas: Any
) -> tuple[Any, list[str]]:
    """Return a converted schema and the codes of what was noted."""
    notes = Notes()
    root = OpenApiDocument(name="x", value={"components": {"schemas": schemas}}, version=version)
    converted = SchemaConverter(root, notes).converted(schema, "/schema", direction)
    CompiledSchema.compile(converted)
    return converted, [finding.code for finding in notes.findings]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "string", "enum": ["a"], "nullable": True}, {"type": ["string", "null"], "enum": ["a", None]}),
        (
            {"allOf": [{"type": "string"}], "nullable": True},
            {"anyOf": [{"allOf": [{"type": "string"}]}, {"type": "null"}]},
        ),
        ({"type": "number", "minimum": 1, "exclusiveMinimum": True}, {"type": "number", "exclusiveMinimum": 1}),
        ({"type": "number", "maximum": 1, "exclusiveMaximum": False}, {"type": "number", "maximum": 1}),
        ({"type": "string", "format": "byte"}, {"type": "string", "contentEncoding": "base64"}),
        ({"type": "integer", "format": "int64"}, {"type": "integer"}),
        ({"properties": {"a": {}}}, {"type": "object", "properties": {"a": {}}}),
        ({"type": "string", "xml": {}, "x-y": 1, "discriminator": {}}, {"type": "string"}),
    ],
)
def test_words_of_3_0_become_those_of_2020_12(old: Any, new: Any) -> None:
    assert convert(old, version="3.0") == (new, [])


def test_int32_gets_its_bounds() -> None:
    converted, _ = convert({"type": "integer", "format": "int32", "minimum": 0})
    assert converted == {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}


def test_examples_are_kept_where_values_are_sent() -> None:
    assert convert({"example": 1, "default": 2}, version="3.0", direction=Direction.REQUEST)[0] == {
        "examples": [1],
        "default": 2,
    }
    assert convert({"example": 1, "default": 2}, version="3.0")[0] == {}


@pytest.mark.parametrize("pattern", ["^(?=a)", "(?<!a)b", r"(a)\1", "(", r"\Aab"])
def test_a_pattern_that_may_not_run_is_dropped_and_told(pattern: str) -> None:
    assert convert({"type": "string", "pattern": pattern}) == ({"type": "string"}, ["PATTERN"])
    assert convert({"patternProperties": {pattern: {"type": "string"}}}) == ({"patternProperties": {}}, ["PATTERN"])


@pytest.mark.parametrize(
    "schema", [{"required": True}, {"type": "any"}, {"format": "isbn"}, {"enum": []}, {"minimum": "1"}, {"$id": "x"}]
)
def test_a_word_that_means_nothing_is_dropped_and_told(schema: Any) -> None:
    assert convert(schema) == ({}, ["SCHEMA_KEYWORD"])


def test_references_are_inlined_and_what_stands_beside_them_counts_since_3_1() -> None:
    named = {"type": "string", "description": "old"}
    reference = {"$ref": "#/components/schemas/Name", "description": "new", "maxLength": 3}
    assert convert(reference, version="3.0", Name=named)[0] == named
    converted, _ = convert(reference, Name=named)
    assert converted == {"maxLength": 3, "description": "new", "allOf": [named]}


def test_a_schema_that_contains_itself_is_cut_where_it_does() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}, "id": {"type": "string"}}}
    converted, noted = convert({"$ref": "#/components/schemas/Node"}, Node=node)
    assert converted["properties"] == {"next": {"type": "object"}, "id": {"type": "string"}}
    assert noted == ["SCHEMA_RECURSION"]


def test_a_schema_of_nothing_but_itself_is_cut() -> None:
    assert convert({"$ref": "#/components/schemas/A"}, A={"$ref": "#/components/schemas/A"}) == (
        {},
        ["SCHEMA_RECURSION"],
    )


@pytest.mark.parametrize("reference", ["#/components/schemas/None", "http://x.example/y.json", "other.json#/a"])
def test_a_reference_that_leads_nowhere_is_an_error(reference: str) -> None:
    assert convert({"$ref": reference}) == ({}, ["REFERENCE"])


def test_a_schema_that_doubles_with_every_level_stays_within_its_bound() -> None:
    levels: dict[str, Any] = {
        f"L{number}": {"properties": {name: {"$ref": f"#/components/schemas/L{number + 1}"} for name in ("a", "b")}}
        for number in range(40)
    }
    converted, noted = convert({"$ref": "#/components/schemas/L0"}, **levels, L40={"type": "string"})
    assert sum(1 for _ in subschemas(converted)) <= 3 * MAX_NODES
    assert noted == ["SCHEMA_TOO_LARGE"]


def test_a_schema_that_lost_something_accepts_all_that_the_whole_one_does() -> None:
    branch = {"type": "string", "pattern": "^(?=a)"}
    schema = {"oneOf": [branch, {"type": "string", "pattern": "^b"}], "not": {"pattern": "(?!x)y"}}
    converted, _ = convert(schema)
    assert converted == {"anyOf": [{"type": "string"}, {"type": "string", "pattern": "^b"}]}
    assert CompiledSchema.compile(converted).violations("b") == ()


def test_one_of_stays_when_nothing_was_lost() -> None:
    schema = {"oneOf": [{"type": "string"}, {"type": "integer"}]}
    assert convert(schema) == (schema, [])


def test_what_travels_only_the_other_way_is_left_out() -> None:
    schema = {
        "type": "object",
        "required": ["id", "secret"],
        "properties": {"id": {"type": "string", "readOnly": True}, "secret": {"type": "string", "writeOnly": True}},
    }
    sent, _ = convert(schema, direction=Direction.REQUEST)
    got, _ = convert(schema)
    assert (list(sent["properties"]), sent["required"]) == (["secret"], ["secret"])
    assert (list(got["properties"]), got["required"]) == (["id"], ["id"])
