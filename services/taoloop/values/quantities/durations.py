"""Lengths of time in seconds: ISO 8601, units in English or Chinese, hours and minutes with colons."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from typing import Final

from taoloop.core.exact_json import JsonValue
from taoloop.values.chinese_numerals import CHARACTERS
from taoloop.values.folding import fold
from taoloop.values.numbers import DecimalSeparator, bounded, exact_number, parse_number, refuse_not_finite
from taoloop.values.quantities.exact import as_number
from taoloop.values.refusals import RefusalCode, ValueRefused, ambiguous, unreadable

SECONDS_OF: Final = {
    "wk": Fraction(604800), "d": Fraction(86400), "h": Fraction(3600), "min": Fraction(60), "s": Fraction(1),
    "ms": Fraction(1, 10**3), "us": Fraction(1, 10**6), "ns": Fraction(1, 10**9),
}  # fmt: skip
"""The units in which a contract can state the bare numbers of a tool; a day has 24 hours here."""

_SPELLINGS: Final = {
    "wk": "w wk wks week weeks 周 星期 个星期",
    "d": "d day days 天 日",
    "h": "h hr hrs hour hours 小时 个小时 时 钟头 个钟头",
    "min": "m min mins minute minutes 分 分钟",
    "s": "s sec secs second seconds 秒 秒钟",
    "ms": "ms msec millisecond milliseconds 毫秒",
    "us": "us μs microsecond microseconds 微秒",
    "ns": "ns nanosecond nanoseconds 纳秒",
}
_UNIT_OF: Final = {word: unit for unit, words in _SPELLINGS.items() for word in words.split()}
_NO_FIXED_LENGTH: Final = {
    **dict.fromkeys(["mo", "month", "months", "月", "个月"], (28, 29, 30, 31)),
    **dict.fromkeys(["y", "yr", "yrs", "year", "years", "年"], (365, 366)),
}
_MAX_TEXT: Final = 200
_ISO = re.compile(
    r"p(?:(?P<weeks>N)w|(?:(?P<years>N)y)?(?:(?P<months>N)m)?(?:(?P<days>N)d)?"
    r"(?:t(?:(?P<hours>N)h)?(?:(?P<minutes>N)m)?(?:(?P<seconds>N)s)?)?)".replace("N", "[0-9]{1,30}(?:[.,][0-9]{1,30})?")
)
_CLOCK = re.compile(
    r"(?P<first>[0-9]{1,9}):(?P<second>[0-5][0-9])(?::(?P<third>[0-5][0-9](?:\.[0-9]{1,30})?))? ?"
    r"(?P<unit>[a-z分钟小时]*)"
)
_NEXT = f"(?:and |又|零)?[0-9{CHARACTERS}半]"
_PART = re.compile(
    rf" ?(?:and |又|零)?(?P<number>[0-9](?:[0-9.,]*[0-9])?|[{CHARACTERS}]+|半)(?P<half>个半)? ?"
    rf"(?P<unit>[a-zμ]+|[^\x00-\x7f]+?)(?:$|,? ?(?={_NEXT}))"
)


def parse_duration(
    value: JsonValue, stated: str = "", decimal_separator: DecimalSeparator | None = None
) -> int | Decimal:
    """Return a length of time in seconds, exact.

    `PT2H30M`, `90 s`, `2h30m`, `1 hour 30 minutes`, `1小时30分钟`, `1:30:00`. Units stand in falling order, each once;
    only the last may have a fraction. `1:30` may be hours or minutes and is refused unless the unit stands behind it or
    `stated` says it. A day has 24 hours; months and years have no fixed length.

    Args:
        value: A number, or a text.
        stated: Unit of a bare number, and of the first part of `1:30`: one of `SECONDS_OF`; empty refuses them.
        decimal_separator: What the contract or the locale says.

    Raises:
        ValueRefused: MISSING_UNIT, AMBIGUOUS, UNKNOWN_UNIT, UNREADABLE, NOT_A_NUMBER or OUT_OF_RANGE.
    """
    if not isinstance(value, str):
        return _bare(bounded(value, "a length of time"), stated)
    if len(value) > _MAX_TEXT:
        raise unreadable("a length of time")
    folded = fold(value).replace("µ", "μ")
    sign, body = (-1, folded[1:].lstrip()) if folded[:1] == "-" else (1, folded.removeprefix("+"))
    refuse_not_finite(body)
    if body[:1] in {"+", "-"}:
        raise unreadable("a length of time")
    seconds = _seconds(body, stated, decimal_separator)
    return as_number(sign * seconds)


def _seconds(body: str, stated: str, separator: DecimalSeparator | None) -> Fraction:
    if body[:1] == "p" and (iso := _ISO.fullmatch(body)) is not None:
        return _of_iso(iso)
    if ":" in body and (clock := _CLOCK.fullmatch(body)) is not None:
        return _of_clock(clock, stated)
    if body and not body.strip(f"0123456789.,_' {CHARACTERS}"):
        return Fraction(_bare(exact_number(body, separator), stated))
    return _of_parts(body, separator)


def _bare(number: int | Decimal, stated: str) -> int | Decimal:
    if not stated:
        candidates = tuple(f"{number} {unit}" for unit in ("s", "ms", "min"))
        raise ValueRefused(
            RefusalCode.MISSING_UNIT, "The length of time has no unit, and nothing states it.", candidates
        )
    return number if stated == "s" else as_number(Fraction(number) * SECONDS_OF[stated])


def _of_iso(found: re.Match[str]) -> Fraction:
    parts = {name: text.replace(",", ".") for name, text in found.groupdict().items() if text is not None}
    if not parts or found[0].endswith("t"):
        raise unreadable("a length of time")
    _only_last_has_a_fraction([Fraction(text) for text in parts.values()])
    for name, days in (("years", (365, 366)), ("months", (28, 29, 30, 31))):
        if name in parts and Fraction(parts[name]):
            raise _no_fixed_length(parts[name], days)
    names = {"weeks": "wk", "days": "d", "hours": "h", "minutes": "min", "seconds": "s"}
    return sum((Fraction(parts[name]) * SECONDS_OF[unit] for name, unit in names.items() if name in parts), Fraction(0))


def _of_clock(found: re.Match[str], stated: str) -> Fraction:
    first, second = int(found["first"]), int(found["second"])
    unit = _UNIT_OF.get(found["unit"]) if found["unit"] else None
    if found["unit"] and unit not in {"h", "min"}:
        raise unreadable("a length of time")
    if found["third"] is not None:
        if unit == "min":
            raise unreadable("a length of time")
        return Fraction(found["third"]) + 60 * second + 3600 * first
    meant = unit or stated
    if meant not in {"h", "min"}:
        raise ambiguous("a length of time", (f"{first} h {second} min", f"{first} min {second} s"))
    return Fraction(60 * first + second) * (60 if meant == "h" else 1)


def _of_parts(body: str, separator: DecimalSeparator | None) -> Fraction:
    total, place, last = Fraction(0), 0, None
    numbers: list[Fraction] = []
    while place < len(body):
        found = _PART.match(body, place)
        if found is None:
            raise unreadable("a length of time")
        number, size = _part(found, separator)
        if last is not None and size >= last:
            raise unreadable("a length of time")
        numbers.append(number)
        total, last, place = total + number * size, size, found.end()
    if not numbers:
        raise unreadable("a length of time")
    _only_last_has_a_fraction(numbers)
    return total


def _part(found: re.Match[str], separator: DecimalSeparator | None) -> tuple[Fraction, Fraction]:
    number = Fraction(1, 2) if found["number"] == "半" else Fraction(bounded(parse_number(found["number"], separator)))
    if found["half"]:
        number += Fraction(1, 2)
    word = found["unit"]
    if word in _NO_FIXED_LENGTH:
        raise _no_fixed_length(found["number"], _NO_FIXED_LENGTH[word])
    if word not in _UNIT_OF:
        raise ValueRefused(RefusalCode.UNKNOWN_UNIT, "The unit is none of time.", tuple(SECONDS_OF))
    return number, SECONDS_OF[_UNIT_OF[word]]


def _only_last_has_a_fraction(numbers: list[Fraction]) -> None:
    if any(number.denominator != 1 for number in numbers[:-1]):
        raise unreadable("a length of time")


def _no_fixed_length(number: str, days: tuple[int, ...]) -> ValueRefused:
    each = number if number.isdecimal() else "1"
    return ambiguous("a length of time", (f"{int(each) * length} d" for length in days))
