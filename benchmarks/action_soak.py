"""Full load kept up: speed and memory minute by minute."""

from __future__ import annotations

import gc
import sys
import time
from dataclasses import dataclass
from statistics import median
from typing import Final

import psutil

from benchmarks.action_calls import IN_FLIGHT
from benchmarks.caller import Work, repeat

FORM: Final = "taoloop.benchmark.action.soak/v1"
READS_PER_WRITE: Final = 50
BLOCK: Final = 1000
SLICE_SECONDS: Final = 60.0
SLICES_AT_LEAST: Final = 6


@dataclass(frozen=True, slots=True)
class Slice:
    """What one minute, or a sixth of a shorter soak, came to.

    Attributes:
        calls_per_second: Calls answered, by the wall clock.
        cpu_us: Processor time of the calling process for one call, in microseconds.
        rss_mib: Memory at the end.
    """

    calls_per_second: float
    cpu_us: float
    rss_mib: float

    def as_json(self) -> dict[str, float]:
        """Return the rounded figures."""
        return {
            "calls_per_second": round(self.calls_per_second),
            "cpu_us": round(self.cpu_us, 1),
            "rss_mib": round(self.rss_mib, 1),
        }


async def soak(read: Work, write: Work, seconds: float) -> dict[str, object]:
    """Make reads, and a write for every fifty of them, at full load; compare the end with the beginning.

    Args:
        read: One read.
        write: One write.
        seconds: How long.
    """
    numbers = iter(range(sys.maxsize))

    async def work() -> bool:
        return await (write() if next(numbers) % READS_PER_WRITE == 0 else read())

    await repeat(work, 5 * BLOCK, IN_FLIGHT)
    slices: list[Slice] = []
    length = min(SLICE_SECONDS, seconds / SLICES_AT_LEAST)
    ends_at = time.monotonic() + seconds
    while time.monotonic() + length / 2 < ends_at:
        slices.append(await _slice(work, length))
        print(f"{len(slices)}: {slices[-1].as_json()}", file=sys.stderr)
    first, last = slices[: len(slices) // 3], slices[-(len(slices) // 3) :]
    return {
        "form": FORM,
        "seconds": seconds,
        "slice_seconds": length,
        "slices": [each.as_json() for each in slices],
        "cpu_growth": round(median(s.cpu_us for s in last) / median(s.cpu_us for s in first), 3),
        "speed_growth": round(median(s.calls_per_second for s in last) / median(s.calls_per_second for s in first), 3),
        "rss_growth_mib": round(slices[-1].rss_mib - slices[0].rss_mib, 1),
    }


async def _slice(work: Work, seconds: float) -> Slice:
    began, cpu_began, calls = time.monotonic(), time.process_time(), 0
    while time.monotonic() - began < seconds:
        calls += await repeat(work, BLOCK, IN_FLIGHT)
    elapsed, cpu = time.monotonic() - began, time.process_time() - cpu_began
    gc.collect()
    return Slice(calls / elapsed, 1e6 * cpu / calls, psutil.Process().memory_info().rss / 2**20)
