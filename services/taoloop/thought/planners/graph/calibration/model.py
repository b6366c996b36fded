"""Logistic calibrations whose weights are fitted on generated cases and kept as a data file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from typing import Any, Final, cast

from taoloop.core.exact_json import loads

FILE: Final = "weights.json"


@dataclass(frozen=True, slots=True)
class Logistic:
    """A probability from a few numbers.

    Attributes:
        bias: The constant.
        weights: One weight a number.
        threshold: From which probability on it counts as yes.
    """

    bias: float
    weights: tuple[float, ...]
    threshold: float = 0.5

    def probability(self, numbers: Sequence[float]) -> float:
        """Return the probability, 0 to 1."""
        total = self.bias + sum(weight * number for weight, number in zip(self.weights, numbers, strict=True))
        return 1.0 / (1.0 + math.exp(-max(-40.0, min(40.0, total))))


@dataclass(frozen=True, slots=True)
class Calibration:
    """The three calibrations of a planner.

    Attributes:
        fits: That the tool is what the request asks for.
        arguments: That all arguments of a plan are right.
        missing: That the request lacks a value.
        question_threshold: From which probability of fit on a call without any value is worth a question.
        further_threshold: From which probability of fit on a further clause is a request of its own.
    """

    fits: Logistic
    arguments: Logistic
    missing: Logistic
    question_threshold: float
    further_threshold: float


@lru_cache(maxsize=1)
def fitted() -> Calibration:
    """Return the calibration that comes with the package."""
    text = resources.files(__package__).joinpath(FILE).read_text(encoding="utf-8")
    return calibration_of(cast("dict[str, Any]", loads(text)))


def calibration_of(document: dict[str, Any]) -> Calibration:
    """Return the calibration that a data file holds.

    Raises:
        KeyError: A member is missing.
    """
    return Calibration(
        fits=_logistic(document["fits"]),
        arguments=_logistic(document["arguments"]),
        missing=_logistic(document["missing"]),
        question_threshold=float(document["question_threshold"]),
        further_threshold=float(document["further_threshold"]),
    )


def _logistic(document: dict[str, Any]) -> Logistic:
    weights = tuple(float(weight) for weight in document["weights"].values())
    return Logistic(float(document["bias"]), weights, float(document["threshold"]))
