"""Runs a planner over a file of cases and keeps predictions and scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from taoloop.core.clock import Clock
from taoloop.evaluation.planning.cases import read_cases
from taoloop.evaluation.planning.figures import Scored
from taoloop.evaluation.planning.predicting import predict
from taoloop.evaluation.planning.scoring import score


@dataclass(frozen=True, slots=True)
class Row:
    """One case done: its prediction line and its score."""

    prediction: dict[str, Any]
    scored: Scored


def run_cases(path: Path, clock: Clock, advance: Callable[[int], None] = lambda _: None) -> Iterator[Row]:
    """Plan and score every case of a file, in its order.

    Args:
        path: JSON lines of planning cases.
        clock: Times each plan, compiling the offered tools included.
        advance: Told how many bytes of the file are done, after each case.

    Raises:
        InvalidRequest: The file cannot be read, or a line is no case.
    """
    for position, line in enumerate(read_cases(path)):
        began = clock.monotonic()
        predicted = predict(line.case)
        seconds = clock.monotonic() - began
        decision = predicted.reply.decision
        yield Row(
            predicted.prediction,
            Scored(
                position,
                line.case,
                score(line.case, predicted.prediction),
                fit=decision.fit,
                arguments=predicted.reply.arguments,
                missing=predicted.reply.missing,
                seconds=seconds,
            ),
        )
        advance(line.end_bytes)
