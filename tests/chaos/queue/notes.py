"""What fronts and workers note, one line each, in files that outlive them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

NO_THOUGHT: Final = "-"
ANSWERED: Final = "ANSWERED"
GAVE_UP: Final = "GAVE_UP"
WATCH_SECONDS: Final = 1.0


class Notes:
    """A file that lines are added to; each is whole, also when several processes write and one of them is killed.

    Args:
        path: Where.
    """

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def add(self, *words: object) -> None:
        """Add a line of words without blanks in them."""
        os.write(self._file, (" ".join(str(word) for word in words) + "\n").encode())


@dataclass(frozen=True, slots=True)
class Told:
    """What one caller was told.

    Attributes:
        job: What it asked for.
        outcome: `ANSWERED`, `GAVE_UP`, or the reason of an error.
        left_ms: How much time it still had.
        thought: Id of the thought; `-` where there is none.
        is_again: Whether an earlier life of its front had asked before, with another deadline.
        is_patient: Whether it had time for an outage.
    """

    job: str
    outcome: str
    left_ms: float = 0.0
    thought: str = NO_THOUGHT
    is_again: bool = False
    is_patient: bool = False


@dataclass(frozen=True, slots=True)
class FrontNotes:
    """The notes of one front.

    Attributes:
        asked: Jobs that were asked for, once for each life of the front.
        told: What callers were told.
        refused: Reasons of refusals after which the caller tried again.
    """

    asked: tuple[str, ...]
    told: tuple[Told, ...]
    refused: tuple[str, ...]

    @classmethod
    def read(cls, path: Path) -> FrontNotes:
        """Return what stands in a file; none is empty."""
        lines = [line.split() for line in _lines(path)]
        return cls(
            asked=tuple(words[1] for words in lines if words[0] == "asked"),
            told=tuple(
                Told(words[1], words[2], float(words[3]), words[4], words[5] == "True", words[6] == "True")
                for words in lines
                if words[0] == "told"
            ),
            refused=tuple(words[2] for words in lines if words[0] == "refused"),
        )

    def untold(self) -> list[str]:
        """Return the jobs that were asked for, and whose callers were told nothing."""
        told = {each.job for each in self.told}
        return [job for job in dict.fromkeys(self.asked) if job not in told]


@dataclass(frozen=True, slots=True)
class Planned:
    """A planning that was begun.

    Attributes:
        job: For what.
        late_ms: How long after its deadline, negative when in time.
        thought: Id of the thought that comes of it.
    """

    job: str
    late_ms: float
    thought: str


def read_planned(path: Path) -> tuple[Planned, ...]:
    """Return the workers' notes."""
    return tuple(Planned(job, float(late), thought) for job, late, thought in map(str.split, _lines(path)))


def _lines(path: Path) -> Iterator[str]:
    yield from path.read_text().splitlines() if path.exists() else ()


async def orphaned() -> None:
    """Return when the process that started this one is gone, so that nobody is left to end it."""
    parent = os.getppid()
    while os.getppid() == parent:  # noqa: ASYNC110 - the kernel tells nobody
        await asyncio.sleep(WATCH_SECONDS)
