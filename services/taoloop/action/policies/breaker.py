"""A circuit breaker as a pure model: time is passed in, and what happened is returned as events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from taoloop.action.policies.breaker_windows import CountWindow, FailureRow, Tally, TimeWindow, Window
from taoloop.plan.acting import BreakerState
from taoloop.tools.contract import Breaker as BreakerRules
from taoloop.tools.contract import ConsecutiveBreaker, SlidingWindowType, WindowBreaker


@dataclass(frozen=True, slots=True)
class BreakerOpened:
    """Too many calls failed or were slow; none passes until `retry_at`, in monotonic seconds."""

    retry_at: float


@dataclass(frozen=True, slots=True)
class BreakerHalfOpened:
    """The wait is over; probes may pass."""


@dataclass(frozen=True, slots=True)
class BreakerClosed:
    """The probes went well; calls pass again."""


BreakerEvent = BreakerOpened | BreakerHalfOpened | BreakerClosed


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call that may not be made.

    Attributes:
        retry_at: Monotonic seconds at which a probe may pass; the present while probes are out.
    """

    retry_at: float


class Permit:
    """Leave for one attempt; it is reported back exactly once, whatever becomes of the attempt.

    A report that comes after the breaker has changed its state says nothing about the new one and is dropped.

    Attributes:
        breaker: Which gave it.
        event: What giving the permit changed, if anything.
        is_reported: Whether it was reported back.
    """

    __slots__ = ("_period", "breaker", "event", "is_reported")

    def __init__(self, breaker: Breaker, period: int, event: BreakerEvent | None) -> None:
        self.breaker = breaker
        self._period = period
        self.is_reported = False
        self.event = event

    def succeeded(self, now: float, seconds: float) -> BreakerEvent | None:
        """Count a good attempt that took `seconds` and ended at `now`."""
        return self.reported(now, seconds, has_failed=False)

    def failed(self, now: float, seconds: float) -> BreakerEvent | None:
        """Count a failed attempt that took `seconds` and ended at `now`."""
        return self.reported(now, seconds, has_failed=True)

    def released(self) -> None:
        """Give the permit back without a verdict: the attempt was cancelled, not made, or says nothing."""
        if not self.is_reported:
            self.is_reported = True
            self.breaker._release(self._period)  # noqa: SLF001 - a permit is a part of its breaker

    def reported(self, now: float, seconds: float, *, has_failed: bool) -> BreakerEvent | None:
        """Count an attempt that took `seconds` and ended at `now`."""
        if self.is_reported:
            return None
        self.is_reported = True
        return self.breaker._count(self._period, now, seconds, has_failed=has_failed)  # noqa: SLF001 - as above


@dataclass(frozen=True, slots=True)
class _Rules:
    """What both kinds of breaker come down to."""

    window: Callable[[], Window]
    opens: Callable[[Tally], bool]
    """Whether a closed breaker opens."""
    reopens: Callable[[Tally], bool]
    """Whether a half-open breaker opens again."""
    open_for_seconds: float
    probes: int
    slow_after_seconds: float
    is_row: bool = False
    """Whether only a failure can open it."""


_INFINITY: Final = float("inf")


