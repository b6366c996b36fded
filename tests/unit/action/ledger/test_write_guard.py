"""At most once, whatever the ledger's replies and the other processes do."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from taoloop.action.ledger.approvals import Decision
from taoloop.action.ledger.effects import EffectQuery, Resolution
from taoloop.action.ledger.write_guard import WriteCall
from taoloop.core.errors import BackendUnavailable
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.acting import ActionResult, ActionStatus, Attempt, ServedBy
from taoloop.plan.effects import ApprovalDecision, EffectState
from taoloop.testing.effect_ledger import StoredEffects
from tests.unit.action.ledger.guarded import DONE, Process

REFUSED = replace(
    DONE,
    status=ActionStatus.FAILED,
    status_code=422,
    fault=Fault(code=FaultCode.UPSTREAM_REFUSED, stage=FaultStage.ACTION, message="no"),
)


def code(result: ActionResult) -> str:
    return result.fault.code if result.fault is not None else ""


@pytest.mark.parametrize("lost", [1, 2, 3])
async def test_a_lost_reply_of_the_ledger_makes_no_second_call(lost: int) -> None:
    process = Process()
    process.ledger.lost_replies = lost  # of the plan, then of the start, then of the outcome
    assert (await process.once()).status is ActionStatus.SUCCEEDED
    assert (process.attempts, await process.states()) == (1, [EffectState.SUCCEEDED])


async def test_a_ledger_that_stays_away_keeps_the_call_at_home() -> None:
    process = Process()
    process.ledger.is_down = True
    began = process.clock.monotonic()
    with pytest.raises(BackendUnavailable):
        await process.once(seconds=60.0)
    assert (process.attempts, process.clock.monotonic() - began < 6) == (0, True)
    process.ledger.is_down = False
    assert (await process.once()).status is ActionStatus.SUCCEEDED


async def test_a_call_whose_start_was_not_confirmed_is_made_by_its_repeat() -> None:
    process = Process()
    process.ledger.lost_replies = 2
    patience = process.guard._patiently

    async def impatient(call: WriteCall, action: Any) -> Any:
        return await action() if process.ledger.lost_replies == 1 else await patience(call, action)

    process.guard._patiently = impatient  # type: ignore[method-assign]
    with pytest.raises(BackendUnavailable):
        await process.once()
    assert (process.attempts, await process.states()) == (0, [EffectState.STARTED])
    assert "never_left=1" in repr(process.guard)
    process.clock.advance(1)
    # It is planned anew: the store may still do later what it did not confirm.
    assert (await process.once()).status is ActionStatus.SUCCEEDED
    assert (process.attempts, await process.states()) == (1, [EffectState.SUCCEEDED, EffectState.FAILED])
    await process.guard.settle_leftovers()
    assert await process.states() == [EffectState.SUCCEEDED, EffectState.FAILED]


async def test_what_surely_never_left_is_settled_as_failed() -> None:
    process = Process()
    await _planned(process)
    await process.guard.settle_leftovers()
    assert await process.states() == [EffectState.FAILED]
    assert "never_left=0" in repr(process.guard)


async def _planned(process: Process, **changes: Any) -> str:
    """Return the effect of a call that was cut off before it started."""
    process.clock.advance(1)
    start = process.ledger.start

    async def cut_off(effect_id: str, approval_id: str = "") -> bool:
        raise asyncio.CancelledError

    process.ledger.start = cut_off  # type: ignore[method-assign]
    with pytest.raises(asyncio.CancelledError):
        await process.once(**changes)
    process.ledger.start = start  # type: ignore[method-assign]
    effect, *_ = await process.ledger.list("acme", EffectQuery())
    assert (effect.state, process.guard.in_progress) == (EffectState.PLANNED, frozenset())
    return effect.effect_id


async def test_a_call_that_was_cut_off_before_its_start_is_made_by_its_repeat() -> None:
    process = Process()
    await _planned(process)
    assert (await process.once()).status is ActionStatus.SUCCEEDED
    assert process.attempts == 1


async def test_a_call_is_not_given_up_under_the_hand_of_who_makes_it() -> None:
    process = Process()
    left_over = await _planned(process)
    finish, asked, go_on = process.ledger.finish, asyncio.Event(), asyncio.Event()

    async def slow(effect_id: str, *rest: Any, **more: Any) -> bool:
        if effect_id == left_over:
            asked.set()
            await go_on.wait()
        return await finish(effect_id, *rest, **more)

    process.ledger.finish = slow  # type: ignore[method-assign]
    async with asyncio.TaskGroup() as group:
        group.create_task(process.guard.settle_leftovers())
        await asked.wait()
        repeat = group.create_task(process.once(seconds=1e6))
        other = group.create_task(process.once(seconds=1e6))
        await asyncio.sleep(0)
        assert process.attempts == 0
        process.clock.advance(1)
        go_on.set()
    assert {repeat.result().status, other.result().status} == {ActionStatus.SUCCEEDED}
    assert (process.attempts, await process.states()) == (1, [EffectState.SUCCEEDED, EffectState.FAILED])


async def test_leftovers_that_were_made_meanwhile_are_left_alone() -> None:
    process = Process()
    first = await _planned(process)
    second = await _planned(process, arguments={"key": "second"})
    finish = process.ledger.finish

    async def repeated_meanwhile(effect_id: str, *rest: Any, **more: Any) -> bool:
        process.ledger.finish = finish  # type: ignore[method-assign]
        keys = {first: "second", second: "abc"}
        process.clock.advance(1)
        assert (await process.once(arguments={"key": keys[effect_id]})).status is ActionStatus.SUCCEEDED
        return await finish(effect_id, *rest, **more)

    process.ledger.finish = repeated_meanwhile  # type: ignore[method-assign]
    await process.guard.settle_leftovers()
    assert sorted(await process.states()) == [EffectState.FAILED, EffectState.FAILED, EffectState.SUCCEEDED]


async def test_an_outcome_that_the_ledger_does_not_take_is_told_and_counted() -> None:
    process = Process()
    process.release.clear()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(process.once(seconds=4.0))
        await process.entered.wait()
        process.ledger.is_down = True
        process.release.set()
    assert task.result().status is ActionStatus.SUCCEEDED
    value = process.telemetry.metrics.registry.get_sample_value("taoloop_action_effect_outcomes_lost_total")
    assert value == 1
    process.ledger.is_down = False
    again = await process.once()
    assert (again.status, again.served_by) == (ActionStatus.OUTCOME_UNKNOWN, ServedBy.DUPLICATE)
    assert (process.attempts, await process.states()) == (1, [EffectState.UNKNOWN])


async def test_a_call_that_another_process_makes_is_waited_for() -> None:
    store = StoredEffects()
    busy, other = Process(store), Process(store)
    busy.release.clear()
    async with asyncio.TaskGroup() as group:
        first = group.create_task(busy.once())
        await busy.entered.wait()
        second = group.create_task(other.once(seconds=1e6))
        await asyncio.sleep(0)
        assert not second.done()
        busy.release.set()
    assert first.result().served_by is None
    assert (second.result().status, second.result().served_by) == (ActionStatus.SUCCEEDED, ServedBy.DUPLICATE)
    assert (busy.attempts, other.attempts) == (1, 0)


async def test_one_who_cannot_wait_longer_is_told_that_nobody_knows() -> None:
    store = StoredEffects()
    busy, other = Process(store), Process(store)
    busy.release.clear()
    async with asyncio.TaskGroup() as group:
        group.create_task(busy.once())
        await busy.entered.wait()
        result = await other.once(seconds=2.0)
        busy.release.set()
    assert (result.status, result.served_by) == (ActionStatus.OUTCOME_UNKNOWN, ServedBy.DUPLICATE)
    assert other.attempts == 0


async def test_a_call_that_a_dead_process_made_is_unknown_once_it_is_known_to_be_dead() -> None:
    store = StoredEffects()
    dead, other = Process(store), Process(store)
    dead.release.clear()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(dead.once())
        await dead.entered.wait()
        await dead.ledger.leave()
        result = await other.once()
        assert result.status is ActionStatus.OUTCOME_UNKNOWN
        task.cancel()
    assert other.attempts == 0


async def test_the_same_call_twice_at_once_is_made_once() -> None:
    process = Process()
    process.release.clear()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(process.once()) for _ in range(3)]
        await process.entered.wait()
        process.release.set()
    assert process.attempts == 1
    assert sorted(str(task.result().served_by) for task in tasks) == ["None", "duplicate", "duplicate"]


async def test_one_who_waits_for_a_call_that_is_cancelled_is_told_that_nobody_knows() -> None:
    process = Process()
    process.release.clear()
    async with asyncio.TaskGroup() as group:
        first = group.create_task(process.once())
        await process.entered.wait()
        second = group.create_task(process.once())
        await asyncio.sleep(0)
        first.cancel()
    assert second.result().status is ActionStatus.OUTCOME_UNKNOWN
    assert process.attempts == 1


async def test_one_who_waits_in_vain_for_a_call_in_progress_is_told_that_nobody_knows() -> None:
    process = Process()
    process.release.clear()
    async with asyncio.TaskGroup() as group:
        group.create_task(process.once())
        await process.entered.wait()
        result = await process.once(seconds=0.01)
        process.release.set()
    assert result.status is ActionStatus.OUTCOME_UNKNOWN


async def test_a_call_that_was_taken_over_before_its_start_is_waited_for() -> None:
    store = StoredEffects()
    slow, other = Process(store), Process(store)
    plan = slow.ledger.plan

    async def taken_over(intent: Any) -> Any:
        claim = await plan(intent)
        if claim.is_new:
            await slow.ledger.leave()
            assert (await other.once()).status is ActionStatus.SUCCEEDED
        return claim

    slow.ledger.plan = taken_over  # type: ignore[method-assign]
    result = await slow.once()
    assert (result.status, result.served_by) == (ActionStatus.SUCCEEDED, ServedBy.DUPLICATE)
    assert (slow.attempts, other.attempts) == (0, 1)


async def test_a_leave_is_used_by_the_call_and_its_repeat_gets_the_result() -> None:
    process = Process()
    approval_id = await process.leave_for()
    assert (await process.once(approval_id=approval_id)).status is ActionStatus.SUCCEEDED
    assert (await process.once(approval_id=approval_id)).served_by is ServedBy.DUPLICATE
    assert process.attempts == 1


async def test_a_leave_that_is_good_no_more_keeps_the_call_at_home() -> None:
    process = Process()
    approval_id = await process.leave_for()
    withdrawn = Decision(approval_id=approval_id, decision=ApprovalDecision.CANCELLED, decided_by="ana")
    await process.ledger.approvals.decide("acme", withdrawn)
    result = await process.once(approval_id=approval_id)
    assert (result.status, code(result), result.approval_id) == (
        ActionStatus.REJECTED,
        FaultCode.APPROVAL_UNUSABLE,
        approval_id,
    )
    assert (process.attempts, await process.states()) == (0, [EffectState.FAILED])


@pytest.mark.parametrize(
    ("outcomes", "is_released"),
    [
        ((), True),
        ((FaultCode.TOOL_UNREACHABLE, FaultCode.POOL_EXHAUSTED), True),
        ((FaultCode.TOOL_UNREACHABLE, "answered"), False),
        ((FaultCode.TOOL_TIMEOUT,), False),
    ],
)
async def test_only_a_call_that_surely_never_left_gives_its_leave_back(
    outcomes: tuple[str, ...], is_released: bool
) -> None:
    process = Process()
    approval_id = await process.leave_for()
    attempts = tuple(Attempt(start=process.clock.now(), outcome=str(outcome)) for outcome in outcomes)
    process.result = replace(REFUSED, attempts=attempts)
    assert (await process.once(approval_id=approval_id)).status is ActionStatus.FAILED
    process.result = DONE
    expected = ActionStatus.SUCCEEDED if is_released else ActionStatus.REJECTED
    assert (await process.once(approval_id=approval_id)).status is expected


async def test_a_write_that_a_person_settled_is_not_made_again() -> None:
    process = Process()
    process.result = replace(DONE, status=ActionStatus.OUTCOME_UNKNOWN)
    effect_id = (await process.once()).effect_id
    await process.ledger.resolve("acme", Resolution(effect_id=effect_id, took_place=True, resolved_by="ana"))
    again = await process.once()
    assert (again.status, code(again)) == (ActionStatus.REJECTED, FaultCode.REPEATED_WRITE)
    other_step = await process.once(step_id="2.t1", iteration=2)
    assert (other_step.status, code(other_step)) == (ActionStatus.REJECTED, FaultCode.REPEATED_WRITE)
    assert process.attempts == 1


async def test_a_cancelled_call_whose_outcome_cannot_be_recorded_is_unknown_at_the_next_sight() -> None:
    process = Process()
    process.release.clear()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(process.once())
        await process.entered.wait()
        process.ledger.is_down = True
        task.cancel()
    process.ledger.is_down = False
    assert await process.states() == [EffectState.STARTED]
    assert (await process.once()).status is ActionStatus.OUTCOME_UNKNOWN
    assert await process.states() == [EffectState.UNKNOWN]
