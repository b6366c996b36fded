"""Times of day, in digits and in words."""

from __future__ import annotations

import re
from datetime import time
from typing import Final

from taoloop.values.folding import fold
from taoloop.values.refusals import RefusalCode, ValueRefused, ambiguous, unreadable
from taoloop.values.written_dates import NUMERAL, numeral

_AM = r"a\.?m\.?"
_PM = r"p\.?m\.?"
_CLOCK = re.compile(r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}))?", re.ASCII)
_TWELVE = re.compile(
    rf"(?P<hour>\d{{1,2}})(?::(?P<minute>\d{{2}}))?(?::(?P<second>\d{{2}}))? ?(?P<half>{_AM}|{_PM})", re.ASCII
)
_MAX_TEXT: Final = 200
_PARTS: Final = {
    "凌晨": range(6), "清晨": range(4, 9), "早上": range(4, 12), "早晨": range(4, 12), "上午": range(5, 13),
    "中午": range(11, 15), "下午": range(12, 20), "傍晚": range(16, 21), "晚上": range(17, 25), "夜里": range(20, 25),
}  # fmt: skip
"""Hours of the 24-hour clock that each part of the day can have; 24 is midnight at its end."""

_CHINESE = re.compile(
    f"(?P<part>{'|'.join(_PARTS)})?(?P<hour>{NUMERAL})[点时](?:(?P<half>半)|(?P<quarter>[一三13])刻|整"
    f"|(?P<minute>{NUMERAL})分?)?"
)
_CHINESE_CLOCK = re.compile(f"(?P<part>{'|'.join(_PARTS)}) ?(?P<hour>\\d{{1,2}}):(?P<minute>\\d{{2}})", re.ASCII)
_WORDS: Final = {"noon": time(12), "midday": time(12), "正午": time(12), "中午": time(12)}


def parse_time(text: str) -> time:
    """Read one time of day, without a date and without an offset.

    `15:30` and `03:30` are on the 24-hour clock; `3:30` and `三点` may be morning or afternoon and are refused;
    `3pm`, `下午三点` and `15点` are not. `12am` is 00:00 and `12pm` 12:00. `midnight` is refused: it names the start
    of a day as well as its end.

    Raises:
        ValueRefused: UNREADABLE, AMBIGUOUS with both times, or OUT_OF_RANGE.
    """
    folded = fold(text).removeprefix("at ") if len(text) <= _MAX_TEXT else ""
    if folded in _WORDS:
        return _WORDS[folded]
    if (found := _CLOCK.fullmatch(folded)) is not None:
        return _on_clock(found)
    if (found := _TWELVE.fullmatch(folded)) is not None:
        return _on_half_clock(found)
    if (found := _CHINESE.fullmatch(folded) or _CHINESE_CLOCK.fullmatch(folded)) is not None:
        return _in_chinese(found.groupdict())
    raise unreadable("a time of day")


def time_of(hour: int, minute: int = 0, second: int = 0) -> time:
    """Return the time of day.

    Raises:
        ValueRefused: OUT_OF_RANGE for a time that does not exist, leap seconds among them.
    """
    try:
        return time(hour, minute, second)
    except ValueError as exc:
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, "There is no such time of day.") from exc


def _on_clock(found: re.Match[str]) -> time:
    hour, minute, second = int(found["hour"]), int(found["minute"]), int(found["second"] or 0)
    if len(found["hour"]) == 1 and hour > 0:
        _both_halves(hour, minute, second)
    return time_of(hour, minute, second)


def _on_half_clock(found: re.Match[str]) -> time:
    hour = int(found["hour"])
    if not 1 <= hour <= 12:
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, "An hour on the 12-hour clock is 1 to 12.")
    afternoon = 12 if found["half"].startswith("p") else 0
    return time_of(hour % 12 + afternoon, int(found["minute"] or 0), int(found["second"] or 0))


def _in_chinese(groups: dict[str, str | None]) -> time:
    hour, minute = numeral(groups["hour"] or ""), _minute(groups)
    part = groups["part"]
    if part is None:
        if 1 <= hour <= 12:
            _both_halves(hour, minute)
        return time_of(hour, minute)
    hours = [reading for reading in {hour, hour + 12} if reading in _PARTS[part]]
    if len(hours) != 1:
        raise ValueRefused(RefusalCode.OUT_OF_RANGE, "The hour does not fall into the named part of the day.")
    if hours[0] == 24:
        raise ambiguous("a time", ("00:00", "24:00"))
    return time_of(hours[0], minute)


def _minute(groups: dict[str, str | None]) -> int:
    if groups.get("half"):
        return 30
    if groups.get("quarter"):
        return 15 * numeral(groups["quarter"] or "")
    return numeral(groups["minute"] or "0")


def _both_halves(hour: int, minute: int, second: int = 0) -> None:
    readings = (time_of(hour % 12, minute, second), time_of(hour % 12 + 12, minute, second))
    raise ambiguous("a time", (reading.isoformat("minutes") for reading in readings))
