"""Which tools a clause speaks of, by the words that both have."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from taoloop.thought.planners.graph.index import PlannerIndex, ToolView
from taoloop.thought.planners.graph.language.text import Word, is_chinese
from taoloop.thought.planners.graph.language.vocabulary import (
    CHINESE_QUESTION_WORDS,
    CHINESE_READING_WORDS,
    CHINESE_WRITING_WORDS,
    CLAUSE_CONNECTIVES,
    POLITE_OPENINGS,
    QUESTION_WORDS,
    READING_WORDS,
    WRITING_WORDS,
)

# Set by hand on the example tasks; to be fitted on generated data.
UNKNOWN_WORD_WEIGHT: Final = 0.6
"""What a word that no tool has takes from the fit, beside 1.0 for the rarest known one."""
UNKNOWN_PAIR_WEIGHT: Final = 0.25
"""The same for a pair of Chinese characters: most pairs run across the border of two words."""
COMMON_WORD_WEIGHT: Final = 0.4
"""What a word that every tool has still counts, beside 1.0 for the rarest."""
AVOID_PENALTY: Final = 0.5
"""How much of its weight a word takes off when the tool's `avoid_when` has it."""
UNKNOWN_VERB_FACTOR: Final = 0.6
"""What is left of a writing tool's score when the clause's verb says neither that it reads nor that it writes."""
FOREIGN_VERB_FACTOR: Final = 0.7
"""What is left of a reading tool's score when the clause asks for a change that the tool does not speak of."""
WRITING_VERB_BONUS: Final = 0.25
"""What a writing tool gains when the clause uses its own verb."""


class Intent(StrEnum):
    """What a clause asks for, by its verbs."""

    READ = "read"
    WRITE = "write"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Ranked:
    """One tool for one clause.

    Attributes:
        tool: The tool.
        score: Sum over shared words; only to compare tools of one clause.
        fit: Share of the clause's own words that the tool explains, 0 to 1.
        factor: What is left of it for what the clause's verbs ask for, 0 to 1.
    """

    tool: ToolView
    score: float
    fit: float
    factor: float = 1.0


def rank(
    index: PlannerIndex, words: Iterable[Word], intent: Intent, verbs: frozenset[str], *, limit: int = 8
) -> tuple[Ranked, ...]:
    """Return the tools that share words with a clause, best first.

    Args:
        index: The catalogue.
        words: The clause's words outside of its mentions.
        intent: What the clause's verbs ask for. A reading clause gets no writing tool.
        verbs: The writing verbs of the clause.
        limit: How many tools are returned at most.
    """
    distinct = {word.key for word in words}
    if not distinct:
        return ()
    weights = {key: _weight(index, key) for key in distinct}
    total = sum(weights.values())
    explained: defaultdict[int, float] = defaultdict(float)
    scores: defaultdict[int, float] = defaultdict(float)
    for key in distinct:
        for number, weight in index.postings(key):
            explained[number] += weight * weights[key]
            scores[number] += weight * index.rarity(key)
    ranked = []
    for number, share in explained.items():
        tool = index.tools[number]
        against = AVOID_PENALTY * sum(weights[key] for key in distinct & tool.avoid)
        factor, bonus = _by_intent(tool, intent, verbs)
        fit = max(0.0, min(1.0, (share - against) / total * factor + bonus))
        score = max(0.0, (scores[number] - against) * factor + bonus * index.highest_rarity)
        if fit > 0.0:
            ranked.append(Ranked(tool, score, fit, min(1.0, factor)))
    ranked.sort(key=lambda item: (-item.score, -item.fit, item.tool.name))
    return tuple(ranked[:limit])


def _weight(index: PlannerIndex, key: str) -> float:
    rarity = index.rarity(key)
    if rarity:
        return COMMON_WORD_WEIGHT + (1.0 - COMMON_WORD_WEIGHT) * min(1.0, rarity / index.highest_rarity)
    return UNKNOWN_PAIR_WEIGHT if is_chinese(key) else UNKNOWN_WORD_WEIGHT


def _by_intent(tool: ToolView, intent: Intent, verbs: frozenset[str]) -> tuple[float, float]:
    """Return the factor and the bonus of a tool for what the clause asks for."""
    if tool.is_writing:
        if intent is Intent.READ:
            return 0.0, 0.0
        if intent is Intent.UNKNOWN:
            return UNKNOWN_VERB_FACTOR, 0.0
        return (1.0, WRITING_VERB_BONUS) if verbs & tool.writing_words else (FOREIGN_VERB_FACTOR, 0.0)
    if intent is Intent.WRITE and not verbs & tool.writing_words:
        return FOREIGN_VERB_FACTOR, 0.0
    return 1.0, 0.0


_OPENINGS: Final = tuple(sorted({*POLITE_OPENINGS, *CLAUSE_CONNECTIVES}, key=len, reverse=True))
_LETTERS = re.compile(r"[a-z']+")


def read_intent(text: str) -> tuple[Intent, frozenset[str]]:
    """Say whether a clause asks to be told something or to change something, and by which writing verbs.

    The first verb decides: "show the rooms that I can book" reads, "book the room and show it" writes. Chinese has
    no fixed first place, so there the earlier of the two kinds decides. A question never writes.

    Args:
        text: The clause, without the text of its mentions.
    """
    lowered = _opened(text.strip().lower())
    if is_chinese(lowered):
        return _chinese_intent(lowered)
    tokens = _LETTERS.findall(lowered)
    verbs = frozenset(token for token in tokens if token in WRITING_WORDS)
    for token in tokens[:1]:
        if token in WRITING_WORDS:
            return Intent.WRITE, verbs
        if token in QUESTION_WORDS or token in READING_WORDS:
            return Intent.READ, frozenset()
    return Intent.UNKNOWN, frozenset()


def _opened(lowered: str) -> str:
    """Take off polite openings and connectives, a few at most."""
    for _ in range(4):
        opening = next((item for item in _OPENINGS if lowered.startswith(item)), None)
        rest = lowered[len(opening or "") :].lstrip(" ,，")
        if opening is None or not rest or (opening.isascii() and rest[0].isalpha() and lowered[len(opening)].isalpha()):
            return lowered
        lowered = rest
    return lowered


def _chinese_intent(text: str) -> tuple[Intent, frozenset[str]]:
    text = text.rstrip("。！？!? ").removesuffix("可以吗").removesuffix("好吗").removesuffix("行吗")
    if any(word in text for word in CHINESE_QUESTION_WORDS):
        return Intent.READ, frozenset()
    writing = {word: place for word in CHINESE_WRITING_WORDS if (place := text.find(word)) >= 0}
    reading = [place for word in CHINESE_READING_WORDS if (place := text.find(word)) >= 0]
    if writing and (not reading or min(writing.values()) < min(reading)):
        return Intent.WRITE, frozenset(writing)
    return (Intent.READ, frozenset()) if reading else (Intent.UNKNOWN, frozenset())
