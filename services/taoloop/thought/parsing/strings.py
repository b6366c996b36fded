"""Strings as models write them, between quotes of any kind, turned into JSON strings of the same value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from taoloop.thought.parsing.refusals import Repair, ReplyFault


class StringFault(Exception):
    """A string cannot be read.

    Attributes:
        fault: Why.
        message: One phrase without payload.
        position: Code point of the text.
        is_open: Whether the string does not end.
    """

    def __init__(self, fault: ReplyFault, message: str, position: int, *, is_open: bool = False) -> None:
        super().__init__(message)
        self.fault = fault
        self.message = message
        self.position = position
        self.is_open = is_open


@dataclass(frozen=True, slots=True)
class _Quote:
    """How a string between quotes of one kind looks.

    Attributes:
        body: Matches what stands between; possessive, so that any text takes linear time.
        closers: The quotes that end it; another quote of the kind makes two readings.
        repair: What reading it is; None for JSON's own.
    """

    body: re.Pattern[str]
    closers: str
    repair: Repair | None


def _quote(stops: str, closers: str, repair: Repair | None) -> _Quote:
    return _Quote(re.compile(rf"(?:[^{stops}\\]|\\.)*+", re.DOTALL), closers, repair)


_DOUBLE, _SINGLE = "“”„‟", "‘’‚‛"
QUOTES: Final[Mapping[str, _Quote]] = {
    '"': _quote('"', '"', None),
    "'": _quote("'", "'", Repair.PYTHON_QUOTES),
    "＂": _quote("＂", "＂", Repair.FULL_WIDTH),
    "＇": _quote("＇", "＇", Repair.FULL_WIDTH),
    "“": _quote(_DOUBLE, "”", Repair.TYPOGRAPHIC_QUOTES),
    "”": _quote(_DOUBLE, "”", Repair.TYPOGRAPHIC_QUOTES),
    "„": _quote(_DOUBLE, "“”", Repair.TYPOGRAPHIC_QUOTES),
    "‘": _quote(_SINGLE, "’", Repair.TYPOGRAPHIC_QUOTES),
    "’": _quote(_SINGLE, "’", Repair.TYPOGRAPHIC_QUOTES),
}
"""The quotes that may open a string."""

_PIECE = re.compile(r"\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\\.|[\"\x00-\x1f]", re.DOTALL)
_SAME: Final = frozenset('"\\bfnrt')
_RAW: Final = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_HIGH = re.compile(r"\\u[dD][89abAB][0-9A-Fa-f]{2}")
_LOW = re.compile(r"\\u[dD][c-fC-F][0-9A-Fa-f]{2}")


def read_string(text: str, start: int) -> tuple[str, int, frozenset[Repair]]:
    """Read the string whose opening quote stands at `start`.

    Returns:
        The JSON string with its quotes, the first code point after it in the text, and what was mended.

    Raises:
        StringFault: It does not end, or has no single reading.
    """
    opening = text[start]
    quote = QUOTES[opening]
    match = quote.body.match(text, start + 1)
    end = start + 1 if match is None else match.end()
    if end >= len(text) or text[end] == "\\":
        raise StringFault(ReplyFault.TRUNCATED, "a string does not end", start, is_open=True)
    if text[end] not in quote.closers:
        raise StringFault(ReplyFault.AMBIGUOUS_JSON, "quotes of several kinds delimit a string", end)
    body = text[start + 1 : end]
    if opening not in "\"'" and '"' in body:
        raise StringFault(ReplyFault.AMBIGUOUS_JSON, "quotes of several kinds delimit a string", start)
    written, repairs = _transcribed(body, start + 1, opening)
    if quote.repair is not None:
        repairs = repairs | {quote.repair}
    return f'"{written}"', end + 1, repairs


def _transcribed(body: str, offset: int, opening: str) -> tuple[str, frozenset[Repair]]:
    """Return the body as it stands between JSON's quotes."""
    parts: list[str] = []
    repairs: set[Repair] = set()
    done, awaits_low = 0, -1
    for piece in _PIECE.finditer(body):
        if awaits_low not in {-1, piece.start()}:
            break
        parts.append(body[done : piece.start()])
        done, found = piece.end(), piece[0]
        is_low = _LOW.fullmatch(found) is not None
        if is_low != (awaits_low >= 0):
            raise _half(offset + piece.start())
        awaits_low = piece.end() if _HIGH.fullmatch(found) else -1
        parts.append(_piece(found, opening, offset + piece.start(), repairs))
    if awaits_low >= 0:
        raise _half(offset + awaits_low)
    parts.append(body[done:])
    return "".join(parts), frozenset(repairs)


def _half(position: int) -> StringFault:
    return StringFault(ReplyFault.INVALID_UNICODE, "an escape is half of a surrogate pair", position)


def _piece(found: str, opening: str, position: int, repairs: set[Repair]) -> str:
    if found == '"':
        return '\\"'
    if found in _RAW:
        repairs.add(Repair.RAW_LINE_FEED)
        return _RAW[found]
    if found[0] != "\\":
        raise StringFault(ReplyFault.MALFORMED_JSON, "a control character stands in a string", position)
    if len(found) == 6 or (len(found) == 2 and found[1] in _SAME):
        return found
    if found == "\\/" and opening == '"':
        return found
    if found in {"\\'", f"\\{opening}"}:
        repairs.add(Repair.PYTHON_QUOTES)
        return found[1]
    if len(found) == 4 and opening == "'":
        repairs.add(Repair.PYTHON_QUOTES)
        return f"\\u00{found[2:]}"
    raise StringFault(ReplyFault.MALFORMED_JSON, "an escape in a string is unknown", position)
