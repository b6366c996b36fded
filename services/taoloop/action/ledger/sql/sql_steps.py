"""The steps of calls through the ledger on their usual way: those of many calls in one transaction."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Final, TypeVar

import sqlalchemy as sa

from taoloop.action.ledger.effects import FINISHED_FROM, Claim, EffectIntent, LedgerEntry
from taoloop.action.ledger.sql.tables import EFFECTS
from taoloop.plan.effects import EffectRecord, EffectState
from taoloop.wire.sql.sql_store import SqlStore, Transaction


@dataclass(frozen=True, slots=True)
class Plan:
    """Record an intent under a new id."""

    effect_id: str
    intent: EffectIntent


@dataclass(frozen=True, slots=True)
class Start:
    """Record that a call that needs no approval may leave."""

    effect_id: str


@dataclass(frozen=True, slots=True)
class Finish:
    """Record an outcome."""

    effect_id: str
    state: EffectState
    result_text: str


T = TypeVar("T")

Step = Plan | Start | Finish
Result = Claim | bool | None
"""Of a plan the claim of a new entry, or None where something stands in the way; else whether it was recorded."""

_COLUMNS: Final = EFFECTS.c
_IDS: Final[sa.BindParameter[str]] = sa.bindparam("ids", expanding=True)
_SEEN: Final = sa.select(_COLUMNS.tenant, _COLUMNS.request_id, _COLUMNS.request_digest).where(
    _COLUMNS.tenant.in_(sa.bindparam("tenants", expanding=True)), _COLUMNS.request_id.in_(_IDS)
)
_WITHDRAW: Final = sa.delete(EFFECTS).where(_COLUMNS.effect_id.in_(_IDS))
_START: Final = (
    sa.update(EFFECTS)
    .where(
        _COLUMNS.effect_id.in_(_IDS),
        _COLUMNS.state == EffectState.PLANNED,
        _COLUMNS.owner == sa.bindparam("by"),
    )
    .values(state=EffectState.STARTED, approval_id="", updated_at=sa.bindparam("now"))
    .returning(_COLUMNS.effect_id)
)
_FINISH: Final = (
    sa.update(EFFECTS)
    .where(_COLUMNS.effect_id.in_(_IDS), _COLUMNS.state.in_(sa.bindparam("earlier", expanding=True)))
    .values(state=sa.bindparam("outcome"), is_blocking=sa.bindparam("blocks"), updated_at=sa.bindparam("now"))
    .returning(_COLUMNS.effect_id)
)
_TELL: Final = (
    sa.update(EFFECTS).where(_COLUMNS.effect_id == sa.bindparam("id")).values(result_text=sa.bindparam("text"))
)


class SqlSteps:
    """Takes steps of any calls, in one transaction and with statements that were made once.

    Args:
        store: Where the tables are.
        owner: The process whose calls they are.
    """

    def __init__(self, store: SqlStore, owner: str) -> None:
        self._store = store
        self._owner = owner
        self._insert = store.insert(EFFECTS).on_conflict_do_nothing().returning(_COLUMNS.effect_id)

    async def take(self, steps: Sequence[Step]) -> list[Result]:
        """Take the steps and return what came of each, in order."""
        now = self._store.clock.now()
        plans = [step for step in steps if isinstance(step, Plan)]
        starts = [step.effect_id for step in steps if isinstance(step, Start)]
        finishes = [step for step in steps if isinstance(step, Finish)]
        async with self._store.transaction() as transaction:
            done = await self._planned(transaction, plans, now) if plans else set()
            if starts:
                values = {"ids": starts, "by": self._owner, "now": now}
                done |= set((await transaction.execute(_START, values)).scalars())
            finished = await _finished(transaction, finishes, now) if finishes else set()
        return [
            _taken(finished, (step.effect_id, step.state))
            if isinstance(step, Finish)
            else self._result(step, now, is_done=_taken(done, step.effect_id))
            for step in steps
        ]

    async def _planned(self, transaction: Transaction, plans: Sequence[Plan], now: datetime) -> set[str]:
        # By their keys, so that two processes never wait for each other's rows in a circle.
        in_order = sorted(plans, key=lambda plan: (plan.intent.run_id, plan.intent.tool, plan.intent.arguments_hash))
        rows = [new_row(plan.effect_id, plan.intent, self._owner, now) for plan in in_order]
        done = set((await transaction.execute(self._insert, rows)).scalars())
        asked = [plan for plan in plans if plan.effect_id in done and plan.intent.request_id]
        if not asked:
            return done
        tenants = {plan.intent.tenant for plan in asked}
        request_ids = [plan.intent.request_id for plan in asked]
        digests = defaultdict[tuple[str, str], set[str]](set)
        asked_ids = {"tenants": sorted(tenants), "ids": request_ids}
        for tenant, request_id, digest in await transaction.execute(_SEEN, asked_ids):
            digests[tenant, request_id].add(digest)
        reused = [plan.effect_id for plan in asked if len(digests[plan.intent.tenant, plan.intent.request_id]) > 1]
        if reused:
            await transaction.execute(_WITHDRAW, {"ids": reused})
        return done.difference(reused)

    def _result(self, step: Plan | Start, now: datetime, *, is_done: bool) -> Result:
        if isinstance(step, Start):
            return is_done
        return _claimed(step, self._owner, now) if is_done else None


def new_row(effect_id: str, intent: EffectIntent, owner: str, now: datetime) -> dict[str, object]:
    """Return the row of an intent."""
    return {
        "effect_id": effect_id,
        "tenant": intent.tenant,
        "run_id": intent.run_id,
        "step_id": intent.step_id,
        "iteration": intent.iteration,
        "tool": intent.tool,
        "arguments_hash": intent.arguments_hash,
        "arguments_text": intent.arguments_text,
        "idempotency_key": intent.idempotency_key,
        "approval_id": "",
        "request_id": intent.request_id,
        "request_digest": intent.request_digest,
        "state": EffectState.PLANNED,
        "is_blocking": True,
        "owner": owner,
        "planned_at": now,
        "updated_at": now,
        "result_text": "",
        "resolved_by": "",
        "resolution_comment": "",
        "resolution_request_id": "",
    }


def _taken(done: set[T], key: T) -> bool:
    """Tell whether a step was done, once: of two that ask for the same, the first did it."""
    if key not in done:
        return False
    done.remove(key)
    return True


async def _finished(
    transaction: Transaction, finishes: Sequence[Finish], now: datetime
) -> set[tuple[str, EffectState]]:
    """Record outcomes; return those that count, by effect and state: of one effect, two may be told at once."""
    done: set[tuple[str, EffectState]] = set()
    by_state = groupby(sorted(finishes, key=lambda step: step.state), key=lambda step: step.state)
    for state, steps in by_state:
        values = {
            "ids": [step.effect_id for step in steps],
            "earlier": sorted(FINISHED_FROM[state]),
            "outcome": state,
            "blocks": state is not EffectState.FAILED,
            "now": now,
        }
        done |= {(effect_id, state) for effect_id in (await transaction.execute(_FINISH, values)).scalars()}
    first = {(step.effect_id, step.state): step.result_text for step in reversed(finishes)}
    told = [{"id": effect_id, "text": first[effect_id, state]} for effect_id, state in done]
    if told:
        await transaction.execute(_TELL, told)
    return done


def _claimed(plan: Plan, owner: str, now: datetime) -> Claim:
    intent = plan.intent
    effect = EffectRecord(
        effect_id=plan.effect_id,
        run_id=intent.run_id,
        step_id=intent.step_id,
        iteration=intent.iteration,
        tool=intent.tool,
        arguments_hash=intent.arguments_hash,
        state=EffectState.PLANNED,
        planned_at=now,
        updated_at=now,
        idempotency_key=intent.idempotency_key,
    )
    entry = LedgerEntry(effect=effect, tenant=intent.tenant, owner=owner, arguments_text=intent.arguments_text)
    return Claim(entry=entry, is_new=True, is_ours=True)
