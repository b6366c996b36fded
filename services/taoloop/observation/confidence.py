"""How far a result can be relied on, computed from what was checked and never guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from taoloop.plan.acting import ServedBy
from taoloop.plan.observing import ConfidenceLevel, StageScore
from taoloop.tools.contract import UNTRUSTED_WEIGHT

HARD_WEIGHT: Final = 0.6
SOFT_WEIGHT: Final = 0.3
CONSISTENCY_WEIGHT: Final = 0.1

NO_DETAILS: Final = ("", "", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceWeights:
    """How much a result counts that the tool itself did not give now, or gives in other people's words; 0 to 1 each.

    Attributes:
        fallback: A result of the contract's fallback tool.
        cache: An earlier answer.
        untrusted: The most that untrusted words count where their contract states no weight.
    """

    fallback: float = 0.8
    cache: float = 0.6
    untrusted: float = UNTRUSTED_WEIGHT


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfidenceLevels:
    """Where the levels of confidence begin.

    Attributes:
        preferred: Above it a result is preferred to others.
        doubtful: Below it a result is doubtful: when all results of a run are so, a person decides.
    """

    preferred: float = 0.7
    doubtful: float = 0.5

    def of(self, confidence: float) -> ConfidenceLevel:
        """Return the level of a confidence.

        >>> [ConfidenceLevels().of(number).value for number in (0.71, 0.7, 0.5, 0.49)]
        ['high', 'medium', 'medium', 'low']
        """
        if confidence > self.preferred:
            return ConfidenceLevel.HIGH
        return ConfidenceLevel.LOW if confidence < self.doubtful else ConfidenceLevel.MEDIUM


def source_weight(weights: SourceWeights, *, stated: float, served_by: ServedBy | None) -> float:
    """Return the weight of a result's source, 0 to 1.

    How the result was served is a factor on what the contract states, since no contract knows it beforehand.

    Args:
        weights: The factors.
        stated: The contract's own weight; untrusted tools have 0.7 where theirs states none.
        served_by: What produced the result.
    """
    if served_by is ServedBy.FALLBACK:
        return stated * weights.fallback
    if served_by is ServedBy.CACHE:
        return stated * weights.cache
    return stated


def source_detail(weights: SourceWeights, *, stated: float, is_trusted: bool, served_by: ServedBy | None) -> str:
    """Return in words what made the weight of a source.

    >>> source_detail(SourceWeights(), stated=0.7, is_trusted=False, served_by=ServedBy.CACHE)
    'untrusted words 0.7 x answer from the cache 0.6'
    """
    words = f"trusted tool {stated:g}" if is_trusted else f"untrusted words {stated:g}"
    if served_by is ServedBy.FALLBACK:
        return f"{words} x answer of a fallback tool {weights.fallback:g}"
    if served_by is ServedBy.CACHE:
        return f"{words} x answer from the cache {weights.cache:g}"
    return words


def stage_scores(
    *,
    hard: bool | None,
    soft: tuple[float, int],
    is_consistent: bool | None,
    details: tuple[str, str, str] = NO_DETAILS,
) -> tuple[StageScore, StageScore, StageScore]:
    """Return the three stages with their weights renormalised over those that ran.

    >>> [round(score.weight, 3) for score in stage_scores(hard=True, soft=(0, 0), is_consistent=True)]
    [0.857, 0.0, 0.143]

    Args:
        hard: Whether every hard check passed; None when none ran.
        soft: How many soft checks passed, a half for one that nearly did, of how many; none ran when the second is 0.
        is_consistent: Whether the consistency holds; None when nothing was expected.
        details: What each score is made of, in words.
    """
    passed, total = soft
    raw = (
        ("hard", HARD_WEIGHT, None if hard is None else float(hard), details[0]),
        ("soft", SOFT_WEIGHT, passed / total if total else None, details[1]),
        ("consistency", CONSISTENCY_WEIGHT, None if is_consistent is None else float(is_consistent), details[2]),
    )
    whole = sum(weight for _, weight, score, _ in raw if score is not None) or 1.0
    first, second, third = (
        StageScore(name=name, ran=False, detail=detail)
        if score is None
        else StageScore(name=name, ran=True, weight=weight / whole, score=score, detail=detail)
        for name, weight, score, detail in raw
    )
    return first, second, third


def confidence(stages: Sequence[StageScore], weight: float) -> float:
    """Return the confidence, 0 to 1: the weighted score times the source's weight.

    It is 0 when a hard check failed or when nothing ran.

    >>> round(confidence(stage_scores(hard=True, soft=(4, 5), is_consistent=True), 1.0), 4)
    0.94
    """
    for stage in stages:
        if stage.name == "hard" and stage.ran and stage.score < 1.0:
            return 0.0
    score = sum(stage.weight * stage.score for stage in stages if stage.ran)
    # The last digits of a sum of binary fractions are noise: 12 decimals make equal checks equal numbers.
    return min(1.0, max(0.0, round(score * weight, 12)))
