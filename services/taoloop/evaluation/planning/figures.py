"""What many scores come to: by category and language, odd and even apart, and how well the numbers are calibrated."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from taoloop.core.exact_json import JsonValue
from taoloop.evaluation.planning.cases import ASK, NONE, PLAN, PlanningCase
from taoloop.evaluation.planning.scoring import Score

BINS: Final = 10
"""Bins of equal width of a calibration error."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One case of a file with its score.

    Attributes:
        position: Its number in the file, from 0.
        case: The case.
        score: What the prediction is worth.
        fit: The planner's number for "the tool fits", 0 to 1.
        arguments: Its number for "the arguments are right".
        missing: Its number for "a value is missing".
        seconds: How long the planner took.
    """

    position: int
    case: PlanningCase
    score: Score
    fit: float = 0.0
    arguments: float = 0.0
    missing: float = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Share:
    """How many of some cases are right."""

    n: int
    right: int

    @property
    def percent(self) -> float:
        """Return the share in percent; 0 for none."""
        return 100.0 * self.right / self.n if self.n else 0.0

    def as_json(self) -> JsonValue:
        """Return n and percent."""
        return {"n": self.n, "percent": round(self.percent, 1)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The figures of one run over a file of cases.

    Attributes:
        cells: Share by (category, language).
        categories: Share by category, for all cases and for either half.
        macro: Mean over the categories in percent, for all cases and for either half.
        reasons: Why predictions were wrong.
        calibration_error: Expected calibration error of each of the three numbers, 0 to 1.
        mean_ms: Mean time of a plan.
    """

    cells: dict[tuple[str, str], Share]
    categories: dict[str, dict[str, Share]]
    macro: dict[str, float]
    reasons: Counter[str] = field(default_factory=Counter)
    calibration_error: dict[str, float] = field(default_factory=dict)
    mean_ms: float = 0.0

    def as_json(self) -> dict[str, JsonValue]:
        """Return everything as one JSON object."""
        cells: dict[str, JsonValue] = {f"{name}/{lang}": share.as_json() for (name, lang), share in self.cells.items()}
        categories: dict[str, JsonValue] = {
            name: {half: share.as_json() for half, share in halves.items()} for name, halves in self.categories.items()
        }
        return {
            "macro": {half: round(value, 1) for half, value in self.macro.items()},
            "categories": categories,
            "cells": cells,
            "reasons": dict(self.reasons.most_common()),
            "calibration_error": {name: round(value, 3) for name, value in self.calibration_error.items()},
            "mean_ms": round(self.mean_ms, 2),
        }


_HALVES: Final[dict[str, Callable[[Scored], bool]]] = {
    "all": lambda _: True,
    "even": lambda item: item.position % 2 == 0,
    "odd": lambda item: item.position % 2 == 1,
}


def figures(rows: Sequence[Scored]) -> Figures:
    """Sum up the scores of a file; positions count from 0, so the first case is an even one."""
    categories = {
        name: {
            half: _share([row for row in rows if row.case.category == name and keep(row)])
            for half, keep in _HALVES.items()
        }
        for name in sorted({row.case.category for row in rows})
    }
    pairs = sorted({(row.case.category, row.case.lang) for row in rows})
    cells = {pair: _share([row for row in rows if (row.case.category, row.case.lang) == pair]) for pair in pairs}
    return Figures(
        cells=cells,
        categories=categories,
        macro={half: _macro([halves[half] for halves in categories.values()]) for half in _HALVES},
        reasons=Counter(row.score.reason for row in rows if not row.score.is_right),
        calibration_error=_calibration(rows),
        mean_ms=1000.0 * sum(row.seconds for row in rows) / len(rows) if rows else 0.0,
    )


def _share(rows: Sequence[Scored]) -> Share:
    return Share(len(rows), sum(row.score.is_right for row in rows))


def _macro(shares: Sequence[Share]) -> float:
    counted = [share.percent for share in shares if share.n]
    return sum(counted) / len(counted) if counted else 0.0


def _calibration(rows: Sequence[Scored]) -> dict[str, float]:
    """The arguments are judged only where plan was the right decision and the one taken."""
    planned = [row for row in rows if row.case.kind == PLAN and row.score.is_kind_right]
    served = [row for row in rows if row.case.kind != NONE]
    return {
        "fit": calibration_error([(row.fit, row.case.kind != NONE) for row in rows]),
        "arguments": calibration_error([(row.arguments, row.score.is_right) for row in planned]),
        "missing": calibration_error([(row.missing, row.case.kind == ASK) for row in served]),
    }


def calibration_error(pairs: Sequence[tuple[float, bool]]) -> float:
    """Return the expected calibration error: how far stated probability and share of truth lie apart, 0 to 1.

    Source: Naeini, Cooper, Hauskrecht, Obtaining well calibrated probabilities using Bayesian binning (2015).
    """
    bins: defaultdict[int, list[tuple[float, bool]]] = defaultdict(list)
    for probability, truth in pairs:
        bins[min(BINS - 1, int(probability * BINS))].append((probability, truth))
    apart = sum(abs(sum(p for p, _ in members) - sum(truth for _, truth in members)) for members in bins.values())
    return apart / len(pairs) if pairs else 0.0
