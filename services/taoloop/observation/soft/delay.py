"""How late an answer came, in three classes; only where the contract sets `max_latency`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from taoloop.core.faults import FaultCode
from taoloop.observation.stages.model import Outcome, Stage, flaw
from taoloop.plan.observing import CheckVerdict

MILD_FACTOR: Final = 1.5
"""An answer that takes up to this many times `max_latency` is a spike, not a slow tool."""

MILD_CREDIT: Final = 0.5
"""What a spike counts for in the soft score."""


class Delay(StrEnum):
    """How late an answer came."""

    NONE = "none"
    """Within max_latency."""
    MILD = "mild"
    """Later, by at most half of it."""
    SEVERE = "severe"
    """Later than that."""

    @property
    def credit(self) -> float:
        """Return what the check counts for, 0 to 1."""
        return {Delay.NONE: 1.0, Delay.MILD: MILD_CREDIT, Delay.SEVERE: 0.0}[self]


def delay_of(response_time_seconds: float, max_latency_seconds: float) -> Delay:
    """Return the class of a response time.

    >>> [delay_of(seconds, 2.0).value for seconds in (2.0, 3.0, 3.1)]
    ['none', 'mild', 'severe']
    """
    if response_time_seconds <= max_latency_seconds:
        return Delay.NONE
    return Delay.MILD if response_time_seconds <= max_latency_seconds * MILD_FACTOR else Delay.SEVERE


@dataclass(frozen=True, slots=True)
class DelayOutcome:
    """What the check of the response time said.

    Attributes:
        outcome: Passed, or a soft flaw.
        credit: What it counts for, 0 to 1.
    """

    outcome: Outcome
    credit: float


_IN_TIME: Final = DelayOutcome(Outcome(passed=("latency_ok",)), 1.0)


def check_delay(max_latency_seconds: float, response_time_seconds: float | None) -> DelayOutcome:
    """Check the last attempt's time against the contract's `max_latency`: a soft check, the data may be right.

    A time that is unknown does not pass.
    """
    if response_time_seconds is None:
        message, verdict, delay = "The response time is unknown.", CheckVerdict.INDETERMINATE, Delay.SEVERE
    else:
        delay = delay_of(response_time_seconds, max_latency_seconds)
        if delay is Delay.NONE:
            return _IN_TIME
        message = f"The tool answered later than max_latency: a {delay.value} delay."
        verdict = CheckVerdict.FAIL
    found = flaw(
        Stage.LATENCY,
        FaultCode.LATENCY_EXCEEDED,
        message,
        rule_id="max_latency",
        expected=max_latency_seconds,
        actual=response_time_seconds,
        verdict=verdict,
        is_hard=False,
    )
    return DelayOutcome(Outcome(flaws=(found,)), delay.credit)
