"""A bulkhead for one tool: so many calls in flight, so many waiting, and everything beyond is shed at once."""

from __future__ import annotations

import asyncio
from collections import deque
from enum import StrEnum
from types import TracebackType

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline


class ShedReason(StrEnum):
    """Which limit shed a call; the value is the name of the contract's field."""

    IN_FLIGHT = "in_flight"
    """Every slot is taken, and the contract lets nobody wait."""
    QUEUE = "queue"
    """Every slot and every place in the queue is taken."""
    MAX_WAIT = "max_wait"
    """No slot came free within the longest wait."""
    DEADLINE = "deadline"
    """No slot came free before the caller's deadline."""


class Shed(Exception):
    """The call was not made, so that others can be.

    Attributes:
        reason: The limit that bit.
    """

    def __init__(self, reason: ShedReason) -> None:
        super().__init__(reason.value)
        self.reason = reason


class Limiter:
    """Slots for calls, given in the order in which they were asked for.

    A freed slot goes straight to the oldest waiter, so that a newcomer never overtakes. Not for several event
    loops or threads.

    Args:
        in_flight: Calls at a time, at least 1.
        queue: Calls that may wait for a slot, at least 0.
        max_wait_seconds: Longest wait for one, at least 0.
        clock: Measures the wait.
    """

    def __init__(self, *, in_flight: int, queue: int = 0, max_wait_seconds: float = 0.0, clock: Clock) -> None:
        self._size = in_flight
        self._places = queue if max_wait_seconds > 0 else 0
        self._max_wait_seconds = max_wait_seconds
        self._clock = clock
        self._taken = 0
        self._waiters: deque[asyncio.Future[bool]] = deque()

    @property
    def in_flight(self) -> int:
        """How many slots are taken."""
        return self._taken

    @property
    def waiting(self) -> int:
        """How many calls wait for a slot."""
        return len(self._waiters)

    def take(self) -> bool:
        """Take a slot if one is free, as most of the time; if so, one `release` follows."""
        if self._taken < self._size:  # then nobody waits: a freed slot is handed on, not put back
            self._taken += 1
            return True
        return False

    def slot(self, deadline: Deadline) -> Slot:
        """Return one slot as an async context manager; entering it may wait, or raise `Shed`."""
        return Slot(self, deadline)

    async def acquire(self, deadline: Deadline) -> None:
        """Take a slot; every return is followed by one `release`.

        Raises:
            Shed: There is none, or none in time.
        """
        if self.take():
            return
        if len(self._waiters) >= self._places:
            raise Shed(ShedReason.QUEUE if self._places else ShedReason.IN_FLIGHT)
        await self._queued(deadline)

    def release(self) -> None:
        """Give a slot back: to the oldest waiter, if there is one."""
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(True)
                return
        self._taken -= 1

    async def _queued(self, deadline: Deadline) -> None:
        left = deadline.remaining_seconds()
        waiter: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        try:
            async with asyncio.TaskGroup() as timers:
                timer = timers.create_task(self._expire(waiter, min(self._max_wait_seconds, left)), name="limiter-wait")
                try:
                    has_slot = await waiter
                finally:
                    timer.cancel()
        except BaseException:
            self._abandon(waiter)
            raise
        if not has_slot:
            raise Shed(ShedReason.DEADLINE if left < self._max_wait_seconds else ShedReason.MAX_WAIT)

    async def _expire(self, waiter: asyncio.Future[bool], seconds: float) -> None:
        await self._clock.sleep(seconds)
        if not waiter.done():
            self._waiters.remove(waiter)
            waiter.set_result(False)

    def _abandon(self, waiter: asyncio.Future[bool]) -> None:
        """Leave the queue after a cancellation; a slot that had just been given goes to the next."""
        if waiter.done() and not waiter.cancelled():
            if waiter.result():
                self.release()
        elif waiter in self._waiters:
            self._waiters.remove(waiter)

    def __repr__(self) -> str:
        return f"Limiter({self._taken} of {self._size} in flight, {len(self._waiters)} of {self._places} waiting)"


class Slot:
    """One place among the calls in flight, for the length of a block."""

    __slots__ = ("_deadline", "_limiter")

    def __init__(self, limiter: Limiter, deadline: Deadline) -> None:
        self._limiter = limiter
        self._deadline = deadline

    async def __aenter__(self) -> None:
        await self._limiter.acquire(self._deadline)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._limiter.release()
