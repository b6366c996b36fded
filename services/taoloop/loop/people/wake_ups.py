"""When a run that rests has to be looked at again, and the port that remembers it for all hosts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from taoloop.core.deadlines import Deadline
from taoloop.loop.ports import RunKey
from taoloop.loop.state import RunState
from taoloop.plan.running import ApprovalRequired


@dataclass(frozen=True, slots=True)
class WakeUp:
    """A run whose moment has come, claimed by this host for a while."""

    run: RunKey
    token: int
    """Names this claim; the run's wake-up has another one as soon as somebody set it anew."""


class WakeUps(Protocol):
    """When resting runs have to be looked at. A moment is set again at each rest; hosts that die lose none.

    Nothing depends on a wake-up being handed out once only: who acts on a run writes to its log, and the log takes
    one writer's word.
    """

    async def set(self, run: RunKey, at: datetime, deadline: Deadline) -> None:
        """Have a run looked at from this moment on; what was set before is forgotten.

        Raises:
            BackendUnavailable: The store does not answer in time.
        """
        ...

    async def claim(self, most: int, deadline: Deadline) -> tuple[WakeUp, ...]:
        """Return runs whose moment has come, the longest due first; another host gets them only after a while.

        Args:
            most: How many at most, at least 1.
            deadline: When to give up.

        Raises:
            BackendUnavailable: The store does not answer in time.
        """
        ...

    async def settle(self, wake_up: WakeUp, again_at: datetime | None, deadline: Deadline) -> None:
        """Have a claimed run looked at again at a moment, or not at all; leave it be where it was set anew meanwhile.

        Raises:
            BackendUnavailable: The store does not answer in time.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpiryWarning:
    """How long before an approval lapses it is told.

    Attributes:
        seconds: So long before; 0 tells nothing.
        most_share: At most this share of the time that the question is open, so that short ones are not warned of
            when they are asked.
    """

    seconds: float
    most_share: float = 0.5

    def at(self, approval: ApprovalRequired, asked_at: datetime) -> datetime | None:
        """Return when it is told that an approval lapses soon; None for never."""
        if approval.expires_at is None or self.seconds <= 0:
            return None
        open_for = max(0.0, (approval.expires_at - asked_at).total_seconds())
        return approval.expires_at - timedelta(seconds=min(self.seconds, open_for * self.most_share))


def next_look(state: RunState, warning: ExpiryWarning) -> datetime | None:
    """Return when a run has to be looked at: when an approval of it lapses, or lapses soon; None for never."""
    if state.has_ended or not state.is_at_rest:
        return None
    moments = [_next_of(state, approval, warning) for approval in state.open_approvals]
    return min((moment for moment in moments if moment is not None), default=None)


def _next_of(state: RunState, approval: ApprovalRequired, warning: ExpiryWarning) -> datetime | None:
    if approval.approval_id not in state.waits.warned:
        asked_at = state.waits.asked_at.get(approval.approval_id)
        told_at = warning.at(approval, asked_at) if asked_at is not None else None
        if told_at is not None:
            return told_at
    return approval.expires_at
