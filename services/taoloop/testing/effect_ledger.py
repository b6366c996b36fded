"""An effect ledger that forgets everything with its process."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace

from taoloop.action.effects import FINISHED_FROM, Claim, EffectIntent, EffectQuery, LedgerEntry, Resolution
from taoloop.action.errors import EffectSettled, UnknownEffect
from taoloop.core.clock import Clock
from taoloop.core.errors import BackendUnavailable, RequestIdReused
from taoloop.core.ids import new_id
from taoloop.plan.acting import EffectRecord, EffectState


@dataclass(slots=True)
class StoredEffects:
    """What several ledgers may share, as several processes share a database."""

    entries: dict[str, LedgerEntry] = field(default_factory=dict)
    intents: dict[str, EffectIntent] = field(default_factory=dict)
    resolutions: dict[str, Resolution] = field(default_factory=dict)


class InMemoryEffectLedger:
    """An `EffectLedger` in dictionaries.

    Args:
        clock: Dates the entries.
        store: Shared by ledgers that play several processes; a new one by default.
        is_durable: What it claims to be, so that a test may use it where durability is asked for.

    Attributes:
        is_down: While true, every method raises `BackendUnavailable`.
    """

    def __init__(self, clock: Clock, store: StoredEffects | None = None, *, is_durable: bool = False) -> None:
        self._clock = clock
        self._store = StoredEffects() if store is None else store
        self._is_durable = is_durable
        self.is_down = False
        self._owner = secrets.token_hex(16)

    @property
    def is_durable(self) -> bool:
        """Whether an acknowledged entry is said to survive a crash."""
        return self._is_durable

    async def plan(self, intent: EffectIntent) -> Claim:
        """Record an intent, or return the entry that blocks it; see `EffectLedger.plan`."""
        self._check_store()
        self._refuse_reused_id(intent)
        blocking = self._blocking(intent)
        if blocking is None:
            return Claim(entry=self._add(intent), is_new=True)
        if blocking.owner == self._owner:
            return Claim(entry=blocking, is_new=False)
        if blocking.effect.state is EffectState.STARTED:
            return Claim(entry=self._move(blocking, EffectState.UNKNOWN), is_new=False)
        if blocking.effect.state is EffectState.PLANNED:
            effect = replace(blocking.effect, step_id=intent.step_id, iteration=intent.iteration)
            return Claim(entry=self._put(replace(blocking, owner=self._owner, effect=effect)), is_new=True)
        return Claim(entry=blocking, is_new=False)

    async def start(self, effect_id: str) -> bool:
        """Record that the call may leave from now on; see `EffectLedger.start`."""
        self._check_store()
        entry = self._store.entries[effect_id]
        if entry.effect.state is not EffectState.PLANNED or entry.owner != self._owner:
            return False
        self._move(entry, EffectState.STARTED)
        return True

    async def finish(self, effect_id: str, state: EffectState, result_text: str) -> bool:
        """Record the outcome; see `EffectLedger.finish`."""
        self._check_store()
        entry = self._store.entries[effect_id]
        if entry.effect.state not in FINISHED_FROM[state]:
            return False
        self._move(replace(entry, result_text=result_text), state)
        return True

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
            and (not query.before_effect_id or effect.effect_id < query.before_effect_id)
        ]
        return tuple(wanted[: query.limit])

    async def resolve(self, tenant: str, resolution: Resolution) -> EffectRecord:
        """Settle an unknown entry by the word of a person; see `EffectLedger.resolve`."""
        entry = await self.get(tenant, resolution.effect_id)
        earlier = self._store.resolutions.get(resolution.effect_id)
        if earlier is not None and resolution.request_id and _is_same_decision(earlier, resolution):
            return entry.effect
        is_abandoned = entry.effect.state is EffectState.STARTED and entry.owner != self._owner
        if entry.effect.state is not EffectState.UNKNOWN and not is_abandoned:
            raise EffectSettled.of(resolution.effect_id, entry.effect.state)
        self._store.resolutions[resolution.effect_id] = resolution
        effect = replace(entry.effect, resolved_by=resolution.resolved_by)
        return self._move(replace(entry, effect=effect), EffectState.RECONCILED).effect

    def _check_store(self) -> None:
        if self.is_down:
            raise BackendUnavailable("The effect ledger is down.", metadata={"backend": "effect_ledger"})

    def _refuse_reused_id(self, intent: EffectIntent) -> None:
        for earlier in self._store.intents.values():
            if (
                intent.request_id
                and (earlier.tenant, earlier.request_id) == (intent.tenant, intent.request_id)
                and earlier.request_digest != intent.request_digest
            ):
                raise RequestIdReused.of(intent.request_id)

    def _blocking(self, intent: EffectIntent) -> LedgerEntry | None:
        for effect_id, earlier in self._store.intents.items():
            if _key(earlier) == _key(intent) and self._is_blocking(self._store.entries[effect_id]):
                return self._store.entries[effect_id]
        return None

    def _is_blocking(self, entry: LedgerEntry) -> bool:
        if entry.effect.state is EffectState.RECONCILED:
            return self._store.resolutions[entry.effect.effect_id].took_place
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
        )
        self._store.intents[effect.effect_id] = intent
        return self._put(LedgerEntry(effect=effect, tenant=intent.tenant, owner=self._owner))

    def _move(self, entry: LedgerEntry, state: EffectState) -> LedgerEntry:
        return self._put(replace(entry, effect=replace(entry.effect, state=state, updated_at=self._clock.now())))

    def _put(self, entry: LedgerEntry) -> LedgerEntry:
        self._store.entries[entry.effect.effect_id] = entry
        return entry

    def __repr__(self) -> str:
        return f"InMemoryEffectLedger(entries={len(self._store.entries)}, is_durable={self._is_durable})"


def _key(intent: EffectIntent) -> tuple[str, str, str, str]:
    return intent.tenant, intent.run_id, intent.tool, intent.arguments_hash


def _is_same_decision(left: Resolution, right: Resolution) -> bool:
    return (left.request_id, left.took_place) == (right.request_id, right.took_place)
