"""The table of conversions, and the small parsers behind it."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.core.exact_json import ABSENT, dumps, loads
from taoloop.values.booleans import parse_boolean
from taoloop.values.conversions import CONVERSIONS, ConversionContext, convert, option_fault, result_schema
from taoloop.values.emails import parse_email
from taoloop.values.refusals import RefusalCode, ValueRefused

CONTEXT = ConversionContext(
    reference_time=datetime(2026, 3, 11, 4, tzinfo=UTC), time_zone="Asia/Shanghai", locale="zh-CN"
)

CONTEXT_OF_PAGE = replace(CONTEXT, locale="")


@pytest.mark.parametrize(
    ("to", "value", "options", "expected"),
    [
        ("date", "昨天", ABSENT, "2026-03-10"), ("date", "05.08.2023", {"order": "DMY"}, "2023-08-05"),
        ("date", "2026-03-10T20:00:00Z", ABSENT, "2026-03-11"),
        ("datetime", "明天下午三点", ABSENT, "2026-03-12T07:00:00Z"),
        ("datetime", 1700000123, ABSENT, "2023-11-14T22:15:23Z"),
        ("datetime", 5, {"unit": "s"}, "1970-01-01T00:00:05Z"),
        ("date-range", "上个月", ABSENT, "2026-02-01~2026-02-28"),
        ("integer", "1,234", ABSENT, 1234), ("integer", Decimal("3.0"), ABSENT, 3), ("integer", 7, ABSENT, 7),
        ("number", "1.234,5", {"decimal_separator": ","}, Decimal("1234.5")),
        ("number", Decimal("0.10"), ABSENT, Decimal("0.10")),
        ("boolean", "YES", ABSENT, True), ("boolean", False, ABSENT, False),
        ("string", 12345678901234567, ABSENT, "12345678901234567"), ("string", Decimal("0.10"), ABSENT, "0.10"),
        ("string", True, ABSENT, "true"), ("string", "as it is ", ABSENT, "as it is "),
        ("email", "mailto:Ann@Example.COM", ABSENT, "Ann@example.com"),
        ("enum", " SHIPPED ", {"values": ["shipped", "open"]}, "shipped"),
        ("enum", "在途", {"values": {"在途": "shipped"}}, "shipped"),
        ("enum", 2, {"values": [1, 2]}, 2),
        ("number", "418,350", {"locale": "fr"}, Decimal("418.350")), ("integer", "418,350", {"locale": "en"}, 418350),
        ("date", "2026/03/10", {"order": "YMD"}, "2026-03-10"),
        ("datetime", "1700000123", ABSENT, "2023-11-14T22:15:23Z"),
        ("datetime", "2026-03-10 20:00", ABSENT, "2026-03-10T12:00:00Z"),
        ("unit", "25 °C", {"to_unit": "K"}, Decimal("298.15")), ("unit", "25.30 ℃", {"unit": "°C"}, Decimal("25.30")),
        ("unit", "1,5 km", {"to_unit": "m", "locale": "de"}, 1500),
        ("percentage", "65%", ABSENT, 65), ("percentage", "65%", {"scale": "fraction"}, Decimal("0.65")),
        ("percentage", 65, {"unit": "percent"}, 65), ("confidence", 95, {"scale": "percent"}, Decimal("0.95")),
        ("money", "¥5", {"currency": "CNY"}, Decimal("5.00")),
        ("money", "5 €", ABSENT, {"amount": Decimal("5.00"), "currency": "EUR"}),
        ("duration", "2h30m", ABSENT, 9000), ("duration", 90, {"unit": "min"}, 5400),
        ("text", " a\u200b\n b ", ABSENT, "a b"), ("text", "<p>a</p>b", {"html": "strip"}, "a b"),
    ],
)  # fmt: skip
def test_value_becomes_the_named_kind(to: str, value: Any, options: Any, expected: Any) -> None:
    result = convert(to, value, CONTEXT, options)
    assert dumps(result) == dumps(expected)
    assert option_fault(to, options) is None


@pytest.mark.parametrize(
    ("to", "value", "options", "code"),
    [
        ("date", 5, ABSENT, RefusalCode.UNREADABLE), ("date", "soon", ABSENT, RefusalCode.UNREADABLE),
        ("datetime", "tomorrow", ABSENT, RefusalCode.UNREADABLE), ("datetime", True, ABSENT, RefusalCode.UNREADABLE),
        ("integer", "3.0", ABSENT, RefusalCode.UNREADABLE),
        ("integer", Decimal("3.5"), ABSENT, RefusalCode.UNREADABLE),
        ("integer", Decimal("1E+1000000000"), ABSENT, RefusalCode.OUT_OF_RANGE),
        ("number", Decimal("1E-1000000000"), ABSENT, RefusalCode.OUT_OF_RANGE),
        ("number", "NaN", ABSENT, RefusalCode.NOT_A_NUMBER),
        ("number", float("inf"), ABSENT, RefusalCode.NOT_A_NUMBER),
        ("datetime", "812345678901", ABSENT, RefusalCode.AMBIGUOUS), ("unit", 5, {}, RefusalCode.MISSING_UNIT),
        ("unit", 5, {"to_unit": "km"}, RefusalCode.MISSING_UNIT), ("text", 5, ABSENT, RefusalCode.UNREADABLE),
        ("integer", True, ABSENT, RefusalCode.UNREADABLE),
        ("number", None, ABSENT, RefusalCode.UNREADABLE), ("boolean", 1, ABSENT, RefusalCode.UNREADABLE),
        ("string", None, ABSENT, RefusalCode.UNREADABLE), ("string", [], ABSENT, RefusalCode.UNREADABLE),
        ("enum", "gone", {"values": ["shipped"]}, RefusalCode.UNREADABLE),
        ("enum", "a", {"values": ["A", " A"]}, RefusalCode.AMBIGUOUS), ("date", "today", [], RefusalCode.UNREADABLE),
    ],
)  # fmt: skip
def test_value_without_one_reading_is_refused(to: str, value: Any, options: Any, code: RefusalCode) -> None:
    with pytest.raises(ValueRefused) as caught:
        convert(to, value, CONTEXT, options)
    assert caught.value.code is code


def test_unknown_conversion_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        convert("phone", "5", CONTEXT)


def test_relative_words_without_a_reference_are_refused() -> None:
    with pytest.raises(ValueRefused) as caught:
        convert("date", "today", ConversionContext())
    assert caught.value.code is RefusalCode.NO_REFERENCE


@pytest.mark.parametrize(
    ("to", "options"),
    [
        ("date", {"order": "YDM"}), ("date", {"unit": "s"}), ("enum", ABSENT), ("enum", {"values": []}),
        ("integer", "x"), ("number", {"locale": "xx"}), ("number", {"locale": 5}), ("datetime", {"gap": "back"}),
        ("unit", ABSENT), ("unit", {"to_unit": "parsec"}), ("unit", {"to_unit": 5}),
        ("unit", {"unit": "km", "to_unit": "kg"}),
        ("unit", {"to_unit": "km", "difference": True}), ("unit", {"to_unit": "K", "difference": "yes"}),
        ("unit", {"to_unit": "gal"}), ("percentage", {"scale": "permille"}), ("confidence", {"unit": "percent"}),
        ("money", {"currency": "eur"}), ("money", {"currency": ["EUR"]}), ("duration", {"unit": "month"}),
        ("text", {"html": "keep"}),
    ],
)  # fmt: skip
def test_options_that_a_conversion_does_not_take_are_named(to: str, options: Any) -> None:
    assert option_fault(to, options)


@pytest.mark.parametrize("text", ["a@b", "a b@c.de", "@b.de", "a..b@c.de", "a@-b.de", "a@b.de, c@d.ef", "é@b.de", ""])
def test_text_that_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueRefused):
        parse_email(text)


def test_address_that_is_too_long_is_refused() -> None:
    with pytest.raises(ValueRefused) as caught:
        parse_email("a" * 65 + "@example.com")
    assert caught.value.code is RefusalCode.OUT_OF_RANGE


@pytest.mark.parametrize("text", ["1", "0", "on", "off", "t", "", "yes!"])
def test_other_words_are_no_truth_values(text: str) -> None:
    with pytest.raises(ValueRefused):
        parse_boolean(text)


OPTIONS: dict[str, Any] = {
    "enum": {"values": ["a"]},
    "unit": {"to_unit": "K", "unit": "°C"},
    "money": {"currency": "CNY"},
}
KINDS = {"string": str, "integer": int, "number": int | Decimal, "boolean": bool, "object": dict}


@given(
    st.sampled_from(sorted(CONVERSIONS)),
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.from_regex(r"[-+]?[0-9]{1,4}[.,]?[0-9]{0,4} ?(%|°C|km|元|USD|h|:30)?", fullmatch=True)
    | st.floats()
    | st.decimals(),
)
def test_every_conversion_gives_a_value_of_its_schema_or_refuses(to: str, value: Any) -> None:
    options = OPTIONS.get(to, ABSENT)
    assert option_fault(to, options) is None
    try:
        result = convert(to, value, CONTEXT, options)
    except ValueRefused:
        return
    schema: dict[str, Any] = dict(result_schema(to, options))
    assert result in schema["enum"] if "enum" in schema else isinstance(result, KINDS[schema["type"]])


def test_schema_of_a_result_follows_the_options() -> None:
    assert result_schema("date-range") == {"type": "string", "format": "date-range"}
    assert result_schema("unit", {"to_unit": "K"}) == {"type": "number"}
    assert result_schema("money", {"currency": "CNY"}) == {"type": "number"}
    assert result_schema("money")["required"] == ["amount", "currency"]
    assert result_schema("enum", {"values": {"x": "a", "y": "b"}}) == {"enum": ["a", "b"]}


def test_zone_of_the_reference_time_counts_where_none_is_named() -> None:
    reference = datetime(2026, 3, 1, 10, tzinfo=timezone(timedelta(hours=8)))
    context = ConversionContext(reference_time=reference)
    assert convert("datetime", "tomorrow at 3pm", context) == "2026-03-02T07:00:00Z"
    named = ConversionContext(reference_time=reference, time_zone="America/New_York")
    assert convert("datetime", "tomorrow at 3pm", named) == "2026-03-01T20:00:00Z"


def test_skipped_local_time_is_shifted_by_the_gap_only_where_the_options_say_so() -> None:
    context = ConversionContext(time_zone="America/New_York")
    with pytest.raises(ValueRefused):
        convert("datetime", "2026-03-08 02:30", context)
    assert convert("datetime", "2026-03-08 02:30", context, {"gap": "forward"}) == "2026-03-08T07:30:00Z"
    with pytest.raises(ValueRefused):
        convert("datetime", "2026-11-01 01:30", context, {"gap": "forward"})


PAGE = Path(__file__).parents[3] / "docs" / "conversions.md"
EXAMPLE = re.compile(r"\| `(?P<to>[a-z-]+)` \| (?:`(?P<options>.+?)` )?\| `(?P<value>.+?)` \| (?P<gives>.+) \|")


def examples() -> list[dict[str, str]]:
    return [found.groupdict() for line in PAGE.read_text().splitlines() if (found := EXAMPLE.fullmatch(line))]


@pytest.mark.parametrize("example", examples(), ids=lambda example: f"{example['to']} {example['value']}")
def test_example_of_the_documentation_is_true(example: dict[str, str]) -> None:
    options = loads(example["options"]) if example["options"] else ABSENT
    assert option_fault(example["to"], options) is None
    try:
        gives = f"`{dumps(convert(example['to'], loads(example['value']), CONTEXT_OF_PAGE, options))}`"
    except ValueRefused as refused:
        gives = ": ".join(part for part in (refused.code, ", ".join(refused.candidates)) if part)
    assert gives.replace(" ", "") == example["gives"].replace(" ", "")


def test_documentation_names_every_conversion_option_and_code() -> None:
    page = PAGE.read_text()
    names = {*CONVERSIONS, *RefusalCode, *(name for entry in CONVERSIONS.values() for name in entry.option_names)}
    assert [name for name in sorted(names) if f"`{name}`" not in page and f"| {name} |" not in page] == []
    assert len(examples()) > 20
