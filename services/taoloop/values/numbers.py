"""Exact numbers: integers of any length and decimals as written, in digits or in Chinese numerals."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Final, Literal

from taoloop.values.chinese_numerals import CHARACTERS, parse_chinese_number
from taoloop.values.folding import fold
from taoloop.values.refusals import RefusalCode, ValueRefused, ambiguous, unreadable

DecimalSeparator = Literal[".", ","]

# One reading whatever the locale: no group of three could be meant. The common case, worth skipping the folding for.
_SIMPLE = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.(?:[0-9]{1,2}|[0-9]{4,18}))?")
# The same with groups of thousands: its point can be no other's, and without one the separator has to be decided.
_SIMPLE_GROUPED = re.compile(r"-?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?P<fraction>\.[0-9]{1,18})?")
_PLAIN = re.compile(r"[+-]?[0-9]+")
_WHOLE = re.compile(r"0|[1-9][0-9]*")
_EXPONENT = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?e[+-]?[0-9]{1,3}")
_CHINESE = re.compile(f"[{CHARACTERS}0-9.]+")
_SPACED = re.compile(r"[1-9][0-9]{0,2}(?P<space>[ '’_])[0-9]{3}(?:(?P=space)[0-9]{3})*(?![0-9])")
_GROUPED: Final = {
    ",": re.compile(r"[1-9][0-9]{0,2}(?:,[0-9]{3})+|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}"),  # the second is Indian
    ".": re.compile(r"[1-9][0-9]{0,2}(?:\.[0-9]{3})+"),
}
_MAX_DIGITS = 4300
_MAX_BITS = 14_000  # below 4300 digits
_MAX_EXPONENT = 4000
_SURELY_BOUNDED = (
    100  # no text of so few characters writes a number outside of the bounds: an exponent has three digits
)
_NOT_FINITE: Final = frozenset({"nan", "inf", "infinity", "∞"})

_POINT_LANGUAGES: Final = frozenset({"en", "zh", "ja", "ko", "th", "he", "hi", "bn", "ta", "te", "fil", "ms"})
_COMMA_LANGUAGES: Final = frozenset(
    {
        "de", "fr", "it", "nl", "pl", "ru", "pt", "sv", "da", "nb", "nn", "no", "fi", "cs", "sk", "hu", "ro", "bg",
        "el", "tr", "uk", "be", "hr", "sl", "lt", "lv", "et", "is", "id", "vi", "ca", "eu", "gl",
    }
)  # fmt: skip
_BY_REGION: Final[dict[str, DecimalSeparator]] = {
    **dict.fromkeys(("de-CH", "de-LI", "it-CH"), "."),
    **dict.fromkeys(("es-MX", "es-US", "es-PR", "es-GT", "es-HN", "es-NI", "es-SV", "es-DO", "es-PA", "es-PE"), "."),
    **dict.fromkeys(("es-ES", "es-AR", "es-BO", "es-CL", "es-CO", "es-EC", "es-PY", "es-UY", "es-VE"), ","),
}
_LONGEST_LOCALE: Final = 64
_UNSETTLED_REGIONS: Final = frozenset({"ZA"})


def decimal_separator_of(locale: str) -> DecimalSeparator | None:
    """Return the decimal separator of a BCP 47 locale, or None where it is not settled by language and region.

    Source: CLDR 46, `decimal` of the numbering system with Latin digits. Spanish needs its region.
    """
    return _settled_separator(locale) if len(locale) <= _LONGEST_LOCALE else None


@lru_cache(maxsize=1024)
def _settled_separator(locale: str) -> DecimalSeparator | None:
    language, *others = locale.replace("_", "-").split("-")
    language = language.lower()
    region = next((part.upper() for part in others if len(part) == 2), "")
    if region in _UNSETTLED_REGIONS:
        return None
    if (stated := _BY_REGION.get(f"{language}-{region}")) is not None:
        return stated
    if language in _POINT_LANGUAGES:
        return "."
    return "," if language in _COMMA_LANGUAGES else None


def number_fault(options: Mapping[str, object]) -> str | None:
    """Return what is wrong with the option `locale`, in one sentence, or None."""
    locale = options.get("locale", "")
    if not isinstance(locale, str):
        return "The option locale is a text."
    if locale and "decimal_separator" not in options and decimal_separator_of(locale) is None:
        return f"The locale {locale} does not settle the decimal separator; state decimal_separator."
    return None


def parse_number(text: str, decimal_separator: DecimalSeparator | None = None) -> int | Decimal:
    """Read one number; a text without fraction and exponent gives an int, every other one a `Decimal`.

    Points and commas are read as the only locale that they fit: `1,234.5` and `1.234,5` have one reading, `1,234`
    and `1.234` have two and are refused unless `decimal_separator` decides. Spaces, apostrophes and underscores
    group thousands. The decimals stay as written: `0.10` is not `0.1`. No unit and no percent sign is read.

    Args:
        text: The whole text; width and case are folded.
        decimal_separator: What the contract or the locale says.

    Raises:
        ValueRefused: UNREADABLE, AMBIGUOUS with the values, NOT_A_NUMBER, or OUT_OF_RANGE above 4300 digits.
    """
    if decimal_separator != "," and _SIMPLE.fullmatch(text) is not None:
        return Decimal(text) if "." in text else int(text)
    grouped = _SIMPLE_GROUPED.fullmatch(text) if decimal_separator != "," and len(text) <= _MAX_DIGITS else None
    if grouped is not None and (grouped["fraction"] or decimal_separator):
        return Decimal(text.replace(",", "")) if grouped["fraction"] else int(text.replace(",", ""))
    folded = fold(text)
    refuse_not_finite(folded)
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


def bounded(value: object, what: str = "a number") -> int | Decimal:
    """Return a number of JSON as it is, where arithmetic on it takes bounded time.

    A float, which JSON of ours has not, is taken by its shortest decimal form.

    Raises:
        ValueRefused: UNREADABLE for what is no number; NOT_A_NUMBER; OUT_OF_RANGE beyond 10 to the 4000.
    """
    if isinstance(value, float):
        value = Decimal(repr(value))
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise unreadable(what)
    if isinstance(value, int):
        is_within = value.bit_length() <= _MAX_BITS
    elif not value.is_finite():
        raise _not_a_number()
    else:
        exponent = value.as_tuple().exponent
        is_within = abs(value.adjusted()) <= _MAX_EXPONENT and isinstance(exponent, int) and exponent >= -_MAX_EXPONENT
    if not is_within:
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, f"A number lies within 10 to the ±{_MAX_EXPONENT}.")
    return value


def exact_number(value: object, decimal_separator: DecimalSeparator | None = None) -> int | Decimal:
    """Return a number of JSON, or the number that a text writes.

    Raises:
        ValueRefused: As `parse_number` and `bounded`.
    """
    if not isinstance(value, str):
        return bounded(value)
    read = parse_number(value, decimal_separator)
    return read if len(value) <= _SURELY_BOUNDED else bounded(read)


def refuse_not_finite(folded: str) -> None:
    """Refuse a folded text that says itself that it is no finite number.

    Raises:
        ValueRefused: NOT_A_NUMBER.
    """
    if folded.lstrip("+-") in _NOT_FINITE:
        raise _not_a_number()


def _not_a_number() -> ValueRefused:
    return ValueRefused(RefusalCode.NOT_A_NUMBER, "The value is not a finite number.")


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
    if (spaced := _SPACED.match(body)) is not None:
        body = spaced[0].replace(spaced["space"], "") + body[spaced.end() :]
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
