"""Shares of a whole: percentages and confidences, written with a sign, in words or on a declared scale."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Final, Literal

from taoloop.core.exact_json import JsonValue
from taoloop.values.folding import fold
from taoloop.values.numbers import DecimalSeparator, bounded, exact_number, parse_number
from taoloop.values.quantities.exact import as_number
from taoloop.values.quantities.measures import split_number
from taoloop.values.refusals import RefusalCode, ValueRefused, ambiguous, unreadable

Scale = Literal["percent", "fraction", "permille"]
"""What 1 means: a hundredth, the whole, a thousandth."""

SCALES: Final = ("percent", "fraction", "permille")

_WHOLE: Final[dict[Scale, int]] = {"percent": 100, "fraction": 1, "permille": 1000}
_SIGNS: Final[dict[str, Scale]] = {
    **dict.fromkeys(("%", "﹪", "٪", "percent", "per cent", "pct", "pct."), "percent"),
    **dict.fromkeys(("‰", "؉", "per mille", "permille", "per mil"), "permille"),
}
_CHINESE = re.compile("(?P<sign>[负負-]?)(?P<whole>百|千)分之(?P<number>.+)")


def parse_percentage(
    value: JsonValue,
    scale: Scale = "percent",
    stated: Scale | None = None,
    decimal_separator: DecimalSeparator | None = None,
) -> int | Decimal:
    """Return a share on the scale `scale`; below nothing and above the whole there are shares, too.

    `65%`, `65 percent`, `６５％`, `百分之六十五` are 65 on the scale `percent` and 0.65 as a fraction; `‰` and `千分之`
    are tenths of a percent.

    Args:
        value: A number, or a text with a number and its sign.
        scale: The scale of the result.
        stated: The scale of a bare number; None refuses it.
        decimal_separator: What the contract or the locale says.

    Raises:
        ValueRefused: MISSING_UNIT for a bare number; UNKNOWN_UNIT, UNREADABLE, AMBIGUOUS, NOT_A_NUMBER, OUT_OF_RANGE.
    """
    number, written = _read(value, decimal_separator)
    given = written or stated
    if given is None:
        candidates = (f"{number} percent", f"{number} as a fraction")
        raise ValueRefused(RefusalCode.MISSING_UNIT, "The share has no sign, and no scale is stated.", candidates)
    return _on(number, given, scale)


def parse_confidence(
    value: JsonValue, scale: Scale | None = None, decimal_separator: DecimalSeparator | None = None
) -> int | Decimal:
    """Return a confidence as a fraction, 0 to 1.

    Args:
        value: A number on the scale, or a text with one; a written percent sign goes before the scale.
        scale: The tool's scale; None refuses a bare number other than 0, whose scale is then a guess.
        decimal_separator: What the contract or the locale says.

    Raises:
        ValueRefused: OUT_OF_RANGE outside of the scale, never clamped; NOT_A_NUMBER; AMBIGUOUS without a scale;
            UNREADABLE.
    """
    number, written = _read(value, decimal_separator)
    given = written or scale
    if given is None and number != 0:
        raise ambiguous("a confidence", (_on(number, "fraction", "fraction"), _on(number, "percent", "fraction")))
    if not 0 <= number <= _WHOLE[given or "fraction"]:
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, "A confidence lies between nothing and the whole.")
    return _on(number, given or "fraction", "fraction")


def _on(number: int | Decimal, given: Scale, wanted: Scale) -> int | Decimal:
    if given == wanted:
        return number
    return as_number(Fraction(number) * _WHOLE[wanted] / _WHOLE[given])


def _read(value: JsonValue, separator: DecimalSeparator | None) -> tuple[int | Decimal, Scale | None]:
    if not isinstance(value, str):
        return exact_number(value), None
    if len(value) <= _MAX_WORDS and not value.isascii() and (found := _CHINESE.fullmatch(fold(value))) is not None:
        number = 100 if found["number"] == "百" else parse_number(found["number"], separator)
        if number < 0:
            raise unreadable("a share")
        scale: Scale = "percent" if found["whole"] == "百" else "permille"
        return bounded(-number if found["sign"] else number), scale
    digits, sign = split_number(value, "a share")
    number = exact_number(digits, separator)
    if not sign:
        return number, None
    known = _SIGNS.get(fold(sign))
    if known is None:
        raise ValueRefused(RefusalCode.UNKNOWN_UNIT, "The sign behind the number is none of a share.", ("%", "‰"))
    return number, known


_MAX_WORDS: Final = 100
