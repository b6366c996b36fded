"""Approvals in the store of the effects."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa

from taoloop.action.errors import UnknownApproval
from taoloop.action.ledger.approvals import STATE_OF, ApprovalQuery, ApprovalQuestion, Decision, LeaveLost
from taoloop.action.ledger.sql.tables import APPROVALS, EFFECTS, aware, aware_or_none
from taoloop.core import exact_json
from taoloop.core.errors import RequestIdReused
from taoloop.core.exact_json import ABSENT
from taoloop.core.ids import new_id
from taoloop.plan.effects import ApprovalDecision, ApprovalRecord, ApprovalState
from taoloop.wire.sql.sql_store import SqlStore, Transaction

_COLUMNS: Final = APPROVALS.c


class SqlApprovalBook:
    """An `ApprovalBook` in a `SqlStore`.

    Args:
        store: Where the tables are.
    """

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    async def ask(self, question: ApprovalQuestion) -> ApprovalRecord:
        """Return the approval that stands for the call, or a new one; see `ApprovalBook.ask`."""
        same = _same_call(question)
        newest = (
            sa.select(APPROVALS, EFFECTS.c.is_blocking)
            .outerjoin(EFFECTS, EFFECTS.c.effect_id == _COLUMNS.effect_id)
            .where(*same)
            .order_by(_COLUMNS.requested_at.desc(), _COLUMNS.approval_id.desc())
            .limit(1)
        )
        async with self._store.transaction() as transaction:
            await self._let_lapse(transaction, *same)
            row = (await transaction.execute(newest)).mappings().one_or_none()
            # False: its call surely had no effect. It has used the leave up, and the next call needs its own.
            if row is not None and row["is_blocking"] is not False:
                return _record(row)
            new = self._store.insert(APPROVALS).values(self._row(question)).on_conflict_do_nothing()
            await transaction.execute(new)
            return _record((await transaction.execute(newest)).mappings().one())

    async def decide(self, tenant: str, decision: Decision) -> ApprovalRecord:
        """Record a decision; see `ApprovalBook.decide`."""
        now = self._store.clock.now()
        this = (_COLUMNS.tenant == tenant, _COLUMNS.approval_id == decision.approval_id)
        async with self._store.transaction() as transaction:
            await self._let_lapse(transaction, *this)
            row = (await transaction.execute(sa.select(APPROVALS).where(*this))).mappings().one_or_none()
            if row is None:
                raise UnknownApproval.of(decision.approval_id)
            await _refuse_reused_id(transaction, tenant, decision)
            values: dict[str, object] = {
                "state": STATE_OF[decision.decision],
                "is_live": decision.decision is ApprovalDecision.APPROVED,
                "decided_at": now,
                "decided_by": decision.decided_by,
                "comment": decision.comment,
                "decision_request_id": decision.request_id,
            }
            if decision.decision is ApprovalDecision.APPROVED:
                values["expires_at"] = now + timedelta(seconds=row["expires_in_seconds"])
            await transaction.execute(sa.update(APPROVALS).where(*this, _may_become(decision)).values(values))
            return _record((await transaction.execute(sa.select(APPROVALS).where(*this))).mappings().one())

    async def list(self, tenant: str, query: ApprovalQuery) -> tuple[ApprovalRecord, ...]:
        """Return the approvals that the query wants, newest first; see `ApprovalBook.list`."""
        statement = sa.select(APPROVALS).where(_COLUMNS.tenant == tenant)
        if query.run_id:
            statement = statement.where(_COLUMNS.run_id == query.run_id)
        if query.state is not None:
            statement = statement.where(_COLUMNS.state == query.state)
        if query.approval_id:
            statement = statement.where(_COLUMNS.approval_id == query.approval_id)
        if query.before_approval_id:
            statement = statement.where(_COLUMNS.approval_id < query.before_approval_id)
        async with self._store.transaction() as transaction:
            await self._let_lapse(transaction, _COLUMNS.tenant == tenant)
            found = await transaction.execute(statement.order_by(_COLUMNS.approval_id.desc()).limit(query.limit))
            return tuple(_record(row) for row in found.mappings())

    async def _let_lapse(self, transaction: Transaction, *which: sa.ColumnElement[bool]) -> None:
        lapsed = sa.update(APPROVALS).where(*which, _COLUMNS.is_live, _COLUMNS.expires_at <= self._store.clock.now())
        await transaction.execute(lapsed.values(state=ApprovalState.EXPIRED, is_live=False))

    def _row(self, question: ApprovalQuestion) -> dict[str, object]:
        now = self._store.clock.now()
        return {
            "approval_id": new_id(self._store.clock),
            "tenant": question.tenant,
            "run_id": question.run_id,
            "step_id": question.step_id,
            "tool": question.tool,
            "arguments_hash": question.arguments_hash,
            "arguments_text": question.arguments_text,
            "state": ApprovalState.OPEN,
            "is_live": True,
            "requested_at": now,
            "expires_at": now + timedelta(seconds=question.expires_in_seconds),
            "expires_in_seconds": question.expires_in_seconds,
            "decided_by": "",
            "comment": "",
            "decision_request_id": "",
            "effect_id": "",
        }

    def __repr__(self) -> str:
        return f"SqlApprovalBook({self._store!r})"


async def use_approval(transaction: Transaction, approval_id: str, effect_id: str, now: datetime) -> None:
    """Use up an approval for a call, in the transaction that starts it.

    Raises:
        LeaveLost: It is not good for this call at this moment.
    """
    its_call = sa.exists().where(
        EFFECTS.c.effect_id == effect_id,
        EFFECTS.c.tenant == _COLUMNS.tenant,
        EFFECTS.c.run_id == _COLUMNS.run_id,
        EFFECTS.c.step_id == _COLUMNS.step_id,
        EFFECTS.c.tool == _COLUMNS.tool,
        EFFECTS.c.arguments_hash == _COLUMNS.arguments_hash,
    )
    used = sa.update(APPROVALS).where(
        _COLUMNS.approval_id == approval_id,
        _COLUMNS.state == ApprovalState.APPROVED,
        _COLUMNS.is_live,
        _COLUMNS.expires_at > now,
        its_call,
    )
    if (await transaction.execute(used.values(effect_id=effect_id, is_live=False))).rowcount != 1:
        raise LeaveLost(approval_id)


async def release_approval(transaction: Transaction, effect_id: str) -> None:
    """Make the approval of a call that never left good again, in the transaction that says so."""
    released = sa.update(APPROVALS).where(_COLUMNS.effect_id == effect_id, _COLUMNS.state == ApprovalState.APPROVED)
    await transaction.execute(released.values(effect_id="", is_live=True))


def _may_become(decision: Decision) -> sa.ColumnElement[bool]:
    """Return which approvals a decision changes: open ones; a withdrawal also what was granted and not used."""
    if decision.decision is ApprovalDecision.CANCELLED:
        return _COLUMNS.is_live
    return _COLUMNS.state == ApprovalState.OPEN


async def _refuse_reused_id(transaction: Transaction, tenant: str, decision: Decision) -> None:
    if not decision.request_id:
        return
    others = sa.or_(
        _COLUMNS.approval_id != decision.approval_id,
        sa.and_(
            _COLUMNS.state.in_((ApprovalState.APPROVED, ApprovalState.REJECTED)),
            _COLUMNS.state != STATE_OF[decision.decision],
        ),
    )
    statement = sa.select(_COLUMNS.approval_id).where(
        _COLUMNS.tenant == tenant, _COLUMNS.decision_request_id == decision.request_id, others
    )
    if (await transaction.execute(statement.limit(1))).first() is not None:
        raise RequestIdReused.of(decision.request_id)


def _same_call(question: ApprovalQuestion) -> tuple[sa.ColumnElement[bool], ...]:
    return (
        _COLUMNS.tenant == question.tenant,
        _COLUMNS.run_id == question.run_id,
        _COLUMNS.step_id == question.step_id,
        _COLUMNS.tool == question.tool,
        _COLUMNS.arguments_hash == question.arguments_hash,
    )


def _record(row: sa.RowMapping) -> ApprovalRecord:
    return ApprovalRecord(
        approval_id=row["approval_id"],
        run_id=row["run_id"],
        step_id=row["step_id"],
        tool=row["tool"],
        arguments_hash=row["arguments_hash"],
        arguments=exact_json.loads(row["arguments_text"]) if row["arguments_text"] else ABSENT,
        state=ApprovalState(row["state"]),
        requested_at=aware(row["requested_at"]),
        expires_at=aware(row["expires_at"]),
        decided_at=aware_or_none(row["decided_at"]),
        decided_by=row["decided_by"],
        comment=row["comment"],
        effect_id=row["effect_id"],
    )
