"""The records of approvals and the rules by which one changes its state."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from taoloop.plan.effects import ApprovalDecision, ApprovalRecord, ApprovalState

STATE_OF: Final = {
    ApprovalDecision.APPROVED: ApprovalState.APPROVED,
    ApprovalDecision.REJECTED: ApprovalState.REJECTED,
    ApprovalDecision.CANCELLED: ApprovalState.CANCELLED,
    ApprovalDecision.EXPIRED: ApprovalState.EXPIRED,
}
DECISION_OF: Final = {state: decision for decision, state in STATE_OF.items()}


class LeaveLost(Exception):
    """The approval with which a call was to start is no longer good: used by another call, lapsed or withdrawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalQuestion:
    """A call for which leave is asked. Everything but the arguments' text is what the leave is bound to."""

    tenant: str
    run_id: str
    step_id: str
    tool: str
    arguments_hash: str
    """SHA-256 of the canonical arguments."""
    arguments_text: str = ""
    """The arguments as JSON, for the person who decides."""
    expires_in_seconds: float
    """How long the question stays open, above 0; a leave that is given may be used for as long again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalQuery:
    """Which approvals are wanted."""

    run_id: str = ""
    """Only those of one run; empty for all of the tenant."""
    state: ApprovalState | None = None
    """Only those in one state; None for all. What has lapsed counts as EXPIRED."""
    limit: int = 100
    """At most this many, at least 1."""
    before_approval_id: str = ""
    """Only those older than this one; empty for the newest."""
    approval_id: str = ""
    """Only the one with this id; empty for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What somebody decided about an approval."""

    approval_id: str
    decision: ApprovalDecision
    """APPROVED, REJECTED or CANCELLED."""
    decided_by: str
    comment: str = ""
    request_id: str = ""
    """Unique for the decision: the same id for another decision is REQUEST_ID_REUSED; empty for none."""


def has_lapsed(approval: ApprovalRecord, now: datetime) -> bool:
    """Tell whether an approval's time is over although its state does not say so yet: not decided, or not used."""
    waits = approval.state is ApprovalState.OPEN or (
        approval.state is ApprovalState.APPROVED and not approval.effect_id
    )
    return waits and approval.expires_at is not None and approval.expires_at <= now
