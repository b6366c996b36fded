"""What a breaker remembers of its calls: a row of failures, the last N calls, or the last N seconds."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple, Protocol


class Tally(NamedTuple):
    """What a window holds.

    Attributes:
        calls: How many calls, at least 0.
        failures: How many of them failed.
        slow: How many of them took too long, failed ones among them.
    """

    calls: int
    failures: int
    slow: int

    @property
    def failure_rate(self) -> float:
        """Return the share of failures in percent, 0 for no calls."""
        return 100.0 * self.failures / self.calls if self.calls else 0.0

    @property
    def slow_rate(self) -> float:
        """Return the share of slow calls in percent, 0 for no calls."""
        return 100.0 * self.slow / self.calls if self.calls else 0.0


class Window(Protocol):
    """Counts the calls that matter now."""

    def add(self, now: float, *, has_failed: bool, is_slow: bool) -> None:
        """Count one call that ended at `now`, in seconds of a monotonic clock."""
        ...

    def tally(self, now: float) -> Tally:
        """Return what is in the window at `now`."""
        ...

    def clear(self) -> None:
        """Forget everything."""
        ...


class FailureRow:
    """The failures since the last success; an unbroken row has no length and no age."""

    def __init__(self) -> None:
        self._failures = 0

    def add(self, now: float, *, has_failed: bool, is_slow: bool) -> None:  # noqa: ARG002 - the port's signature
        """Count one more failure, or start again after a success."""
        self._failures = self._failures + 1 if has_failed else 0

    def tally(self, now: float) -> Tally:  # noqa: ARG002 - the port's signature
        """Return the row as that many failed calls."""
        return Tally(self._failures, self._failures, 0)

    def clear(self) -> None:
        """Start again."""
        self._failures = 0

    def __repr__(self) -> str:
        return f"row of {self._failures}"


class CountWindow:
    """The last `size` calls, in constant time and in memory for `size` small tuples.

    Source: resilience4j, sliding window of type COUNT_BASED.

    Args:
        size: How many calls, at least 1.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._calls: deque[tuple[bool, bool]] = deque()
        self._failures = 0
        self._slow = 0

    def add(self, now: float, *, has_failed: bool, is_slow: bool) -> None:  # noqa: ARG002 - the port's signature
        """Count one call; the oldest falls out when the window is full."""
        if len(self._calls) == self._size:
            had_failed, was_slow = self._calls.popleft()
            self._failures -= had_failed
            self._slow -= was_slow
        self._calls.append((has_failed, is_slow))
        self._failures += has_failed
        self._slow += is_slow

    def tally(self, now: float) -> Tally:  # noqa: ARG002 - the port's signature
        """Return the counts of the window."""
        return Tally(len(self._calls), self._failures, self._slow)

    def clear(self) -> None:
        """Forget every call."""
        self._calls.clear()
        self._failures = self._slow = 0

    def __repr__(self) -> str:
        return f"{self._failures} of {len(self._calls)} failed, last {self._size} calls"


@dataclass(slots=True)
class _Second:
    """The calls that ended in one second of the clock."""

    number: int
    calls: int = 0
    failures: int = 0
    slow: int = 0


class TimeWindow:
    """The calls of the last `seconds` seconds, this one included, as one sum for each second.

    Source: resilience4j, sliding window of type TIME_BASED: partial sums, so that the memory depends on the
    length of the window and not on the number of calls.

    Args:
        seconds: Length of the window, at least 1.
    """

    def __init__(self, seconds: int) -> None:
        self._seconds = seconds
        self._sums: deque[_Second] = deque()
        self._total = _Second(0)

    def add(self, now: float, *, has_failed: bool, is_slow: bool) -> None:
        """Count one call in the second in which it ended."""
        self._expire(now)
        number = int(now)
        if not self._sums or self._sums[-1].number != number:
            self._sums.append(_Second(number))
        for second in (self._sums[-1], self._total):
            second.calls += 1
            second.failures += has_failed
            second.slow += is_slow

    def tally(self, now: float) -> Tally:
        """Return the counts of the seconds that are still in the window."""
        self._expire(now)
        return Tally(self._total.calls, self._total.failures, self._total.slow)

    def clear(self) -> None:
        """Forget every second."""
        self._sums.clear()
        self._total = _Second(0)

    def _expire(self, now: float) -> None:
        oldest = int(now) - self._seconds + 1
        while self._sums and self._sums[0].number < oldest:
            gone = self._sums.popleft()
            self._total.calls -= gone.calls
            self._total.failures -= gone.failures
            self._total.slow -= gone.slow

    def __repr__(self) -> str:
        return f"{self._total.failures} of {self._total.calls} failed, last {self._seconds} s"
