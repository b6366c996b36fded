"""Exact arithmetic on the numbers of JSON: what has a finite decimal form keeps every digit."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Final

_LEAST_DIGITS: Final = 17
_SPARE_DIGITS: Final = 2


def digits_of(number: int | Decimal) -> int:
    """Return how many significant digits a number is written with."""
    return len(Decimal(number).as_tuple().digits)


def as_number(value: Fraction, computed_from: int | Decimal = 0) -> int | Decimal:
    """Return a fraction as a number of JSON: exact where its decimal form ends, else rounded to even.

    Args:
        value: The fraction.
        computed_from: The number that it was computed from; a rounded result has two digits more, and at least 17, so
            that it converts back to that number.
    """
    if value.denominator == 1:
        return value.numerator
    twos = (value.denominator & -value.denominator).bit_length() - 1
    odd = value.denominator >> twos
    fives = 0
    while odd % 5 == 0:
        odd, fives = odd // 5, fives + 1
    if odd == 1:
        scale = max(twos, fives)
        return Decimal(f"{value.numerator * 10**scale // value.denominator}E-{scale}")
    context = Context(prec=max(_LEAST_DIGITS, digits_of(computed_from) + _SPARE_DIGITS), rounding=ROUND_HALF_EVEN)
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))
