"""What a write guard records: for whom a call is planned, and what came of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from taoloop.action.ledger.effects import EffectQuery
from taoloop.plan.acting import ActionResult, ActionStatus, ServedBy
from taoloop.plan.effects import EffectState
from tests.unit.action.ledger.guarded import DONE, Process


async def test_what_another_step_planned_is_given_up_and_planned_anew() -> None:
    process = Process()
    plan = process.ledger.plan

    async def cut_off(intent: Any) -> Any:
        await plan(intent)
        raise asyncio.CancelledError

    process.ledger.plan = cut_off  # type: ignore[method-assign]
    with pytest.raises(asyncio.CancelledError):
        await process.once()
    process.ledger.plan = plan  # type: ignore[method-assign]
    process.clock.advance(1)
    result = await process.once(step_id="2.t1", iteration=2)
    made, left = await process.ledger.list("acme", EffectQuery())
    assert (result.status, result.effect_id) == (ActionStatus.SUCCEEDED, made.effect_id)
    assert (made.step_id, made.iteration, made.state) == ("2.t1", 2, EffectState.SUCCEEDED)
    assert (left.state, made.idempotency_key != left.idempotency_key) == (EffectState.FAILED, True)
    assert (process.attempts, "never_left=0" in repr(process.guard)) == (1, True)


@pytest.mark.parametrize(
    ("result", "served_status"),
    [
        (replace(DONE, parsed={"id": float("nan")}), ActionStatus.SUCCEEDED),
        (replace(DONE, tool="\ud800"), ActionStatus.OUTCOME_UNKNOWN),
    ],
)
async def test_a_success_whose_envelope_cannot_be_written_is_recorded_without_it(
    result: ActionResult, served_status: ActionStatus
) -> None:
    process = Process()
    process.result = result
    assert (await process.once()).status is ActionStatus.SUCCEEDED
    assert await process.states() == [EffectState.SUCCEEDED]
    again = await process.once()
    assert (again.status, again.served_by, process.attempts) == (served_status, ServedBy.DUPLICATE, 1)
