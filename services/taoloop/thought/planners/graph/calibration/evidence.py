"""What speaks for a decision, as numbers that a calibration turns into probabilities."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Final

from taoloop.thought.planners.graph.index import PlannerIndex, ToolView
from taoloop.thought.planners.graph.language.text import Word, is_chinese, stem
from taoloop.thought.planners.graph.language.thesaurus import near_words
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
        first: Whether the tool has the first word that says something: 0, 1, or a half where there is none.
        foreign: 0 where the tool has every word that says something, near 1 for many that it has not.
        odd: Whether the clause asks who, why, whether one should, or how to do something oneself.
        filled: Share of the required parameters that have a value.
        strong: How well the words fit the required parameters on average, 0 for one without a value.
        covered: Share of the values in the clause that an argument takes.
        many: 0 for no argument, near 1 for many.
        chinese: Whether the clause is Chinese.
    """

    explained: float
    named: float
    head: float
    first: float
    foreign: float
    odd: float
    filled: float
    strong: float
    covered: float
    many: float
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


@dataclass(frozen=True, slots=True)
class CallEvidence:
    """What speaks for a tool in the arguments that a clause gives it: see `FitEvidence`."""

    filled: float
    strong: float
    covered: float
    many: float
    odd: float = 0.0


def fit_evidence(index: PlannerIndex, tool: ToolView, words: Iterable[Word], call: CallEvidence) -> FitEvidence:
    """Return what speaks for a tool in the words of a clause."""
    ordered = list(dict.fromkeys(word.key for word in words))
    weights = {key: _weight(index, key) for key in ordered}
    known = {key for key in ordered if key in tool.terms}
    in_chinese = any(is_chinese(key) for key in ordered)
    subject = tool.described if in_chinese else tool.named
    head = ordered[:HEAD_WORDS]
    telling = [key for key in ordered if key not in _GENERIC]
    strange = sum(weights[key] for key in telling if key not in known)
    return FitEvidence(
        explained=_share(known, ordered, weights),
        named=_share(
            {*ordered, *(near for key in ordered for near in near_words(key))},
            subject,
            {key: _weight(index, key) for key in subject},
        ),
        head=_share(known, head, weights),
        first=float(telling[0] in known) if telling else 0.5,
        foreign=1.0 - 1.0 / (1.0 + strange),
        odd=call.odd,
        filled=call.filled,
        strong=call.strong,
        covered=call.covered,
        many=call.many,
        chinese=float(in_chinese),
    )


def _share(present: set[str], keys: Iterable[str], weights: Mapping[str, float]) -> float:
    total = sum(weights[key] for key in keys)
    return sum(weights[key] for key in keys if key in present) / total if total else 0.5


def _weight(index: PlannerIndex, key: str) -> float:
    if key in _GENERIC:
        return GENERIC_WEIGHT
    if index.rarity(key):
        return 1.0
    return PAIR_WEIGHT if is_chinese(key) else 1.0
