"""The user's calendar: today, weeks, months and years as periods of whole days."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from typing import Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from taoloop.values.refusals import RefusalCode, ValueRefused

MONDAY = 0


@dataclass(frozen=True, slots=True, order=True)
class Period:
    """Whole days from `start` to `end`, both included; `str()` gives the `date-range` form."""

    start: date
    end: date

    @classmethod
    def day(cls, day: date) -> Self:
        """Return the period of one day."""
        return cls(day, day)

    @property
    def is_day(self) -> bool:
        """Whether it is one single day."""
        return self.start == self.end

    def __str__(self) -> str:
        return f"{self.start.isoformat()}~{self.end.isoformat()}"


@dataclass(frozen=True, slots=True)
class Calendar:
    """Where relative dates are counted from.

    Attributes:
        today: The day of the reference time in the user's time zone.
        week_start: First day of a week, 0 for Monday to 6 for Sunday.
    """

    today: date
    week_start: int = MONDAY

    @classmethod
    def at(cls, reference_time: datetime | None, time_zone: str | tzinfo, week_start: int = MONDAY) -> Self:
        """Return the calendar of an aware moment in a time zone, given itself or by its IANA name.

        Raises:
            ValueRefused: NO_REFERENCE without a moment; UNREADABLE for an unknown time zone.
        """
        if reference_time is None:
            raise ValueRefused(RefusalCode.NO_REFERENCE, "The words are relative, and there is no reference time.")
        zone = zone_of(time_zone) if isinstance(time_zone, str) else time_zone
        return cls(day_in(reference_time, zone), week_start)

    def days(self, offset: int) -> Period:
        """Return the day `offset` days after today."""
        return Period.day(shifted(self.today, offset))

    def week(self, offset: int) -> Period:
        """Return the week `offset` weeks after the present one."""
        into_week = (self.today.weekday() - self.week_start) % 7
        start = shifted(self.today, 7 * offset - into_week)
        return Period(start, shifted(start, 6))

    def weekday_of_week(self, weekday: int, offset: int) -> Period:
        """Return one weekday (0 Monday to 6 Sunday) of the week `offset` weeks after the present one."""
        return Period.day(shifted(self.week(offset).start, (weekday - self.week_start) % 7))

    def month(self, offset: int) -> Period:
        """Return the calendar month `offset` months after the present one."""
        return month_of(*months_later(self.today.year, self.today.month, offset))

    def quarter(self, offset: int) -> Period:
        """Return the calendar quarter `offset` quarters after the present one."""
        first_month = 3 * ((self.today.month - 1) // 3) + 1
        year, month = months_later(self.today.year, first_month, 3 * offset)
        return quarter_of(year, (month + 2) // 3)

    def year(self, offset: int) -> Period:
        """Return the calendar year `offset` years after the present one."""
        return year_of(self.today.year + offset)

    def same_day(self, months: int) -> Period:
        """Return the day with today's number `months` months later.

        Raises:
            ValueRefused: OUT_OF_RANGE where that month has no such day.
        """
        year, month = months_later(self.today.year, self.today.month, months)
        return Period.day(day_of(year, month, self.today.day))


def zone_of(name: str) -> ZoneInfo:
    """Return the time zone with this IANA name; the empty name is UTC.

    Raises:
        ValueRefused: UNREADABLE for an unknown name.
    """
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError) as exc:
        raise ValueRefused(RefusalCode.UNREADABLE, "The time zone is no IANA name that is known.") from exc


def day_in(moment: datetime, zone: tzinfo) -> date:
    """Return the day that an aware moment falls on in a time zone.

    Raises:
        ValueRefused: OUT_OF_RANGE outside of the years 1 to 9999.
    """
    try:
        return moment.astimezone(zone).date()
    except OverflowError as exc:
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, "There is no such day.") from exc


def day_of(year: int, month: int, day: int) -> date:
    """Return the date.

    Raises:
        ValueRefused: OUT_OF_RANGE for a day that does not exist.
    """
    try:
        return date(year, month, day)
    except (ValueError, OverflowError) as exc:
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, "There is no such day.") from exc


def month_of(year: int, month: int) -> Period:
    """Return a calendar month.

    Raises:
        ValueRefused: OUT_OF_RANGE for a month that does not exist.
    """
    start = day_of(year, month, 1)
    return Period(start, day_of(year, month, calendar.monthrange(year, month)[1]))


def quarter_of(year: int, quarter: int) -> Period:
    """Return a calendar quarter, 1 to 4.

    Raises:
        ValueRefused: OUT_OF_RANGE for a quarter that does not exist.
    """
    return Period(month_of(year, 3 * quarter - 2).start, month_of(year, 3 * quarter).end)


def year_of(year: int) -> Period:
    """Return a calendar year.

    Raises:
        ValueRefused: OUT_OF_RANGE outside of 1 to 9999.
    """
    return Period(day_of(year, 1, 1), day_of(year, 12, 31))


def months_later(year: int, month: int, offset: int) -> tuple[int, int]:
    """Return year and month `offset` months after the given ones."""
    count = year * 12 + month - 1 + offset
    return count // 12, count % 12 + 1


def shifted(day: date, days: int) -> date:
    """Return the date `days` days later.

    Raises:
        ValueRefused: OUT_OF_RANGE outside of the years 1 to 9999.
    """
    try:
        return day + timedelta(days=days)
    except OverflowError as exc:
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, "There is no such day.") from exc
