"""Hard limits of a run: what the caller asked for, cut to what the service allows, and whether one is reached."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from taoloop.plan.task import Limits, Usage

N = TypeVar("N", int, float)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """Limits with every value filled in.

    Attributes:
        max_iterations: Thoughts from start to end, or from what a person said last.
        max_wall_time_seconds: Time for the same, without the time spent waiting for people.
        max_tokens: Tokens that models may read and write.
        max_calls_per_tool: Calls of one tool.
        max_result_bytes: Bytes of all tool responses together.
        max_equal_calls: How often one call may give the same result; then it is not made again. At least 2; the
            caller cannot set it.
        max_items: Items of a list that a step runs for. At least 1; the caller cannot set it.
    """

    max_iterations: int
    max_wall_time_seconds: float
    max_tokens: int
    max_calls_per_tool: int
    max_result_bytes: int
    max_equal_calls: int = 3
    max_items: int = 10

    def within(self, wanted: Limits | None) -> RunLimits:
        """Return the limits of one run: the wanted ones where they are set, never above these."""
        if wanted is None:
            return self
        return RunLimits(
            max_iterations=_within(wanted.max_iterations, self.max_iterations),
            max_wall_time_seconds=_within(wanted.max_wall_time_seconds, self.max_wall_time_seconds),
            max_tokens=_within(wanted.max_tokens, self.max_tokens),
            max_calls_per_tool=_within(wanted.max_calls_per_tool, self.max_calls_per_tool),
            max_result_bytes=_within(wanted.max_result_bytes, self.max_result_bytes),
            max_equal_calls=self.max_equal_calls,
            max_items=self.max_items,
        )

    def as_record(self) -> Limits:
        """Return them as the record that travels."""
        return Limits(
            max_iterations=self.max_iterations,
            max_wall_time_seconds=self.max_wall_time_seconds,
            max_tokens=self.max_tokens,
            max_calls_per_tool=self.max_calls_per_tool,
            max_result_bytes=self.max_result_bytes,
        )

    def reached(self, usage: Usage, result_bytes: int) -> tuple[str, float] | None:
        """Return name and value of the limit that forbids another thought, or None."""
        checks: Mapping[str, tuple[float, float]] = {
            "max_iterations": (usage.iterations, self.max_iterations),
            "max_tokens": (usage.input_tokens + usage.output_tokens, self.max_tokens),
            "max_result_bytes": (result_bytes, self.max_result_bytes),
        }
        return next(((name, limit) for name, (used, limit) in checks.items() if used >= limit), None)

    def reached_for_good(self, usage: Usage, result_bytes: int) -> tuple[str, float] | None:
        """Return the same of the limits that hold whatever a person says: thoughts are counted anew after that."""
        return self.reached(replace(usage, iterations=0), result_bytes)


def _within(wanted: N | None, most: N) -> N:
    return most if not wanted else min(wanted, most)
