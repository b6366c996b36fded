"""Moments at which resting runs are looked at, in memory."""

from __future__ import annotations

from datetime import datetime, timedelta

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable
from taoloop.loop.people.wake_ups import WakeUp
from taoloop.loop.ports import RunKey


class InMemoryWakeUps:
    """A `WakeUps` by a clock. `is_down` makes every call fail, as an outage does.

    Args:
        clock: Says which moments have come.
        claim_seconds: How long a claimed run is hidden.
    """

    def __init__(self, clock: Clock, claim_seconds: float = 30.0) -> None:
        self.is_down = False
        self._clock = clock
        self._claim_seconds = claim_seconds
        self._moments: dict[RunKey, tuple[datetime, int]] = {}
        self._tokens = 0

    def __repr__(self) -> str:
        return f"<InMemoryWakeUps [{len(self._moments)} runs]>"

    def moment_of(self, run: RunKey) -> datetime | None:
        """Return when a run is looked at next."""
        return self._moments[run][0] if run in self._moments else None

    async def set(self, run: RunKey, at: datetime, deadline: Deadline) -> None:
        """See `WakeUps.set`."""
        self._check()
        self._set(run, at)

    async def claim(self, most: int, deadline: Deadline) -> tuple[WakeUp, ...]:
        """See `WakeUps.claim`."""
        self._check()
        now = self._clock.now()
        due = sorted((at, run.run_id, run) for run, (at, _) in self._moments.items() if at <= now)[:most]
        hidden_until = now + timedelta(seconds=self._claim_seconds)
        return tuple(WakeUp(run, self._set(run, hidden_until)) for _, _, run in due)

    async def settle(self, wake_up: WakeUp, again_at: datetime | None, deadline: Deadline) -> None:
        """See `WakeUps.settle`."""
        self._check()
        if wake_up.run not in self._moments or self._moments[wake_up.run][1] != wake_up.token:
            return
        if again_at is None:
            del self._moments[wake_up.run]
        else:
            self._set(wake_up.run, again_at)

    def _set(self, run: RunKey, at: datetime) -> int:
        self._tokens += 1
        self._moments[run] = (at, self._tokens)
        return self._tokens

    def _check(self) -> None:
        if self.is_down:
            raise BackendUnavailable("The wake-ups are away.", metadata={"backend": "memory"})
