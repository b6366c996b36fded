"""How far a result can be relied on, computed from what was checked and never guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from taoloop.plan.acting import ServedBy
from taoloop.plan.observing import StageScore

HARD_WEIGHT: Final = 0.6
SOFT_WEIGHT: Final = 0.3
CONSISTENCY_WEIGHT: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceWeights:
    """How much a result counts that the tool itself did not give now, each 0 to 1.

    Attributes:
        fallback: A result of the contract's fallback tool.
        cache: An earlier answer.
    """

    fallback: float = 0.8
    cache: float = 0.6


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


def stage_scores(
    *, hard: bool | None, soft: tuple[int, int], is_consistent: bool | None
) -> tuple[StageScore, StageScore, StageScore]:
    """Return the three stages with their weights renormalised over those that ran.

    >>> [round(score.weight, 3) for score in stage_scores(hard=True, soft=(0, 0), is_consistent=True)]
    [0.857, 0.0, 0.143]

    Args:
        hard: Whether every hard check passed; None when none ran.
        soft: How many soft checks passed, of how many; none ran when the second is 0.
        is_consistent: Whether the consistency holds; None when nothing was expected.
    """
    passed, total = soft
    raw = (
        ("hard", HARD_WEIGHT, None if hard is None else float(hard)),
        ("soft", SOFT_WEIGHT, passed / total if total else None),
        ("consistency", CONSISTENCY_WEIGHT, None if is_consistent is None else float(is_consistent)),
    )
    whole = sum(weight for _, weight, score in raw if score is not None) or 1.0
    first, second, third = (
        StageScore(name=name, ran=False)
        if score is None
        else StageScore(name=name, ran=True, weight=weight / whole, score=score)
        for name, weight, score in raw
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
