"""When each task is sent and which one it is: fixed before the first is sent, whatever the answers do."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate

from loadtest.mix import MixedTask


class Arrivals(StrEnum):
    """How far apart tasks are sent."""

    CONSTANT = "constant"
    """All the same distance apart."""
    POISSON = "poisson"
    """As independent callers send them: exponential distances, so that some come in bursts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """What is sent when.

    Attributes:
        rate_per_second: Arrivals a second on average, above 0.
        warm_up_seconds: Arrivals at the beginning that are sent and not measured.
        duration_seconds: How long is measured after that, above 0.
        arrivals: How far they are apart.
        seed: The same seed gives the same arrivals.
    """

    rate_per_second: float
    warm_up_seconds: float
    duration_seconds: float
    arrivals: Arrivals
    seed: int

    @property
    def total_seconds(self) -> float:
        """From the first possible arrival to the last."""
        return self.warm_up_seconds + self.duration_seconds


@dataclass(frozen=True, slots=True)
class Arrival:
    """One task to send.

    Attributes:
        offset_seconds: When, from the start.
        task: What.
        is_measured: False in the warm-up.
    """

    offset_seconds: float
    task: MixedTask
    is_measured: bool


def arrivals_of(schedule: Schedule, tasks: tuple[MixedTask, ...]) -> Iterator[Arrival]:
    """Yield the arrivals in their order; tasks are drawn by weight."""
    # Two sources, so that another kind of arrivals leaves the sequence of tasks as it is.
    draw_task, draw_gap = random.Random(f"tasks {schedule.seed}"), random.Random(f"gaps {schedule.seed}")
    borders = list(accumulate(task.weight for task in tasks))
    for offset in _offsets(schedule, draw_gap):
        task = draw_task.choices(tasks, cum_weights=borders)[0]
        yield Arrival(offset, task, offset >= schedule.warm_up_seconds)


def _offsets(schedule: Schedule, draw: random.Random) -> Iterator[float]:
    if schedule.arrivals is Arrivals.CONSTANT:
        # By multiplication: a sum of rounded gaps drifts away from the set rate.
        count = 0
        while (offset := count / schedule.rate_per_second) < schedule.total_seconds:
            yield offset
            count += 1
        return
    offset = draw.expovariate(schedule.rate_per_second)
    while offset < schedule.total_seconds:
        yield offset
        offset += draw.expovariate(schedule.rate_per_second)
