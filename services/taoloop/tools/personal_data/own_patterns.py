"""Patterns of a contract, found in texts by an engine that is linear in the text whatever the pattern is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from taoloop.tools.personal_data.finding import Span
from taoloop.tools.schemas import CompiledSchema

MAX_MATCHES: Final = 100
"""Most matches that are looked for in one text; a text with more is one match as a whole."""

_MAX_GROWTH: Final = 256
"""Longest way, in characters, that a match is made longer on either side."""


class OwnPattern:
    """Finds what a contract's pattern describes.

    The linear engine says only whether a text matches. A place is found by halving: the shortest beginning of the
    text that has a match ends where the first match ends. It is then made as long as the pattern takes.

    Args:
        pattern: A pattern that the contract's check has accepted.

    Raises:
        SchemaRefused: The pattern is outside the linear part of ECMAScript.
    """

    __slots__ = ("_anywhere", "_whole")

    def __init__(self, pattern: str) -> None:
        self._anywhere: Final = CompiledSchema.compile({"pattern": pattern})
        self._whole: Final = CompiledSchema.compile({"pattern": f"^(?:{pattern})$"})

    def find(self, text: str) -> Iterator[Span]:
        """Yield the matches from left to right; empty ones are left out, and what is in doubt is a match."""
        start = 0
        for _ in range(MAX_MATCHES):
            if not self._anywhere.is_valid(text[start:]):
                return
            span = self._first(text, start)
            if span is None or span[0] == span[1]:
                break
            yield span
            start = span[1]
        if start < len(text) and self._anywhere.is_valid(text[start:]) and not self._anywhere.is_valid(""):
            yield start, len(text)

    def _first(self, text: str, start: int) -> Span | None:
        """Return the first match at or after a place, or None where the halving misses it."""
        low, high = start, len(text)
        while low < high:
            middle = (low + high) // 2
            if self._anywhere.is_valid(text[start:middle]):
                high = middle
            else:
                low = middle + 1
        end = low
        low, high = start, end
        while low < high:
            middle = (low + high + 1) // 2
            if self._anywhere.is_valid(text[middle:end]):
                low = middle
            else:
                high = middle - 1
        if not self._whole.is_valid(text[low:end]):
            return None
        return self._grown(text, start, low, end)

    def _grown(self, text: str, floor: int, begin: int, end: int) -> Span:
        for place in range(min(len(text), end + _MAX_GROWTH), end, -1):
            if self._whole.is_valid(text[begin:place]):
                end = place
                break
        for place in range(max(floor, begin - _MAX_GROWTH), begin):
            if self._whole.is_valid(text[place:end]):
                begin = place
                break
        return begin, end
