"""Units of measure by their spelling."""

from __future__ import annotations

import pytest

from taoloop.values.quantities.unit_table import ROWS, SHARED_SPELLINGS
from taoloop.values.quantities.units import unit_named, unit_symbols
from taoloop.values.refusals import RefusalCode, ValueRefused


def refusal_of(spelling: str, dimension: str = "") -> ValueRefused:
    with pytest.raises(ValueRefused) as caught:
        unit_named(spelling, dimension)
    return caught.value


@pytest.mark.parametrize(
    ("spellings", "symbol"),
    [
        (("°C", "℃", "º C", "˚C", "° C", "Celsius", "degC", "摄氏度"), "°C"),
        (("μm", "µm", "\u03bcm", "\u00b5m", "um", "㎛", "微米", "micrometre"), "μm"),
        (("m2", "m²", "㎡", "m^2", "m**2", "m 2", "平方米", "square metres"), "m2"),
        (("km/h", "㎞/h", "km / h", "km∕h", "kph", "公里/小时", "km per hour", "kilometers per hour"), "km/h"),
        (("K", "\u212a", "Kelvin", "开尔文"), "K"), (("ft", "ＦＴ".lower(), "feet", "英尺"), "ft"),
        (("MB", "㎆", "megabytes"), "MB"), (("mL", "ml", "㎖", "毫升"), "mL"), (("h", "hrs", "个小时"), "h"),
    ],
)  # fmt: skip
def test_spellings_that_look_or_mean_alike_are_one_unit(spellings: tuple[str, ...], symbol: str) -> None:
    assert {unit_named(spelling).symbol for spelling in spellings} == {symbol}


def test_letter_case_of_a_symbol_counts() -> None:
    assert unit_named("MB").factor == 8 * unit_named("Mb").factor
    assert unit_named("MW").factor == 10**9 * unit_named("mW").factor
    assert refusal_of("mb").candidates == ("MB", "Mbit")
    assert refusal_of("Km").candidates == ("km",)


def test_letter_that_only_looks_like_another_one_is_no_unit() -> None:
    assert refusal_of("кm").code is RefusalCode.UNKNOWN_UNIT  # a Cyrillic letter
    assert refusal_of("parsec").code is RefusalCode.UNKNOWN_UNIT
    assert refusal_of("").code is RefusalCode.UNKNOWN_UNIT
    assert refusal_of("m" * 1_000_000).code is RefusalCode.UNKNOWN_UNIT


@pytest.mark.parametrize(
    ("spelling", "units"), [("KB", ("kB", "KiB")), ("gal", ("US gal", "imp gal")), ("hp", ("PS", "imp hp"))]
)
def test_spelling_of_several_units_is_refused_unless_one_is_stated(spelling: str, units: tuple[str, ...]) -> None:
    assert (refusal_of(spelling).code, refusal_of(spelling).candidates) == (RefusalCode.AMBIGUOUS, units)
    assert [unit_named(spelling, stated=unit_named(name)).symbol for name in units] == list(units)


def test_spelling_of_two_dimensions_is_decided_by_what_is_asked_for() -> None:
    assert unit_named("度", "energy").symbol == "kWh"
    assert refusal_of("度", "temperature").candidates == ("°C", "°F")
    assert refusal_of("度").code is RefusalCode.AMBIGUOUS


def test_unit_of_another_dimension_is_told_apart_from_an_unknown_one() -> None:
    assert refusal_of("kg", "length").code is RefusalCode.WRONG_UNIT
    assert refusal_of("gal", "length").code is RefusalCode.WRONG_UNIT


def test_every_row_of_the_table_is_read_as_itself() -> None:
    for dimension in ROWS:
        symbols = unit_symbols(dimension)
        assert len(symbols) == len(ROWS[dimension])
        for symbol in symbols:
            assert unit_named(symbol).symbol == symbol
            assert unit_named(symbol, dimension).factor > 0
        for shared in SHARED_SPELLINGS.get(dimension, {}).values():
            assert set(shared) <= set(symbols)
