"""What keeps effects and approvals: one durable store behind two ports."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from taoloop.action.ledger.approvals import ApprovalQuery, ApprovalQuestion, Decision
from taoloop.action.ledger.effects import Claim, EffectIntent, EffectQuery, Forgotten, LedgerEntry, Resolution, Swept
from taoloop.plan.effects import ApprovalRecord, EffectRecord, EffectState


class ApprovalBook(Protocol):
    """Records who was asked for leave, and what they said.

    At most one approval per tenant, run, step, tool and arguments hash is open, or granted and not used. The
    store itself enforces this. An approval is used by `EffectLedger.start` alone.

    Every method raises `BackendUnavailable` when the store does not answer.
    """

    async def ask(self, question: ApprovalQuestion) -> ApprovalRecord:
        """Return the approval that stands for the call; ask anew when there is none.

        One that was used stands as long as the call that used it may have taken effect; when that call surely
        had none, a new question is asked: a leave is good for one call.
        """
        ...

    async def decide(self, tenant: str, decision: Decision) -> ApprovalRecord:
        """Record a decision and return what holds: the first decision stands, and so does a lapse.

        Raises:
            UnknownApproval: The tenant has no such approval.
            RequestIdReused: The request id came before with another decision.
        """
        ...

    async def list(self, tenant: str, query: ApprovalQuery) -> tuple[ApprovalRecord, ...]:
        """Return the tenant's approvals that the query wants, newest first."""
        ...


class EffectLedger(Protocol):
    """Records every call that writes, before it leaves and after it came back.

    Durability: when a method returns, what it recorded survives the death of the process and of the machine
    if `is_durable` is true. A store that acknowledges before it has written, or that can lose acknowledged
    writes when it fails over, must say false.

    At most one entry per tenant, run, tool and arguments hash stands in a state that blocks (any but FAILED
    and RECONCILED as not taken place). The store itself enforces this, whatever the number of processes.

    Several processes may share a store. Each is an owner of entries while it is open and tells so by `beat`;
    one that has not been heard of for the lease is dead, and so is one that was closed.

    Every method raises `BackendUnavailable` when the store does not answer. The caller then does not know
    whether it was recorded, so a call must not leave on it.
    """

    @property
    def is_durable(self) -> bool:
        """Whether an acknowledged entry survives a crash of the process and of the machine."""
        ...

    @property
    def approvals(self) -> ApprovalBook:
        """The approvals in the same store."""
        ...

    async def plan(self, intent: EffectIntent) -> Claim:
        """Record an intent, or return the entry that blocks it.

        At first sight of a STARTED entry of a dead process the entry becomes UNKNOWN. A PLANNED entry of a dead
        process is taken over, since nothing has left. Entries of a process that lives are left alone.

        Raises:
            RequestIdReused: The request id came before with another digest.
        """
        ...

    async def start(self, effect_id: str, approval_id: str = "") -> bool:
        """Record that the call may leave from now on, and use up its approval; call it before the first byte leaves.

        Returns:
            False when the entry is no longer PLANNED by this process: the call must not be made.

        Raises:
            LeaveLost: The approval is not good for this call; nothing was recorded.
        """
        ...

    async def finish(self, effect_id: str, state: EffectState, result_text: str, *, has_left: bool = True) -> bool:
        """Record the outcome: SUCCEEDED, FAILED or UNKNOWN, with the envelope that a repeat returns.

        Args:
            effect_id: The entry.
            state: The outcome.
            result_text: The envelope; may be empty.
            has_left: Whether a byte of the call may have left. If not, and it FAILED, its approval may be used again.

        Returns:
            False when the entry is already settled; it stays as it is.
        """
        ...

    async def get(self, tenant: str, effect_id: str) -> LedgerEntry:
        """Return one entry.

        Raises:
            UnknownEffect: The tenant has no such entry.
        """
        ...

    async def list(self, tenant: str, query: EffectQuery) -> tuple[EffectRecord, ...]:
        """Return the tenant's effects that the query wants, newest first."""
        ...

    async def resolve(self, tenant: str, resolution: Resolution) -> EffectRecord:
        """Settle an UNKNOWN entry, or a STARTED one of a dead process.

        Raises:
            UnknownEffect: The tenant has no such entry.
            EffectSettled: The outcome is known, or another decision came first.
        """
        ...

    async def beat(self) -> None:
        """Tell the other processes that this one lives, and bury those that have not told so for the lease."""
        ...

    async def sweep(self, in_progress: Collection[str], not_after: datetime) -> Swept:
        """Settle what nobody works on, of all tenants: STARTED becomes UNKNOWN, PLANNED becomes FAILED.

        Args:
            in_progress: The effects on which this process works.
            not_after: Entries of this process that changed later are left alone.
        """
        ...

    async def next_look_up(self, tools: Collection[str], not_after: datetime) -> LedgerEntry | None:
        """Take the UNKNOWN entry, of all tenants, whose last look-up is longest ago; None when there is none.

        Several processes that ask at once get different ones: taking one counts as its look-up.

        Args:
            tools: Names of the tools that can be looked up.
            not_after: Only those that neither changed nor were looked up later.
        """
        ...

    async def forget_before(self, moment: datetime) -> Forgotten:
        """Delete what is settled and has not changed since a moment, and approvals that lapsed before it.

        What is not settled stays, whatever its age, and so does the approval that it used.
        """
        ...

    async def forgettable_before(self, moment: datetime) -> Forgotten:
        """Return what `forget_before` would delete now, and delete nothing."""
        ...
