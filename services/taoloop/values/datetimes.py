"""Moments: RFC 3339 with any offset, epochs, and a day with a time of day in the user's time zone."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, timezone
from typing import Final, Literal
from zoneinfo import ZoneInfo

from taoloop.values.calendars import Calendar, day_of, zone_of
from taoloop.values.dates import parse_date
from taoloop.values.folding import fold
from taoloop.values.refusals import RefusalCode, ValueRefused, ambiguous, unreadable
from taoloop.values.times import parse_time, time_of
from taoloop.values.written_dates import DateOrder

_RFC3339 = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})[Tt ](?P<hour>\d{2}):(?P<minute>\d{2}):(?P<second>\d{2})"
    r"(?:\.(?P<fraction>\d+))?(?:(?P<utc>[Zz])|(?P<sign>[+-])(?P<offset_hours>\d{2}):(?P<offset_minutes>\d{2}))",
    re.ASCII,
)
_LOCAL = re.compile(r"(\d{4}-\d{2}-\d{2})[Tt ](\d{2}:\d{2}(?::\d{2})?)", re.ASCII)
_EPOCH_UNITS: Final = {10: "s", 13: "ms", 16: "us", 19: "ns"}
_PER_SECOND: Final = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

EpochUnit = Literal["s", "ms", "us", "ns"]


def parse_rfc3339(text: str) -> datetime:
    """Read a moment with its offset and return it aware, in UTC.

    A leap second, `24:00` and a fraction finer than microseconds that is not zero are refused: they have no exact
    `datetime`. `-00:00` is read as UTC.

    Source: RFC 3339, section 5.6; a space may stand for the T.

    >>> parse_rfc3339("2024-05-20T22:30:00+08:00").isoformat()
    '2024-05-20T14:30:00+00:00'

    Raises:
        ValueRefused: UNREADABLE or OUT_OF_RANGE.
    """
    found = _RFC3339.fullmatch(text.strip())
    if found is None:
        raise unreadable("a date and time with its offset")
    day = day_of(int(found["year"]), int(found["month"]), int(found["day"]))
    clock = time_of(int(found["hour"]), int(found["minute"]), int(found["second"]))
    clock = clock.replace(microsecond=_microsecond(found["fraction"] or ""), tzinfo=_offset(found))
    try:
        return datetime.combine(day, clock).astimezone(UTC)
    except OverflowError as exc:
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, "There is no such moment.") from exc


def parse_epoch(value: int, unit: EpochUnit | None = None) -> datetime:
    """Return the moment of a count since 1970-01-01T00:00:00Z.

    Without a unit, 10, 13, 16 and 19 digits are seconds, milli-, micro- and nanoseconds; another length and a
    negative count have no single reading. Nanoseconds are cut to microseconds.

    Raises:
        ValueRefused: AMBIGUOUS without a unit, OUT_OF_RANGE outside of the years 1 to 9999.
    """
    if unit is None:
        guessed = _EPOCH_UNITS.get(len(str(value))) if value > 0 else None
        if guessed is None:
            raise ambiguous("a moment", (f"{value} {name}" for name in _PER_SECOND))
        per_second = _PER_SECOND[guessed]
    else:
        per_second = _PER_SECOND[unit]
    seconds, rest = divmod(value, per_second)
    try:
        return _EPOCH + timedelta(seconds=seconds, microseconds=rest * 10**6 // per_second)
    except OverflowError as exc:
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, "There is no such moment.") from exc


def parse_datetime(
    text: str, calendar: Calendar | None = None, time_zone: str = "", order: DateOrder | None = None
) -> datetime:
    """Read a moment, in UTC: RFC 3339, or a day with a time of day in `time_zone`.

    The day may be in words (`tomorrow at 3pm`, `明天下午三点`); the time stands after it or before it. A local time
    that does not exist or exists twice is refused. A day without a time is no moment.

    Args:
        text: The whole text.
        calendar: Where relative words count from; None refuses them.
        time_zone: IANA name; empty is UTC.
        order: As for `parse_date`.

    Raises:
        ValueRefused: UNREADABLE, AMBIGUOUS, OUT_OF_RANGE or NO_REFERENCE.
    """
    if _RFC3339.fullmatch(text.strip()):
        return parse_rfc3339(text)
    folded = fold(text)
    zone = zone_of(time_zone)
    if (found := _LOCAL.fullmatch(folded)) is not None:
        return local_moment(parse_date(found[1]), parse_time(found[2]), zone)
    day, clock = _split(folded)
    if not day:
        if calendar is None:
            raise ValueRefused(RefusalCode.NO_REFERENCE, "A time of day alone needs a reference time.")
        raise ambiguous("a moment", (f"{calendar.days(offset).start} {clock:%H:%M}" for offset in (0, 1)))
    return local_moment(parse_date(day, calendar, order), clock, zone)


def local_moment(day: date, clock: time, zone: ZoneInfo) -> datetime:
    """Return the moment of a local time, in UTC.

    Raises:
        ValueRefused: OUT_OF_RANGE for a time that the zone skips; AMBIGUOUS for one that it has twice.
    """
    readings = {
        datetime.combine(day, clock, tzinfo=zone).replace(fold=later).astimezone(UTC) for later in (False, True)
    }
    if len(readings) == 1:
        return readings.pop()
    wall = datetime.combine(day, clock)
    if any(reading.astimezone(zone).replace(tzinfo=None) != wall for reading in readings):
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, "The clocks skip this local time.")
    raise ambiguous("a moment", (reading.astimezone(zone).isoformat() for reading in sorted(readings)))


def format_datetime(moment: datetime) -> str:
    """Return an aware moment as RFC 3339 text in UTC, with a fraction only where there is one."""
    utc = moment.astimezone(UTC)
    text = utc.replace(tzinfo=None).isoformat(timespec="microseconds")
    return text.rstrip("0").rstrip(".") + "Z"


def _microsecond(fraction: str) -> int:
    if fraction[6:].strip("0"):
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, "The fraction is finer than a microsecond.")
    return int(fraction[:6].ljust(6, "0"))


def _offset(found: re.Match[str]) -> timezone:
    if found["utc"]:
        return UTC
    hours, minutes = int(found["offset_hours"]), int(found["offset_minutes"])
    if hours > 23 or minutes > 59:
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, "There is no such offset.")
    size = timedelta(hours=hours, minutes=minutes)
    return timezone(-size if found["sign"] == "-" else size)


def _split(folded: str) -> tuple[str, time]:
    """Find the one way to cut the text into a day and a time, in either order; the day may be empty."""
    refusal: ValueRefused | None = None
    for cut in range(len(folded) + 1):
        for day, clock in ((folded[:cut], folded[cut:]), (folded[cut:], folded[:cut])):
            if not clock.strip(" ,"):
                continue
            try:
                return _day_part(day), parse_time(clock.strip(" ,"))
            except ValueRefused as refused:
                if refused.code is not RefusalCode.UNREADABLE and _day_part(day):
                    refusal = refusal or refused
    raise refusal or unreadable("a date and time")


def _day_part(text: str) -> str:
    return text.strip(" ,").removesuffix(" at").removeprefix("on ").removesuffix("的").strip(" ,")
