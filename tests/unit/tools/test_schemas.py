"""Compiled schemas: what is refused at registration, and how values are judged."""

import time
from decimal import Decimal
from typing import Any

import pytest

from taoloop.core.exact_json import ABSENT, loads
from taoloop.tools.schemas import MAX_LISTED_NODES, CompiledSchema, SchemaRefused

_LIST: dict[str, Any] = {"type": "array", "items": {"type": "string", "pattern": "^[A-Z0-9]+$", "maxLength": 8}}
_MOMENT: dict[str, Any] = {"type": "string", "format": "date-time"}
_TREE: dict[str, Any] = {
    "$defs": {
        "n": {
            "type": "object",
            "properties": {"v": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/n"}}},
            "required": ["v"],
        }
    },
    "$ref": "#/$defs/n",
}


@pytest.mark.parametrize(
    ("case", "schema", "value", "is_valid"),
    [
        (
            "C010-1",
            {"type": "object", "properties": {"steps": {"type": "array", "maxItems": 2}}},
            {"steps": [1, 2, 3, 4]},
            False,
        ),
        ("C010-2", _LIST, ["ABCDEFGH1234"], False),
        ("C010-3", _LIST, ["ABCD1234"], True),
        ("C018-1", _MOMENT, "2025-03-01T10:00:00Z", True),
        ("C018-2", _MOMENT, "2025-03-01T10:00:00+02:00", True),
        ("C018-3", _MOMENT, "2025-03-01T10:00:00.250-08:00", True),
        ("C018-4", _MOMENT, "2025-03-01T10:00:00", False),
        ("C018-5", _MOMENT, "2025-060T01:00:00Z", False),
        ("C018-6", _MOMENT, "2025-03-01T10:00:00+0200", False),
        ("C018-7", _MOMENT, "2025-02-30T00:00:00Z", False),
        ("C018-8", _MOMENT, "next friday", False),
        ("C040-1", {"type": "string", "pattern": "^(a+)+$"}, "a" * 30 + "!", False),
        ("C040-3", _TREE, {"v": 1, "kids": [{"v": 2, "kids": []}]}, True),
        ("C040-4", _TREE, {"v": 1, "kids": [{"kids": []}]}, False),
    ],
)
def test_public_cases_of_values(case: str, schema: Any, value: Any, is_valid: bool) -> None:
    compiled = CompiledSchema.compile(schema)
    started = time.process_time()
    assert compiled.is_valid(value) is is_valid, case
    assert bool(compiled.violations(value)) is not is_valid
    assert time.process_time() - started < 0.2


@pytest.mark.parametrize(
    ("case", "schema", "code"),
    [
        ("C040-2", {"$id": "urn:x", "allOf": [{"$ref": "urn:x"}]}, "UNSAFE_SCHEMA"),
        ("C059-6", {"type": "string", "pattern": r"(?P<y>\d{4})"}, "INVALID_PATTERN"),
        ("itself", {"allOf": [{"$ref": "#"}]}, "UNSAFE_SCHEMA"),
        (
            "two that take turns",
            {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}]}}},
            "UNSAFE_SCHEMA",
        ),
        ("remote", {"$ref": "https://example.com/schema.json"}, "UNSAFE_SCHEMA"),
        ("relative", {"$ref": "other.json#/a"}, "UNSAFE_SCHEMA"),
        ("dynamic", {"$dynamicRef": "#x"}, "UNSAFE_SCHEMA"),
        ("an inner id", {"properties": {"a": {"$id": "urn:y"}}}, "UNSAFE_SCHEMA"),
        ("nothing there", {"$ref": "#/$defs/absent"}, "INVALID_SCHEMA"),
        ("no schema there", {"$ref": "#/title", "title": "x"}, "INVALID_SCHEMA"),
        ("an unknown type", {"type": "text"}, "INVALID_SCHEMA"),
        ("an old dialect", {"$schema": "http://json-schema.org/draft-07/schema#"}, "INVALID_SCHEMA"),
        ("no schema", ["object"], "INVALID_SCHEMA"),
        ("broken pattern", {"pattern": "("}, "INVALID_PATTERN"),
        ("huge pattern", {"pattern": "a{2000000}"}, "INVALID_PATTERN"),
        ("pattern of names", {"patternProperties": {"(?=a)": {}}}, "INVALID_PATTERN"),
        (
            "pattern that only a reference reaches",
            {"$ref": "#/x-parts/a", "x-parts": {"a": {"pattern": "(?=a)"}}},
            "INVALID_PATTERN",
        ),
    ],
)
def test_unsafe_schemas_are_refused_at_registration(case: str, schema: Any, code: str) -> None:
    started = time.process_time()
    with pytest.raises(SchemaRefused) as refused:
        CompiledSchema.compile(schema)
    assert [fault.code for fault in refused.value.faults] == [code], case
    assert time.process_time() - started < 1.0


