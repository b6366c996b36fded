"""The effect ledger on SQLite or PostgreSQL."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from taoloop.action.errors import EffectSettled, UnknownEffect
from taoloop.action.ledger.batches import Batches
from taoloop.action.ledger.effects import (
    FINISHED_FROM,
    Claim,
    EffectIntent,
    EffectQuery,
    Forgotten,
    LedgerEntry,
    Resolution,
    Swept,
)
from taoloop.action.ledger.owners import OwnerWatch
from taoloop.action.ledger.sql import sql_retention
from taoloop.action.ledger.sql.migrations import LEDGER
from taoloop.action.ledger.sql.sql_approvals import (
    SqlApprovalBook,
    release_approval,
    use_approval,
)
from taoloop.action.ledger.sql.sql_steps import Finish, Plan, Result, SqlSteps, Start, Step, new_row
from taoloop.action.ledger.sql.tables import EFFECTS, OWNERS, aware
from taoloop.core.clock import Clock
from taoloop.core.errors import BackendUnavailable, RequestIdReused, RunConflict
from taoloop.core.ids import new_id
from taoloop.plan.effects import EffectRecord, EffectState
from taoloop.wire.sql.sql_store import SqlStore, Transaction, sql_store

DEFAULT_LEASE_SECONDS: Final = 10.0

_COLUMNS: Final = EFFECTS.c
_IS_ORPHAN: Final = ~sa.exists().where(OWNERS.c.owner == _COLUMNS.owner)


class SqlEffectLedger:
    """An `EffectLedger` in a `SqlStore`; made by `sql_ledger`.

    Args:
        store: Where the tables are.
        lease_seconds: How long another process may be silent before it is dead.
    """

    def __init__(self, store: SqlStore, lease_seconds: float) -> None:
        self._store = store
        self._owner = secrets.token_hex(16)
        self._watch = OwnerWatch(lease_seconds)
        self._approvals = SqlApprovalBook(store)
        self._steps = SqlSteps(store, self._owner)
        self._batches: Batches[Step, Result] = Batches(self._steps.take)

    @property
    def is_durable(self) -> bool:
        """Whether an acknowledged entry survives a crash of the process and of the machine."""
        return self._store.is_durable

    @property
    def approvals(self) -> SqlApprovalBook:
        """The approvals in the same store."""
        return self._approvals

    async def plan(self, intent: EffectIntent) -> Claim:
        """Record an intent, or return the entry that blocks it; see `EffectLedger.plan`."""
        claim = await self._batches.do(Plan(new_id(self._store.clock), intent))
        return claim if isinstance(claim, Claim) else await self._planned_alone(intent)

    async def _planned_alone(self, intent: EffectIntent) -> Claim:
        """Record an intent in whose way something stands, or stood a moment ago."""
        clock = self._store.clock
        async with self._store.transaction() as transaction:
            row = new_row(new_id(clock), intent, self._owner, clock.now())
            statement = self._store.insert(EFFECTS).values(row).on_conflict_do_nothing()
            is_new = (await transaction.execute(statement)).rowcount == 1
            await _refuse_reused_id(transaction, intent)
            if not is_new:
                is_new = await self._take_over(transaction, intent)
            found = (await transaction.execute(sa.select(EFFECTS).where(*_same_call(intent)))).mappings().one_or_none()
        if found is None:  # the entry in the way was settled between our two statements
            raise RunConflict("The effect's entry changed at the same time.", metadata={"run_id": intent.run_id})
        return Claim(entry=_entry(found), is_new=is_new, is_ours=found["owner"] == self._owner)

    async def start(self, effect_id: str, approval_id: str = "") -> bool:
        """Record that the call may leave from now on; see `EffectLedger.start`."""
        if not approval_id:
            return bool(await self._batches.do(Start(effect_id)))
        async with self._store.transaction() as transaction:
            is_started = await self._change(
                transaction,
                {"state": EffectState.STARTED, "approval_id": approval_id},
                _COLUMNS.effect_id == effect_id,
                _COLUMNS.state == EffectState.PLANNED,
                _COLUMNS.owner == self._owner,
            )
            if is_started:
                await use_approval(transaction, approval_id, effect_id, self._store.clock.now())
        return is_started == 1

    async def finish(self, effect_id: str, state: EffectState, result_text: str, *, has_left: bool = True) -> bool:
        """Record the outcome; see `EffectLedger.finish`."""
        if state is not EffectState.FAILED or has_left:
            return bool(await self._batches.do(Finish(effect_id, state, result_text)))
        async with self._store.transaction() as transaction:
            is_finished = await self._change(
                transaction,
                {"state": state, "result_text": result_text, "is_blocking": state is not EffectState.FAILED},
                _COLUMNS.effect_id == effect_id,
                _COLUMNS.state.in_(FINISHED_FROM[state]),
            )
            if is_finished:
                await release_approval(transaction, effect_id)
        return is_finished == 1

    async def get(self, tenant: str, effect_id: str) -> LedgerEntry:
        """Return one entry; see `EffectLedger.get`."""
        async with self._store.transaction() as transaction:
            return await _find(transaction, tenant, effect_id)

    async def list(self, tenant: str, query: EffectQuery) -> tuple[EffectRecord, ...]:
        """Return the effects that the query wants, newest first; see `EffectLedger.list`."""
        statement = sa.select(EFFECTS).where(_COLUMNS.tenant == tenant)
        if query.run_id:
            statement = statement.where(_COLUMNS.run_id == query.run_id)
        if query.state is not None:
            statement = statement.where(_COLUMNS.state == query.state)
        if query.effect_id:
            statement = statement.where(_COLUMNS.effect_id == query.effect_id)
        if query.before_effect_id:
            statement = statement.where(_COLUMNS.effect_id < query.before_effect_id)
        async with self._store.transaction() as transaction:
            found = await transaction.execute(statement.order_by(_COLUMNS.effect_id.desc()).limit(query.limit))
            return tuple(_entry(row).effect for row in found.mappings())

    async def resolve(self, tenant: str, resolution: Resolution) -> EffectRecord:
        """Settle an unknown entry; see `EffectLedger.resolve`."""
        async with self._store.transaction() as transaction:
            is_settled = await self._change(
                transaction,
                {
                    "state": EffectState.RECONCILED,
                    "is_blocking": resolution.took_place,
                    "took_place": resolution.took_place,
                    "resolved_by": resolution.resolved_by,
                    "resolution_comment": resolution.comment,
                    "resolution_request_id": resolution.request_id,
                },
                _COLUMNS.tenant == tenant,
                _COLUMNS.effect_id == resolution.effect_id,
                sa.or_(_COLUMNS.state == EffectState.UNKNOWN, self._is_abandoned(EffectState.STARTED)),
            )
            entry = await _find(transaction, tenant, resolution.effect_id)
            if not is_settled and not await _is_repeated(transaction, resolution):
                raise EffectSettled.of(resolution.effect_id, entry.effect.state)
            return entry.effect

    async def beat(self) -> None:
        """Tell that this process lives, and bury those that do not; see `EffectLedger.beat`."""
        try:
            async with self._store.transaction() as transaction:
                told = self._store.insert(OWNERS).values(owner=self._owner, beats=1)
                told = told.on_conflict_do_update(index_elements=[OWNERS.c.owner], set_={"beats": OWNERS.c.beats + 1})
                await transaction.execute(told)
                others = await transaction.execute(sa.select(OWNERS).where(OWNERS.c.owner != self._owner))
                beats = {row["owner"]: row["beats"] for row in others.mappings()}
                for owner, count in self._watch.dead(beats, self._store.clock.monotonic()).items():
                    # The count is in the condition: one that beats at this very moment is not buried.
                    buried = sa.delete(OWNERS).where(OWNERS.c.owner == owner, OWNERS.c.beats == count)
                    await transaction.execute(buried)
        except BackendUnavailable:
            self._watch.forget()
            raise

    async def sweep(self, in_progress: Collection[str], not_after: datetime) -> Swept:
        """Settle what nobody works on; see `EffectLedger.sweep`."""
        left_behind = sa.and_(
            _COLUMNS.owner == self._owner, _COLUMNS.effect_id.not_in(in_progress), _COLUMNS.updated_at <= not_after
        )
        async with self._store.transaction() as transaction:
            unknown = await self._change(
                transaction,
                {"state": EffectState.UNKNOWN},
                _COLUMNS.state == EffectState.STARTED,
                sa.or_(left_behind, self._is_abandoned(EffectState.STARTED)),
            )
            given_up = await self._change(
                transaction,
                {"state": EffectState.FAILED, "is_blocking": False},
                _COLUMNS.state == EffectState.PLANNED,
                sa.or_(left_behind, self._is_abandoned(EffectState.PLANNED)),
            )
        return Swept(unknown=unknown, given_up=given_up)

    async def next_look_up(self, tools: Collection[str], not_after: datetime) -> LedgerEntry | None:
        """Take the unknown entry whose turn it is; see `EffectLedger.next_look_up`."""
        last_seen = sa.func.coalesce(_COLUMNS.looked_up_at, _COLUMNS.updated_at)
        turn = (
            sa.select(_COLUMNS.effect_id)
            .where(
                _COLUMNS.state == EffectState.UNKNOWN,
                _COLUMNS.tool.in_(tools),
                _COLUMNS.updated_at <= not_after,
                last_seen <= not_after,
            )
            .order_by(last_seen, _COLUMNS.effect_id)
            .limit(1)
            .with_for_update(skip_locked=True)  # SQLite has no such clause and needs none: its writers take turns
        )
        taken = (
            sa.update(EFFECTS)
            .where(_COLUMNS.effect_id == turn.scalar_subquery())
            .values(looked_up_at=self._store.clock.now())
            .returning(*_COLUMNS)
        )
        async with self._store.transaction() as transaction:
            row = (await transaction.execute(taken)).mappings().one_or_none()
        return None if row is None else _entry(row)

    async def forget_before(self, moment: datetime) -> Forgotten:
        """Delete what is settled and old; see `EffectLedger.forget_before`."""
        return await sql_retention.forget(self._store, moment)

    async def forgettable_before(self, moment: datetime) -> Forgotten:
        """Return what would be deleted; see `EffectLedger.forgettable_before`."""
        return await sql_retention.count_forgettable(self._store, moment)

    async def is_available(self) -> bool:
        """Tell whether the store answers now."""
        try:
            async with self._store.transaction() as transaction:
                await transaction.execute(sa.text("SELECT 1"))
        except BackendUnavailable:
            return False
        return True

    async def leave(self) -> None:
        """Tell the other processes that this one is gone, at its end; an answer is not waited for in vain."""
        await self._batches.drained()
        try:
            async with self._store.transaction() as transaction:
                await transaction.execute(sa.delete(OWNERS).where(OWNERS.c.owner == self._owner))
        except BackendUnavailable:
            return  # its silence will tell

    async def _take_over(self, transaction: Transaction, intent: EffectIntent) -> bool:
        """Mark what a dead process had started as unknown; adopt what it had only planned."""
        await self._change(
            transaction,
            {"state": EffectState.UNKNOWN},
            *_same_call(intent),
            self._is_abandoned(EffectState.STARTED),
        )
        adopted = {
            "owner": self._owner,
            "step_id": intent.step_id,
            "iteration": intent.iteration,
            "idempotency_key": intent.idempotency_key,
        }
        conditions = (*_same_call(intent), self._is_abandoned(EffectState.PLANNED))
        return await self._change(transaction, adopted, *conditions) == 1

    def _is_abandoned(self, state: EffectState) -> sa.ColumnElement[bool]:
        return sa.and_(_COLUMNS.state == state, _COLUMNS.owner != self._owner, _IS_ORPHAN)

    async def _change(
        self, transaction: Transaction, values: dict[str, object], *conditions: sa.ColumnElement[bool]
    ) -> int:
        statement = sa.update(EFFECTS).where(*conditions).values(updated_at=self._store.clock.now(), **values)
        return (await transaction.execute(statement)).rowcount

    def __repr__(self) -> str:
        return f"SqlEffectLedger({self._store!r}, {self._watch!r})"


@asynccontextmanager
async def sql_ledger(
    url: str, clock: Clock, lease_seconds: float = DEFAULT_LEASE_SECONDS
) -> AsyncIterator[SqlEffectLedger]:
    """Open the ledger at a SQLAlchemy URL; see `sql_store`.

    Args:
        url: `sqlite+aiosqlite:///PATH` or `postgresql+asyncpg://USER@HOST/DATABASE`.
        clock: Dates the entries and measures the other processes' silence.
        lease_seconds: How long another process may be silent before it is dead; the same in all of them.

    Raises:
        ConfigurationError: The URL names another kind of store, or is none; or the tables are too new.
        BackendUnavailable: The store does not answer.
    """
    async with sql_store(url, LEDGER, clock) as store:
        ledger = SqlEffectLedger(store, lease_seconds)
        await ledger.beat()
        try:
            yield ledger
        finally:
            await ledger.leave()


async def _refuse_reused_id(transaction: Transaction, intent: EffectIntent) -> None:
    """Raise when another body came under the same request id; the new row is rolled back with it."""
    if not intent.request_id:
        return
    statement = sa.select(_COLUMNS.effect_id).where(
        _COLUMNS.tenant == intent.tenant,
        _COLUMNS.request_id == intent.request_id,
        _COLUMNS.request_digest != intent.request_digest,
    )
    if (await transaction.execute(statement.limit(1))).first() is not None:
        raise RequestIdReused.of(intent.request_id)


async def _find(transaction: Transaction, tenant: str, effect_id: str) -> LedgerEntry:
    statement = sa.select(EFFECTS).where(_COLUMNS.tenant == tenant, _COLUMNS.effect_id == effect_id)
    row = (await transaction.execute(statement)).mappings().one_or_none()
    if row is None:
        raise UnknownEffect.of(effect_id)
    return _entry(row)


async def _is_repeated(transaction: Transaction, resolution: Resolution) -> bool:
    statement = sa.select(_COLUMNS.effect_id).where(
        _COLUMNS.effect_id == resolution.effect_id,
        _COLUMNS.resolution_request_id == resolution.request_id,
        _COLUMNS.took_place == resolution.took_place,
    )
    return bool(resolution.request_id) and (await transaction.execute(statement)).first() is not None


def _same_call(intent: EffectIntent) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        _COLUMNS.tenant == intent.tenant,
        _COLUMNS.run_id == intent.run_id,
        _COLUMNS.tool == intent.tool,
        _COLUMNS.arguments_hash == intent.arguments_hash,
        _COLUMNS.is_blocking,
    )


def _entry(row: sa.RowMapping) -> LedgerEntry:
    effect = EffectRecord(
        effect_id=row["effect_id"],
        run_id=row["run_id"],
        step_id=row["step_id"],
        iteration=row["iteration"],
        tool=row["tool"],
        arguments_hash=row["arguments_hash"],
        state=EffectState(row["state"]),
        planned_at=aware(row["planned_at"]),
        updated_at=aware(row["updated_at"]),
        resolved_by=row["resolved_by"],
        took_place=row["took_place"],
        comment=row["resolution_comment"],
        approval_id=row["approval_id"],
        idempotency_key=row["idempotency_key"],
    )
    return LedgerEntry(
        effect=effect,
        tenant=row["tenant"],
        owner=row["owner"],
        result_text=row["result_text"],
        arguments_text=row["arguments_text"],
    )
