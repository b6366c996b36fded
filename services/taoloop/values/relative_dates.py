"""Dates in words that mean something only from a reference day: today, last week, 上个月, 3月5日."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from taoloop.values.calendars import Calendar, Period, day_of, month_of, months_later, quarter_of, shifted
from taoloop.values.refusals import ambiguous
from taoloop.values.written_dates import DAY_WORD, MONTH_WORD, MONTHS, NUMERAL, numeral

_DAYS: Final = {
    "today": 0, "tomorrow": 1, "yesterday": -1,
    "the day after tomorrow": 2, "day after tomorrow": 2,
    "the day before yesterday": -2, "day before yesterday": -2,
    "今天": 0, "今日": 0, "明天": 1, "明日": 1, "后天": 2, "大后天": 3,
    "昨天": -1, "昨日": -1, "前天": -2, "大前天": -3,
}  # fmt: skip
_OFFSETS: Final = {
    "last": -1, "previous": -1, "this": 0, "the current": 0, "current": 0, "next": 1,
    "上上": -2, "上": -1, "本": 0, "这": 0, "当": 0, "下": 1, "下下": 2,
    "今": 0, "去": -1, "前": -2, "明": 1, "后": 2,
}  # fmt: skip
_WEEKDAY_NAMES: Final = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_WEEKDAYS: Final = (
    {
        name: number
        for number, full in enumerate(_WEEKDAY_NAMES)
        for name in {full, full[:3], *({1: ["tues"], 2: ["weds"], 3: ["thur", "thurs"]}.get(number, []))}
    }
    | {character: number for number, character in enumerate("一二三四五六日")}
    | {"天": 6}
)
_SMALL_NUMBERS: Final = {
    word: number
    for number, word in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 1
    )
} | {"a": 1, "an": 1}

_EN_COUNT = rf"[0-9]{{1,4}}|{'|'.join(_SMALL_NUMBERS)}"
_EN_DAY = "|".join(sorted((name for name in _WEEKDAYS if name.isascii()), key=len, reverse=True))
_EN_RELATION = "last|previous|this|the current|current|next"
_ZH_RELATION = "上上|下下|上|本|这|当|下"
_ZH_WEEK = "(?:周|星期|礼拜)"

Reader = Callable[[re.Match[str], Calendar], Period]


def read_relative(folded: str, calendar: Calendar) -> Period | None:
    """Read a folded text that names days relative to the calendar's today; None when no rule reads it.

    A week is the calendar's week, `last month` the previous calendar month, `3 months ago` the day with the same
    number. A month or a day without a year is the one of the present year; a day without a month (`5号`) is one of
    the present month. `last <weekday>` is the latest such day before today and `this <weekday>` the one of this
    week. `next <weekday>` is refused where the coming one and the one of next week differ. A bare weekday and
    `last 7 days` (with or without today?) are refused with both readings.

    Source: decision of this project for weeks and months; where usage is divided the text is refused.

    Raises:
        ValueRefused: AMBIGUOUS with the readings; OUT_OF_RANGE for a day that does not exist.
    """
    if folded in _DAYS:
        return calendar.days(_DAYS[folded])
    for pattern, read in _RULES:
        if (found := pattern.fullmatch(folded)) is not None:
            return read(found, calendar)
    return None


def _count(text: str) -> int:
    return _SMALL_NUMBERS.get(text) or numeral(text)


def _unit_period(found: re.Match[str], calendar: Calendar) -> Period:
    offset = _OFFSETS[found["relation"]]
    unit = found["unit"]
    if unit in {"week", "周", "星期", "礼拜"}:
        return calendar.week(offset)
    if unit in {"month", "月"}:
        return calendar.month(offset)
    return calendar.quarter(offset) if unit in {"quarter", "季度"} else calendar.year(offset)


def _ago(found: re.Match[str], calendar: Calendar) -> Period:
    return _moved(-_count(found["count"]), found["unit"], calendar)


def _ahead(found: re.Match[str], calendar: Calendar) -> Period:
    return _moved(_count(found["count"]), found["unit"], calendar)


def _moved(count: int, unit: str, calendar: Calendar) -> Period:
    if unit in {"day", "天", "日"}:
        return calendar.days(count)
    if unit in {"week", "周", "星期", "礼拜"}:
        return calendar.days(7 * count)
    return calendar.same_day(count if unit in {"month", "月"} else 12 * count)


def _last_weekday(found: re.Match[str], calendar: Calendar) -> Period:
    back = (calendar.today.weekday() - _WEEKDAYS[found["weekday"]]) % 7 or 7
    return calendar.days(-back)


def _coming_weekday(found: re.Match[str], calendar: Calendar) -> Period:
    ahead = (_WEEKDAYS[found["weekday"]] - calendar.today.weekday()) % 7 or 7
    return calendar.days(ahead)


def _next_weekday(found: re.Match[str], calendar: Calendar) -> Period:
    coming = _coming_weekday(found, calendar)
    of_next_week = calendar.weekday_of_week(_WEEKDAYS[found["weekday"]], 1)
    if coming != of_next_week:
        raise ambiguous("a date", (coming.start, of_next_week.start))
    return coming


def _weekday_of_week(found: re.Match[str], calendar: Calendar) -> Period:
    return calendar.weekday_of_week(_WEEKDAYS[found["weekday"]], _OFFSETS[found["relation"]])


def _bare_weekday(found: re.Match[str], calendar: Calendar) -> Period:
    weekday = _WEEKDAYS[found["weekday"]]
    raise ambiguous(
        "a date",
        (
            _last_weekday(found, calendar).start,
            calendar.weekday_of_week(weekday, 0).start,
            _coming_weekday(found, calendar).start,
        ),
    )


def _last_days(found: re.Match[str], calendar: Calendar) -> Period:
    days = _count(found["count"]) * (7 if found["unit"] in {"week", "周", "星期"} else 1)
    yesterday = shifted(calendar.today, -1)
    readings = (
        Period(shifted(calendar.today, 1 - days), calendar.today),
        Period(shifted(yesterday, 1 - days), yesterday),
    )
    raise ambiguous("a date range", readings)


def _month_day(found: re.Match[str], calendar: Calendar) -> Period:
    return Period.day(day_of(calendar.today.year, MONTHS[found["month"]], numeral(found["day"])))


def _named_month(found: re.Match[str], calendar: Calendar) -> Period:
    groups = found.groupdict()
    year = calendar.today.year + _OFFSETS[groups.get("relation") or "this"]
    return month_of(year, MONTHS[found["month"]])


def _chinese_month(found: re.Match[str], calendar: Calendar) -> Period:
    year = calendar.today.year + _OFFSETS[found["relation"] or "今"]
    month = numeral(found["month"])
    return Period.day(day_of(year, month, numeral(found["day"]))) if found["day"] else month_of(year, month)


def _day_of_month(found: re.Match[str], calendar: Calendar) -> Period:
    offset = _OFFSETS[found["relation"] or "本"]
    year, month = months_later(calendar.today.year, calendar.today.month, offset)
    return Period.day(day_of(year, month, numeral(found["day"])))


def _quarter_of_year(found: re.Match[str], calendar: Calendar) -> Period:
    groups = found.groupdict()
    return quarter_of(calendar.today.year + _OFFSETS[groups.get("relation") or "this"], numeral(found["quarter"]))


_RULES: Final[tuple[tuple[re.Pattern[str], Reader], ...]] = tuple(
    (re.compile(pattern), read)
    for pattern, read in (
        (rf"(?:the )?(?P<relation>{_EN_RELATION}) (?P<unit>week|month|quarter|year)", _unit_period),
        (rf"(?P<relation>{_ZH_RELATION})个?(?P<unit>周|星期|礼拜|月|季度)", _unit_period),
        (r"(?P<relation>今|去|前|明|后|本)(?P<unit>年)", _unit_period),
        (rf"(?P<count>{_EN_COUNT}) (?P<unit>day|week|month|year)s? ago", _ago),
        (rf"in (?P<count>{_EN_COUNT}) (?P<unit>day|week|month|year)s?", _ahead),
        (rf"(?P<count>{_EN_COUNT}) (?P<unit>day|week|month|year)s? (?:from now|from today|later)", _ahead),
        (rf"(?P<count>{NUMERAL})个?(?P<unit>天|日|周|星期|礼拜|月|年)(?:之前|以前|前)", _ago),
        (rf"(?P<count>{NUMERAL})个?(?P<unit>天|日|周|星期|礼拜|月|年)(?:之后|以后|后)", _ahead),
        (rf"(?:last|previous) (?P<weekday>{_EN_DAY})", _last_weekday),
        (rf"(?:this )?coming (?P<weekday>{_EN_DAY})", _coming_weekday),
        (rf"next (?P<weekday>{_EN_DAY})", _next_weekday),
        (rf"(?P<relation>this) (?P<weekday>{_EN_DAY})", _weekday_of_week),
        (rf"(?P<weekday>{_EN_DAY}) (?:of )?(?P<relation>last|this|next) week", _weekday_of_week),
        (rf"(?P<relation>{_ZH_RELATION})个?{_ZH_WEEK}(?P<weekday>[一二三四五六日天])", _weekday_of_week),
        (rf"(?:on )?(?P<weekday>{_EN_DAY})", _bare_weekday),
        (rf"{_ZH_WEEK}(?P<weekday>[一二三四五六日天])", _bare_weekday),
        (rf"(?:the )?(?:last|past) (?P<count>{_EN_COUNT}) (?P<unit>day|week)s", _last_days),
        (rf"(?:最近|过去|近)(?P<count>{NUMERAL})个?(?P<unit>天|日|周|星期)", _last_days),
        (rf"(?P<month>{MONTH_WORD}) (?:the )?(?P<day>{DAY_WORD})", _month_day),
        (rf"(?:the )?(?P<day>{DAY_WORD}) (?:of )?(?P<month>{MONTH_WORD})", _month_day),
        (rf"(?P<month>{MONTH_WORD})(?: this year)?", _named_month),
        (rf"(?P<month>{MONTH_WORD}) (?:of )?(?P<relation>last|this|next) year", _named_month),
        (
            rf"(?:(?P<relation>今|去|前|明|后|本)年)?(?P<month>{NUMERAL})月份?(?:(?P<day>{NUMERAL})[日号])?",
            _chinese_month,
        ),
        (rf"(?:(?P<relation>{_ZH_RELATION})个?月)?(?P<day>{NUMERAL})[日号]", _day_of_month),
        (r"q(?P<quarter>[1-4])", _quarter_of_year),
        (r"(?:(?P<relation>今|去|前|明|后|本)年)?第?(?P<quarter>[一二三四1-4])季度", _quarter_of_year),
    )
)
