"""Time as a port, so that domain code never reads the wall clock."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time and waits."""

    def now(self) -> datetime:
        """Return the wall-clock time, aware, in UTC."""
        ...

    def monotonic(self) -> float:
        """Return seconds since an arbitrary origin; never goes back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait for `seconds`; zero or less gives way to other tasks once."""
        ...


class SystemClock:
    """The clock of the machine."""

    def now(self) -> datetime:
        """Return the wall-clock time, aware, in UTC."""
        return datetime.now(UTC)

    monotonic = staticmethod(time.monotonic)
    """Seconds since an arbitrary origin; never goes back. No method of ours, since it is asked ten times a call."""

    async def sleep(self, seconds: float) -> None:
        """Wait for `seconds`; zero or less gives way to other tasks once."""
        await asyncio.sleep(max(0.0, seconds))

    def __repr__(self) -> str:
        return "SystemClock()"
