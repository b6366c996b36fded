"""One object or list, read tolerantly from a place in a text, and written as strict JSON; a single pass."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from taoloop.core.exact_json import MAX_DEPTH
from taoloop.thought.parsing.refusals import Repair, ReplyFault
from taoloop.thought.parsing.strings import QUOTES, StringFault, read_string

OPENERS: Final[Mapping[str, str]] = {"{": "{", "[": "[", "｛": "{", "［": "["}
CLOSERS: Final[Mapping[str, str]] = {"}": "}", "]": "]", "｝": "}", "］": "]"}

_CLOSER_OF: Final = {"{": "}", "[": "]"}
_SYNTAX: Final = {**OPENERS, **CLOSERS, ":": ":", "：": ":", ",": ",", "，": ","}
_BLANK = re.compile(r"(?:[ \t\r\n\u3000]++|\\[nrt])*+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?")
_NOT_FINITE = re.compile(r"[+-]?(?:Infinity|infinity|inf|Inf|NaN|nan)")
_WORD = re.compile(r"[^\W\d]\w*+")
_LITERALS: Final = {"true": "true", "false": "false", "null": "null"}
_PYTHON_LITERALS: Final = {"True": "true", "False": "false", "None": "null"}
_LONG_DIGITS: Final = 300


@dataclass(frozen=True, slots=True)
class Scanned:
    """A whole value.

    Attributes:
        json: The value as strict JSON, save that keys may be repeated.
        start: Its first code point in the text.
        end: The first code point after it.
        repairs: What was mended.
    """

    json: str
    start: int
    end: int
    repairs: frozenset[Repair]


class ScanFailed(Exception):
    """No whole value stands at the place.

    Attributes:
        fault: Why.
        message: One phrase without payload.
        position: Where.
        is_first: Whether what follows the opening bracket is already no JSON, as in prose.
    """

    def __init__(self, fault: ReplyFault, message: str, position: int, *, is_first: bool) -> None:
        super().__init__(message)
        self.fault = fault
        self.message = message
        self.position = position
        self.is_first = is_first


class _Wants(Enum):
    KEY = auto()
    COLON = auto()
    VALUE = auto()
    COMMA = auto()


def scan_value(text: str, start: int) -> Scanned:
    """Read the object or list whose opening bracket stands at `start`.

    Strings keep every character. Outside of them Python literals, quotes of other kinds, full-width syntax, a comma
    before a closing bracket and a written line feed are read and flagged; nothing that is open is closed.

    Raises:
        ScanFailed: There is no whole value, or not exactly one reading of it.
    """
    return _Scan(text, start).run()


def skip_blank(text: str, position: int) -> tuple[int, frozenset[Repair]]:
    r"""Return the first place at or after `position` that is no blank, and what was mended: a written `\n` is one."""
    end = position if (match := _BLANK.match(text, position)) is None else match.end()
    blank = text[position:end]
    if not blank or blank.isspace():
        return end, frozenset({Repair.FULL_WIDTH}) if "\u3000" in blank else frozenset()
    return end, frozenset({Repair.ESCAPED_LINE_FEED})


class _Scan:
    """The state of one pass: what is open, what is wanted next, and what was written so far."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._start = start
        self._at = start
        self._open: list[str] = []
        self._written: list[str] = []
        self._repairs: set[Repair] = set()
        self._wants = _Wants.VALUE
        self._tokens = 0

    def run(self) -> Scanned:
        while True:
            self._step()
            self._tokens += 1
            if not self._open:
                return Scanned("".join(self._written), self._start, self._at, frozenset(self._repairs))

    def _step(self) -> None:
        self._at, repairs = skip_blank(self._text, self._at)
        self._repairs |= repairs
        if self._at >= len(self._text):
            raise self._failed(ReplyFault.TRUNCATED, "the text ends before its JSON does")
        character = self._text[self._at]
        syntax = _SYNTAX.get(character)
        if syntax is not None:
            if syntax != character:
                self._repairs.add(Repair.FULL_WIDTH)
            self._punctuation(syntax)
            self._at += 1
        elif character in QUOTES and self._wants in {_Wants.KEY, _Wants.VALUE}:
            self._string()
        elif self._wants is _Wants.VALUE:
            self._scalar()
        else:
            raise self._failed(ReplyFault.MALFORMED_JSON, f"{_NAMES[self._wants]} is missing")

    def _punctuation(self, syntax: str) -> None:
        if syntax in _CLOSER_OF and self._wants is _Wants.VALUE:
            self._opened(syntax)
        elif syntax == ":" and self._wants is _Wants.COLON:
            self._write(":", _Wants.VALUE)
        elif syntax == "," and self._wants is _Wants.COMMA:
            self._write(",", _Wants.KEY if self._open[-1] == "{" else _Wants.VALUE)
        elif self._may_close(syntax):
            self._closed(syntax)
        else:
            raise self._failed(ReplyFault.MALFORMED_JSON, f"{_NAMES[self._wants]} is missing")

    def _opened(self, bracket: str) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise self._failed(ReplyFault.NESTING_TOO_DEEP, f"the nesting is deeper than {MAX_DEPTH}")
        self._open.append(bracket)
        self._write(bracket, _Wants.KEY if bracket == "{" else _Wants.VALUE)

    def _may_close(self, bracket: str) -> bool:
        """Tell whether the bracket ends what is open: after a value, a comma, or straight away."""
        if not self._open or _CLOSER_OF[self._open[-1]] != bracket:
            return False
        return self._wants is _Wants.COMMA or self._written[-1] in {",", self._open[-1]}

    def _closed(self, bracket: str) -> None:
        if self._written[-1] == ",":
            self._written.pop()
            self._repairs.add(Repair.TRAILING_COMMA)
        self._open.pop()
        self._write(bracket, _Wants.COMMA)

    def _string(self) -> None:
        try:
            written, self._at, repairs = read_string(self._text, self._at)
        except StringFault as fault:
            raise self._failed(fault.fault, fault.message, fault.position) from fault
        self._repairs |= repairs
        self._write(written, _Wants.COLON if self._wants is _Wants.KEY else _Wants.COMMA)

    def _scalar(self) -> None:
        written = ""
        if (found := _NOT_FINITE.match(self._text, self._at)) and self._ends_at(found.end()):
            raise self._failed(ReplyFault.NON_FINITE_NUMBER, "a number is not finite")
        if found := _NUMBER.match(self._text, self._at):
            written = found[0]
            if is_beyond_doubles(written):
                raise self._failed(ReplyFault.NON_FINITE_NUMBER, "a number is not finite")
        elif found := _WORD.match(self._text, self._at):
            written = _LITERALS.get(found[0]) or _PYTHON_LITERALS.get(found[0], "")
            if found[0] in _PYTHON_LITERALS:
                self._repairs.add(Repair.PYTHON_LITERAL)
        if not found or not written or not self._ends_at(found.end()):
            is_cut = found is not None and found.end() >= len(self._text)
            fault = ReplyFault.TRUNCATED if is_cut else ReplyFault.MALFORMED_JSON
            raise self._failed(fault, "the text ends before its JSON does" if is_cut else "a value is missing")
        self._at = found.end()
        self._write(written, _Wants.COMMA)

    def _ends_at(self, end: int) -> bool:
        """Tell whether a scalar may end here: no letter, digit or point follows."""
        following = self._text[end : end + 1]
        return not (following.isalnum() or following in {"_", ".", "+", "-", "@"}) or not following

    def _write(self, text: str, wants: _Wants) -> None:
        self._written.append(text)
        self._wants = wants

    def _failed(self, fault: ReplyFault, message: str, position: int | None = None) -> ScanFailed:
        return ScanFailed(fault, message, self._at if position is None else position, is_first=self._tokens <= 1)


_NAMES: Final = {_Wants.KEY: "a key", _Wants.COLON: "a colon", _Wants.VALUE: "a value", _Wants.COMMA: "a comma"}


def is_beyond_doubles(number: str) -> bool:
    """Tell whether a reader that computes in doubles would make infinity of a JSON number.

    >>> [is_beyond_doubles(number) for number in ("1e400", "-1E+309", "1e308", "12345678901234567890")]
    [True, True, False, False]
    """
    if len(number) < _LONG_DIGITS and "e" not in number and "E" not in number:
        return False
    return math.isinf(float(number))
