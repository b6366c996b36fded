"""A run log that has resting runs looked at again before their approvals lapse."""

from __future__ import annotations

from datetime import timedelta

from taoloop.core.deadlines import Deadline
from taoloop.loop.people.wake_ups import ExpiryWarning, WakeUps
from taoloop.loop.ports import RunKey, RunLog
from taoloop.plan.running import RunSummary


class WakingRunLog:
    """A `RunLog` that sets a wake-up wherever it is noted that a run waits for leave.

    A note that fails is made again by whoever holds or takes over the run's lease, and the wake-up with it: no host's
    death leaves a run asleep.

    Args:
        log: Does the rest.
        wake_ups: When to look at which run.
        warning: How long before an approval lapses it is told.
    """

    def __init__(self, log: RunLog, wake_ups: WakeUps, warning: ExpiryWarning) -> None:
        self._log = log
        self._wake_ups = wake_ups
        self._warning = warning
        self.create = log.create
        self.append = log.append
        self.position = log.position
        self.read = log.read
        self.follow = log.follow
        self.list_runs = log.list_runs
        self.is_ready = log.is_ready

    def __repr__(self) -> str:
        return f"<WakingRunLog of {self._log!r}>"

    async def note(self, tenant: str, summary: RunSummary, deadline: Deadline) -> None:
        """See `RunLog.note`."""
        moments = [each.expires_at for each in summary.approvals_required if each.expires_at is not None]
        if moments:
            # Too early where the question is open for a short time only; the first look finds out.
            first_look = min(moments) - timedelta(seconds=self._warning.seconds)
            await self._wake_ups.set(RunKey(tenant, summary.run_id), first_look, deadline)
        await self._log.note(tenant, summary, deadline)
