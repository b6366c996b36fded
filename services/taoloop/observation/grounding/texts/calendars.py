"""Days, months and years in a text, ranges of them included, with the times that stand beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from taoloop.observation.grounding.keys import Day
from taoloop.observation.grounding.model import Mention, Taken
from taoloop.observation.grounding.reading import Reading
from taoloop.observation.grounding.texts.clocks import CLOCK, Clock, read_clock
from taoloop.plan.answering import ClaimKind
from taoloop.values.refusals import ValueRefused
from taoloop.values.written_dates import MONTH_WORD, MONTHS, numeral

_YEAR: Final = "(?P<year>[0-9]{4}|[〇○零一二三四五六七八九]{4})"
_NUM: Final = "[0-9]{1,2}|[〇零一二三四五六七八九十]{1,3}"
_DAY: Final = "(?P<day>[0-3]?[0-9])(?:st|nd|rd|th)?(?![0-9A-Za-z])"
_MONTH: Final = rf"(?P<month>(?i:{MONTH_WORD}))(?![A-Za-z])"
_START: Final = "(?<![A-Za-z0-9.])(?<![A-Za-z0-9][-_/])"
_AFTER_RANGE: Final = "(?<![A-Za-z0-9.])(?<![A-Za-z][-_/])"
_TO: Final = " ?(?:-|–|—|~|至|到|to|through|until|and) ?"


@dataclass(frozen=True, slots=True)
class _Found:
    start: int
    end: int
    days: tuple[Day, ...]
    is_ambiguous: bool = False


_Read = Callable[[re.Match[str], Reading], tuple[Day, ...]]


def _fields(found: re.Match[str], _reading: Reading) -> tuple[Day, ...]:
    groups = found.groupdict()
    month = groups.get("month")
    number = MONTHS.get(month.lower()) if month else None
    return _checked(
        Day(
            year=numeral(groups["year"]) if groups.get("year") else None,
            month=number if number is not None or month is None else numeral(month),
            day=numeral(groups["day"]) if groups.get("day") else None,
        )
    )


def _year_last(found: re.Match[str], reading: Reading) -> tuple[Day, ...]:
    first, second, year = int(found["first"]), int(found["second"]), int(found["year"])
    return _ordered(first, second, year, None if reading.date_order is None else reading.date_order == "MDY")


def _without_year(found: re.Match[str], reading: Reading) -> tuple[Day, ...]:
    first, second = int(found["first"]), int(found["second"])
    return () if (first, second) == (24, 7) else _ordered(first, second, None, reading.is_month_first)


def _ordered(first: int, second: int, year: int | None, is_month_first: bool | None) -> tuple[Day, ...]:
    month_first = _checked(Day(year, first, second))
    day_first = _checked(Day(year, second, first))
    if is_month_first is None:
        return tuple(dict.fromkeys((*month_first, *day_first)))
    return (month_first or day_first) if is_month_first else (day_first or month_first)


def _checked(day: Day) -> tuple[Day, ...]:
    """Return the day, or nothing when there is no such day."""
    try:
        datetime(2000 if day.year is None else day.year, day.month or 1, day.day or 1, tzinfo=UTC)
    except ValueError:
        return ()
    return (day,)


_SHORT_YEAR: Final = r"(?P<year>[0-9]{4})(?![0-9])"
_CHINESE_MONTH: Final = rf"(?:(?<![0-9]){_YEAR}年)?(?<![0-9])(?P<month>{_NUM})月"
_MONTH_AND_DAY: Final = (
    r"(?<![A-Za-z0-9./-])(?P<first>[0-9]{1,2})/(?P<second>[0-9]{1,2})"
    r"(?![0-9/A-Za-z%]|\.[0-9]| ?(?:stars?|星|分))"
)
# What a text must have before a rule is worth trying.
_SEPARATORS: Final = re.compile(r"[0-9][-/.][0-9]")
_SIGNS: Final = re.compile("[年月日号]")
_MONTHS: Final = re.compile(r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec", re.IGNORECASE)
_CLOCKS: Final = re.compile(r"[0-9]:[0-9]|[0-9] ?[apAP]\.?[mM]|[点时]")
_RULES: Final[tuple[tuple[re.Pattern[str], re.Pattern[str], _Read], ...]] = tuple(
    (needs, re.compile(pattern), read)
    for needs, pattern, read in (
        (
            _SEPARATORS,
            rf"{_START}{_YEAR}([-/.])(?P<month>[0-9]{{1,2}})\2(?P<day>[0-9]{{1,2}})(?![0-9]|[-_][A-Za-z0-9])",
            _fields,
        ),
        (_SIGNS, rf"{_CHINESE_MONTH}(?P<day>{_NUM})[日号]", _fields),
        (_SIGNS, rf"{_CHINESE_MONTH}(?P<day>{_NUM})(?={_TO}(?:{_NUM})[日号])", _fields),
        (_SIGNS, rf"(?<![0-9]){_YEAR}年(?P<month>{_NUM})月份?", _fields),
        (_MONTHS, rf"(?<![A-Za-z0-9]){_MONTH} (?:the )?{_DAY}(?:,? {_SHORT_YEAR})?", _fields),
        (
            _MONTHS,
            rf"{_AFTER_RANGE}(?P<day>[0-3]?[0-9])(?:st|nd|rd|th)?(?: of)?[ -]{_MONTH}(?:[ ,-]{{1,2}}{_SHORT_YEAR})?",
            _fields,
        ),
        (_MONTHS, rf"(?<![A-Za-z0-9]){_MONTH}(?:,| of)? {_SHORT_YEAR}", _fields),
        (_MONTHS, rf"(?<![A-Za-z])(?:(?<=in )|(?<=of )|(?<=by ))(?<![A-Za-z](?:in|of|by) ){_MONTH}", _fields),
        (_SEPARATORS, rf"{_START}(?P<first>[0-9]{{1,2}})([-/.])(?P<second>[0-9]{{1,2}})\2{_SHORT_YEAR}", _year_last),
        (_SEPARATORS, rf"{_START}{_YEAR}-(?P<month>0[1-9]|1[0-2])(?![0-9-])", _fields),
        (_SIGNS, rf"(?<![0-9]){_YEAR}年", _fields),
        (_SIGNS, rf"(?<![0-9第])(?P<month>{_NUM})月(?:份|底|初|中旬|上旬|下旬)?", _fields),
        (_SIGNS, rf"(?<![0-9第])(?P<day>{_NUM})(?:日(?![内均常之元本])|号(?![码楼线院门店机院]))", _fields),
        (_SEPARATORS, _MONTH_AND_DAY, _without_year),
    )
)

_TAIL: Final = re.compile(
    rf"{_TO}(?P<day>{_NUM})(?:[日号]"
    r"|(?:st|nd|rd|th)?(?:,? (?P<year>[0-9]{4})(?![0-9])|(?![0-9:/]|[.][0-9]| ?[A-Za-z%])))"
)
_HEAD: Final = re.compile(r"(?<![A-Za-z0-9./-])(?P<day>[0-3]?[0-9])(?:st|nd|rd|th)? ?(?:-|–|—|to|and|until) ?$")
_BESIDE: Final = re.compile(r"T|,? ?(?:at |的)?")


def read_dates(text: str, taken: Taken, reading: Reading) -> Iterator[Mention]:
    """Yield the dates and times of a text in half width, and take their places."""
    found = sorted(_all_days(text, taken, reading), key=lambda one: one.start)
    for one in found:
        yield _with_time(one, text, taken, reading)
    for match in CLOCK.finditer(text) if _CLOCKS.search(text) else ():
        clock = read_clock(match)
        if clock is not None and taken.is_free(*match.span()):
            taken.take(*match.span())
            yield _time_mention(match.start(), match.end(), clock)


def _all_days(text: str, taken: Taken, reading: Reading) -> Iterator[_Found]:
    needed = {needs for needs in (_SEPARATORS, _SIGNS, _MONTHS) if needs.search(text)}
    for needs, pattern, read in _RULES:
        for match in pattern.finditer(text) if needs in needed else ():
            if not taken.is_free(*match.span()):
                continue
            try:
                days = read(match, reading)
            except ValueRefused:
                continue
            if days or read is not _without_year:  # a day that does not exist is a claim that nothing supports
                taken.take(*match.span())
                yield from _ranged(_Found(*match.span(), days, len(days) > 1), text, taken)


def _ranged(one: _Found, text: str, taken: Taken) -> Iterator[_Found]:
    """Yield a day with the other end of its range, where that leaves the month out: `May 20-22`, `20-22 May`."""
    day = one.days[0] if one.days else Day()
    if one.is_ambiguous or day.month is None or day.day is None:
        yield one
        return
    tail = _TAIL.match(text, one.end)
    if tail is not None and taken.is_free(*tail.span()):
        year = int(tail["year"]) if tail["year"] else day.year
        last = _numbered(day.month, tail["day"], year)
        if last:
            taken.take(*tail.span())
            one = _Found(one.start, one.end, (Day(year, day.month, day.day),))
            yield _Found(tail.start("day"), tail.end(), last)
    window = max(0, one.start - 12)
    head = _HEAD.search(text[window : one.start])
    if head is not None and text[one.start].isdigit() and taken.is_free(window + head.start(), one.start):
        first = _numbered(day.month, head["day"], day.year)
        if first:
            taken.take(window + head.start(), one.start)
            yield _Found(window + head.start("day"), window + head.end("day"), first)
    yield one


def _numbered(month: int, day: str, year: int | None) -> tuple[Day, ...]:
    try:
        return _checked(Day(year, month, numeral(day)))
    except ValueRefused:
        return ()


def _with_time(one: _Found, text: str, taken: Taken, reading: Reading) -> Mention:
    beside = _BESIDE.match(text, one.end)
    match = CLOCK.match(text, beside.end() if beside is not None else one.end)
    if match is None or len(one.days) != 1 or not taken.is_free(*match.span()):
        return _day_mention(one, text)
    clock = read_clock(match)
    if clock is None or one.days[0].day is None:
        return _day_mention(one, text)
    taken.take(one.end, match.end())
    return _moment_mention(one.start, match.end(), one.days[0], clock, reading)


def _day_mention(one: _Found, text: str) -> Mention:
    normalised = "|".join(day.text for day in one.days) or text[one.start : one.end]
    if len(one.days) != 1:
        keys: tuple[str, ...] = (f"written:{text[one.start : one.end]}",)
    else:
        keys = (one.days[0].key,)
    return Mention(
        kind=ClaimKind.DATE,
        start=one.start,
        end=one.end,
        normalised=normalised,
        keys=keys,
        is_ambiguous=one.is_ambiguous,
    )


def _time_mention(start: int, end: int, clock: Clock) -> Mention:
    if clock.zone is None:
        keys = tuple(f"time:{reading}" for reading in clock.readings)
    else:
        keys = tuple(f"utctime:{_in_utc(_SOME_DAY, one, clock).partition('T')[2]}" for one in clock.readings)
    normalised = "|".join(clock.readings) + ("" if clock.zone is None else str(clock.zone))
    return Mention(kind=ClaimKind.TIME, start=start, end=end, normalised=normalised, keys=keys)


def _moment_mention(start: int, end: int, day: Day, clock: Clock, reading: Reading) -> Mention:
    normalised = f"{day.text}T{'|'.join(clock.readings)}"
    parts = None
    if clock.zone is None:
        keys = tuple(day.moment_key(one) for one in clock.readings)
        parts = ((day.key,), tuple(f"time:{one}" for one in clock.readings))
    elif day.year is None:
        on_some_year = Day(_SOME_DAY.year, day.month, day.day)
        keys = tuple(f"mdutc:{_in_utc(on_some_year, one, clock)[5:]}" for one in clock.readings)
    else:
        keys = tuple(key for one in clock.readings for key in _zoned(day, one, clock, reading))
        normalised += str(clock.zone)
    return Mention(kind=ClaimKind.TIME, start=start, end=end, normalised=normalised, keys=keys, parts=parts)


_SOME_DAY: Final = Day(2000, 1, 15)


def _zoned(day: Day, clock_reading: str, clock: Clock, reading: Reading) -> Iterator[str]:
    """Yield a moment on the user's clock, or as it is written where the user's time zone is not known, and in UTC."""
    moment = _moment(day, clock_reading, clock)
    try:
        yield f"at:{_written(moment if reading.zone is None else moment.astimezone(reading.zone), clock_reading)}"
    except OverflowError:
        yield f"at:{_written(moment, clock_reading)}"
    yield f"utc:{_in_utc(day, clock_reading, clock)}"


def _moment(day: Day, clock_reading: str, clock: Clock) -> datetime:
    hour, minute, second = (*map(int, clock_reading.split(":")), 0)[:3]
    return datetime(day.year or 1, day.month or 1, day.day or 1, hour, minute, second, tzinfo=clock.zone)


def _in_utc(day: Day, clock_reading: str, clock: Clock) -> str:
    moment = _moment(day, clock_reading, clock)
    try:
        return _written(moment.astimezone(UTC), clock_reading)
    except OverflowError:  # before the year 1 or after 9999
        return _written(moment, clock_reading)


def _written(moment: datetime, clock_reading: str) -> str:
    precision = "seconds" if clock_reading.count(":") == 2 else "minutes"
    return moment.replace(tzinfo=None).isoformat(timespec=precision)
