"""The records of the effect ledger and the rules by which an effect changes its state."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from taoloop.plan.effects import EffectRecord, EffectState

FINISHED_FROM: Final = {
    EffectState.SUCCEEDED: frozenset({EffectState.STARTED, EffectState.UNKNOWN}),
    EffectState.FAILED: frozenset({EffectState.PLANNED, EffectState.STARTED, EffectState.UNKNOWN}),
    EffectState.UNKNOWN: frozenset({EffectState.STARTED}),
}
"""Outcome → the states it may follow. An outcome that arrives after its call was given up for unknown still counts."""

FORGETTABLE: Final = frozenset({EffectState.SUCCEEDED, EffectState.FAILED, EffectState.RECONCILED})
"""The states that retention may delete; what is planned, started or unknown stays until it is settled."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectIntent:
    """A call that writes, before anything has left."""

    tenant: str
    run_id: str
    step_id: str
    iteration: int
    tool: str
    arguments_hash: str
    """SHA-256 of the canonical arguments. Tenant, run, tool and this are the key that is never fired twice."""
    request_id: str = ""
    """The caller's id of the request; empty when none was sent."""
    request_digest: str = ""
    """Digest of the request's body: the same id with another digest is REQUEST_ID_REUSED."""
    idempotency_key: str = ""
    """What the tool is told, where its contract declares a place for it; the same for every repeat of the step."""
    arguments_text: str = ""
    """The arguments as JSON, for a later look-up; empty where the contract names no way to look the effect up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """One row of the ledger."""

    effect: EffectRecord
    """What everybody may see of it."""
    tenant: str
    """Whose it is."""
    owner: str
    """The process that made the call; a new one for every start of a process."""
    result_text: str = ""
    """The first result's envelope, as the executor wrote it; empty until there is one."""
    arguments_text: str = ""
    """See `EffectIntent.arguments_text`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The ledger's reply to an intent."""

    entry: LedgerEntry
    """The new entry, or the one that stands in the way."""
    is_new: bool
    """Whether the caller may go on to `start` this entry."""
    is_ours: bool
    """Whether the process that asks owns the entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What a sweep of the ledger changed."""

    unknown: int = 0
    """Entries that became UNKNOWN: started, and nobody works on them any more."""
    given_up: int = 0
    """Entries that became FAILED: planned, nothing had left, and nobody works on them any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """What retention deleted, or would delete, and what it left although it is as old."""

    effects: int = 0
    """Settled effects."""
    approvals: int = 0
    """Approvals that lapsed, and whose call is not recorded any more."""
    unsettled: int = 0
    """Effects that stay: planned, started or unknown. Somebody has to settle the unknown ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectQuery:
    """Which effects are wanted."""

    run_id: str = ""
    """Only those of one run; empty for all of the tenant."""
    state: EffectState | None = None
    """Only those in one state; None for all."""
    limit: int = 100
    """At most this many, at least 1."""
    before_effect_id: str = ""
    """Only those older than this one; empty for the newest."""
    effect_id: str = ""
    """Only the one with this id; empty for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """What a person, or a look-up, says about an unknown outcome."""

    effect_id: str
    took_place: bool
    """False frees the call: the same write may be made again."""
    resolved_by: str
    comment: str = ""
    request_id: str = ""
    """Unique for the decision: a repeat returns the first reply; empty for none."""
