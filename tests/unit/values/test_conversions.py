"""The table of conversions, and the small parsers behind it."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.core.exact_json import ABSENT, dumps
from taoloop.values.booleans import parse_boolean
from taoloop.values.conversions import CONVERSIONS, ConversionContext, convert, option_fault
from taoloop.values.emails import parse_email
from taoloop.values.refusals import RefusalCode, ValueRefused

CONTEXT = ConversionContext(
    reference_time=datetime(2026, 3, 11, 4, tzinfo=UTC), time_zone="Asia/Shanghai", locale="zh-CN"
)


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
        ("integer", Decimal("1E+1000000000"), ABSENT, RefusalCode.UNREADABLE),
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
        convert("money", "5", CONTEXT)


def test_relative_words_without_a_reference_are_refused() -> None:
    with pytest.raises(ValueRefused) as caught:
        convert("date", "today", ConversionContext())
    assert caught.value.code is RefusalCode.NO_REFERENCE


@pytest.mark.parametrize(
    ("to", "options"),
    [("date", {"order": "YMD"}), ("date", {"unit": "s"}), ("enum", ABSENT), ("enum", {"values": []}), ("integer", "x")],
)
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


@given(
    st.sampled_from(sorted(CONVERSIONS)),
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(allow_nan=False, allow_infinity=False),
)
def test_every_conversion_gives_a_value_of_its_types_or_refuses(to: str, value: Any) -> None:
    try:
        result = convert(to, value, CONTEXT, {"values": ["a"]} if to == "enum" else ABSENT)
    except ValueRefused:
        return
    kinds = {"string": str, "integer": int, "number": int | float | Decimal, "boolean": bool}
    assert not CONVERSIONS[to].result_types or any(
        isinstance(result, kinds[name]) for name in CONVERSIONS[to].result_types
    )
