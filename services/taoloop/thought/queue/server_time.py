"""The server's clock as this process knows it: the only clock by which entries expire."""

from __future__ import annotations

import math

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline


class ServerTime:
    """How far the server's clock is from this process's monotonic one, as bounds that each answer narrows.

    An answer was given at some moment between its question and its arrival; a slow one says little, and does not spoil
    what is known. The wall clock of this machine is never read, so that it may jump. When the server's clock jumps,
    the next answer contradicts what is known, and stands for it from then on.

    Args:
        clock: Whose `monotonic` the server's time is set against.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._least_ahead_seconds = -math.inf
        self._most_ahead_seconds = math.inf

    def __repr__(self) -> str:
        if not self.is_known:
            return "<ServerTime [unknown]>"
        return f"<ServerTime [known to {self._most_ahead_seconds - self._least_ahead_seconds:.6f} s]>"

    @property
    def is_known(self) -> bool:
        """Whether the server was heard of."""
        return math.isfinite(self._most_ahead_seconds)

    def note(self, seconds: int, microseconds: int, asked_at: float) -> None:
        """Take what TIME said.

        Args:
            seconds: Its first part.
            microseconds: Its second part.
            asked_at: When it was asked, by the clock's `monotonic`.
        """
        told = seconds + microseconds / 1_000_000
        least, most = told - self._clock.monotonic(), told - asked_at
        if least > self._most_ahead_seconds or most < self._least_ahead_seconds:
            self._least_ahead_seconds, self._most_ahead_seconds = least, most
        else:
            self._least_ahead_seconds = max(self._least_ahead_seconds, least)
            self._most_ahead_seconds = min(self._most_ahead_seconds, most)

    def deadline(self, expires_seconds: float) -> Deadline:
        """Return a moment of the server's clock as a deadline of this process, rather too early than too late."""
        return Deadline.at(expires_seconds - self._most_ahead_seconds, self._clock)

    def moment(self, deadline: Deadline) -> float:
        """Return a deadline of this process in seconds of the server's clock, rather too early than too late."""
        return deadline.monotonic_seconds + self._least_ahead_seconds

    def age_seconds(self, entry_id: bytes) -> float:
        """Return how long ago an entry was added: its id begins with the server's time in milliseconds."""
        now = self._clock.monotonic() + self._most_ahead_seconds
        return max(0.0, now - int(entry_id.partition(b"-")[0]) / 1000) if self.is_known else 0.0
