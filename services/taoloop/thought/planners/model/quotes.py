"""Quotes of a model, found again in what the user said: the model copies, the code looks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from taoloop.plan.model import QuerySpan
from taoloop.plan.task import Role, Turn

MAX_QUOTE_CHARACTERS: Final = 2000
"""Longest quote that is looked for."""

_OUTER_QUOTES: Final = "\"'“”‘’「」『』"


@dataclass(frozen=True, slots=True)
class Quoted:
    """Where a quote stands.

    Attributes:
        span: The first place, in the latest turn of the user that has it; its text is what stands there.
        count: How often that turn has it.
        is_folded: Whether letter case or blanks differ.
        is_inside_word: Whether it is a part of a longer word.
    """

    span: QuerySpan
    count: int
    is_folded: bool = False
    is_inside_word: bool = False


def find_quote(quote: str, turns: Sequence[Turn]) -> Quoted | None:
    """Return where the user said it; None when nobody did.

    Whole words as they stand come first, then whole words whatever their case and blanks, then parts of words; a
    number is never a part of a longer one.
    """
    text = quote.strip()
    if not text.strip(_OUTER_QUOTES) or len(text) > MAX_QUOTE_CHARACTERS:
        return None
    for wanted in dict.fromkeys((text, text.strip(_OUTER_QUOTES).strip())):
        exact = re.compile(re.escape(wanted))
        folded = re.compile(r"\s++".join(re.escape(word) for word in wanted.split()), re.IGNORECASE)
        for pattern, is_whole in ((exact, True), (folded, True), (exact, False)):
            found = _latest(pattern, turns, is_whole=is_whole)
            if found is not None:
                span, count = found
                return Quoted(span, count, is_folded=span.text != quote, is_inside_word=not is_whole)
    return None


def _latest(pattern: re.Pattern[str], turns: Sequence[Turn], *, is_whole: bool) -> tuple[QuerySpan, int] | None:
    for number in range(len(turns) - 1, -1, -1):
        turn = turns[number]
        if turn.role is not Role.USER:
            continue
        hits = list(_hits(pattern, turn.text, is_whole=is_whole))
        if hits:
            start, end = hits[0]
            return QuerySpan(turn=number, start=start, end=end, text=turn.text[start:end]), len(hits)
    return None


def _hits(pattern: re.Pattern[str], text: str, *, is_whole: bool) -> Iterator[tuple[int, int]]:
    joins = _joins_words if is_whole else _joins_digits
    for found in pattern.finditer(text):
        if not joins(text, found.start()) and not joins(text, found.end()):
            yield found.span()


def _joins_words(text: str, place: int) -> bool:
    """Tell whether the characters on both sides of a place belong to one ASCII word or number."""
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    return (_is_word(before) and _is_word(after)) or _joins_digits(text, place)


def _joins_digits(text: str, place: int) -> bool:
    """Tell whether a place is inside of a number, at a point or comma between digits too."""
    if not 0 < place < len(text):
        return False
    before, after = text[place - 1], text[place]
    if before.isdecimal() and after.isdecimal():
        return True
    if before in ".," and after.isdecimal():
        return place > 1 and text[place - 2].isdecimal()
    return before.isdecimal() and after in ".," and place + 1 < len(text) and text[place + 1].isdecimal()


def _is_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")
