"""When a call that failed is made again: as the server asks, else after a growing pause, within the deadline."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from random import Random
from typing import Final, TypeVar

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, BudgetExhausted, QueueFull, RunConflict, TaoError
from taoloop.core.logs import EventLog
from taoloop.core.telemetry import Metrics, names

ReplyT = TypeVar("ReplyT")

_SPREAD: Final = 0.2
"""Callers that are all told to wait as long come back within this part of the time after it."""
_MOST_DOUBLINGS: Final = 16

_log = EventLog(__name__)


@dataclass(frozen=True, slots=True)
class Pauses:
    """How long is waited before a repeat, where the server does not say.

    Attributes:
        first_seconds: Longest pause before the first repeat; the next one's is twice as long.
        longest_seconds: What it grows to.
    """

    first_seconds: float = 0.1
    longest_seconds: float = 2.0


class Repeats:
    """Makes calls again that are safe to make again: reads, and those under a request id.

    A call is repeated when nothing answered (UNAVAILABLE), when another call was faster (ABORTED), and when the server
    says how long to wait. It is not repeated when its time is up, or when the pause would outlast it.

    Args:
        pauses: How long is waited where the server does not say.
        metrics: Count the repeats.
        clock: Waits.
        random: Spreads the pauses.
    """

    def __init__(self, pauses: Pauses, metrics: Metrics, clock: Clock, random: Random) -> None:
        self._pauses = pauses
        self._counter = metrics.counter(names.CLIENT_REPEATS)
        self._clock = clock
        self._random = random

    async def until_answered(self, rpc: str, call: Callable[[], Awaitable[ReplyT]], deadline: Deadline) -> ReplyT:
        """Return the reply of a call that is made until it has one.

        Raises:
            TaoError: The failure after which it is not made again.
        """
        failures = 0
        while True:
            try:
                return await call()
            except TaoError as error:
                failures += 1
                await self.wait(rpc, error, failures, deadline)

    async def wait(self, rpc: str, error: TaoError, failures: int, deadline: Deadline) -> None:
        """Wait as long as it takes before the call may be made again.

        Args:
            rpc: Name of the call, such as `Submit`.
            error: What became of it.
            failures: How often it failed in a row, this one included.
            deadline: When there is no use in its reply any more.

        Raises:
            TaoError: `error`, when the call is not made again.
        """
        pause = self._pause(error, failures)
        if pause is None or pause >= deadline.remaining_seconds():
            raise error
        self._counter.labels(rpc=rpc, reason=error.reason).inc()
        _log.debug("call_repeated", rpc=rpc, reason=error.reason, pause_seconds=round(pause, 3))
        await self._clock.sleep(pause)

    def _pause(self, error: TaoError, failures: int) -> float | None:
        told = error.retry_after_seconds
        if told is not None and isinstance(error, QueueFull | BudgetExhausted | BackendUnavailable):
            return told + self._random.uniform(0.0, max(_SPREAD * told, self._pauses.first_seconds))
        if not isinstance(error, BackendUnavailable | RunConflict):
            return None
        grown: float = self._pauses.first_seconds * 2 ** min(failures - 1, _MOST_DOUBLINGS)
        return self._random.uniform(0.0, min(grown, self._pauses.longest_seconds))
