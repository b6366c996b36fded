"""The open runs of each tenant, in memory."""

from __future__ import annotations

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable
from taoloop.loop.admission.open_runs import Place


class InMemoryOpenRuns:
    """An `OpenRuns` by a clock. `is_down` makes every call fail, as an outage does.

    Args:
        clock: Says what has lapsed.
    """

    def __init__(self, clock: Clock) -> None:
        self.is_down = False
        self._clock = clock
        self._lapse_at: dict[str, dict[str, float]] = {}

    def __repr__(self) -> str:
        return f"<InMemoryOpenRuns { ({tenant: len(runs) for tenant, runs in self._lapse_at.items()}) }>"

    async def enter(self, tenant: str, request_id: str, most: int, hold_seconds: float, deadline: Deadline) -> Place:
        """See `OpenRuns.enter`."""
        self._check()
        now = self._clock.monotonic()
        open_runs = {known: at for known, at in self._lapse_at.get(tenant, {}).items() if at > now}
        self._lapse_at[tenant] = open_runs
        is_new = request_id not in open_runs
        if most and is_new and len(open_runs) >= most:
            return Place(is_entered=False, is_new=False, open_runs=len(open_runs))
        open_runs[request_id] = now + hold_seconds
        return Place(is_entered=True, is_new=is_new, open_runs=len(open_runs))

    async def leave(self, tenant: str, request_id: str, deadline: Deadline) -> None:
        """See `OpenRuns.leave`."""
        self._check()
        self._lapse_at.get(tenant, {}).pop(request_id, None)

    def _check(self) -> None:
        if self.is_down:
            raise BackendUnavailable("The count of open runs is away.", metadata={"backend": "memory"})
