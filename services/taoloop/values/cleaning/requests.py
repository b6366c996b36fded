"""Hygiene of requests: marks that nobody sees or types are named and taken out, and nothing else is changed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class MarkKind(StrEnum):
    """What a mark is that a request should not hold; the values name the groups of the pattern."""

    LINE_END = "line_end"
    """U+2028, U+2029, U+0085, vertical tab, form feed, CR LF, CR: becomes a line feed, so that no words are joined."""
    BIDIRECTIONAL = "bidirectional"
    """Marks that turn the order of what is shown around; taken out."""
    ZERO_WIDTH = "zero_width"
    """Characters without width, save joiners between letters or emoji that they shape; taken out."""
    TAG = "tag"
    """Invisible copies of ASCII and of bytes, save in the flag of a region; taken out."""
    CONTROL = "control"
    """Control characters other than tab and line feed; taken out."""
    NO_CHARACTER = "no_character"
    """Code points that are no characters, halves of surrogate pairs among them; taken out."""


_JOINED = "\u0600-\u1cff\u2190-\u2bff\ufe0f\U0001f000-\U0001faff"
_FLAG = "\U0001f3f4[\U000e0030-\U000e007a]{1,8}\U000e007f"
_IDEOGRAPH = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_PATTERNS: Final = {
    "keep": _FLAG,
    MarkKind.LINE_END: "\r\n|[\r\x0b\x0c\u0085\u2028\u2029]",
    MarkKind.BIDIRECTIONAL: "[\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f]",
    # A joiner stays where letters or emoji that it shapes stand on both of its sides.
    MarkKind.ZERO_WIDTH: f"[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b\u2060-\u2065\u3164\ufeff\uffa0]"
    f"|(?<![{_JOINED}])[\u200c\u200d]+|[\u200c\u200d]+(?![{_JOINED}\u200c\u200d])",
    MarkKind.TAG: f"[\U000e0000-\U000e007f]+|(?<![{_IDEOGRAPH}])[\U000e0100-\U000e01ef]+",
    MarkKind.CONTROL: "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufff9-\ufffb]",
    MarkKind.NO_CHARACTER: "[\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]",
}
_MARKS: Final = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _PATTERNS.items()))


@dataclass(frozen=True, slots=True)
class CleanRequest:
    """A request without what nobody sees.

    Attributes:
        text: What is stored; places in the request are code points of this text.
        marks: How many marks of each kind there were.
    """

    text: str
    marks: Mapping[MarkKind, int]

    @property
    def is_changed(self) -> bool:
        """Whether there was anything to take out."""
        return bool(self.marks)

    @property
    def described(self) -> str:
        """The marks in words, such as `2 bidirectional, 1 zero_width`."""
        return ", ".join(f"{count} {kind.value}" for kind, count in self.marks.items())


def clean_request(text: str) -> CleanRequest:
    r"""Return the text as it is stored; cleaning it again changes nothing.

    Letter case, width, blanks and composition stay as typed, so that quotes are found again.

    >>> clean_request("pay\u200b 5\u2028to \u202eBob").text
    'pay 5\nto Bob'
    """
    if text.isascii() and text.isprintable():
        return CleanRequest(text, {})
    counts: Counter[MarkKind] = Counter()
    while True:  # what a mark stood between may be a mark too, once it is gone
        before = counts.total()
        text = _MARKS.sub(lambda found: _replaced(found, counts), text)
        if counts.total() == before:
            return CleanRequest(text, dict(counts))


def _replaced(found: re.Match[str], counts: Counter[MarkKind]) -> str:
    if found.lastgroup == "keep":
        return found[0]
    kind = MarkKind(str(found.lastgroup))
    counts[kind] += 1
    return "\n" if kind is MarkKind.LINE_END else ""
