"""Forgets what is settled and old, in the store of effects and approvals."""

from __future__ import annotations

from datetime import datetime
from typing import Final

import sqlalchemy as sa

from taoloop.action.ledger.effects import FORGETTABLE, Forgotten
from taoloop.action.ledger.sql.tables import APPROVALS, EFFECTS
from taoloop.wire.sql.sql_store import SqlStore

DELETED_AT_ONCE: Final = 1000
"""Rows that one transaction deletes at most, so that writers do not wait long for it."""


async def forget(store: SqlStore, moment: datetime) -> Forgotten:
    """Delete what is settled and old; see `EffectLedger.forget_before`."""
    old_effects = sa.select(EFFECTS.c.effect_id).where(_is_old_effect(moment)).limit(DELETED_AT_ONCE)
    effects = await _delete(store, sa.delete(EFFECTS).where(EFFECTS.c.effect_id.in_(old_effects)))
    old_approvals = sa.select(APPROVALS.c.approval_id).where(_is_old_approval(moment)).limit(DELETED_AT_ONCE)
    approvals = await _delete(store, sa.delete(APPROVALS).where(APPROVALS.c.approval_id.in_(old_approvals)))
    async with store.transaction() as transaction:
        unsettled = (await transaction.execute(_count(EFFECTS, _is_unsettled(moment)))).scalar_one()
    return Forgotten(effects=effects, approvals=approvals, unsettled=unsettled)


async def count_forgettable(store: SqlStore, moment: datetime) -> Forgotten:
    """Return what `forget` would delete now, and delete nothing."""
    counts = sa.select(
        _count(EFFECTS, _is_old_effect(moment)).scalar_subquery(),
        _count(APPROVALS, _is_old_approval(moment)).scalar_subquery(),
        _count(EFFECTS, _is_unsettled(moment)).scalar_subquery(),
    )
    async with store.transaction() as transaction:
        effects, approvals, unsettled = (await transaction.execute(counts)).one()
    return Forgotten(effects=effects, approvals=approvals, unsettled=unsettled)


async def _delete(store: SqlStore, statement: sa.Delete) -> int:
    """Repeat a statement, each time in a transaction of its own, until it finds less than it may delete."""
    deleted = 0
    while True:
        async with store.transaction() as transaction:
            count = (await transaction.execute(statement)).rowcount
        deleted += count
        if count < DELETED_AT_ONCE:
            return deleted


def _count(table: sa.Table, condition: sa.ColumnElement[bool]) -> sa.Select[int]:
    return sa.select(sa.func.count()).select_from(table).where(condition)


def _is_old_effect(moment: datetime) -> sa.ColumnElement[bool]:
    return sa.and_(EFFECTS.c.state.in_(FORGETTABLE), EFFECTS.c.updated_at < moment)


def _is_unsettled(moment: datetime) -> sa.ColumnElement[bool]:
    return sa.and_(EFFECTS.c.state.not_in(FORGETTABLE), EFFECTS.c.updated_at < moment)


def _is_old_approval(moment: datetime) -> sa.ColumnElement[bool]:
    """Return which approvals lapsed and were last decided before, unless the call that used one stays recorded."""
    its_call_stays = sa.exists().where(EFFECTS.c.effect_id == APPROVALS.c.effect_id, ~_is_old_effect(moment))
    return sa.and_(
        APPROVALS.c.expires_at < moment,
        sa.or_(APPROVALS.c.decided_at.is_(None), APPROVALS.c.decided_at < moment),
        ~its_call_stays,
    )
