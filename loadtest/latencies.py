"""A histogram of durations whose percentiles have a bounded relative error, in memory that does not grow with time."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Final

RELATIVE_ERROR: Final = 0.005
"""A reported percentile lies within half a percent of the duration that really stands at its rank."""

_GROWTH: Final = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR)
_LOG_GROWTH: Final = math.log(_GROWTH)
_LEAST_SECONDS: Final = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class Percentiles:
    """What a histogram held, in seconds; all zero when it held nothing.

    Attributes:
        count: Number of durations.
        mean: Exact.
        p50: Half were at most this long; the others likewise.
        p90: See `p50`.
        p99: See `p50`.
        p99_9: See `p50`.
        max: The longest, exact.
    """

    count: int
    mean: float
    p50: float
    p90: float
    p99: float
    p99_9: float
    max: float


class Latencies:
    """Counts durations in buckets whose borders grow by a constant factor.

    A run of any length needs at most one counter for each bucket that occurred: 1 400 buckets reach from a
    microsecond to a second, 2 100 to a quarter of an hour.

    Source: the mapping of DDSketch (Masson, Rim, Lee, VLDB 2019), without its collapsing of buckets.

    >>> latencies = Latencies()
    >>> for milliseconds in range(1, 1001):
    ...     latencies.add(milliseconds / 1000)
    >>> abs(latencies.percentile(99) - 0.990) < 0.990 * RELATIVE_ERROR
    True
    """

    def __init__(self) -> None:
        self._buckets: Counter[int] = Counter()
        self._count = 0
        self._sum = 0.0
        self._max = 0.0

    def __repr__(self) -> str:
        return f"<Latencies [{self._count}] max={self._max:.6f}>"

    @property
    def count(self) -> int:
        """How many durations were added."""
        return self._count

    def add(self, seconds: float) -> None:
        """Count one duration; below a microsecond it counts as one microsecond."""
        bucket = math.ceil(math.log(max(seconds, _LEAST_SECONDS)) / _LOG_GROWTH)
        self._buckets[bucket] += 1
        self._count += 1
        self._sum += seconds
        self._max = max(self._max, seconds)

    def percentile(self, percent: float) -> float:
        """Return the duration, in seconds, that `percent` (0 to 100) of all did not exceed; 0.0 when there is none."""
        if self._count == 0:
            return 0.0
        rank = max(1, math.ceil(self._count * percent / 100))
        seen = 0
        for bucket in sorted(self._buckets):
            seen += self._buckets[bucket]
            if seen >= rank:
                # The value whose distance to both borders is the same share of the border.
                return min(self._max, 2 * _GROWTH**bucket / (_GROWTH + 1))
        return self._max

    def percentiles(self) -> Percentiles:
        """Return what is reported."""
        return Percentiles(
            count=self._count,
            mean=self._sum / self._count if self._count else 0.0,
            p50=self.percentile(50),
            p90=self.percentile(90),
            p99=self.percentile(99),
            p99_9=self.percentile(99.9),
            max=self._max,
        )
