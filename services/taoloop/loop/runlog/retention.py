"""How long the log of a run is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from taoloop.loop.state import WAITING
from taoloop.plan.running import RunEvent, RunFinished, RunResumed, RunSummary


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long runs are kept after their last event, in seconds."""

    ended_seconds: float
    """Those that have ended."""
    open_seconds: float
    """Those that go on or wait for a person."""

    def after(self, events: Sequence[RunEvent]) -> float | None:
        """Return for how long a log is kept from these events on; None when they change nothing."""
        body = events[-1].body
        if isinstance(body, RunFinished):
            return self.open_seconds if body.outcome in WAITING else self.ended_seconds
        begins = events[0].sequence == 1 or any(isinstance(event.body, RunResumed) for event in events)
        return self.open_seconds if begins else None

    def of(self, summary: RunSummary, now: datetime) -> float:
        """Return for how long a run is kept from now on; one that waits, at least until after its longest wait."""
        if summary.outcome is not None and summary.outcome not in WAITING:
            return self.ended_seconds
        waits = [(each.expires_at - now).total_seconds() for each in summary.approvals_required if each.expires_at]
        return max(self.open_seconds, *(wait + self.ended_seconds for wait in waits), 0.0)
