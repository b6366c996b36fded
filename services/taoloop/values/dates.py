"""Days and date ranges, written out or in words relative to the user's today."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from taoloop.values.calendars import Calendar, Period
from taoloop.values.folding import fold
from taoloop.values.refusals import RefusalCode, ValueRefused, unreadable
from taoloop.values.relative_dates import read_relative
from taoloop.values.written_dates import DAY_WORD, MONTH_WORD, DateOrder, read_written, refuse_short_year

_RANGE: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"(?P<start>[^~]+?) ?~ ?(?P<end>[^~]+)",
        r"from (?P<start>.+?) (?:to|until|till|through) (?P<end>.+)",
        r"between (?P<start>.+?) and (?P<end>.+)",
        r"(?P<start>.+?) (?:to|until|till|through|-|–|—) (?P<end>.+)",
        r"(?P<start>\S+?)(?:–|—|——)(?P<end>\S+)",
        r"从?(?P<start>.+?) ?(?:至|到) ?(?P<end>.+)",
    )
)
_ISO_DAY_LENGTH: Final = len("2026-03-14")
_MAX_TEXT: Final = 200
_MONTH_NAME = re.compile(rf"(?:^| )(?:{MONTH_WORD})(?: |$)")
_MONTH_DAY = re.compile(rf"(?P<month>{MONTH_WORD}) {DAY_WORD}(?P<year>,? [0-9]{{4}})?$")
_ONLY_DAY = re.compile(rf"{DAY_WORD}(?:,? [0-9]{{4}})?")
_ENGLISH_YEAR = re.compile(r"[ ,](?P<year>[0-9]{4})$")
_SHARED_HEAD = re.compile(r"(?P<year>(?:[^年]+|今|去|明)年)?(?P<month>[^年月]+月)?")


def iso_day(text: str) -> str | None:
    """Return the text where it is a day as `date.isoformat` writes it, which has one reading and is read at once.

    >>> iso_day("2026-02-28"), iso_day("2026-02-29"), iso_day("2026-2-28")
    ('2026-02-28', None, None)
    """
    if len(text) != _ISO_DAY_LENGTH or not text[4] == text[7] == "-":
        return None
    try:
        date.fromisoformat(text)  # knows weeks too, whose second hyphen stands elsewhere
    except ValueError:
        return None
    return text


def parse_date(text: str, calendar: Calendar | None = None, order: DateOrder | None = None) -> date:
    """Read one day: written in full, or in words relative to the calendar's today.

    See `read_written` and `read_relative` for the rules.

    Args:
        text: The whole text; case, width and spaces are folded.
        calendar: Where relative words count from; None refuses them.
        order: `DMY` or `MDY` where the contract says so.

    Raises:
        ValueRefused: UNREADABLE, AMBIGUOUS, OUT_OF_RANGE or NO_REFERENCE.
    """
    period = _period(_folded(text), calendar, order)
    if not period.is_day:
        raise ValueRefused(RefusalCode.AMBIGUOUS, "The text names a period, not a day.", (str(period),))
    return period.start


def parse_period(text: str, calendar: Calendar | None = None, order: DateOrder | None = None) -> Period:
    """Read a date range: two days or periods, or one period such as a month.

    `A~B`, `A to B`, `from A to B`, `between A and B`, `A 到 B`, `A 至 B`: from the first day of A to the last of B.
    One side takes the year or month that only the other names: `2024年3月1日到5日`, `March 1 to 5, 2024`.
    `str()` of the result is the `date-range` form.

    Raises:
        ValueRefused: As `parse_date`, and OUT_OF_RANGE when the end comes before the start.
    """
    folded = _folded(text)
    for pattern in _RANGE:
        found = pattern.fullmatch(folded)
        if found is None:
            continue
        try:
            first, last = _completed(found["start"], found["end"])
            start, end = _period(first, calendar, order), _period(last, calendar, order)
        except ValueRefused as refused:
            if refused.code is RefusalCode.UNREADABLE:
                continue
            raise
        if end.end < start.start:
            raise ValueRefused(RefusalCode.OUT_OF_RANGE, "The range ends before it starts.")
        return Period(start.start, end.end)
    return _period(folded, calendar, order)


def _folded(text: str) -> str:
    """Fold a text that may name days; no date has so many words that the cost of the patterns counts."""
    if len(text) > _MAX_TEXT:
        raise unreadable("a date")
    return fold(text)


def _period(folded: str, calendar: Calendar | None, order: DateOrder | None) -> Period:
    folded = folded.strip(" ,.;")
    written = read_written(folded, order)
    if written is not None:
        return written
    refuse_short_year(folded, order)
    if calendar is None:
        if _is_relative(folded):
            raise ValueRefused(RefusalCode.NO_REFERENCE, "The words are relative, and there is no reference time.")
        raise unreadable("a date")
    relative = read_relative(folded, calendar)
    if relative is None:
        raise unreadable("a date")
    return relative


_SOME_DAY: Final = date(2000, 1, 1)  # a month of 31 days in a leap year, to see whether the words are relative at all


def _is_relative(folded: str) -> bool:
    try:
        return read_relative(folded, Calendar(_SOME_DAY)) is not None
    except ValueRefused:
        return True


def _completed(start: str, end: str) -> tuple[str, str]:
    """Give either side the year or month that it shares with the other and leaves out."""
    year = _ENGLISH_YEAR.search(end)
    if year is not None and _MONTH_NAME.search(start) and not _ENGLISH_YEAR.search(start):
        start += f", {year['year']}"
    month = _MONTH_DAY.match(start)
    if month is not None and _ONLY_DAY.fullmatch(end):
        end = f"{month['month']} {end}" + (month["year"] or "" if year is None else "")
    return start, _with_head(start, end)


def _with_head(start: str, end: str) -> str:
    """Give a Chinese end the year and month of the start where it names only a smaller unit."""
    found = _SHARED_HEAD.match(start)
    if found is None or not end.endswith(("日", "号", "月", "月份")) or "年" in end:
        return end
    year, month = found["year"] or "", found["month"] or ""
    return year + end if "月" in end else year + month + end
