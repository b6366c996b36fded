"""Argument texts: what is coerced, what is refused, and what stays as it is."""

from decimal import Decimal
from typing import Any

import pytest

from taoloop.tools.arguments import ArgumentsRefused, check_arguments, read_arguments
from taoloop.tools.schemas import CompiledSchema

_ONE: dict[str, Any] = {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}
_OPTIONAL: dict[str, Any] = {"type": "object", "properties": {"limit": {"type": "integer"}}}
_CITY: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
_FACT: dict[str, Any] = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "quote": {"type": "string"}},
    "required": ["text"],
}
_NULLS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "category": {"type": "string"},
        "min_price": {"type": "number"},
        "note": {"type": ["string", "null"]},
        "ref": {"type": "string"},
        "facts": {"type": "array", "items": _FACT},
    },
    "required": ["category"],
}
_TYPES: dict[str, Any] = {
    "type": "object",
    "properties": {
        "flag": {"type": "boolean"},
        "count": {"type": "integer"},
        "price": {"type": "number"},
        "filter": {"type": "object", "properties": {"n": {"type": "integer"}}},
        "items": {"type": "array"},
        "name": {"type": "string"},
        "order": {"type": "string", "pattern": "^[0-9]{17}$"},
    },
}


@pytest.mark.parametrize(
    ("case", "schema", "text", "value", "coerced"),
    [
        ("C004-2", _OPTIONAL, "", {}, ()),
        ("C004-3", _OPTIONAL, "null", {}, ()),
        ("C007-4", _CITY, 'json\n{"city":"Osaka"}', {"city": "Osaka"}, ()),
        ("C009-1", _NULLS, '{"category":"audio","min_price":null}', {"category": "audio"}, ("/min_price",)),
        ("C009-2", _NULLS, '{"category":"audio","note":null}', {"category": "audio", "note": None}, ()),
        (
            "C009-4",
            _NULLS,
            '{"category":"audio","facts":[{"text":"a","quote":null}]}',
            {"category": "audio", "facts": [{"text": "a"}]},
            ("/facts/0/quote",),
        ),
        ("C009-5", _NULLS, '{"category":"audio","ref":1.10}', {"category": "audio", "ref": "1.10"}, ("/ref",)),
    ],
)
def test_public_cases_that_are_accepted(
    case: str, schema: Any, text: str, value: dict[str, Any], coerced: tuple[str, ...]
) -> None:
    read = read_arguments(CompiledSchema.compile(schema), text)
    assert (read.value, read.coerced) == (value, coerced), case


@pytest.mark.parametrize(
    ("case", "schema", "text", "pointer"),
    [("C004-4", _ONE, "", "/to"), ("C009-3", _NULLS, '{"category":null}', "/category")],
)
def test_public_cases_that_are_refused(case: str, schema: Any, text: str, pointer: str) -> None:
    with pytest.raises(ArgumentsRefused) as refused:
        read_arguments(CompiledSchema.compile(schema), text)
    assert [violation.pointer for violation in refused.value.violations] == [pointer], case


def test_malformed_text_is_refused_with_position_and_schema() -> None:  # C004-1
    with pytest.raises(ArgumentsRefused) as refused:
        read_arguments(CompiledSchema.compile(_ONE), '{"to": ops@example.test}')
    assert refused.value.syntax is not None
    assert (refused.value.syntax.line, refused.value.syntax.column) == (1, 8)
    assert refused.value.schema == _ONE
    assert refused.value.violations == ()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"flag":"TRUE"}', {"flag": True}),
        ('{"flag":"false"}', {"flag": False}),
        ('{"count":"+5"}', {"count": 5}),
        ('{"count":"-12"}', {"count": -12}),
        ('{"filter":"{\\"n\\":1}"}', {"filter": {"n": 1}}),
        ('{"items":"[1]"}', {"items": [1]}),
        ('{"order":20260308000012345}', {"order": "20260308000012345"}),
        ('{"name":0.10}', {"name": "0.10"}),
    ],
)
def test_a_coercion_without_loss_is_made_and_listed(text: str, value: dict[str, Any]) -> None:
    read = read_arguments(CompiledSchema.compile(_TYPES), text)
    assert read.value == value
    assert read.coerced == tuple(f"/{key}" for key in value)


@pytest.mark.parametrize(
    "text",
    [
        '{"flag":"yes"}',
        '{"flag":1}',
        '{"flag":"ｔｒｕｅ"}',
        '{"count":"٥"}',
        '{"count":"1.0"}',
        '{"count":"1_0"}',
        '{"count":1.5}',
        '{"price":"1.5"}',
        '{"name":true}',
        '{"name":1e5}',
        '{"items":"{}"}',
        '{"order":123}',
        "[]",
        '"text"',
    ],
)
def test_a_coercion_with_loss_or_a_guess_is_refused(text: str) -> None:
    with pytest.raises(ArgumentsRefused):
        read_arguments(CompiledSchema.compile(_TYPES), text)


def test_what_stands_inside_decoded_text_is_coerced_too() -> None:
    read = read_arguments(CompiledSchema.compile(_TYPES), '{"filter":"{\\"n\\":\\"3\\"}"}')
    assert read.value == {"filter": {"n": 3}}
    assert read.coerced == ("/filter", "/filter/n")


def test_valid_arguments_are_not_touched() -> None:
    value: dict[str, Any] = {"price": Decimal("0.10"), "count": Decimal("1.0")}
    read = check_arguments(CompiledSchema.compile(_TYPES), value)
    assert read.value is value
    assert read.coerced == ()


def test_the_given_value_is_not_changed_by_coercion() -> None:
    value: dict[str, Any] = {"count": "5"}
    assert check_arguments(CompiledSchema.compile(_TYPES), value).value == {"count": 5}
    assert value == {"count": "5"}


def test_the_leading_word_is_flagged_as_a_repair() -> None:
    assert read_arguments(CompiledSchema.compile(_CITY), 'json {"city":"Osaka"}').is_repaired
    assert not read_arguments(CompiledSchema.compile(_CITY), '{"city":"json"}').is_repaired


def test_a_null_that_the_schema_requires_inside_a_list_is_refused() -> None:
    with pytest.raises(ArgumentsRefused) as refused:
        read_arguments(CompiledSchema.compile(_NULLS), '{"category":"a","facts":[{"text":null}]}')
    assert refused.value.violations[0].pointer == "/facts/0/text"
