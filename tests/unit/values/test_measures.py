"""Measures and their conversion."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.values.quantities.exact import as_number
from taoloop.values.quantities.measures import convert_measure
from taoloop.values.quantities.unit_table import ROWS
from taoloop.values.quantities.units import unit_named, unit_symbols
from taoloop.values.refusals import ValueRefused


def refusal_of(value: Any, to: str, stated: str = "", **more: Any) -> ValueRefused:
    with pytest.raises(ValueRefused) as caught:
        convert_measure(value, unit_named(to), unit_named(stated) if stated else None, **more)
    return caught.value


@pytest.mark.parametrize(
    ("value", "to", "expected"),
    [
        ("25 °C", "K", "298.15"), ("0 °C", "°F", "32"), ("-40 °C", "°F", "-40"),
        ("70 °F", "°C", "21.111111111111111"),
        ("−40℃", "K", "233.15"), ("零下5℃", "°C", "-5"), ("二十五摄氏度", "K", "298.15"), ("0 K", "°F", "-459.67"),
        ("1 mi", "km", "1.609344"), ("三千米", "km", "3"), ("3千米", "m", "3000"), ("6 ft", "m", "1.8288"),
        ("1 lb", "kg", "0.45359237"), ("1.5 GB", "MB", "1500"), ("1 GiB", "MB", "1073.741824"), ("8 Mbit", "MB", "1"),
        ("100 km/h", "m/s", "27.777777777777778"), ("1 亩", "m2", "666.66666666666667"), ("1 kWh", "kJ", "3600"),
        ("1 atm", "hPa", "1013.25"), ("1.5 h", "min", "90"), ("1,234.5 m", "km", "1.2345"), ("1e3 m", "km", "1"),
        ("1 US gal", "L", "3.785411784"), ("1 acre", "m2", "4046.8564224"), ("1 eV", "J", "1.602176634E-19"),
    ],
)  # fmt: skip
def test_measure_is_converted_exactly(value: str, to: str, expected: str) -> None:
    assert str(convert_measure(value, unit_named(to))) == expected


def test_difference_of_temperatures_has_no_zero_point() -> None:
    assert convert_measure("5 °C", unit_named("°F"), is_difference=True) == 9
    assert convert_measure("-500 °C", unit_named("K"), is_difference=True) == -500


def test_number_in_the_asked_unit_keeps_its_digits() -> None:
    assert str(convert_measure("25.30 °C", unit_named("℃"))) == "25.30"
    assert str(convert_measure(Decimal("0.10"), unit_named("km"), unit_named("km"))) == "0.10"


@pytest.mark.parametrize(
    ("value", "to", "code"),
    [
        ("25", "K", "MISSING_UNIT"), (25, "K", "MISSING_UNIT"), ("25 kg", "K", "WRONG_UNIT"),
        ("25 x", "K", "UNKNOWN_UNIT"),
        ("25度", "K", "AMBIGUOUS"), ("5 KB", "KiB", "AMBIGUOUS"), ("1,234 m", "m", "AMBIGUOUS"),
        ("5 M", "m", "UNKNOWN_UNIT"),
        ("-300 °C", "K", "OUT_OF_RANGE"), ("-0.01 K", "K", "OUT_OF_RANGE"), ("20-25 °C", "K", "UNREADABLE"),
        ("5² m", "m", "UNREADABLE"), ("1 m 20 cm", "m", "UNREADABLE"), ("°C", "K", "UNREADABLE"),
        ("", "K", "UNREADABLE"),
        (None, "K", "UNREADABLE"), (True, "K", "UNREADABLE"), ("NaN", "K", "NOT_A_NUMBER"), (float("nan"),
        "K", "NOT_A_NUMBER"),
        ("9" * 1101 + " m", "m", "OUT_OF_RANGE"),
    ],
)  # fmt: skip
def test_measure_without_one_reading_is_refused(value: Any, to: str, code: str) -> None:
    assert refusal_of(value, to).code == code


def test_stated_unit_is_that_of_a_bare_number_and_decides_shared_spellings_only() -> None:
    stated = unit_named("°C")
    assert convert_measure(25, unit_named("K"), stated) == Decimal("298.15")
    assert convert_measure("25度", unit_named("K"), stated) == Decimal("298.15")
    assert convert_measure("77 °F", unit_named("K"), stated) == Decimal("298.15")
    assert convert_measure("5 KB", unit_named("B"), unit_named("KiB")) == 5120


SAME_DIMENSION = st.sampled_from(sorted(ROWS)).flatmap(
    lambda dimension: st.tuples(*[st.sampled_from(unit_symbols(dimension))] * 2)
)


@given(SAME_DIMENSION, st.decimals(min_value=0, max_value=10**12, places=4) | st.integers(0, 10**400))
def test_there_and_back_is_the_same_number(symbols: tuple[str, str], number: Decimal | int) -> None:
    given_unit, other = map(unit_named, symbols)
    there = convert_measure(number, other, given_unit)
    exact = (Fraction(number) * given_unit.factor + given_unit.zero - other.zero) / other.factor
    if Fraction(there) == exact:
        assert convert_measure(there, given_unit, other) == number
    else:  # its decimal form does not end
        assert abs(Fraction(there) - exact) <= abs(exact) / 10**16


@given(st.fractions())
def test_fraction_whose_decimal_form_ends_is_exact(value: Fraction) -> None:
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    assert (Fraction(as_number(value)) == value) is (rest == 1)