def test_absurd_depth_is_refused_without_recursion() -> None:
    schema: dict[str, Any] = {}
    for _ in range(5000):
        schema = {"not": schema}
    with pytest.raises(SchemaRefused, match="nesting"):
        CompiledSchema.compile(schema)


@pytest.mark.parametrize("step", [1, -1])
def test_a_very_long_chain_of_references_is_refused_in_whatever_order_it_is_written(step: int) -> None:
    chain = {f"d{index}": {"$ref": f"#/$defs/d{index + 1}"} for index in range(2000)} | {"d2000": {}}
    schema: Any = {"$ref": "#/$defs/d0", "$defs": dict(list(chain.items())[::step])}
    with pytest.raises(SchemaRefused, match="more than 100 schemas"):
        CompiledSchema.compile(schema)


def test_every_fault_of_a_schema_is_named_with_its_place() -> None:
    schema: Any = {"properties": {"a": {"pattern": "(?=x)"}, "b": {"$ref": "http://x"}}}
    with pytest.raises(SchemaRefused) as refused:
        CompiledSchema.compile(schema)
    assert [fault.pointer for fault in refused.value.faults] == ["/properties/a/pattern", "/properties/b/$ref"]


@pytest.mark.parametrize(
    ("schema", "text", "is_valid"),
    [
        ('{"multipleOf":0.01}', "4.35", True),
        ('{"multipleOf":0.01}', "0.001", False),
        ('{"maximum":0.3}', "0.30000000000000000000001", False),
        ('{"const":1}', "1.0", True),
        ('{"const":1}', "true", False),
        ('{"enum":[true]}', "1", False),
        ('{"enum":[0.10]}', "0.1", True),
        ('{"type":"integer"}', "1.0", True),
        ('{"uniqueItems":true}', "[1,1.0]", False),
        ('{"uniqueItems":true}', "[1,true]", True),
    ],
)
def test_numbers_are_exact_and_equal_as_json(schema: str, text: str, is_valid: bool) -> None:
    assert CompiledSchema.compile(loads(schema)).is_valid(loads(text)) is is_valid


@pytest.mark.parametrize(
    ("pattern", "text", "is_valid"),
    [(r"^\d$", "٣", False), (r"^\w$", "é", False), (r"^\s$", "\ufeff", True), (r"^a$", "a\n", False)],
)
def test_classes_have_their_ecmascript_meaning(pattern: str, text: str, is_valid: bool) -> None:
    assert CompiledSchema.compile({"pattern": pattern}).is_valid(text) is is_valid


def test_the_format_date_range_is_asserted() -> None:
    schema = CompiledSchema.compile({"type": "string", "format": "date-range"})
    assert schema.is_valid("2026-02-01~2026-02-28")
    assert not schema.is_valid("2026-02-28~2026-02-01")


def test_violations_say_place_keyword_expected_and_actual() -> None:
    schema = CompiledSchema.compile(
        {
            "type": "object",
            "required": ["a"],
            "additionalProperties": False,
            "properties": {"a": {}, "price": {"type": "string"}},
        }
    )
    found = {
        violation.pointer: (violation.keyword, violation.expected, violation.actual)
        for violation in schema.violations({"price": Decimal("1.10"), "odd": 1})
    }
    assert found == {
        "/a": ("required", ["a"], ABSENT),
        "/price": ("type", "string", Decimal("1.10")),
        "/odd": ("additionalProperties", False, 1),
    }
    assert str(schema.violations({"a": 1, "price": Decimal("1.10")})[0].actual) == "1.10"


