"""What was recorded of calls that write, and the leave that calls wait for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from taoloop.core.exact_json import ABSENT, Json

MAX_COMMENT_CHARACTERS: Final = 4096
"""Longest comment of a person."""
MAX_NAME_CHARACTERS: Final = 256
"""Longest name of a person, and longest id of what one says."""


class EffectState(StrEnum):
    """Where a recorded effect stands."""

    PLANNED = "planned"
    """Intended, and nothing has left."""
    STARTED = "started"
    """The call may have left."""
    SUCCEEDED = "succeeded"
    """The tool confirmed it."""
    FAILED = "failed"
    """The tool refused it, or it surely never left."""
    UNKNOWN = "unknown"
    """Nobody knows."""
    RECONCILED = "reconciled"
    """It was unknown, and a person or a look-up settled it."""


class ApprovalDecision(StrEnum):
    """What a person decided about a call."""

    APPROVED = "approved"
    """The call may be made, once."""
    REJECTED = "rejected"
    """The call may not be made."""
    CANCELLED = "cancelled"
    """Nobody wants the call any more, for example because its run was cancelled."""
    EXPIRED = "expired"
    """Nobody decided in time. Only in replies: nobody can decide it."""


class ApprovalState(StrEnum):
    """Where an approval stands."""

    OPEN = "open"
    """A person is asked."""
    APPROVED = "approved"
    """The call may be made, once; `effect_id` tells whether it was."""
    REJECTED = "rejected"
    """The call may not be made."""
    EXPIRED = "expired"
    """Nobody decided in time, or the leave was not used in time."""
    CANCELLED = "cancelled"
    """Nobody wants the call any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecideApprovalRequest:
    """A person's decision about a call."""

    request_id: str = ""
    """Unique for the decision: a repeat returns the first reply."""
    approval_id: str = ""
    """The approval."""
    decision: ApprovalDecision
    """The decision."""
    decided_by: str = ""
    """Who decided; at most 256 characters."""
    comment: str = ""
    """Why, for the record; at most 4096 characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecideApprovalResponse:
    """The decision, recorded."""

    approval_id: str = ""
    """The approval."""
    decision: ApprovalDecision
    """What holds now; an earlier decision stands."""
    decided_by: str = ""
    """Who decided that; empty when nobody did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListApprovalsRequest:
    """Wants approvals."""

    run_id: str = ""
    """Only those of one run; empty for all of the tenant."""
    state: ApprovalState | None = None
    """Only those in one state; unspecified for all."""
    page_size: int = 0
    """At most this many; 0 takes 100."""
    page_token: str = ""
    """Where the page before ended; empty for the first."""
    approval_id: str = ""
    """Only the one with this id; empty for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListApprovalsResponse:
    """One page of approvals."""

    approvals: tuple[ApprovalRecord, ...] = ()
    """The approvals, newest first."""
    next_page_token: str = ""
    """Where the next page starts; empty on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRecord:
    """One approval that was asked for: bound to one run, step, tool and arguments, and good for one call."""

    approval_id: str
    """The approval's id."""
    run_id: str = ""
    """The run's id."""
    step_id: str = ""
    """The step's id."""
    tool: str = ""
    """The tool's name."""
    arguments_hash: str = ""
    """SHA-256 of the canonical arguments."""
    arguments: Json = ABSENT
    """What the tool would be called with."""
    state: ApprovalState
    """Where it stands."""
    requested_at: datetime | None = None
    """When it was asked for."""
    expires_at: datetime | None = None
    """When it lapses: undecided, or granted and not used."""
    decided_at: datetime | None = None
    """When it was decided."""
    decided_by: str = ""
    """Who decided."""
    comment: str = ""
    """Why, for the record."""
    effect_id: str = ""
    """The call that used it; empty while none did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListEffectsRequest:
    """Wants recorded effects."""

    run_id: str = ""
    """Only those of one run; empty for all of the tenant."""
    state: EffectState | None = None
    """Only those in one state; unspecified for all."""
    page_size: int = 0
    """At most this many; 0 takes 100."""
    page_token: str = ""
    """Where the page before ended; empty for the first."""
    effect_id: str = ""
    """Only the one with this id; empty for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListEffectsResponse:
    """One page of effects."""

    effects: tuple[EffectRecord, ...] = ()
    """The effects, newest first."""
    next_page_token: str = ""
    """Where the next page starts; empty on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRecord:
    """One recorded effect."""

    effect_id: str
    """The entry's id."""
    run_id: str = ""
    """The run's id."""
    step_id: str = ""
    """The step's id."""
    tool: str = ""
    """The tool's name."""
    arguments_hash: str = ""
    """SHA-256 of the canonical arguments."""
    state: EffectState
    """Where it stands."""
    planned_at: datetime | None = None
    """When the intent was recorded."""
    updated_at: datetime | None = None
    """When it last changed."""
    resolved_by: str = ""
    """Who settled it, for a reconciled one."""
    iteration: int = 0
    """The number of the thought that planned it."""
    took_place: bool | None = None
    """For a reconciled one: whether it took place."""
    comment: str = ""
    """How the one who settled it knows."""
    approval_id: str = ""
    """The approval that it used; empty when it needed none."""
    idempotency_key: str = ""
    """The idempotency key of its call; sent to the tool only where the contract declares a place for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveEffectRequest:
    """Settles an unknown effect."""

    request_id: str = ""
    """Unique for the decision: a repeat returns the first reply."""
    effect_id: str = ""
    """The entry."""
    took_place: bool = False
    """Whether it took place."""
    resolved_by: str = ""
    """Who says so."""
    comment: str = ""
    """How it is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveEffectResponse:
    """The effect, settled."""

    effect: EffectRecord | None = None
    """The entry as it stands now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileEffectRequest:
    """Wants an unknown effect looked up."""

    effect_id: str = ""
    """The entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileEffectResponse:
    """What the look-up found."""

    effect: EffectRecord | None = None
    """The entry as it stands now; still UNKNOWN when the look-up did not tell."""
    finding: str = ""
    """What the look-up showed, for a person."""
