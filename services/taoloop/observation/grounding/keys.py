"""One spelling for each value of the calendar and the clock, and what a value implies for wider periods.

| key | what |
|---|---|
| `day:2026-05-20`, `md:05-20`, `dom:20` | a day; a day without a year; without a month |
| `month:2026-05`, `m:05`, `year:2026` | a month; a month without a year; a year |
| `time:14:30`, `time:14:30:15` | a time of day, to the minute or the second |
| `at:2026-05-20T14:30`, `mdat:05-20T14:30` | a moment on the user's clock, with and without the year |
| `utc:2026-05-20T06:30`, `mdutc:05-20T06:30`, `utctime:06:30` | the same where the offset is written |
| `written:05/06/2026` | a date with two readings, as it stands |
| `digits:0123`, `id:SF-12`, `email:…`, `url:…` | codes and addresses |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Day:
    """A day as far as it is written: any of the three may be missing."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    @property
    def key(self) -> str:
        """The key of what is written."""
        if self.year is not None:
            if self.month is None:
                return f"year:{self.year:04}"
            tail = "" if self.day is None else f"-{self.day:02}"
            return f"{'day' if tail else 'month'}:{self.year:04}-{self.month:02}{tail}"
        if self.month is not None:
            return f"m:{self.month:02}" if self.day is None else f"md:{self.month:02}-{self.day:02}"
        return f"dom:{self.day or 0:02}"

    @property
    def text(self) -> str:
        """The form of ISO 8601 and XML Schema: `2026-05-20`, `--05-20`, `---20`, `2026-05`, `--05`, `2026`."""
        space, _, value = self.key.partition(":")
        return {"md": "--", "m": "--", "dom": "---"}.get(space, "") + value

    def moment_key(self, clock: str) -> str:
        """Return the key of a time on this day; nothing where the day or its month is missing."""
        if self.month is None or self.day is None:
            return ""
        if self.year is None:
            return f"mdat:{self.month:02}-{self.day:02}T{clock}"
        return f"at:{self.year:04}-{self.month:02}-{self.day:02}T{clock}"


def implied(key: str) -> Iterator[tuple[str, bool]]:
    """Yield the keys that evidence with this key supports, each with whether it names a wider period.

    >>> list(implied("md:05-20"))
    [('md:05-20', False), ('m:05', True), ('dom:20', False)]
    """
    space, _, value = key.partition(":")
    yield key, False
    if space == "day":
        yield f"md:{value[5:]}", False
        yield f"dom:{value[8:]}", False
        yield from (("month:" + value[:7], True), ("m:" + value[5:7], True), ("year:" + value[:4], True))
    elif space == "md":
        yield from (("m:" + value[:2], True), ("dom:" + value[3:], False))
    elif space == "month":
        yield from (("m:" + value[5:], False), ("year:" + value[:4], True))
    elif space in {"time", "utctime"}:
        yield from _of_clock(space, value)
    elif space in {"at", "mdat", "utc"}:
        yield from _of_moment(space, value)


def _of_clock(prefix: str, clock: str) -> Iterator[tuple[str, bool]]:
    if len(clock) == 5:
        yield f"{prefix}:{clock}:00", False
    else:
        yield f"{prefix}:{clock[:5]}", not clock.endswith(":00")


def _of_moment(space: str, value: str) -> Iterator[tuple[str, bool]]:
    day, _, clock = value.partition("T")
    for written, is_wider in _of_clock("x", clock):
        yield f"{space}:{day}T{written[2:]}", is_wider
        if space == "at":
            yield f"mdat:{day[5:]}T{written[2:]}", is_wider
    if space == "utc":
        yield f"mdutc:{day[5:]}T{clock}", False
        for written, is_wider in _of_clock("x", clock):
            yield f"mdutc:{day[5:]}T{written[2:]}", is_wider
        yield f"utctime:{clock}", False
        yield from _of_clock("utctime", clock)
        return
    if space == "at":
        yield f"mdat:{day[5:]}T{clock}", False
    yield f"time:{clock}", False
    yield from _of_clock("time", clock)
    for key, _ in implied(f"{'day' if space == 'at' else 'md'}:{day}"):
        yield key, True
