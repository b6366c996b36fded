"""Exact numbers: integers of any length and decimals as written, in digits or in Chinese numerals."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final, Literal

from taoloop.values.chinese_numerals import CHARACTERS, parse_chinese_number
from taoloop.values.folding import fold
from taoloop.values.refusals import RefusalCode, ValueRefused, ambiguous, unreadable

DecimalSeparator = Literal[".", ","]

_PLAIN = re.compile(r"[+-]?[0-9]+")
_WHOLE = re.compile(r"0|[1-9][0-9]*")
_EXPONENT = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?e[+-]?[0-9]{1,3}")
_CHINESE = re.compile(f"[{CHARACTERS}0-9.]+")
_SPACES = re.compile(r"(?<=[0-9])[ \u00a0\u2009\u202f'’_](?=[0-9]{3}(?:[^0-9]|$))")
_GROUPED: Final = {
    ",": re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}"),  # the second is Indian
    ".": re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+"),
}
_MAX_DIGITS = 4300

_POINT_LANGUAGES = frozenset({"en", "zh", "ja", "ko"})
_COMMA_LANGUAGES = frozenset({"de", "fr", "it", "nl", "pl", "ru"})
_MIXED_REGIONS = frozenset({"CH", "LI", "ZA"})


def decimal_separator_of(locale: str) -> DecimalSeparator | None:
    """Return the decimal separator of a BCP 47 locale, or None where it is not settled by language and region.

    Source: CLDR 46, `decimal` of the default numbering system; regions that differ from their language are left out.
    """
    parts = locale.replace("_", "-").split("-")
    if any(part.upper() in _MIXED_REGIONS for part in parts[1:]):
        return None
    language = parts[0].lower()
    if language in _POINT_LANGUAGES:
        return "."
    return "," if language in _COMMA_LANGUAGES else None


def parse_number(text: str, decimal_separator: DecimalSeparator | None = None) -> int | Decimal:
    """Read one number; a text without fraction and exponent gives an int, every other one a `Decimal`.

    Points and commas are read as the only locale that they fit: `1,234.5` and `1.234,5` have one reading, `1,234`
    and `1.234` have two and are refused unless `decimal_separator` decides. Spaces, apostrophes and underscores
    group thousands. The decimals stay as written: `0.10` is not `0.1`. No unit and no percent sign is read.

    Args:
        text: The whole text; width and case are folded.
        decimal_separator: What the contract or the locale says.

    Raises:
        ValueRefused: UNREADABLE, AMBIGUOUS with the values, or OUT_OF_RANGE above 4300 digits.
    """
    folded = fold(text)
    if len(folded) > _MAX_DIGITS:
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, f"A number has at most {_MAX_DIGITS} digits.")
    if _PLAIN.fullmatch(folded):
        return int(folded)
    if _EXPONENT.fullmatch(folded):
        return Decimal(folded)
    if _CHINESE.fullmatch(folded) and not folded.replace(".", "").isdecimal():
        value = parse_chinese_number(folded)
        return int(value) if value == value.to_integral_value() and "点" not in folded else value
    return _with_separators(folded, decimal_separator)


def parse_integer(text: str, decimal_separator: DecimalSeparator | None = None) -> int:
    """Read one integer; a fraction of zeros is no integer in words, so `1.0` is refused.

    Raises:
        ValueRefused: As `parse_number`, and UNREADABLE for a number with a fraction or an exponent.
    """
    value = parse_number(text, decimal_separator)
    if isinstance(value, Decimal):
        raise unreadable("an integer")
    return value


def _with_separators(folded: str, decided: DecimalSeparator | None) -> int | Decimal:
    sign, body = (folded[0], folded[1:]) if folded[:1] in {"+", "-"} else ("", folded)
    body = _SPACES.sub("", body)
    separators: tuple[DecimalSeparator, ...] = (decided,) if decided else (".", ",")
    readings = {reading for separator in separators if (reading := _reading(body, separator)) is not None}
    if not readings:
        raise unreadable("a number")
    if len(readings) > 1:
        raise ambiguous("a number", sorted(f"{sign}{reading}" for reading in readings))
    reading = readings.pop()
    return Decimal(sign + reading) if "." in reading else int(sign + reading)


def _reading(body: str, decimal: DecimalSeparator) -> str | None:
    """Return the number in plain form when `decimal` separates its fraction, or None."""
    grouping = "," if decimal == "." else "."
    whole, point, fraction = body.partition(decimal)
    if point and not (fraction.isascii() and fraction.isdecimal()):
        return None
    if _GROUPED[grouping].fullmatch(whole):
        whole = whole.replace(grouping, "")
    if _WHOLE.fullmatch(whole) is None:
        return None
    return f"{whole}.{fraction}" if point else whole
