"""Measures: a number with a unit, converted into the unit that is asked for."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final

from taoloop.core.exact_json import JsonValue
from taoloop.values.chinese_numerals import CHARACTERS
from taoloop.values.folding import fold, fold_width
from taoloop.values.numbers import DecimalSeparator, bounded, exact_number, refuse_not_finite
from taoloop.values.quantities.exact import as_number
from taoloop.values.quantities.units import Unit, unit_named, unit_symbols
from taoloop.values.refusals import RefusalCode, ValueRefused, unreadable

MAX_TEXT: Final = 1100
_MAX_CANDIDATES: Final = 5
_BELOW_ZERO: Final = "零下"
_SPLIT: Final = re.compile(
    rf"(?P<number>[+-]?[0-9](?:[0-9.,'’_ \u00a0\u2009\u202f]*[0-9])?(?:[eE][+-]?[0-9]{{1,3}}(?![0-9]))?"
    rf"[十百千万亿萬億]{{0,2}}|[{CHARACTERS}]+)\s*(?P<unit>.*)",
    re.DOTALL,
)


def split_number(text: str, what: str) -> tuple[str, str]:
    """Cut a text into the number in front and what follows it, possibly nothing.

    Raises:
        ValueRefused: UNREADABLE where no number is in front; OUT_OF_RANGE above 1100 characters.
    """
    folded = fold_width(text[: 4 * MAX_TEXT])
    if len(text) > 4 * MAX_TEXT or len(folded) > MAX_TEXT:
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, f"A number with a unit has at most {MAX_TEXT} characters.")
    found = _SPLIT.fullmatch(folded)
    if found is None:
        refuse_not_finite(fold(folded))
        raise unreadable(what)
    return found["number"], found["unit"].strip()


def convert_measure(
    value: JsonValue,
    to: Unit,
    stated: Unit | None = None,
    *,
    is_difference: bool = False,
    decimal_separator: DecimalSeparator | None = None,
) -> int | Decimal:
    """Return a measure as a number in the unit `to`.

    A number in that unit already keeps its digits as written; every other one is exact where its decimal form ends,
    else rounded to 17 or more significant digits.

    Args:
        value: A number, or a text with a number and its unit.
        to: The unit of the result.
        stated: The unit of a value that writes none, and which of several units a shared spelling means.
        is_difference: Whether a temperature is a difference, which has no zero point.
        decimal_separator: What the contract or the locale says.

    Raises:
        ValueRefused: MISSING_UNIT, UNKNOWN_UNIT, WRONG_UNIT, AMBIGUOUS, UNREADABLE, NOT_A_NUMBER; OUT_OF_RANGE for a
            temperature below absolute zero.
    """
    number, unit = _read(value, to, stated, decimal_separator)
    if unit.lowest is not None and not is_difference and number < unit.lowest:
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, "The temperature is below absolute zero.")
    if unit is to:
        return number
    factor, offset = _between(unit, to)
    size = Fraction(number) * factor
    return as_number(size if is_difference else size + offset, number)


@lru_cache(maxsize=4096)
def _between(given: Unit, to: Unit) -> tuple[Fraction, Fraction]:
    """Return what a value is multiplied with and what is added then."""
    return given.factor / to.factor, (given.zero - to.zero) / to.factor


def _read(
    value: JsonValue, to: Unit, stated: Unit | None, separator: DecimalSeparator | None
) -> tuple[int | Decimal, Unit]:
    if not isinstance(value, str):
        number, spelling = bounded(value, "a measure"), ""
    else:
        number, spelling = _number_and_unit(value, to, separator)
    if spelling:
        return number, _unit(spelling, to, stated)
    if stated is None:
        known = dict.fromkeys((to.symbol, *unit_symbols(to.dimension)))
        message = "The measure has no unit, and nothing states it."
        raise ValueRefused(RefusalCode.MISSING_UNIT, message, tuple(known)[:_MAX_CANDIDATES])
    return number, stated


def _number_and_unit(text: str, to: Unit, separator: DecimalSeparator | None) -> tuple[int | Decimal, str]:
    below_zero = text.lstrip().startswith(_BELOW_ZERO) and to.is_temperature
    digits, spelling = split_number(text.lstrip().removeprefix(_BELOW_ZERO) if below_zero else text, "a measure")
    number = exact_number(digits, separator)
    if below_zero and number < 0:
        raise unreadable("a measure")
    return (-number if isinstance(number, int) else number.copy_negate()) if below_zero else number, spelling


def _unit(spelling: str, to: Unit, stated: Unit | None) -> Unit:
    try:
        return unit_named(spelling, to.dimension, stated)
    except ValueRefused as refused:
        if refused.code is RefusalCode.UNKNOWN_UNIT and any(map(str.isdigit, spelling)):
            raise unreadable("a measure") from None  # a second number: a range, or several measures
        raise
