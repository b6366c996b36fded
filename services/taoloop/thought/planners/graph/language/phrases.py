"""Finds the phrases of an English request that may be free text for a parameter, with the word that leads to each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from taoloop.thought.planners.graph.language.mentions import Mention, MentionKind
from taoloop.thought.planners.graph.language.vocabulary import (
    CLAUSE_VERBS,
    QUESTION_WORDS,
    READING_WORDS,
    STOP_WORDS,
    WRITING_WORDS,
)

MAX_PHRASES: Final = 48
"""Phrases beyond this are not looked at: time must stay bounded for any text."""
MAX_WORDS: Final = 6

VERB: Final = "verb"
"""Lead of a phrase that stands right after a verb, as its object."""
OPENING: Final = ""
"""Lead of a phrase that nothing leads to."""


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words that belong together.

    Attributes:
        lead: The preposition or naming word before them in lower case, `VERB`, or `OPENING`.
        words: Start and end of each word in code points of the text.
    """

    lead: str
    words: tuple[tuple[int, int], ...]

    @property
    def start(self) -> int:
        """Return the first code point."""
        return self.words[0][0]

    @property
    def end(self) -> int:
        """Return one past the last code point."""
        return self.words[-1][1]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


NAMING: Final = _words("called named titled entitled labelled labeled known")
"""Words after which the name of a thing stands."""
LEADS: Final = (
    _words(
        "about on regarding concerning for of in by with to into from at near like starring featuring as using under"
    )
    | NAMING
)
_LEADING: Final = _words(
    """
    a an the some any my our your his her their its this that these those new latest current best good great nearest
    nearby several few many more most top all upcoming recent different specific certain following popular exact
    common own next last first second third
    """
)
"""Words at the head of a phrase that are no part of a value."""
_BREAKS: Final = (
    (STOP_WORDS - _LEADING)
    | QUESTION_WORDS
    | _words(
        """
        not no please then also so because while if but only too there here myself now today does would should take
        takes took happen happened occur occurred weigh weighs cost costs live lives falls fall
        """
    )
)
_OBJECTS: Final = frozenset({"me", "us", "him", "them", "you", "out", "up"})
"""Words that may stand between a verb and its object."""
_LISTING: Final = frozenset({",", "and", "or", "&"})
_BEINGS: Final = frozenset({"is", "are", "was", "were", "does", "do", "did", "can"})
_VERBS: Final = READING_WORDS | WRITING_WORDS | CLAUSE_VERBS | _words("search looking for finding play cook make watch")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9'’&-]*|[^\sA-Za-z]")
_TYPED: Final = frozenset(
    {
        MentionKind.DATE, MentionKind.TIME, MentionKind.NUMBER, MentionKind.URL, MentionKind.EMAIL, MentionKind.ID,
        MentionKind.QUOTED, MentionKind.MALFORMED,
    }
)  # fmt: skip


def find_phrases(text: str, mentions: tuple[Mention, ...]) -> tuple[Phrase, ...]:
    """Return the phrases of a text in order; none of them runs over a mention of a typed value."""
    found: list[Phrase] = []
    for phrase in _phrases(text, [m for m in mentions if m.kind in _TYPED]):
        found.append(phrase)
        if len(found) == MAX_PHRASES:
            break
    return tuple(found)


def _phrases(text: str, typed: list[Mention]) -> Iterator[Phrase]:
    scan = _Scan()
    number = 0
    for match in _WORD.finditer(text):
        start, end = match.span()
        while number < len(typed) and typed[number].end <= start:
            number += 1
        is_value = number < len(typed) and typed[number].start < end
        yield from scan.step(match, is_value=is_value)
    yield from scan.end(OPENING)


@dataclass(slots=True)
class _Scan:
    """What the scan of a text holds: the phrase that is open, and the lead of the one before it in a list."""

    lead: str = OPENING
    words: list[tuple[int, int]] = field(default_factory=list)
    carried: str = OPENING

    def end(self, lead: str) -> Iterator[Phrase]:
        """End the open phrase, and begin one with this lead."""
        if self.words:
            yield Phrase(self.lead, tuple(self.words))
        self.lead, self.words = lead, []

    def step(self, match: re.Match[str], *, is_value: bool) -> Iterator[Phrase]:
        """Take one word or mark of the text."""
        word = match[0].lower().removesuffix("'s").removesuffix("’s")
        if word in _LISTING:  # the next member of a list has the lead of the one before
            if self.words:
                self.carried = self.lead
            yield from self.end(self.carried)
        elif is_value or not match[0][0].isalpha():
            self.carried = OPENING
            yield from self.end(OPENING)
        elif word in LEADS:
            yield from self.end(word)
        else:
            yield from self._plain(match, word)

    def _plain(self, match: re.Match[str], word: str) -> Iterator[Phrase]:
        if word in _OBJECTS and self.lead == VERB and not self.words:
            return
        if word in _LEADING and not (match[0] == "The" and match.start()):
            if self.words:
                yield from self.end(OPENING)
        elif word in _VERBS and (not self.words or (match[0].islower() and self.lead == OPENING)):
            self.lead, self.words = VERB, []
        elif word in _BREAKS or len(self.words) == MAX_WORDS:
            self.carried = OPENING
            yield from self.end(VERB if word in _BEINGS else OPENING)
        else:
            self.words.append(match.span())


_MESSAGE = re.compile(
    r"\b(?:remind (?:me|us|him|her|them) (?:to|about|that)|reminder (?:[^,.]{0,20} )?to|saying(?: that)?|says that"
    r"|say that|that says|tell(?:ing)? (?:him|her|them)(?: that)?|message(?: that)?:?|add|put|note(?: that)?:"
    r"|that reads|stating)\s+"
    r"(?P<said>(?:(?!\b(?:to|on|in|into|at|for|with|by) (?:my|the|our|his|her)\b|\bwith\b|[.,;:!?\n\ufffc]"
    r"|\b(?:at|on|by|for|due|to|from)\s+\ufffc).){3,160})",
    re.IGNORECASE,
)
_AFTER_COLON = re.compile(r"[a-z0-9\ufffc]:\s+(?P<said>[A-Za-z][^\n:;]{8,200}?)(?=[.;]?\s*$|[.;]\s)")


def find_messages(text: str, mentions: tuple[Mention, ...]) -> tuple[tuple[int, int], ...]:
    """Return the places of what is to be said or noted: after `remind me to`, `saying`, `add`, or a colon."""
    masked = text
    for mention in mentions:
        if mention.kind in _TYPED:
            masked = masked[: mention.start] + "\ufffc" * (mention.end - mention.start) + masked[mention.end :]
    found: list[tuple[int, int]] = []
    for pattern in (_MESSAGE, _AFTER_COLON):
        for match in pattern.finditer(masked):
            start, end = match.span("said")
            while end > start and text[end - 1] in " \t":
                end -= 1
            if "\ufffc" not in masked[start:end] and not any(start < b and a < end for a, b in found):
                found.append((start, end))
    return tuple(found[:MAX_PHRASES])
