"""Deadlines that shrink on the way down: no call is made without one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import coroutine
from typing import Any, Self, TypeVar

from taoloop.core.clock import Clock
from taoloop.core.records import quickly_made

T = TypeVar("T")


@quickly_made
@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment on the monotonic clock by which the work must be done.

    Attributes:
        monotonic_seconds: The moment, in seconds of `clock.monotonic()`.
        clock: The clock it is read against.
    """

    monotonic_seconds: float
    clock: Clock

    @classmethod
    def after(cls, seconds: float, clock: Clock) -> Self:
        """Return the deadline `seconds` from now; zero or less is already expired."""
        return cls(clock.monotonic() + seconds, clock)

    @classmethod
    def at(cls, monotonic_seconds: float, clock: Clock) -> Self:
        """Return the deadline at this moment of `clock.monotonic()`."""
        return cls(monotonic_seconds, clock)

    @classmethod
    def until(cls, moment: datetime, clock: Clock) -> Self:
        """Return the deadline at an aware wall-clock moment, as a queue entry carries it between machines."""
        return cls.after((moment - clock.now()).total_seconds(), clock)

    def remaining_seconds(self) -> float:
        """Return what is left, at least 0.0."""
        return max(0.0, self.monotonic_seconds - self.clock.monotonic())

    @property
    def is_expired(self) -> bool:
        """Whether nothing is left."""
        return self.clock.monotonic() >= self.monotonic_seconds

    def bounded(self, limit_seconds: float) -> float:
        """Return the timeout for one step: the smaller of its own limit and what is left, at least 0.0."""
        return max(0.0, min(limit_seconds, self.monotonic_seconds - self.clock.monotonic()))

    def shortened(self, limit_seconds: float) -> Deadline:
        """Return the deadline of a step that may take `limit_seconds`: never later than this one."""
        return Deadline(min(self.monotonic_seconds, self.clock.monotonic() + limit_seconds), self.clock)

    def moment(self) -> datetime:
        """Return the deadline as an aware wall-clock moment in UTC, for a queue entry."""
        return self.clock.now() + timedelta(seconds=self.monotonic_seconds - self.clock.monotonic())


async def in_time(deadline: Deadline, work: Coroutine[Any, Any, T], late: Callable[[], Exception]) -> T:
    """Return what the work returns; at the deadline it is cancelled, and what `late` returns is raised.

    Nothing interrupts work that does not wait, so that a timer is set only when it begins to.
    """
    try:
        waited_for = work.send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    limit = asyncio.timeout(deadline.remaining_seconds())
    try:
        async with limit:
            return await _going_on(work, waited_for)
    except TimeoutError as exc:
        if not limit.expired():
            raise
        raise late() from exc


@coroutine
def _going_on(work: Coroutine[Any, Any, T], waited_for: Any) -> Generator[Any, Any, T]:
    """Wait for what the work waits for already, and go on with the work."""
    while True:
        try:
            yield waited_for
        except BaseException as exc:  # noqa: BLE001 - a cancellation, which the work may outlive
            try:
                waited_for = work.throw(exc)
            except StopIteration as done:
                result: T = done.value
                return result
        else:
            return (yield from work.__await__())
