"""Rules of exact JSON: what is read is what was written, and nothing else is read."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, get_type_hints

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from taoloop.core.exact_json import (
    ABSENT,
    MAX_DEPTH,
    MAX_INTEGER_DIGITS,
    Json,
    JsonEncodeError,
    JsonSyntaxError,
    JsonValue,
    canonical,
    digest,
    dumps,
    equal,
    loads,
)

decimals = st.decimals(allow_nan=False, allow_infinity=False)
text_without_surrogates = st.text(st.characters(exclude_categories=["Cs"]))
scalars = st.none() | st.booleans() | st.integers() | decimals | text_without_surrogates
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(text_without_surrogates, inner, max_size=4),
    max_leaves=12,
)


@dataclass(frozen=True, slots=True)
class _Record:
    value: Json = ABSENT
    other: JsonValue = None


def _refusal_of(text: str | bytes) -> JsonSyntaxError | None:
    try:
        loads(text)
    except JsonSyntaxError as exc:
        return exc
    return None


@given(json_values)
def test_what_is_written_is_read_back_the_same(value: Any) -> None:
    again = loads(dumps(value))
    assert again == value
    assert equal(again, value)
    assert canonical(again) == canonical(value)


@given(st.text() | json_values.map(dumps) | st.text(alphabet='{}[]",:0123456789eE+-.\\u \ntruefalsn'))
@example('"\\ud83d\\u0041"')
@example("[" * 100_000)
@example('"' + "\\" * 9999)
@example("1e9999999999999999999999")
def test_any_text_is_read_or_refused_with_a_place(text: str) -> None:
    refusal = _refusal_of(text)
    assert refusal is None or (refusal.line >= 1 and refusal.column >= 1 and len(refusal.excerpt) <= 40)


@given(st.binary())
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    refusal = _refusal_of(data)
    assert refusal is None or refusal.message


@given(json_values, json_values)
@example([1], [True])
@example({"a": 1}, {"a": Decimal("1.00")})
@example(0, Decimal("-0.0"))
@example("1", 1)
def test_canonical_texts_are_the_same_exactly_when_the_values_are_equal(left: Any, right: Any) -> None:
    assert (canonical(left) == canonical(right)) is equal(left, right)


@given(decimals, st.integers(min_value=0, max_value=30))
def test_trailing_zeros_do_not_change_the_canonical_number(number: Decimal, zeros: int) -> None:
    sign, digits, exponent = number.as_tuple()
    assert isinstance(exponent, int)
    padded = Decimal((sign, (*digits, *[0] * zeros), exponent - zeros))
    assert canonical(padded) == canonical(number)
    assert equal(json.loads(canonical(number), parse_float=Decimal, parse_int=Decimal), number)


@pytest.mark.parametrize(
    "text", ["0.10", "-0.0", "1E+400", "12345678901234567890.5", "9" * 400, "-" + "7" * 400, "null"]
)
def test_a_number_is_written_as_it_was_read(text: str) -> None:
    assert dumps(loads(text)) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1e400", "1E+400"),
        ("1E999999999999999999", "1E+999999999999999999"),
        ("1.50", "1.5"),
        ("-0", "0"),
        ("0e5", "0"),
        ("1e2", "100"),
        ("1e20", "100000000000000000000"),
        ("1e21", "1E+21"),
        ("0.000001", "0.000001"),
        ("0.0000001", "1E-7"),
        ("123.4500", "123.45"),
        ("-1234e-30", "-1.234E-27"),
    ],
)
def test_a_canonical_number_has_one_short_form(text: str, expected: str) -> None:
    assert canonical(loads(text)) == expected


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ('{"a":1,"a":2}', "a key is repeated", (1, 12)),
        ('{"a":{"b":1,\n"\\u0062":2}}', "a key is repeated", (2, 10)),
        ("NaN", "expected value", (1, 1)),
        ("-Infinity", "invalid number", (1, 2)),
        ('"\\ud800"', "lone surrogate", (1, 8)),
        ('{"中文":x}', "expected value", (1, 7)),
        ('{"a":\n  tru}', "expected ident", (2, 6)),
        ("[1,]", "trailing comma", (1, 4)),
        ("", "EOF", (1, 1)),
        ("\ufeff{}", "byte-order mark", (1, 1)),
        ("1" * (MAX_INTEGER_DIGITS + 1), "digits", (1, MAX_INTEGER_DIGITS + 1)),
        ("1e9999999999999999999", "exponent", (1, 21)),
        ("{'a':1}", "key must be a string", (1, 2)),
    ],
)
def test_what_two_readers_could_take_differently_is_refused(text: str, message: str, place: tuple[int, int]) -> None:
    with pytest.raises(JsonSyntaxError, match=message) as caught:
        loads(text)
    assert (caught.value.line, caught.value.column) == place


def test_the_message_never_quotes_the_document() -> None:
    with pytest.raises(JsonSyntaxError) as caught:
        loads('{"secret-key":1,"secret-key":2}')
    assert "secret" not in str(caught.value)
    assert "secret" in caught.value.excerpt


def test_bytes_that_are_not_utf8_are_refused_where_they_stand() -> None:
    with pytest.raises(JsonSyntaxError, match="not UTF-8") as caught:
        loads('["中",\n "'.encode() + b'\xff"]')
    assert (caught.value.line, caught.value.column) == (2, 3)


def test_a_lone_surrogate_in_text_is_refused() -> None:
    with pytest.raises(JsonSyntaxError, match="surrogate"):
        loads('"\ud800"')
    with pytest.raises(JsonEncodeError, match="surrogate"):
        dumps({"a": "\ud800"})


def test_nesting_up_to_the_limit_is_read_and_one_more_is_refused() -> None:
    assert loads("[" * MAX_DEPTH + "]" * MAX_DEPTH) is not None
    with pytest.raises(JsonSyntaxError, match="deeper than 64") as caught:
        loads("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1))
    assert caught.value.column == MAX_DEPTH + 1


def test_brackets_side_by_side_or_inside_strings_do_not_count_as_nesting() -> None:
    assert len(loads("[" + ",".join(["[]"] * 500) + "]")) == 500  # type: ignore[arg-type]
    assert loads(dumps(["\\" + "[{" * 500 + '"' + "[" * 500])) == ["\\" + "[{" * 500 + '"' + "[" * 500]


def test_a_document_above_the_byte_limit_is_refused_unread() -> None:
    assert loads('"中"', max_bytes=5) == "中"
    with pytest.raises(JsonSyntaxError, match="more than 4"):
        loads('"中"', max_bytes=4)


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), Decimal("NaN"), Decimal("-Infinity"), {1: 2}, {1, 2}, b"x", ABSENT, [object()]],
)
def test_what_has_no_json_form_is_not_written(value: object) -> None:
    with pytest.raises(JsonEncodeError):
        dumps(value)
    with pytest.raises(JsonEncodeError):
        canonical(value)


def test_a_cycle_and_an_endless_integer_are_not_written() -> None:
    cycle: list[object] = []
    cycle.append(cycle)
    with pytest.raises(JsonEncodeError, match="nesting"):
        dumps(cycle)
    with pytest.raises(JsonEncodeError, match="digits"):
        dumps(10**MAX_INTEGER_DIGITS)
    assert len(dumps(10**MAX_INTEGER_DIGITS - 1)) == MAX_INTEGER_DIGITS


def test_a_written_value_is_one_line_for_every_reader() -> None:
    text = dumps("a\u2028b\u2029c\u0085d\ne\x1cf")
    assert text.splitlines() == [text]
    assert loads(text) == "a\u2028b\u2029c\u0085d\ne\x1cf"


def test_tuples_floats_and_empty_containers_are_written_compactly() -> None:
    assert dumps({"a": (1, 0.1, 1e22), "b": {}, "c": [], "d": True, "中": None}) == (
        '{"a":[1,0.1,1e+22],"b":{},"c":[],"d":true,"中":null}'
    )


def test_equality_is_that_of_json() -> None:
    assert equal(1, 1.0)
    assert equal({"a": [0.1], "b": None}, {"b": None, "a": (Decimal("0.10"),)})
    assert equal(10**400, Decimal("1E400"))
    assert not equal(1, True)
    assert not equal(0, False)
    assert not equal(None, False)
    assert not equal({"a": None}, {})
    assert not equal(2**53 + 1, float(2**53))
    assert not equal("1", 1)
    assert not equal(ABSENT, None)
    assert equal(ABSENT, ABSENT)


def test_the_digest_depends_on_the_value_alone() -> None:
    assert digest({"b": 1, "a": Decimal("2.0")}) == digest({"a": 2, "b": 1.0})
    assert digest({"a": 1}) != digest({"a": "1"})
    assert digest(None) == "74234e98afe7498fb5daf1f36ac2d78acc339464f950703b8c019892f982b90b"


def test_the_aliases_stay_whole_in_type_hints() -> None:
    assert get_type_hints(_Record) == {"value": Json, "other": JsonValue}


def test_absent_shows_its_name_and_is_never_written_as_a_value() -> None:
    assert repr(ABSENT) == "ABSENT"
    with pytest.raises(JsonEncodeError, match="Absent"):
        dumps({"text": [ABSENT]})


@pytest.mark.parametrize("number", [float("nan"), float("inf"), -float("inf"), Decimal("NaN"), Decimal("Infinity")])
def test_a_number_that_is_not_finite_is_refused_beside_any_null(number: float | Decimal) -> None:
    with pytest.raises(JsonEncodeError, match="not finite"):
        dumps({"nothing": None, "in": ({"deep": [1, number]},)})


def test_brackets_inside_strings_are_no_nesting() -> None:
    assert loads(dumps(["[" * 1000])) == ["[" * 1000]


@pytest.mark.parametrize("value", [datetime(2026, 1, 1, tzinfo=UTC), {1, 2}, b"bytes", object()])
def test_what_is_no_json_value_is_refused_by_its_type(value: object) -> None:
    with pytest.raises(JsonEncodeError, match=type(value).__name__):
        dumps([value])


def test_brackets_in_strings_do_not_hide_deep_nesting() -> None:
    value: Any = 1
    for _ in range(150):
        value = ["]", value, "["]

    with pytest.raises(JsonEncodeError, match="deeper"):
        dumps(value)
    with pytest.raises(JsonSyntaxError, match="deeper"):
        loads('["]",' * 150 + "1" + ',"["]' * 150)


def test_many_brackets_that_nest_little_are_read_and_written() -> None:
    value = [{"at": [index, "}]"]} for index in range(500)]

    assert loads(dumps(value)) == value
