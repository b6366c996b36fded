"""Times of day in a text, in digits or in Chinese, with the offset where one is written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta, timezone
from typing import Final

from taoloop.values.refusals import RefusalCode, ValueRefused
from taoloop.values.times import parse_time

_PARTS: Final = "凌晨|清晨|早上|早晨|上午|中午|下午|傍晚|晚上|夜里"
_NUM: Final = "(?:[0-9]{1,2}|[零一二两三四五六七八九十]{1,3})"
_ZONE: Final = r"(?: ?(?P<zone>UTC|GMT|Z(?![A-Za-z0-9])|[+-][0-9]{2}:?[0-9]{2}(?![0-9])))?"

CLOCK: Final = re.compile(
    rf"(?P<clock>(?<![0-9:.])(?:(?:{_PARTS}) ?)?[0-9]{{1,2}}:[0-9]{{2}}(?::[0-9]{{2}})?(?![0-9:])"
    r"(?: ?(?i:[ap](?:\.m\.|m))(?![A-Za-z]))?)(?:\.[0-9]{1,9})?" + _ZONE + "|"
    r"(?P<half>(?<![0-9:.])[0-9]{1,2} ?(?i:[ap](?:\.m\.|m))(?![A-Za-z]))" + _ZONE.replace("zone", "zone_of_half") + "|"
    rf"(?P<chinese>(?:(?:{_PARTS}) ?{_NUM}[点时](?:半|[一三13]刻|整|{_NUM}分?)?"
    rf"|{_NUM}[点时](?:半|[一三13]刻|整|{_NUM}分)"
    rf"|(?!一点(?!钟)){_NUM}点(?=钟|前|后|左右|之前|之后|以前|以后|到|至|送|[^\u3400-\u9fff]|$)))钟?"
)
"""A time of day; `(?:…)` groups in it are bounded, so that it runs in linear time."""

_OFFSET: Final = re.compile(r"([+-])([0-9]{2}):?([0-9]{2})")


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day with all its readings.

    Attributes:
        readings: `HH:MM`, or `HH:MM:SS` where seconds are written; `3:30` has two.
        zone: The offset that is written; None for the user's clock.
    """

    readings: tuple[str, ...]
    zone: timezone | None = None


def read_clock(found: re.Match[str]) -> Clock | None:
    """Return the time of a match of `CLOCK`, or None when there is no such time."""
    text = found["clock"] or found["half"] or found["chinese"]
    readings = _readings(text)
    zone = found["zone"] or found["zone_of_half"] or ""
    return Clock(readings, zone_named(zone)) if readings else None


def zone_named(name: str) -> timezone | None:
    """Return the zone of `Z`, `UTC`, `GMT` or an offset; None for nothing and for an offset that does not exist."""
    if name in {"Z", "UTC", "GMT"}:
        return timezone(timedelta(0))
    found = _OFFSET.fullmatch(name)
    if found is None or int(found[2]) > 23 or int(found[3]) > 59:
        return None
    size = timedelta(hours=int(found[2]), minutes=int(found[3]))
    return timezone(-size if found[1] == "-" else size)


def _readings(text: str) -> tuple[str, ...]:
    has_seconds = text.count(":") == 2
    try:
        return (parse_time(text).isoformat("seconds" if has_seconds else "minutes"),)
    except ValueRefused as refused:
        if refused.code is not RefusalCode.AMBIGUOUS:
            return ()
        return tuple(f"00{reading[2:]}" if reading.startswith("24") else reading for reading in refused.candidates)