@pytest.mark.parametrize(("count", "listed"), [(MAX_LISTED_NODES - 1, MAX_LISTED_NODES - 1), (MAX_LISTED_NODES, 1)])
def test_of_a_large_value_the_first_violation_is_listed_alone(count: int, listed: int) -> None:
    schema = CompiledSchema.compile({"items": {"type": "string"}})

    found = schema.violations([0] * count)

    assert len(found) == listed
    assert found[0].pointer == "/0"


def test_many_violations_take_no_longer_than_reading_the_value() -> None:
    schema = CompiledSchema.compile({"items": {"properties": {"name": {"type": "string"}}}})
    began = time.process_time()

    assert len(schema.violations([{"name": None}] * 100_000)) == 1
    assert time.process_time() - began < 1.0


def doubling(keyword: str, steps: int) -> Any:
    """A schema whose every step refers twice to the next."""
    defs: Any = {f"s{n}": {keyword: [{"$ref": f"#/$defs/s{n + 1}"}] * 2} for n in range(steps)}
    return {"$ref": "#/$defs/s0", "$defs": {**defs, f"s{steps}": {"type": "string"}}}


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_references_that_double_at_each_step_are_refused(keyword: str) -> None:
    with pytest.raises(SchemaRefused, match="multiply"):
        CompiledSchema.compile(doubling(keyword, 40))
    assert not CompiledSchema.compile(doubling(keyword, 5)).is_valid({})


def test_one_schema_for_many_members_does_not_multiply() -> None:
    defs: Any = {f"s{n}": {"properties": {name: {"$ref": f"#/$defs/s{n + 1}"} for name in "abc"}} for n in range(40)}
    schema = CompiledSchema.compile({"$ref": "#/$defs/s0", "$defs": {**defs, "s40": {"type": "string"}}})
    assert schema.is_valid({"a": {"b": {}}})


TREE: Any = {
    "$ref": "#/$defs/node",
    "$defs": {
        "node": {"oneOf": [{"$ref": "#/$defs/folder"}, {"$ref": "#/$defs/file"}]},
        **{
            kind: {
                "type": "object",
                "required": ["kind"],
                "properties": {"kind": {"const": kind}, "inside": {"items": {"$ref": "#/$defs/node"}}},
            }
            for kind in ("folder", "file")
        },
    },
}


def test_a_wrong_leaf_deep_in_a_recursive_schema_with_alternatives_costs_nothing() -> None:
    # The library describes at every level why each alternative failed: at 25 levels that would be gigabytes.
    body: Any = {"kind": "link"}
    for _ in range(25):
        body = {"kind": "folder", "inside": [body]}
    started = time.process_time()
    [found] = CompiledSchema.compile(TREE).violations(body)
    assert time.process_time() - started < 1
    assert (found.pointer, found.keyword) == ("", "anyOf")
    [near] = CompiledSchema.compile(TREE).violations({"kind": "folder", "inside": [{"kind": "link"}]})
    assert near.keyword == "oneOf"


def test_many_wrong_items_in_alternatives_cost_little_and_what_lies_outside_is_named() -> None:
    either: Any = {"anyOf": [{"items": {"type": "integer"}}, {"items": {"type": "string"}}]}
    schema = CompiledSchema.compile({"properties": {"rows": either, "count": {"type": "integer"}}})
    rows: Any = [True] * 200_000
    started = time.process_time()
    assert [found.keyword for found in schema.violations({"rows": rows})] == ["anyOf"]
    assert [found.pointer for found in schema.violations({"rows": rows, "count": "x"})] == ["/count"]
    assert time.process_time() - started < 1


def test_a_reference_into_an_alternative_does_not_keep_a_large_value_from_being_judged() -> None:
    schema = CompiledSchema.compile(
        {"anyOf": [{"items": {"type": "integer"}}, {"type": "object"}], "prefixItems": [{"$ref": "#/anyOf/1"}]}
    )
    assert [found.keyword for found in schema.violations([1, *["x"] * 3000])] == ["anyOf"]
