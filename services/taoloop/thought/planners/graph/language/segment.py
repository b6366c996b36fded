"""Cuts a request into clauses, each of which may ask for one thing."""

from __future__ import annotations

import re
from dataclasses import dataclass

from taoloop.thought.planners.graph.language.vocabulary import (
    CHINESE_CLAUSE_VERBS,
    CLAUSE_CONNECTIVES,
    CLAUSE_VERBS,
    READING_WORDS,
    WRITING_WORDS,
)

MAX_CLAUSES = 12
"""More clauses are not told apart: the rest of the text belongs to the last one. A plan has at most seven steps."""


@dataclass(frozen=True, slots=True)
class Clause:
    """One part of the request's text.

    Attributes:
        start: First code point.
        end: One past the last.
        text: The text between.
    """

    start: int
    end: int
    text: str


def _alternatives(items: tuple[str, ...] | frozenset[str]) -> str:
    return "|".join(re.escape(item) for item in sorted(items, key=lambda item: (-len(item), item)))


_ENGLISH_VERBS = _alternatives(READING_WORDS | WRITING_WORDS | CLAUSE_VERBS)
_ENGLISH_QUESTIONS = r"(?:what|how|who|where|when|which|could|can|would|please|i\s(?:need|want|would|also))"
_ENGLISH_CONNECTIVES = _alternatives(tuple(item for item in CLAUSE_CONNECTIVES if item.isascii()))
_CHINESE_CONNECTIVES = _alternatives(tuple(item for item in CLAUSE_CONNECTIVES if not item.isascii()))
_CUT = re.compile(
    rf"""
      [。！？；;!?\n]+                                              # the end of a sentence
    | (?-i:(?<!\b[A-Z]))\.(?=\s|$)                                   # a full stop, not the point of a number
    | [,，]\s*(?=(?:{_CHINESE_CONNECTIVES}|以及))
    | (?<=[\u4e00-\u9fff“”」0-9])(?=(?:然后|接着|随后|并且|另外|同时(?!间)))
    | [,，]\s*(?:and\s+|also\s+)?(?=(?:{_ENGLISH_CONNECTIVES})\b)
    | \s+(?=(?:and\s+then|then|and\s+after\s+that|after\s+that|afterwards|and\s+finally)\b)
    | \s+(?=and\s+(?:also|the|a|an|its|their)\s)
    | [,，]\s*(?=(?:and\s+|also\s+)?(?:{_ENGLISH_VERBS}|{_ENGLISH_QUESTIONS})\s)
    | \s+(?=and\s+(?:also\s+|then\s+|please\s+)?(?:{_ENGLISH_VERBS}|{_ENGLISH_QUESTIONS})\s)
    | [,，]\s*(?=给[^，。,]{{1,20}}(?:发|寄|转账|打电话))
    | [,，]\s*(?=(?:并|再|也|请|帮我|我想|我还想|还要)?(?:{_alternatives(CHINESE_CLAUSE_VERBS)}))
    """,
    re.VERBOSE | re.IGNORECASE,
)


def segment(text: str, protected: tuple[tuple[int, int], ...] = ()) -> tuple[Clause, ...]:
    """Return the clauses of `text` in order, without blank ones.

    Args:
        text: The request.
        protected: Spans, as (start, end) in code points, that no cut may fall into, such as quoted text.
    """
    clauses: list[Clause] = []
    begin = 0
    for cut in _CUT.finditer(text):
        if len(clauses) == MAX_CLAUSES - 1:
            break
        if any(start < cut.end() and cut.start() < end for start, end in protected):
            continue
        _append(clauses, text, begin, cut.start())
        begin = cut.end()
    _append(clauses, text, begin, len(text))
    return tuple(clauses)


def _append(clauses: list[Clause], text: str, start: int, end: int) -> None:
    if text[start:end].strip():
        clauses.append(Clause(start, end, text[start:end]))
