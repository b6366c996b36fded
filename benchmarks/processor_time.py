"""The processor time of this process and of others, in nanoseconds."""

from __future__ import annotations

import platform
import time
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median

import psutil


def used_ns(pid: int) -> int:
    """Return the processor time, user and system, of all threads of a process."""
    if platform.system() == "Linux":
        # The clock of another process, as clock_getcpuclockid(3) makes its id: psutil's figures come in ticks of 10 ms.
        return time.clock_gettime_ns((~pid << 3) | 2)
    times = psutil.Process(pid).cpu_times()
    return int((times.user + times.system) * 1e9)


def used_by(pids: Mapping[str, int]) -> dict[str, int]:
    """Return the processor time of each named process."""
    return {name: used_ns(pid) for name, pid in pids.items()}


def per_unit_us(before: Mapping[str, int], after: Mapping[str, int], count: int) -> dict[str, float]:
    """Return what each process used in between, in microseconds for each of `count` units of work."""
    return {name: (after[name] - before[name]) / 1000 / count for name in before}


@dataclass(frozen=True, slots=True)
class Spread:
    """The values of one figure over the rounds.

    Attributes:
        median: Half lie at or below.
        low: The least.
        high: The greatest.
    """

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: list[float]) -> Spread:
        """Return the spread of at least one value."""
        return cls(median(values), min(values), max(values))

    def as_json(self, digits: int = 1) -> dict[str, float]:
        """Return the rounded figures."""
        return {
            "median": round(self.median, digits),
            "low": round(self.low, digits),
            "high": round(self.high, digits),
        }
