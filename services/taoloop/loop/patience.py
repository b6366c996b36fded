"""How long the loop bears with a service that is away, or that says when to come back."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, TaoError

T = TypeVar("T")

FIRST_PAUSE_SECONDS: Final = 0.1
LONGEST_PAUSE_SECONDS: Final = 1.0

_FULL: Final = "RESOURCE_EXHAUSTED"
_NEEDED_AFTERWARDS_SECONDS: Final = 0.1
"""What has to be left of the time after a wait: a call that begins at its deadline is made for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """Repeats calls that a service did not take, as long as there is time; to whoever calls, a repeat does no harm.

    Attributes:
        clock: Waits.
        between: Draws a number between two, evenly.
    """

    clock: Clock
    between: Callable[[float, float], float] = random.uniform

    async def with_service(
        self,
        attempt: Callable[[], Awaitable[T]],
        deadline: Deadline,
        on_wait: Callable[[TaoError, float], Awaitable[None]] | None = None,
    ) -> T:
        """Return what the call returns; a service that is away or full is asked again while time is left.

        A service that says when it takes the call (a full queue or server, a spent budget) is asked again then, and
        up to a tenth later, so that all who were told the same do not come at once. A wait that would outlast the
        deadline is not begun: who cannot be served in time is told at once.

        Args:
            attempt: Makes the call once.
            deadline: Until when.
            on_wait: Told of each wait that a service asked for, with its error and the seconds, before the wait.

        Raises:
            TaoError: What the service said last.
        """
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                return await attempt()
            except TaoError as error:
                told = _told(error)
                seconds = self._pause(error, told, pause)
                if seconds is None or deadline.remaining_seconds() <= seconds + _NEEDED_AFTERWARDS_SECONDS:
                    raise
                if told is not None and on_wait is not None:
                    await on_wait(error, seconds)
            await self.clock.sleep(seconds)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    def _pause(self, error: TaoError, told: float | None, pause: float) -> float | None:
        """Return how long to wait; None for an error that a wait does not mend."""
        if told is not None:
            return self.between(max(told, pause / 2), max(told * 1.1, pause))
        return self.between(pause / 2, pause) if isinstance(error, BackendUnavailable) else None


def _told(error: TaoError) -> float | None:
    """Return the seconds after which a service takes a call that it had no room for; None when it does not say."""
    return error.retry_after_seconds if error.code == _FULL else None
