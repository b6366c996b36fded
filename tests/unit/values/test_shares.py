"""Percentages and confidences."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.values.quantities.shares import Scale, parse_confidence, parse_percentage
from taoloop.values.refusals import RefusalCode, ValueRefused


@pytest.mark.parametrize(
    ("text", "percent"),
    [
        ("65%", "65"), ("65 %", "65"), ("６５％", "65"), ("65 percent", "65"), ("65 per cent", "65"),
        ("65.0%", "65.0"),
        ("百分之六十五", "65"), ("百分之65", "65"), ("百分之百", "100"), ("千分之五", "0.5"), ("5‰", "0.5"),
        ("-5%", "-5"),
        ("负百分之五", "-5"), ("120%", "120"), ("1,5%", "1.5"), ("六十五%", "65"), ("百分之三点五", "3.5"),
        ("65﹪", "65"),
    ],
)  # fmt: skip
def test_share_with_its_sign_is_read_exactly(text: str, percent: str) -> None:
    assert str(parse_percentage(text)) == percent
    assert Fraction(parse_percentage(text, "fraction")) * 100 == Fraction(Decimal(percent))


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (65, "MISSING_UNIT"), ("0.65", "MISSING_UNIT"), ("65 个百分点", "UNKNOWN_UNIT"), ("65%%", "UNKNOWN_UNIT"),
        ("65 °C", "UNKNOWN_UNIT"), ("%", "UNREADABLE"), ("百分之", "UNREADABLE"), ("百分之-5", "UNREADABLE"),
        ("60-65%", "UNKNOWN_UNIT"), ("1,234%", "AMBIGUOUS"), ("NaN", "NOT_A_NUMBER"), (None, "UNREADABLE"),
        (True, "UNREADABLE"),
    ],
)  # fmt: skip
def test_share_without_one_reading_is_refused(value: Any, code: str) -> None:
    with pytest.raises(ValueRefused) as caught:
        parse_percentage(value)
    assert caught.value.code == code


@pytest.mark.parametrize(("stated", "percent"), [("percent", "0.5"), ("fraction", "50"), ("permille", "0.05")])
def test_stated_scale_is_that_of_a_bare_number_only(stated: Scale, percent: str) -> None:
    assert parse_percentage(Decimal("0.5"), stated=stated) == Decimal(percent)
    assert parse_percentage("0.5%", stated=stated) == Decimal("0.5")


@pytest.mark.parametrize(
    ("value", "scale", "fraction"),
    [
        (Decimal("0.95"), "fraction", "0.95"), (1, "fraction", "1"), (0, "fraction", "0"), (100, "percent", "1"),
        (1, "percent", "0.01"), ("95", "percent", "0.95"), ("95%", "fraction", "0.95"), ("95%", None, "0.95"),
        (0, None, "0"), (0.95, "fraction", "0.95"), ("0,95", "fraction", "0.95"),
    ],
)  # fmt: skip
def test_confidence_becomes_a_fraction(value: Any, scale: Scale | None, fraction: str) -> None:
    assert parse_confidence(value, scale) == Decimal(fraction)


@pytest.mark.parametrize(
    ("value", "scale", "code"),
    [
        (Decimal("1.2"), "fraction", "OUT_OF_RANGE"), (Decimal("-0.1"), "fraction", "OUT_OF_RANGE"),
        (101, "percent", "OUT_OF_RANGE"), ("101%", None, "OUT_OF_RANGE"), (100, "fraction", "OUT_OF_RANGE"),
        (-1, None, "AMBIGUOUS"), (1, None, "AMBIGUOUS"), (Decimal("0.95"), None, "AMBIGUOUS"),
        (95, None, "AMBIGUOUS"),
        ("NaN", "fraction", "NOT_A_NUMBER"), ("Infinity", "percent", "NOT_A_NUMBER"), (float("nan"),
        "fraction", "NOT_A_NUMBER"),
        ("high", "fraction", "UNREADABLE"), (None, "fraction", "UNREADABLE"), (True, "fraction", "UNREADABLE"),
    ],
)  # fmt: skip
def test_confidence_outside_of_its_scale_or_without_one_is_refused(value: Any, scale: Scale | None, code: str) -> None:
    with pytest.raises(ValueRefused) as caught:
        parse_confidence(value, scale)
    assert caught.value.code is RefusalCode(code)


@given(st.decimals(0, 100, places=6))
def test_percent_and_fraction_convert_there_and_back_exactly(percent: Decimal) -> None:
    fraction = parse_confidence(percent, "percent")
    assert Fraction(fraction) * 100 == Fraction(percent)
    assert parse_percentage(fraction, "percent", "fraction") == percent
