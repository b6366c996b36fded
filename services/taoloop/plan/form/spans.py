"""Spans: pieces of the conversation, counted in code points of the stored turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from taoloop.plan.model import QuerySpan
from taoloop.plan.task import Role, Turn


def span_text(span: QuerySpan, turns: Sequence[Turn]) -> str | None:
    """Return the stored text that a span covers; None when it is empty or lies outside of the turn."""
    if not 0 <= span.turn < len(turns):
        return None
    text = turns[span.turn].text
    if not 0 <= span.start < span.end <= len(text):
        return None
    return text[span.start : span.end]


def quoted_span(quote: str, turns: Sequence[Turn], *, is_whole_word: bool = False) -> QuerySpan | None:
    """Find a quote in what the user said: the latest turn that has it, and there its first place.

    Args:
        quote: The text, compared code point by code point.
        turns: The conversation; only the user's turns are searched.
        is_whole_word: Whether a hit must not begin or end inside of an ASCII word or number.
    """
    if not quote:
        return None
    for number in range(len(turns) - 1, -1, -1):
        if turns[number].role is not Role.USER:
            continue
        for start in _places(quote, turns[number].text):
            end = start + len(quote)
            if not is_whole_word or _is_whole(turns[number].text, start, end):
                return QuerySpan(turn=number, start=start, end=end, text=quote)
    return None


def _places(quote: str, text: str) -> Iterator[int]:
    start = text.find(quote)
    while start >= 0:
        yield start
        start = text.find(quote, start + 1)


def _is_whole(text: str, start: int, end: int) -> bool:
    return not (_joins(text, start) or _joins(text, end))


def _joins(text: str, place: int) -> bool:
    """Tell whether the characters on both sides of a place belong to one ASCII word or number."""
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    if _is_word(before) and _is_word(after):
        return True
    # 12 is not a part of 12.5 or 1,200, though a sentence may end after it
    if before in ".," and after.isdecimal():
        return place > 1 and text[place - 2].isdecimal()
    return before.isdecimal() and after in ".," and place + 1 < len(text) and text[place + 1].isdecimal()


def _is_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")