class Breaker:
    """Closed, open or half open; counts attempts, not calls.

    Half open, as many attempts pass as the rules permit and no more; once all of them have a verdict the
    breaker closes or opens again. A row of failures opens it again at the first failed probe.

    Args:
        rules: From the contract.

    Attributes:
        rules: As given.
        is_closed: Whether calls pass, whatever the time is.
    """

    def __init__(self, rules: BreakerRules) -> None:
        self.rules = rules
        self._rules = _consecutive(rules) if isinstance(rules, ConsecutiveBreaker) else _rates(rules)
        self._window = self._rules.window()
        self._trial = CountWindow(self._rules.probes)
        self._state = BreakerState.CLOSED
        self.is_closed = True
        self._retry_at = 0.0
        self._probes_out = 0
        self._period = 0  # grows with every change of state, so that late reports are told apart

    def admit(self, now: float) -> Permit | Refusal:
        """Ask leave for one attempt at `now`, in monotonic seconds."""
        if self._state is BreakerState.CLOSED:
            return Permit(self, self._period, None)
        event = None
        if self._state is BreakerState.OPEN:
            if now < self._retry_at:
                return Refusal(self._retry_at)
            event = self._half_open()
        if self._probes_out + self._trial.tally(now).calls >= self._rules.probes:
            return Refusal(now)
        self._probes_out += 1
        return Permit(self, self._period, event)

    def state(self, now: float) -> BreakerState:
        """Return where the breaker stands for a call at `now`: an open one whose wait is over is half open."""
        if self._state is BreakerState.OPEN and now >= self._retry_at:
            return BreakerState.HALF_OPEN
        return self._state

    def retry_at(self, now: float) -> float | None:
        """Return the monotonic seconds at which an open breaker lets a probe pass; None when it is not open."""
        return self._retry_at if self.state(now) is BreakerState.OPEN else None

    def _count(self, period: int, now: float, seconds: float, *, has_failed: bool) -> BreakerEvent | None:
        if period != self._period:
            return None
        is_slow = seconds > self._rules.slow_after_seconds
        if self._state is BreakerState.CLOSED:
            self._window.add(now, has_failed=has_failed, is_slow=is_slow)
            if not has_failed and self._rules.is_row:
                return None
            return self._open(now) if self._rules.opens(self._window.tally(now)) else None
        self._probes_out -= 1
        self._trial.add(now, has_failed=has_failed, is_slow=is_slow)
        trial = self._trial.tally(now)
        if self._rules.reopens(trial):
            return self._open(now)
        return self._close() if trial.calls >= self._rules.probes else None

    def _release(self, period: int) -> None:
        if period == self._period and self._state is BreakerState.HALF_OPEN:
            self._probes_out -= 1

    def _open(self, now: float) -> BreakerOpened:
        self._enter(BreakerState.OPEN)
        self._retry_at = now + self._rules.open_for_seconds
        return BreakerOpened(self._retry_at)

    def _half_open(self) -> BreakerHalfOpened:
        self._enter(BreakerState.HALF_OPEN)
        return BreakerHalfOpened()

    def _close(self) -> BreakerClosed:
        self._enter(BreakerState.CLOSED)
        return BreakerClosed()

    def _enter(self, state: BreakerState) -> None:
        self._state = state
        self.is_closed = state is BreakerState.CLOSED
        self._period += 1
        self._probes_out = 0
        self._window.clear()
        self._trial.clear()

    def __repr__(self) -> str:
        if self._state is BreakerState.OPEN:
            return f"Breaker(open until {self._retry_at:g})"
        if self._state is BreakerState.HALF_OPEN:
            return f"Breaker(half_open, {self._probes_out} of {self._rules.probes} probes out)"
        return f"Breaker(closed, {self._window!r})"


def _consecutive(rules: ConsecutiveBreaker) -> _Rules:
    return _Rules(
        window=FailureRow,
        opens=lambda tally: tally.failures >= rules.failures,
        reopens=lambda tally: tally.failures > 0,
        open_for_seconds=rules.open_for_seconds,
        probes=rules.half_open_calls,
        slow_after_seconds=_INFINITY,
        is_row=True,
    )


def _rates(rules: WindowBreaker) -> _Rules:
    """Read a sliding window as resilience4j does: a count window never waits for more calls than it holds."""
    size, least = rules.sliding_window_size, rules.minimum_number_of_calls
    is_count = rules.sliding_window_type is SlidingWindowType.COUNT_BASED
    least = min(least, size) if is_count else least
    probes = rules.permitted_number_of_calls_in_half_open_state

    def is_bad(tally: Tally) -> bool:
        return tally.failure_rate >= rules.failure_rate_threshold or tally.slow_rate >= rules.slow_call_rate_threshold

    return _Rules(
        window=lambda: CountWindow(size) if is_count else TimeWindow(size),
        opens=lambda tally: tally.calls >= least and is_bad(tally),
        reopens=lambda tally: tally.calls >= probes and is_bad(tally),
        open_for_seconds=rules.wait_duration_in_open_state_seconds,
        probes=probes,
        slow_after_seconds=rules.slow_call_duration_threshold_seconds,
    )
