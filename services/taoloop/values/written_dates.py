"""Days, months and years written out: they mean the same whenever they are read."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Final, Literal

from taoloop.values.calendars import Period, day_of, month_of, quarter_of, year_of
from taoloop.values.chinese_numerals import parse_chinese_number
from taoloop.values.folding import fold
from taoloop.values.refusals import RefusalCode, ValueRefused, ambiguous, unreadable

DateOrder = Literal["YMD", "DMY", "MDY"]

_MONTH_NAMES: Final = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
MONTHS: Final = {
    name: number
    for number, full in enumerate(_MONTH_NAMES, 1)
    for name in {full, full[:3], f"{full[:3]}.", *(["sept", "sept."] if number == 9 else [])}
}
"""Month by its folded English name or abbreviation."""

MONTH_WORD: Final = "|".join(re.escape(name) for name in sorted(MONTHS, key=len, reverse=True))
DAY_WORD: Final = r"[0-9]{1,2}(?:st|nd|rd|th)?"
NUMERAL: Final = "[0-9〇○零一二三四五六七八九十两]+"

_MAX_TEXT: Final = 200

_ISO = re.compile(
    r"(\d{4})-(\d{1,2})-(\d{1,2})|(\d{4})/(\d{1,2})/(\d{1,2})|(\d{4})\.(\d{1,2})\.(\d{1,2})"
    r"|(\d{4}) (\d{1,2}) (\d{1,2})",
    re.ASCII,
)
_COMPACT = re.compile(r"((?:19|20)\d\d)(\d\d)(\d\d)", re.ASCII)
_YEAR_LAST = re.compile(r"(\d{1,2})([-/. ])(\d{1,2})\2(\d{4})", re.ASCII)
_SHORT_YEAR = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{2})", re.ASCII)
_ORDERS: Final[tuple[DateOrder, ...]] = ("DMY", "MDY", "YMD")
_MONTH_FIRST = re.compile(rf"({MONTH_WORD}) ({DAY_WORD}),? (\d{{4}})", re.ASCII)
_DAY_FIRST = re.compile(rf"({DAY_WORD})(?: of )?[ -]?({MONTH_WORD})[ ,-]+(\d{{4}})", re.ASCII)
_CHINESE = re.compile(f"({NUMERAL})年({NUMERAL})月({NUMERAL})[日号]")
_ISO_MONTH = re.compile(r"(\d{4})[-/.](\d{1,2})", re.ASCII)
_NAMED_MONTH = re.compile(rf"({MONTH_WORD}),? (\d{{4}})", re.ASCII)
_CHINESE_MONTH = re.compile(f"({NUMERAL})年({NUMERAL})月份?")
_QUARTER = re.compile(r"q([1-4]) (\d{4})|(\d{4})[ -]?q([1-4])", re.ASCII)
_CHINESE_QUARTER = re.compile(f"({NUMERAL})年第?([一二三四1-4])季度?")
_YEAR = re.compile(r"(\d{4})年?|year (\d{4})", re.ASCII)
_CHINESE_YEAR = re.compile("([〇○零一二三四五六七八九]{4})年")


def read_written(folded: str, order: DateOrder | None = None) -> Period | None:
    """Read a folded text that names a day, month, quarter or year in full; None when no rule reads it.

    A day with the year first is year, month, day. With the year last, `13/04/2025` has one reading,
    `03/04/2025` two unless `order` decides. Years have four digits.

    Raises:
        ValueRefused: AMBIGUOUS with both days; OUT_OF_RANGE for a day that does not exist.
    """
    if (found := _YEAR_LAST.fullmatch(folded)) is not None:
        return Period.day(_year_last(int(found[1]), int(found[3]), int(found[4]), order))
    for pattern, read in _RULES:
        if (found := pattern.fullmatch(folded)) is not None:
            return read([group for group in found.groups() if group is not None])
    return None


def refuse_short_year(folded: str, order: DateOrder | None = None) -> None:
    """Refuse a date in digits whose year has two of them: its century is not said, and often not its order.

    Raises:
        ValueRefused: AMBIGUOUS with the days of the last and the present century that it may be.
    """
    found = _SHORT_YEAR.fullmatch(folded)
    if found is None:
        return
    numbers = (int(found[1]), int(found[3]), int(found[4]))
    readings = [
        day
        for century in (2000, 1900)
        for each in ((order,) if order else _ORDERS)
        if (day := _short(numbers, each, century)) is not None
    ]
    if readings:
        raise ambiguous("a date", readings)


def _short(numbers: tuple[int, int, int], order: DateOrder, century: int) -> date | None:
    year, month, day = (numbers[order.index(part)] for part in "YMD")
    try:
        return day_of(century + year, month, day)
    except ValueRefused:
        return None


def parse_written_date(text: str, order: DateOrder | None = None) -> date:
    """Read one day that is written in full, in digits, English or Chinese.

    >>> parse_written_date("March 5th, 2024").isoformat()
    '2024-03-05'

    Args:
        text: The whole text; case, width and spaces are folded.
        order: `DMY` or `MDY` where the contract says so, for dates with the year last.

    Raises:
        ValueRefused: UNREADABLE, AMBIGUOUS or OUT_OF_RANGE.
    """
    folded = fold(text[:_MAX_TEXT])
    period = read_written(folded, order) if len(text) <= _MAX_TEXT else None
    if period is None or not period.is_day:
        raise unreadable("a date")
    return period.start


def numeral(text: str) -> int:
    """Return the value of a short number in ASCII digits, with or without an English ordinal, or in Chinese.

    Raises:
        ValueRefused: UNREADABLE.
    """
    digits = re.sub("(?:st|nd|rd|th)$", "", text)
    return int(digits) if digits.isascii() and digits.isdecimal() else int(parse_chinese_number(digits))


def _year_last(first: int, second: int, year: int, order: DateOrder | None) -> date:
    if order == "YMD":
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, "The year stands last, and the stated order has it first.")
    if order is not None:
        day, month = (first, second) if order == "DMY" else (second, first)
        return day_of(year, month, day)
    readings = []
    for day, month in ((first, second), (second, first)):
        try:
            readings.append(day_of(year, month, day))
        except ValueRefused:
            continue
    if not readings:
        return day_of(year, second, first)
    if len(set(readings)) > 1:
        raise ambiguous("a date", readings)
    return readings[0]


def _ymd(groups: list[str]) -> Period:
    year, month, day = groups
    return Period.day(day_of(numeral(year), numeral(month), numeral(day)))


def _month_day_year(groups: list[str]) -> Period:
    month, day, year = groups
    return Period.day(day_of(int(year), MONTHS[month], numeral(day)))


def _day_month_year(groups: list[str]) -> Period:
    day, month, year = groups
    return Period.day(day_of(int(year), MONTHS[month], numeral(day)))


def _quarter(groups: list[str]) -> Period:
    first, second = (numeral(group) for group in groups)
    return quarter_of(max(first, second), min(first, second))


_RULES: Final[tuple[tuple[re.Pattern[str], Callable[[list[str]], Period]], ...]] = (
    (_ISO, _ymd),
    (_COMPACT, _ymd),
    (_CHINESE, _ymd),
    (_MONTH_FIRST, _month_day_year),
    (_DAY_FIRST, _day_month_year),
    (_ISO_MONTH, lambda groups: month_of(int(groups[0]), int(groups[1]))),
    (_NAMED_MONTH, lambda groups: month_of(int(groups[1]), MONTHS[groups[0]])),
    (_CHINESE_MONTH, lambda groups: month_of(numeral(groups[0]), numeral(groups[1]))),
    (_QUARTER, _quarter),
    (_CHINESE_QUARTER, _quarter),
    (_YEAR, lambda groups: year_of(int(groups[0]))),
    (_CHINESE_YEAR, lambda groups: year_of(numeral(groups[0]))),
)
