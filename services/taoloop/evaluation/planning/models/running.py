"""Asks a model about a file of cases, several at a time, and scores what it says."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from taoloop.core.tasks import first_error
from taoloop.evaluation.planning.cases import CaseLine, read_cases
from taoloop.evaluation.planning.figures import Scored
from taoloop.evaluation.planning.models.asking import Asked, CaseAsker
from taoloop.evaluation.planning.models.keeping import PredictionFile
from taoloop.evaluation.planning.scoring import score


@dataclass(frozen=True, slots=True)
class AskedRow:
    """One case done: what came of asking, and its score."""

    asked: Asked
    scored: Scored


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """Which cases are asked about, and how many at a time.

    Attributes:
        concurrency: Questions that are under way at the same time.
        every: Every so many-th case of the file, from the first on; 1 takes all.
    """

    concurrency: int = 16
    every: int = 1


async def ask_cases(
    path: Path,
    asker: CaseAsker,
    file: PredictionFile,
    options: RunOptions,
    advance: Callable[[int], None] = lambda _: None,
) -> list[AskedRow]:
    """Ask about the cases that the file of predictions lacks, and score all, in the order of the file of cases.

    Args:
        path: JSON lines of planning cases.
        asker: Asks.
        file: Opened; its predictions are taken as they are.
        options: Which cases, and how many at a time.
        advance: Told which share of the file of cases is done, as so many of its bytes, after each answer.

    Raises:
        InvalidRequest: The file of cases cannot be read, or a line is no case.
        BackendUnavailable: The model's server went away; what was answered before is kept.
    """
    lines = [(place, line) for place, line in enumerate(read_cases(path)) if place % options.every == 0]
    missing = [line.case for _, line in lines if line.case.id not in file.kept]
    waiting, answered = iter(missing), 0

    async def work() -> None:
        nonlocal answered
        for case in waiting:
            file.keep(await asker.ask(case))
            answered += 1
            # Answers come in any order: their number tells how far it is.
            advance(lines[-1][1].end_bytes * (len(lines) - len(missing) + answered) // len(lines))

    with first_error():
        async with asyncio.TaskGroup() as group:
            for number in range(options.concurrency):
                group.create_task(work(), name=f"asking {number}")
    return [_row(place, line, file.kept[line.case.id]) for place, line in lines]


def _row(place: int, line: CaseLine, asked: Asked) -> AskedRow:
    return AskedRow(asked, Scored(place, line.case, score(line.case, asked.prediction), seconds=asked.seconds))
