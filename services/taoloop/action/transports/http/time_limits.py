"""Time limits of many calls at once, with one timer for all of them."""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import Final, Protocol, Self

NEVER: Final = float("inf")


class Limited(Protocol):
    """Something that must be over at a certain time."""

    ends_at: float
    """On the clock of the event loop."""

    def pass_by(self) -> None:
        """Hear that the time is over."""
        ...


class TimeLimits:
    """Ends what takes too long, as `asyncio.timeout` does.

    A timer of its own for each call, which hardly ever rings, is a tenth of what a call costs: it is made in the
    event loop and taken out again. Here one rings for the earliest of all limits and then looks at every call.
    Not for several event loops or threads at once.

    Attributes:
        open: The blocks that are under way, and what else is watched.
        rings_at: When the timer rings, on the clock of the event loop; infinity for never.
    """

    def __init__(self) -> None:
        self.open: set[Limited] = set()
        self._timer: asyncio.TimerHandle | None = None
        self.rings_at = NEVER

    def within(self, seconds: float) -> TimeLimit:
        """Return a block that is cancelled after so many seconds, and then raises `TimeoutError`."""
        return TimeLimit(self, asyncio.get_running_loop().time() + seconds)

    def until(self, ends_at: float) -> TimeLimit:
        """Return a block that is cancelled at this moment of the event loop's clock; see `within`."""
        return TimeLimit(self, ends_at)

    def watch(self, limited: Limited) -> None:
        """Tell something when its time is over, unless it is taken out of `open` before."""
        self.open.add(limited)
        if limited.ends_at < self.rings_at:
            self.wind(limited.ends_at)

    def close(self) -> None:
        """Stop the timer; blocks that are open have no limit any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer, self.rings_at = None, NEVER

    def wind(self, ends_at: float) -> None:
        """Let the timer ring at this moment, which is earlier than it would."""
        self.close()
        if ends_at == NEVER:
            return
        self.rings_at = ends_at
        self._timer = asyncio.get_running_loop().call_at(ends_at, self._ring)

    def _ring(self) -> None:
        self._timer, self.rings_at = None, NEVER
        now = asyncio.get_running_loop().time()
        passed = [limit for limit in self.open if limit.ends_at <= now]
        for limit in sorted(passed, key=lambda limit: limit.ends_at):
            self.open.discard(limit)
            limit.pass_by()
        if self.open:
            self.wind(min(limit.ends_at for limit in self.open))

    def __repr__(self) -> str:
        return f"<TimeLimits {len(self.open)} open>"


class TimeLimit:
    """One block with a limit; see `TimeLimits.within`.

    Attributes:
        ends_at: On the clock of the event loop.
    """

    __slots__ = ("_cancelling", "_has_passed", "_limits", "_task", "ends_at")

    def __init__(self, limits: TimeLimits, ends_at: float) -> None:
        self._limits = limits
        self.ends_at = ends_at
        self._has_passed = False

    def pass_by(self) -> None:
        """Cancel the block: its time is over."""
        self._has_passed = True
        self._task.cancel()

    def __enter__(self) -> Self:
        task = asyncio.current_task()
        assert task is not None
        self._task, self._cancelling = task, task.cancelling()
        self._limits.watch(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        self._limits.open.discard(self)
        # Somebody else may have cancelled the task too; then that is what it hears.
        if self._has_passed and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error
