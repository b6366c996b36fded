"""Moments: RFC 3339 with any offset, epochs, and a day with a time of day in the user's time zone."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Final, Literal

from taoloop.values.calendars import Calendar, day_of, zone_of
from taoloop.values.dates import parse_date
from taoloop.values.folding import fold
from taoloop.values.numbers import bounded
from taoloop.values.refusals import RefusalCode, ValueRefused, ambiguous, unreadable
from taoloop.values.times import parse_time, time_of
from taoloop.values.written_dates import DateOrder

EpochUnit = Literal["s", "ms", "us", "ns"]

_RFC3339 = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})[Tt ](?P<hour>\d{2}):(?P<minute>\d{2}):(?P<second>\d{2})"
    r"(?:\.(?P<fraction>\d+))?(?:(?P<utc>[Zz])|(?P<sign>[+-])(?P<offset_hours>\d{2}):(?P<offset_minutes>\d{2}))",
    re.ASCII,
)
# The common forms of RFC 3339 and of local times, which the standard library reads in the same way.
_QUICK_LOCAL = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.(?:\d{3}|\d{6}))?", re.ASCII)
_QUICK = re.compile(_QUICK_LOCAL.pattern + r"(?:Z|[+-]\d\d:[0-5]\d)", re.ASCII)
_LOCAL = re.compile(
    r"(?P<day>\d{4}-\d{2}-\d{2})[t ](?P<clock>\d{2}:\d{2}(?::\d{2})?)(?:(?<=:\d\d:\d\d)[.,](?P<fraction>\d{1,9}))?"
    r"(?: ?(?P<zone>z|utc|gmt|[+-]\d{2}(?::?\d{2})?))?",
    re.ASCII,
)
_FINE = re.compile(
    r"(?P<before>\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d)[.,](?P<fraction>\d{7,9})(?P<behind>(?: ?[Zz+-].{0,8})?)", re.ASCII
)
_COMPACT = re.compile(r"(?P<day>\d{8})(?P<clock>\d{6})", re.ASCII)
_EPOCH_UNITS: Final[dict[int, EpochUnit]] = {10: "s", 13: "ms", 16: "us", 19: "ns"}
_PER_SECOND: Final[dict[EpochUnit, int]] = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_LEAST_EPOCH_DIGITS: Final = 9
_MAX_EPOCH: Final = 10**40  # far beyond every moment in nanoseconds
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_EPOCH_TEXT = re.compile(r"-?\d{1,19}(?:\.\d{1,9})?", re.ASCII)
_COMPACT_HOUR = re.compile(r"(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])", re.ASCII)
_MAX_WORDS: Final = 200
_SECONDS: Final = len("2026-03-14T18:00:00")

Gap = Literal["refuse", "forward"]
"""What becomes of a local time that the zone skips: refused, or later by the length of the gap."""


def parse_rfc3339(text: str) -> datetime:
    """Read a moment with its offset and return it aware, in UTC.

    >>> parse_rfc3339("2024-05-20T22:30:00+08:00").isoformat()
    '2024-05-20T14:30:00+00:00'

    Raises:
        ValueRefused: As `parse_with_offset`.
    """
    return parse_with_offset(text).astimezone(UTC)


def parse_with_offset(text: str) -> datetime:
    """Read a moment with its offset and return it aware, in that offset.

    A leap second, `24:00` and a fraction finer than microseconds that is not zero are refused: they have no exact
    `datetime`. `-00:00` is read as UTC.

    Source: RFC 3339, section 5.6; a space may stand for the T.

    Raises:
        ValueRefused: UNREADABLE or OUT_OF_RANGE.
    """
    found = _RFC3339.fullmatch(text.strip()) if len(text) <= _MAX_WORDS else None
    if found is None:
        raise unreadable("a date and time with its offset")
    day = day_of(int(found["year"]), int(found["month"]), int(found["day"]))
    clock = time_of(int(found["hour"]), int(found["minute"]), int(found["second"]))
    clock = clock.replace(microsecond=_microsecond(found["fraction"] or ""), tzinfo=_offset(found))
    moment = datetime.combine(day, clock)
    try:
        moment.astimezone(UTC)
    except OverflowError as exc:
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, "There is no such moment.") from exc
    return moment


def parse_epoch(value: float | Decimal, unit: EpochUnit | None = None) -> datetime:
    """Return the moment of a count since 1970-01-01T00:00:00Z.

    Without a unit, 10, 13, 16 and 19 digits before the point are seconds, milli-, micro- and nanoseconds; another
    length and a negative count have no single reading. What is finer than a microsecond is cut.

    Raises:
        ValueRefused: AMBIGUOUS without a unit, NOT_A_NUMBER, OUT_OF_RANGE outside of the years 1 to 9999.
    """
    return _epoch(value, unit)[0]


def normal_epoch(value: float | Decimal, unit: EpochUnit | None = None) -> str:
    """Return the moment of a count as RFC 3339 text in UTC, to the nanosecond.

    >>> normal_epoch(1700000123456789012)
    '2023-11-14T22:15:23.456789012Z'

    Raises:
        ValueRefused: As `parse_epoch`, and OUT_OF_RANGE for what is finer than a nanosecond.
    """
    moment, nanoseconds = _epoch(value, unit)
    if nanoseconds.denominator != 1:
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, "The count is finer than a nanosecond.")
    return format_datetime(moment.replace(microsecond=0), f"{int(nanoseconds):09d}")


def _epoch(value: float | Decimal, unit: EpochUnit | None) -> tuple[datetime, Fraction]:
    """Return the moment, cut to microseconds, and the nanoseconds of its second."""
    exact = bounded(value, "a moment")
    if not -_MAX_EPOCH < exact < _MAX_EPOCH:
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, "There is no such moment.")
    if unit is None:
        whole = math.floor(exact)
        guessed = _EPOCH_UNITS.get(len(str(whole))) if whole > 0 else None
        if guessed is None:
            raise ambiguous("a moment", (f"{value} {name}" for name in _PER_SECOND))
        unit = guessed
    seconds, part = divmod(exact if isinstance(exact, int) else Fraction(exact), _PER_SECOND[unit])
    rest = Fraction(part, _PER_SECOND[unit])
    try:
        moment = _EPOCH + timedelta(seconds=int(seconds), microseconds=math.floor(rest * 10**6))
    except OverflowError as exc:
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, "There is no such moment.") from exc
    return moment, rest * 10**9


def epoch_in(text: str, *, has_unit: bool) -> int | Decimal | None:
    """Return the count that a text of digits gives, or None where it is none.

    Without a unit it has at least nine digits and is not the 14 of a day with its time (`20240520223000`); ten digits
    that are a day and an hour as well (`2024052022`) have two readings.

    Raises:
        ValueRefused: AMBIGUOUS.
    """
    folded = text.strip() if len(text) <= _MAX_WORDS else ""
    if _EPOCH_TEXT.fullmatch(folded) is None:
        return None
    count = Decimal(folded) if "." in folded else int(folded)
    if has_unit:
        return count
    digits = len(folded.partition(".")[0].lstrip("-"))
    if digits < _LEAST_EPOCH_DIGITS or _COMPACT.fullmatch(folded):
        return None
    if _COMPACT_HOUR.fullmatch(folded):
        day, hour = f"{folded[:4]}-{folded[4:6]}-{folded[6:8]}", folded[8:]
        raise ambiguous("a moment", (normal_epoch(count), f"{day}T{hour}:00"))
    return count


def parse_datetime(
    text: str,
    calendar: Calendar | None = None,
    time_zone: str | tzinfo = "",
    order: DateOrder | None = None,
    gap: Gap = "refuse",
) -> datetime:
    """Read a moment, in UTC: RFC 3339, or a day with a time of day in `time_zone`.

    The day may be in words (`tomorrow at 3pm`, `明天下午三点`); the time stands after it or before it. A local time
    that does not exist or exists twice is refused. A day without a time is no moment.

    Args:
        text: The whole text.
        calendar: Where relative words count from; None refuses them.
        time_zone: The zone, or its IANA name; empty is UTC.
        order: As for `parse_date`.
        gap: What becomes of a local time that does not exist.

    Raises:
        ValueRefused: UNREADABLE, AMBIGUOUS, OUT_OF_RANGE or NO_REFERENCE.
    """
    if len(text) > _MAX_WORDS:
        raise unreadable("a date and time")
    if _RFC3339.fullmatch(text.strip()):
        return parse_rfc3339(text)
    folded = fold(text)
    zone = zone_of(time_zone) if isinstance(time_zone, str) else time_zone
    if (found := _LOCAL.fullmatch(folded)) is not None:
        clock = parse_time(found["clock"]).replace(microsecond=_microsecond(found["fraction"] or ""))
        offset = _written_offset(found["zone"]) if found["zone"] else None
        return local_moment(parse_date(found["day"]), clock, offset or zone, gap)
    if (found := _COMPACT.fullmatch(folded)) is not None:
        hours, minutes, seconds = (int(found["clock"][place : place + 2]) for place in (0, 2, 4))
        return local_moment(parse_date(found["day"]), time_of(hours, minutes, seconds), zone, gap)
    day, clock = _split(folded)
    if not day:
        if calendar is None:
            raise ValueRefused(RefusalCode.NO_REFERENCE, "A time of day alone needs a reference time.")
        raise ambiguous("a moment", (f"{calendar.days(offset).start} {clock:%H:%M}" for offset in (0, 1)))
    return local_moment(parse_date(day, calendar, order), clock, zone, gap)


def has_offset(text: str) -> bool:
    """Whether a text ends in an offset from UTC, so that no time zone is needed to read it as a moment."""
    if len(text) > _MAX_WORDS:
        return False
    found = _LOCAL.fullmatch(fold(text))
    return (found is not None and found["zone"] is not None) or _RFC3339.fullmatch(text.strip()) is not None


def local_moment(day: date, clock: time, zone: tzinfo, gap: Gap = "refuse") -> datetime:
    """Return the moment of a local time, in UTC.

    >>> local_moment(date(2026, 3, 8), time(2, 30), zone_of("America/New_York"), "forward").isoformat()
    '2026-03-08T07:30:00+00:00'

    Raises:
        ValueRefused: OUT_OF_RANGE for a time that the zone skips, unless `gap` is `forward`; AMBIGUOUS for one that it
            has twice; OUT_OF_RANGE outside of the years 1 to 9999.
    """
    wall = datetime.combine(day, clock, tzinfo=zone)
    try:
        earlier, later = (wall.replace(fold=fold_).astimezone(UTC) for fold_ in (0, 1))
        if earlier == later:
            return earlier
        is_skipped = earlier.astimezone(zone).replace(tzinfo=None) != wall.replace(tzinfo=None)
    except OverflowError as exc:
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, "There is no such moment.") from exc
    if not is_skipped:
        raise ambiguous("a moment", (reading.astimezone(zone).isoformat() for reading in (earlier, later)))
    if gap == "refuse":
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, "The clocks skip this local time.")
    return earlier  # by the offset before the gap, which is the wall time later by the gap's length


def normal_datetime(
    text: str,
    calendar: Calendar | None = None,
    time_zone: str | tzinfo = "",
    order: DateOrder | None = None,
    gap: Gap = "refuse",
) -> str:
    """Read a moment as `parse_datetime` does and return it as RFC 3339 text in UTC, to the nanosecond.

    >>> normal_datetime("2024-05-20 22:30:00.123456789+08:00")
    '2024-05-20T14:30:00.123456789Z'

    Raises:
        ValueRefused: As `parse_datetime`.
    """
    if (quick := quick_datetime(text)) is not None:
        return quick
    if _QUICK_LOCAL.fullmatch(text) is not None:
        try:
            local = datetime.fromisoformat(text)
            zone = zone_of(time_zone) if isinstance(time_zone, str) else time_zone
            return format_datetime(local_moment(local.date(), local.time(), zone, gap))
        except (ValueError, OverflowError):
            pass  # the rules below say what is wrong
    fine = _FINE.fullmatch(text.strip()) if len(text) <= _MAX_WORDS else None
    if fine is None:
        return format_datetime(parse_datetime(text, calendar, time_zone, order, gap))
    moment = parse_datetime(fine["before"] + fine["behind"], calendar, time_zone, order, gap)
    return format_datetime(moment, fine["fraction"])


def quick_datetime(text: str) -> str | None:
    """Return what `normal_datetime` does for a moment with its offset in the common form, at once; else None.

    >>> quick_datetime("2024-05-20T22:30:00+08:00"), quick_datetime("2024-05-20T22:30:00")
    ('2024-05-20T14:30:00Z', None)
    """
    if _QUICK.fullmatch(text) is None:
        return None
    try:
        if text[_SECONDS] == ".":
            return format_datetime(datetime.fromisoformat(text))
        # Without a zone a moment is written in half the time.
        utc = datetime.fromisoformat(text[:_SECONDS]) - _offset_written(text[_SECONDS:])
    except (ValueError, OverflowError):
        return None  # the rules for all forms say what is wrong
    return f"{utc.isoformat()}Z"


@lru_cache(maxsize=256)
def _offset_written(offset: str) -> timedelta:
    """Return the offset of `Z` or `+08:00`; there are few in the world.

    Raises:
        ValueError: There is no such offset.
    """
    found = datetime.fromisoformat(f"2000-01-01T00:00:00{offset}").utcoffset()
    assert found is not None
    return found


def format_datetime(moment: datetime, fraction: str | None = None) -> str:
    """Return an aware moment as RFC 3339 text in UTC, with a fraction only where there is one.

    Args:
        moment: The moment.
        fraction: The digits of its second's fraction, where they are finer than a `datetime` holds.
    """
    utc = moment.astimezone(UTC)
    digits = (f"{utc.microsecond:06d}" if fraction is None else fraction).rstrip("0")
    return utc.isoformat()[:_SECONDS] + (f".{digits}" if digits else "") + "Z"


def _microsecond(fraction: str) -> int:
    if fraction[6:].strip("0"):
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, "The fraction is finer than a microsecond.")
    return int(fraction[:6].ljust(6, "0"))


def _offset(found: re.Match[str]) -> timezone:
    if found["utc"]:
        return UTC
    return _offset_of(found["sign"], int(found["offset_hours"]), int(found["offset_minutes"]))


def _offset_of(sign: str, hours: int, minutes: int) -> timezone:
    if hours > 23 or minutes > 59:
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, "There is no such offset.")
    size = timedelta(hours=hours, minutes=minutes)
    return timezone(-size if sign == "-" else size)


def _written_offset(text: str) -> timezone:
    if text[0] not in "+-":
        return UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    return _offset_of(text[0], int(digits[:2]), int(digits[2:]))


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
