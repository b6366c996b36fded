"""A clock that stands still until a test moves it."""

from __future__ import annotations

import asyncio
import heapq
from datetime import UTC, datetime, timedelta
from typing import Final

DEFAULT_START: Final = datetime(2026, 3, 10, 8, 0, tzinfo=UTC)


class FakeClock:
    """A `Clock` whose time passes only by `advance`.

    Sleepers wake in the order of their times, while the clock reads the moment that each of them waited for.

    Args:
        start: The first wall-clock time, aware.
        is_impatient: Whether `sleep` itself advances the clock and returns at once, for code whose waits
            a test does not look at.

    >>> clock = FakeClock()
    >>> clock.advance(1.5)
    >>> clock.monotonic()
    1.5
    """

    def __init__(self, start: datetime = DEFAULT_START, *, is_impatient: bool = False) -> None:
        if start.tzinfo is None:
            raise ValueError("the start must be an aware datetime")
        self._start = start.astimezone(UTC)
        self._elapsed_seconds = 0.0
        self._is_impatient = is_impatient
        self._order = 0
        self._sleepers: list[tuple[float, int, asyncio.Future[None]]] = []

    def now(self) -> datetime:
        """Return the wall-clock time, aware, in UTC."""
        return self._start + timedelta(seconds=self._elapsed_seconds)

    def monotonic(self) -> float:
        """Return the seconds since the start."""
        return self._elapsed_seconds

    async def sleep(self, seconds: float) -> None:
        """Wait until the clock was advanced by `seconds`; zero or less gives way to other tasks once."""
        if seconds <= 0:
            await asyncio.sleep(0)
        elif self._is_impatient:
            self.advance(seconds)
            await asyncio.sleep(0)
        else:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._order += 1
            heapq.heappush(self._sleepers, (self._elapsed_seconds + seconds, self._order, waiter))
            await waiter

    @property
    def sleepers(self) -> int:
        """How many tasks wait on this clock now."""
        return sum(not waiter.done() for _, _, waiter in self._sleepers)

    def advance(self, seconds: float) -> None:
        """Let `seconds`, at least 0, pass and wake everyone whose time has come."""
        if seconds < 0:
            raise ValueError("a clock never goes back")
        target = self._elapsed_seconds + seconds
        while self._sleepers and self._sleepers[0][0] <= target:
            wake_at, _, waiter = heapq.heappop(self._sleepers)
            self._elapsed_seconds = max(self._elapsed_seconds, wake_at)
            if not waiter.done():
                waiter.set_result(None)
        self._elapsed_seconds = target

    def __repr__(self) -> str:
        return f"FakeClock({self.now().isoformat()}, sleepers={self.sleepers})"
