"""How many repeats a tool may have: a share of its successes and a small minimum rate, against retry storms."""

from __future__ import annotations

from typing import Final

RESERVE: Final = 10.0
"""Repeats that may come at once after a quiet time."""

REPEATS_PER_SECOND: Final = 1.0
"""Repeats that are always allowed, so that a tool with few calls is repeated at all."""


class RetryBudget:
    """A token bucket: a success puts `ratio` of a token in, time a little, and a repeat takes a whole one out.

    While a tool fails altogether nothing is put in but the minimum rate, so that its calls are hardly multiplied.

    Source: the retry budgets of Finagle (`RetryBudget`: a share of the requests and a minimum per second) and
    Envoy (`retry_budget`: 20 %); that successes fill the bucket is gRPC's retry throttling (gRFC A6).

    Args:
        ratio: Repeats for each success, 0 to 1.
        now: Seconds of the monotonic clock that the calls use.
    """

    __slots__ = ("_filled_at", "_ratio", "_tokens")

    def __init__(self, ratio: float, now: float) -> None:
        self._ratio = ratio
        self._tokens = RESERVE
        self._filled_at = now

    def succeeded(self) -> None:
        """Count a call that succeeded."""
        if self._tokens < RESERVE:
            self._tokens = min(RESERVE, self._tokens + self._ratio)

    def take(self, now: float) -> bool:
        """Take one repeat out; False when there is none, and nothing is taken."""
        elapsed = max(0.0, now - self._filled_at)
        self._filled_at = now
        self._tokens = min(RESERVE, self._tokens + elapsed * REPEATS_PER_SECOND)
        if self._tokens < 1.0:
            return False
        self._tokens -= 1.0
        return True

    def __repr__(self) -> str:
        return f"RetryBudget({self._tokens:.1f} of {RESERVE:g} repeats, {self._ratio:g} for each success)"
