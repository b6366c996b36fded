"""Whether a failed attempt is made again, and after which pause."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from random import Random
from typing import Final

from taoloop.action.policies.retry_budget import RetryBudget
from taoloop.tools.contract import Idempotency, Jitter, Retry, ToolContract
from taoloop.tools.signature import Effect

READ_DEFAULT: Final = Retry(attempts=2, backoff_seconds=0.2)
"""What a read without `retry` gets: one repeat, after at most 200 ms, when its failure can heal."""

WRITE_DEFAULT: Final = Retry(attempts=1)
"""What a write without `retry` gets: no repeat."""

LEAST_ATTEMPT_SECONDS: Final = 0.05
"""No repeat is begun with less time than this, or than the contract's timeout where that is shorter."""


class StopReason(StrEnum):
    """Why there is no further attempt; a label of metrics."""

    ATTEMPTS = "attempts"
    """The contract's number of attempts is used up."""
    CANNOT_HEAL = "cannot_heal"
    """The same call would fail again, or the contract says never."""
    NOT_LISTED = "not_listed"
    """It could heal, but the contract does not list it under `on`."""
    WRITE = "write"
    """A write that may have left, and no key protects a repeat."""
    DEADLINE = "deadline"
    """The pause and another attempt do not fit into what is left."""
    BUDGET = "budget"
    """The tool's repeats are used up for now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """One attempt that failed, as far as a repeat is concerned.

    Attributes:
        kind: `timeout`, `connect`, `reset` or a status code as text, as `Retry.on` lists them; empty for others.
        code: Code of the fault.
        can_heal: Whether the same call may succeed later.
        is_declared: Whether the contract's own `errors` said so, which needs no listing.
        may_have_left: Whether a byte of the request can have reached the tool.
        retry_after_seconds: How long the tool asked to wait; None when it did not.
    """

    kind: str
    code: str
    can_heal: bool
    is_declared: bool = False
    may_have_left: bool = True
    retry_after_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When a decision is taken.

    Attributes:
        attempt: Attempts made so far, at least 1.
        now: Monotonic seconds.
        elapsed_seconds: Since the first attempt began.
        left_seconds: Until the call's deadline.
    """

    attempt: int
    now: float
    elapsed_seconds: float
    left_seconds: float


@dataclass(frozen=True, slots=True)
class Pause:
    """Another attempt follows after `seconds`; `reason` is the kind of failure that is repeated."""

    seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class Stop:
    """No attempt follows."""

    reason: StopReason


class RetryPolicy:
    """The retry rules of one tool, with its budget.

    Reads may be repeated. A write is repeated when its effect is idempotent or its contract declares a key,
    which every attempt then carries, or when no byte of it can have left.

    Args:
        contract: Whose rules; without `retry`, those of `READ_DEFAULT` or `WRITE_DEFAULT`.
        now: Monotonic seconds, for the budget.
    """

    def __init__(self, contract: ToolContract, now: float) -> None:
        default = READ_DEFAULT if contract.effect is Effect.READ else WRITE_DEFAULT
        self.rules = default if contract.retry is None else contract.retry
        self.budget = RetryBudget(self.rules.budget_ratio, now)
        self._effect = contract.effect
        self._idempotency = contract.idempotency
        self._least_seconds = min(LEAST_ATTEMPT_SECONDS, contract.timeout_seconds)

    def decide(self, failure: Failure, moment: Moment, random: Random) -> Pause | Stop:
        """Return the pause before the next attempt, or why there is none; a pause takes from the budget."""
        if not failure.can_heal or failure.code in self.rules.never:
            return Stop(StopReason.CANNOT_HEAL)
        if not failure.is_declared and failure.kind not in self.rules.on:
            return Stop(StopReason.NOT_LISTED)
        if moment.attempt >= self.rules.attempts:
            return Stop(StopReason.ATTEMPTS)
        seconds = max(backoff_seconds(self.rules, moment.attempt, random), failure.retry_after_seconds or 0.0)
        if failure.may_have_left and not self._is_repeatable(moment.elapsed_seconds + seconds):
            return Stop(StopReason.WRITE)
        if seconds + self._least_seconds > moment.left_seconds:
            return Stop(StopReason.DEADLINE)
        if not self.budget.take(moment.now):
            return Stop(StopReason.BUDGET)
        return Pause(seconds, failure.kind or failure.code)

    def _is_repeatable(self, age_seconds: float) -> bool:
        """Tell whether a request that arrived `age_seconds` ago may arrive once more."""
        return self._effect is not Effect.WRITE or _is_remembered(self._idempotency, age_seconds)

    def __repr__(self) -> str:
        return f"RetryPolicy(attempts={self.rules.attempts}, {self.budget!r})"


def backoff_seconds(rules: Retry, attempt: int, random: Random) -> float:
    """Return the pause after attempt number `attempt`, counted from 1, between 0 and `max_backoff_seconds`.

    Source: "Exponential Backoff And Jitter", AWS Architecture Blog, 2015: with full jitter the pause is even
    between 0 and backoff x multiplier ^ (attempt - 1), which spreads clients that failed together.
    """
    # min() on the exponent: a float power overflows long after the cap has been reached.
    longest = min(rules.max_backoff_seconds, rules.backoff_seconds * rules.multiplier ** min(attempt - 1, 64))
    return random.uniform(0.0, longest) if rules.jitter is Jitter.FULL else longest


def _is_remembered(idempotency: Idempotency | None, age_seconds: float) -> bool:
    """Tell whether the server still knows the key of a request that arrived `age_seconds` ago."""
    if idempotency is None:
        return False
    return idempotency.ttl_seconds is None or age_seconds < idempotency.ttl_seconds
