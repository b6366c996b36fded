"""An effect ledger that forgets everything with its process."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from taoloop.action.errors import EffectSettled, UnknownEffect
from taoloop.action.ledger.effects import (
    FINISHED_FROM,
    FORGETTABLE,
    Claim,
    EffectIntent,
    EffectQuery,
    Forgotten,
    LedgerEntry,
    Resolution,
    Swept,
)
from taoloop.action.ledger.owners import OwnerWatch
from taoloop.core.clock import Clock
from taoloop.core.errors import BackendUnavailable, RequestIdReused
from taoloop.core.ids import new_id
from taoloop.plan.effects import EffectRecord, EffectState
from taoloop.testing.approvals import InMemoryApprovalBook, StoredApprovals

ReplyT = TypeVar("ReplyT")


@dataclass(slots=True)
class StoredEffects:
    """What several ledgers may share, as several processes share a database."""

    entries: dict[str, LedgerEntry] = field(default_factory=dict)
    intents: dict[str, EffectIntent] = field(default_factory=dict)
    resolutions: dict[str, Resolution] = field(default_factory=dict)
    looked_up_at: dict[str, datetime] = field(default_factory=dict)
    owners: dict[str, int] = field(default_factory=dict)
    approvals: StoredApprovals = field(default_factory=StoredApprovals)


class InMemoryEffectLedger:
    """An `EffectLedger` in dictionaries.

    Args:
        clock: Dates the entries and measures the other processes' silence.
        store: Shared by ledgers that play several processes; a new one by default.
        is_durable: What it claims to be, so that a test may use it where durability is asked for.
        lease_seconds: How long another process may be silent before it is dead.

    Attributes:
        is_down: While true, every method raises `BackendUnavailable`.
        lost_replies: So many of the next changes are recorded and their replies lost.
    """

    def __init__(
        self,
        clock: Clock,
        store: StoredEffects | None = None,
        *,
        is_durable: bool = False,
        lease_seconds: float = 10.0,
    ) -> None:
        self._clock = clock
        self._store = StoredEffects() if store is None else store
        self._is_durable = is_durable
        self.is_down = False
        self.lost_replies = 0
        self._owner = secrets.token_hex(16)
        self._watch = OwnerWatch(lease_seconds)
        self._store.owners[self._owner] = 1
        self._approvals = InMemoryApprovalBook(clock, self._store.approvals, self._blocks, self._check_store)

    @property
    def is_durable(self) -> bool:
        """Whether an acknowledged entry is said to survive a crash."""
        return self._is_durable

    @property
    def approvals(self) -> InMemoryApprovalBook:
        """The approvals in the same store."""
        return self._approvals

    async def plan(self, intent: EffectIntent) -> Claim:
        """Record an intent, or return the entry that blocks it; see `EffectLedger.plan`."""
        self._check_store()
        self._refuse_reused_id(intent)
        blocking = self._blocking(intent)
        if blocking is None:
            return self._replied(Claim(entry=self._add(intent), is_new=True, is_ours=True))
        if self._is_abandoned(blocking, EffectState.STARTED):
            blocking = self._move(blocking, EffectState.UNKNOWN)
        elif self._is_abandoned(blocking, EffectState.PLANNED):
            effect = replace(
                blocking.effect,
                step_id=intent.step_id,
                iteration=intent.iteration,
                idempotency_key=intent.idempotency_key,
            )
            self._store.intents[effect.effect_id] = replace(
                self._store.intents[effect.effect_id], step_id=intent.step_id, iteration=intent.iteration
            )
            adopted = self._put(replace(blocking, owner=self._owner, effect=effect))
            return Claim(entry=adopted, is_new=True, is_ours=True)
        return Claim(entry=blocking, is_new=False, is_ours=blocking.owner == self._owner)

    async def start(self, effect_id: str, approval_id: str = "") -> bool:
        """Record that the call may leave from now on; see `EffectLedger.start`."""
        self._check_store()
        entry = self._store.entries[effect_id]
        if entry.effect.state is not EffectState.PLANNED or entry.owner != self._owner:
            return False
        if approval_id:
            self._approvals.use(approval_id, effect_id, self._store.intents[effect_id])
        self._move(replace(entry, effect=replace(entry.effect, approval_id=approval_id)), EffectState.STARTED)
        return self._replied(True)

    async def finish(self, effect_id: str, state: EffectState, result_text: str, *, has_left: bool = True) -> bool:
        """Record the outcome; see `EffectLedger.finish`."""
        self._check_store()
        entry = self._store.entries[effect_id]
        if entry.effect.state not in FINISHED_FROM[state]:
            return False
        self._move(replace(entry, result_text=result_text), state)
        if state is EffectState.FAILED and not has_left:
            self._approvals.release(effect_id)
        return self._replied(True)

    async def get(self, tenant: str, effect_id: str) -> LedgerEntry:
        """Return one entry; see `EffectLedger.get`."""
        self._check_store()
        entry = self._store.entries.get(effect_id)
        if entry is None or entry.tenant != tenant:
            raise UnknownEffect.of(effect_id)
        return entry

    async def list(self, tenant: str, query: EffectQuery) -> tuple[EffectRecord, ...]:
        """Return the effects that the query wants, newest first; see `EffectLedger.list`."""
        self._check_store()
        effects = [entry.effect for entry in self._store.entries.values() if entry.tenant == tenant]
        wanted = [
            effect
            for effect in sorted(effects, key=lambda effect: effect.effect_id, reverse=True)
            if query.run_id in {"", effect.run_id}
            and query.state in {None, effect.state}
            and query.effect_id in {"", effect.effect_id}
            and (not query.before_effect_id or effect.effect_id < query.before_effect_id)
        ]
        return tuple(wanted[: query.limit])

    async def resolve(self, tenant: str, resolution: Resolution) -> EffectRecord:
        """Settle an unknown entry; see `EffectLedger.resolve`."""
        entry = await self.get(tenant, resolution.effect_id)
        earlier = self._store.resolutions.get(resolution.effect_id)
        if earlier is not None and resolution.request_id and _is_same_decision(earlier, resolution):
            return entry.effect
        is_unknown = entry.effect.state is EffectState.UNKNOWN or self._is_abandoned(entry, EffectState.STARTED)
        if not is_unknown:
            raise EffectSettled.of(resolution.effect_id, entry.effect.state)
        self._store.resolutions[resolution.effect_id] = resolution
        effect = replace(
            entry.effect,
            resolved_by=resolution.resolved_by,
            took_place=resolution.took_place,
            comment=resolution.comment,
        )
        return self._move(replace(entry, effect=effect), EffectState.RECONCILED).effect

    async def beat(self) -> None:
        """Tell that this process lives, and bury those that do not; see `EffectLedger.beat`."""
        try:
            self._check_store()
        except BackendUnavailable:
            self._watch.forget()
            raise
        owners = self._store.owners
        owners[self._owner] = owners.get(self._owner, 0) + 1
        others = {owner: beats for owner, beats in owners.items() if owner != self._owner}
        for owner in self._watch.dead(others, self._clock.monotonic()):
            del owners[owner]

    async def sweep(self, in_progress: Collection[str], not_after: datetime) -> Swept:
        """Settle what nobody works on; see `EffectLedger.sweep`."""
        self._check_store()
        unknown = self._swept(EffectState.STARTED, in_progress, not_after)
        given_up = self._swept(EffectState.PLANNED, in_progress, not_after)
        for entry in unknown:
            self._move(entry, EffectState.UNKNOWN)
        for entry in given_up:
            self._move(entry, EffectState.FAILED)
        return Swept(unknown=len(unknown), given_up=len(given_up))

    async def next_look_up(self, tools: Collection[str], not_after: datetime) -> LedgerEntry | None:
        """Take the unknown entry whose turn it is; see `EffectLedger.next_look_up`."""
        self._check_store()

        def last_seen(entry: LedgerEntry) -> tuple[datetime, str]:
            changed = entry.effect.updated_at or not_after
            effect_id = entry.effect.effect_id
            return max(changed, self._store.looked_up_at.get(effect_id, changed)), effect_id

        waiting = [
            entry
            for entry in self._store.entries.values()
            if entry.effect.state is EffectState.UNKNOWN
            and entry.effect.tool in tools
            and last_seen(entry)[0] <= not_after
        ]
        if not waiting:
            return None
        taken = min(waiting, key=last_seen)
        self._store.looked_up_at[taken.effect.effect_id] = self._clock.now()
        return taken

    async def forget_before(self, moment: datetime) -> Forgotten:
        """Delete what is settled and old; see `EffectLedger.forget_before`."""
        found = await self.forgettable_before(moment)
        for approval_id in self._old_approvals(moment):
            approvals = self._store.approvals
            del approvals.records[approval_id], approvals.questions[approval_id]
            approvals.decisions.pop(approval_id, None)
        for effect_id in self._old_effects(moment):
            del self._store.entries[effect_id], self._store.intents[effect_id]
        return found

    async def forgettable_before(self, moment: datetime) -> Forgotten:
        """Return what would be deleted; see `EffectLedger.forgettable_before`."""
        self._check_store()
        old = [entry for entry in self._store.entries.values() if _changed_at(entry) < moment]
        unsettled = [entry for entry in old if entry.effect.state not in FORGETTABLE]
        return Forgotten(
            effects=len(self._old_effects(moment)),
            approvals=len(self._old_approvals(moment)),
            unsettled=len(unsettled),
        )

    def _old_effects(self, moment: datetime) -> tuple[str, ...]:
        return tuple(
            effect_id
            for effect_id, entry in self._store.entries.items()
            if entry.effect.state in FORGETTABLE and _changed_at(entry) < moment
        )

    def _old_approvals(self, moment: datetime) -> tuple[str, ...]:
        staying = self._store.entries.keys() - set(self._old_effects(moment))
        return tuple(
            approval_id
            for approval_id, approval in self._store.approvals.records.items()
            if max(at for at in (approval.expires_at, approval.decided_at) if at is not None) < moment
            and approval.effect_id not in staying
        )

    async def leave(self) -> None:
        """Tell the other processes that this one is gone."""
        self._store.owners.pop(self._owner, None)

    def _swept(self, state: EffectState, in_progress: Collection[str], not_after: datetime) -> tuple[LedgerEntry, ...]:
        def is_left_behind(entry: LedgerEntry) -> bool:
            is_old = entry.effect.updated_at is not None and entry.effect.updated_at <= not_after
            return entry.owner == self._owner and entry.effect.effect_id not in in_progress and is_old

        return tuple(
            entry
            for entry in self._store.entries.values()
            if entry.effect.state is state and (is_left_behind(entry) or self._is_abandoned(entry, state))
        )

    def _check_store(self) -> None:
        if self.is_down:
            raise BackendUnavailable("The effect ledger is down.", metadata={"backend": "effect_ledger"})

    def _replied(self, reply: ReplyT) -> ReplyT:
        if self.lost_replies > 0:
            self.lost_replies -= 1
            raise BackendUnavailable("The reply was lost.", metadata={"backend": "effect_ledger"})
        return reply

    def _refuse_reused_id(self, intent: EffectIntent) -> None:
        for earlier in self._store.intents.values():
            if (
                intent.request_id
                and (earlier.tenant, earlier.request_id) == (intent.tenant, intent.request_id)
                and earlier.request_digest != intent.request_digest
            ):
                raise RequestIdReused.of(intent.request_id)

    def _is_abandoned(self, entry: LedgerEntry, state: EffectState) -> bool:
        is_dead = entry.owner != self._owner and entry.owner not in self._store.owners
        return entry.effect.state is state and is_dead

    def _blocking(self, intent: EffectIntent) -> LedgerEntry | None:
        for effect_id, earlier in self._store.intents.items():
            if _key(earlier) == _key(intent) and self._blocks(effect_id):
                return self._store.entries[effect_id]
        return None

    def _blocks(self, effect_id: str) -> bool:
        entry = self._store.entries[effect_id]
        if entry.effect.state is EffectState.RECONCILED:
            return bool(entry.effect.took_place)
        return entry.effect.state is not EffectState.FAILED

    def _add(self, intent: EffectIntent) -> LedgerEntry:
        effect = EffectRecord(
            effect_id=new_id(self._clock),
            run_id=intent.run_id,
            step_id=intent.step_id,
            iteration=intent.iteration,
            tool=intent.tool,
            arguments_hash=intent.arguments_hash,
            state=EffectState.PLANNED,
            planned_at=self._clock.now(),
            updated_at=self._clock.now(),
            idempotency_key=intent.idempotency_key,
        )
        self._store.intents[effect.effect_id] = intent
        return self._put(
            LedgerEntry(effect=effect, tenant=intent.tenant, owner=self._owner, arguments_text=intent.arguments_text)
        )

    def _move(self, entry: LedgerEntry, state: EffectState) -> LedgerEntry:
        return self._put(replace(entry, effect=replace(entry.effect, state=state, updated_at=self._clock.now())))

    def _put(self, entry: LedgerEntry) -> LedgerEntry:
        self._store.entries[entry.effect.effect_id] = entry
        return entry

    def __repr__(self) -> str:
        return f"InMemoryEffectLedger(entries={len(self._store.entries)}, is_durable={self._is_durable})"


def _changed_at(entry: LedgerEntry) -> datetime:
    changed = entry.effect.updated_at
    assert changed is not None
    return changed


def _key(intent: EffectIntent) -> tuple[str, str, str, str]:
    return intent.tenant, intent.run_id, intent.tool, intent.arguments_hash


def _is_same_decision(left: Resolution, right: Resolution) -> bool:
    return (left.request_id, left.took_place) == (right.request_id, right.took_place)
