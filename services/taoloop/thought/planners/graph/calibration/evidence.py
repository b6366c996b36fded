"""What speaks for a decision, as numbers that a calibration turns into probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Final

from taoloop.thought.planners.graph.index import PlannerIndex, ToolView
from taoloop.thought.planners.graph.language.text import Word, is_chinese, stem
from taoloop.thought.planners.graph.language.vocabulary import GENERIC_WORDS

_GENERIC: Final = frozenset(stem(word) for word in GENERIC_WORDS) | GENERIC_WORDS
GENERIC_WEIGHT: Final = 0.2
"""What a word counts that tools of every subject use, beside 1.0 for all others."""
PAIR_WEIGHT: Final = 0.4
"""What a pair of Chinese characters counts that no tool has: most run across the border of two words."""
HEAD_WORDS: Final = 4
"""How many of the first words of a clause say what it is about."""


@dataclass(frozen=True, slots=True)
class FitEvidence:
    """What speaks for a tool in one clause; every number lies between 0 and 1.

    Attributes:
        explained: Share of the clause's words that the tool has, generic words counting little.
        named: Share of the tool's name, in Chinese of its description, that the clause has.
        head: Share of the clause's first words that the tool has.
        filled: Share of the required parameters that have a value.
        chinese: Whether the clause is Chinese.
    """

    explained: float
    named: float
    head: float
    filled: float
    chinese: float

    def values(self) -> tuple[float, ...]:
        """Return the numbers in the order of the fields."""
        return tuple(float(getattr(self, item.name)) for item in fields(self))


@dataclass(frozen=True, slots=True)
class ArgumentEvidence:
    """What speaks for the arguments of a plan; every number lies between 0 and 1.

    Attributes:
        weakest: Score of the weakest value.
        mean: Mean score of the values.
        unused: Share of the typed mentions that no argument took.
        fit: Probability that the tools fit.
        single: Whether the plan has one step.
        few: 1 for no argument, less for more.
        chinese: Whether the request is Chinese.
    """

    weakest: float
    mean: float
    unused: float
    fit: float
    single: float
    few: float
    chinese: float

    def values(self) -> tuple[float, ...]:
        """Return the numbers in the order of the fields."""
        return tuple(float(getattr(self, item.name)) for item in fields(self))


@dataclass(frozen=True, slots=True)
class GapEvidence:
    """What speaks for a value being missing; every number lies between 0 and 1.

    Attributes:
        open: Share of the required parameters of the least complete call that have no value.
        refused: Whether a value of the right kind was refused.
        weakest: Score of the weakest value that was taken.
        unused: Share of the typed mentions that no argument took.
        fit: Probability that the tool fits.
    """

    open: float
    refused: float
    weakest: float
    unused: float
    fit: float

    def values(self) -> tuple[float, ...]:
        """Return the numbers in the order of the fields."""
        return tuple(float(getattr(self, item.name)) for item in fields(self))


def fit_evidence(index: PlannerIndex, tool: ToolView, words: Iterable[Word], *, filled: float) -> FitEvidence:
    """Return what speaks for a tool in the words of a clause."""
    ordered = list(dict.fromkeys(word.key for word in words))
    weights = {key: _weight(index, key) for key in ordered}
    known = {key for key in ordered if key in tool.terms}
    in_chinese = any(is_chinese(key) for key in ordered)
    subject = tool.described if in_chinese else tool.named
    head = ordered[:HEAD_WORDS]
    return FitEvidence(
        explained=_share(known, ordered, weights),
        named=_share(set(ordered), subject, {key: _weight(index, key) for key in subject}),
        head=_share(known, head, weights),
        filled=filled,
        chinese=float(in_chinese),
    )


def _share(present: set[str], keys: Iterable[str], weights: Mapping[str, float]) -> float:
    total = sum(weights[key] for key in keys)
    return sum(weights[key] for key in keys if key in present) / total if total else 0.0


def _weight(index: PlannerIndex, key: str) -> float:
    if key in _GENERIC:
        return GENERIC_WEIGHT
    if index.rarity(key):
        return 1.0
    return PAIR_WEIGHT if is_chinese(key) else 1.0
