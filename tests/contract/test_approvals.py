"""One suite for every book of approvals: who may say what, and that a leave is good for one call."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from taoloop.action.errors import UnknownApproval
from taoloop.action.ledger.approvals import ApprovalQuery, ApprovalQuestion, Decision, LeaveLost
from taoloop.action.ledger.effects import EffectIntent, Forgotten, Resolution
from taoloop.action.ledger.ports import EffectLedger
from taoloop.core.errors import RequestIdReused
from taoloop.plan.effects import ApprovalDecision, ApprovalRecord, ApprovalState, EffectState
from taoloop.testing.clock import FakeClock
from tests.contract.conftest import Opener

HASH = "a" * 64
QUESTION = ApprovalQuestion(
    tenant="acme",
    run_id="r1",
    step_id="1.t1",
    tool="pay",
    arguments_hash=HASH,
    arguments_text='{"amount":1200.50}',
    expires_in_seconds=100.0,
)
INTENT = EffectIntent(tenant="acme", run_id="r1", step_id="1.t1", iteration=1, tool="pay", arguments_hash=HASH)


async def decided(
    ledger: EffectLedger, approval: ApprovalRecord, decision: ApprovalDecision = ApprovalDecision.APPROVED
) -> ApprovalRecord:
    wanted = Decision(approval_id=approval.approval_id, decision=decision, decided_by="ana", comment="fine")
    return await ledger.approvals.decide("acme", wanted)


async def planned(ledger: EffectLedger, intent: EffectIntent = INTENT) -> str:
    claim = await ledger.plan(intent)
    assert claim.is_new
    return claim.entry.effect.effect_id


async def state_of(ledger: EffectLedger, approval: ApprovalRecord) -> ApprovalState:
    (found,) = await ledger.approvals.list("acme", ApprovalQuery(approval_id=approval.approval_id))
    return found.state


async def test_a_question_stands_until_it_is_decided(ledger: EffectLedger, clock: FakeClock) -> None:
    asked = await ledger.approvals.ask(QUESTION)
    assert (asked.state, asked.run_id, asked.step_id, asked.tool) == (ApprovalState.OPEN, "r1", "1.t1", "pay")
    assert asked.expires_at is not None
    assert (asked.requested_at, (asked.expires_at - clock.now()).total_seconds()) == (clock.now(), 100.0)
    assert str(asked.arguments) == "{'amount': Decimal('1200.50')}"
    clock.advance(1)
    assert await ledger.approvals.ask(QUESTION) == asked


async def test_of_many_questions_at_once_one_is_asked(open_ledger: Opener) -> None:
    async with open_ledger() as left, open_ledger() as right:
        books = [left.approvals, right.approvals] * 4
        asked = await asyncio.gather(*(book.ask(QUESTION) for book in books))
    assert len({approval.approval_id for approval in asked}) == 1


@pytest.mark.parametrize(
    "other",
    [
        replace(QUESTION, tenant="other"),
        replace(QUESTION, run_id="r2"),
        replace(QUESTION, step_id="1.t2"),
        replace(QUESTION, tool="refund"),
        replace(QUESTION, arguments_hash="b" * 64),
    ],
)
async def test_a_leave_is_bound_to_tenant_run_step_tool_and_arguments(
    ledger: EffectLedger, other: ApprovalQuestion
) -> None:
    granted = await decided(ledger, await ledger.approvals.ask(QUESTION))
    assert (await ledger.approvals.ask(other)).approval_id != granted.approval_id
    its_call = replace(
        INTENT,
        tenant=other.tenant,
        run_id=other.run_id,
        step_id=other.step_id,
        tool=other.tool,
        arguments_hash=other.arguments_hash,
    )
    effect_id = await planned(ledger, its_call)
    with pytest.raises(LeaveLost):
        await ledger.start(effect_id, granted.approval_id)
    assert (await ledger.get(other.tenant, effect_id)).effect.state is EffectState.PLANNED  # nothing was recorded


@pytest.mark.parametrize(
    ("decision", "state"),
    [
        (ApprovalDecision.APPROVED, ApprovalState.APPROVED),
        (ApprovalDecision.REJECTED, ApprovalState.REJECTED),
        (ApprovalDecision.CANCELLED, ApprovalState.CANCELLED),
    ],
)
async def test_the_first_decision_stands(
    ledger: EffectLedger, clock: FakeClock, decision: ApprovalDecision, state: ApprovalState
) -> None:
    asked = await ledger.approvals.ask(QUESTION)
    clock.advance(1)
    first = await decided(ledger, asked, decision)
    assert (first.state, first.decided_by, first.comment, first.decided_at) == (state, "ana", "fine", clock.now())
    clock.advance(1)
    second = Decision(approval_id=asked.approval_id, decision=ApprovalDecision.REJECTED, decided_by="bob")
    assert await ledger.approvals.decide("acme", second) == first
    assert await ledger.approvals.ask(QUESTION) == first


async def test_a_decision_is_made_once_by_its_request_id(ledger: EffectLedger, clock: FakeClock) -> None:
    asked = await ledger.approvals.ask(QUESTION)
    other = await ledger.approvals.ask(replace(QUESTION, step_id="1.t2"))
    decision = Decision(
        approval_id=asked.approval_id, decision=ApprovalDecision.APPROVED, decided_by="ana", request_id="q1"
    )
    first = await ledger.approvals.decide("acme", decision)
    clock.advance(1)
    assert await ledger.approvals.decide("acme", decision) == first
    for reused in (
        replace(decision, approval_id=other.approval_id),
        replace(decision, decision=ApprovalDecision.REJECTED),
    ):
        with pytest.raises(RequestIdReused):
            await ledger.approvals.decide("acme", reused)
    assert await state_of(ledger, other) is ApprovalState.OPEN


async def test_an_approval_of_another_tenant_is_unknown(ledger: EffectLedger) -> None:
    asked = await ledger.approvals.ask(QUESTION)
    decision = Decision(
        approval_id=asked.approval_id, decision=ApprovalDecision.APPROVED, decided_by="mallory", request_id="q1"
    )
    with pytest.raises(UnknownApproval):
        await ledger.approvals.decide("other", decision)
    assert await ledger.approvals.list("other", ApprovalQuery()) == ()
    await ledger.approvals.decide("acme", decision)
    theirs = await ledger.approvals.ask(replace(QUESTION, tenant="other"))
    same_id = replace(decision, approval_id=theirs.approval_id)
    assert (await ledger.approvals.decide("other", same_id)).state is ApprovalState.APPROVED


async def test_nobody_decides_what_has_lapsed(ledger: EffectLedger, clock: FakeClock) -> None:
    asked = await ledger.approvals.ask(QUESTION)
    clock.advance(99.9)
    assert await state_of(ledger, asked) is ApprovalState.OPEN
    clock.advance(0.1)
    assert (await decided(ledger, asked)).state is ApprovalState.EXPIRED
    assert (await ledger.approvals.ask(QUESTION)).state is ApprovalState.EXPIRED
    (listed,) = await ledger.approvals.list("acme", ApprovalQuery(state=ApprovalState.EXPIRED))
    assert (listed.approval_id, listed.decided_by, listed.decided_at) == (asked.approval_id, "", None)


async def test_a_leave_is_used_by_one_call(ledger: EffectLedger) -> None:
    granted = await decided(ledger, await ledger.approvals.ask(QUESTION))
    effect_id = await planned(ledger)
    assert await ledger.start(effect_id, granted.approval_id)
    assert (await ledger.get("acme", effect_id)).effect.approval_id == granted.approval_id
    (used,) = await ledger.approvals.list("acme", ApprovalQuery())
    assert (used.state, used.effect_id) == (ApprovalState.APPROVED, effect_id)
    await ledger.finish(effect_id, EffectState.FAILED, "the tool refused")
    second = await planned(ledger)
    with pytest.raises(LeaveLost):
        await ledger.start(second, granted.approval_id)
    assert (await ledger.get("acme", second)).effect.state is EffectState.PLANNED


async def test_a_call_that_cannot_leave_does_not_use_its_leave(ledger: EffectLedger) -> None:
    granted = await decided(ledger, await ledger.approvals.ask(QUESTION))
    effect_id = await planned(ledger)
    await ledger.finish(effect_id, EffectState.FAILED, "given up", has_left=False)
    assert not await ledger.start(effect_id, granted.approval_id)
    assert await ledger.start(await planned(ledger), granted.approval_id)


async def test_a_call_whose_outcome_is_known_does_not_give_its_leave_back(ledger: EffectLedger) -> None:
    granted = await decided(ledger, await ledger.approvals.ask(QUESTION))
    effect_id = await planned(ledger)
    await ledger.start(effect_id, granted.approval_id)
    await ledger.finish(effect_id, EffectState.SUCCEEDED, "paid")
    assert not await ledger.finish(effect_id, EffectState.FAILED, "", has_left=False)
    kept = await ledger.approvals.ask(QUESTION)
    assert (kept.approval_id, kept.effect_id) == (granted.approval_id, effect_id)


async def test_a_call_that_may_have_taken_effect_keeps_its_leave(ledger: EffectLedger, clock: FakeClock) -> None:
    granted = await decided(ledger, await ledger.approvals.ask(QUESTION))
    effect_id = await planned(ledger)
    await ledger.start(effect_id, granted.approval_id)
    await ledger.finish(effect_id, EffectState.UNKNOWN, "")
    assert (await ledger.approvals.ask(QUESTION)).approval_id == granted.approval_id
    decision = Resolution(effect_id=effect_id, took_place=False, resolved_by="ana")
    await ledger.resolve("acme", decision)
    clock.advance(1)
    asked_anew = await ledger.approvals.ask(QUESTION)
    assert (asked_anew.state, asked_anew.approval_id != granted.approval_id) == (ApprovalState.OPEN, True)


async def test_a_call_that_the_tool_refused_has_used_its_leave(ledger: EffectLedger, clock: FakeClock) -> None:
    granted = await decided(ledger, await ledger.approvals.ask(QUESTION))
    effect_id = await planned(ledger)
    await ledger.start(effect_id, granted.approval_id)
    await ledger.finish(effect_id, EffectState.FAILED, "")
    clock.advance(1)
    asked_anew = await ledger.approvals.ask(QUESTION)
    assert (asked_anew.state, asked_anew.approval_id != granted.approval_id) == (ApprovalState.OPEN, True)
    assert (await ledger.approvals.ask(QUESTION)) == asked_anew


async def test_a_call_that_never_left_gives_its_leave_back(ledger: EffectLedger) -> None:
    granted = await decided(ledger, await ledger.approvals.ask(QUESTION))
    effect_id = await planned(ledger)
    await ledger.start(effect_id, granted.approval_id)
    await ledger.finish(effect_id, EffectState.FAILED, "", has_left=False)
    again = await ledger.approvals.ask(QUESTION)
    assert (again.approval_id, again.effect_id) == (granted.approval_id, "")
    assert await ledger.start(await planned(ledger), granted.approval_id)


async def test_a_leave_that_is_given_late_may_be_used_as_long_as_the_question_was_open(
    ledger: EffectLedger, clock: FakeClock
) -> None:
    asked = await ledger.approvals.ask(QUESTION)
    clock.advance(99)
    granted = await decided(ledger, asked)
    clock.advance(99)
    assert await state_of(ledger, granted) is ApprovalState.APPROVED
    clock.advance(1)
    with pytest.raises(LeaveLost):
        await ledger.start(await planned(ledger), granted.approval_id)
    assert await state_of(ledger, granted) is ApprovalState.EXPIRED


async def test_a_leave_that_was_used_never_lapses(ledger: EffectLedger, clock: FakeClock) -> None:
    granted = await decided(ledger, await ledger.approvals.ask(QUESTION))
    await ledger.start(await planned(ledger), granted.approval_id)
    clock.advance(1000)
    assert (await ledger.approvals.ask(QUESTION)).state is ApprovalState.APPROVED


async def test_a_leave_may_be_withdrawn_until_it_is_used(ledger: EffectLedger) -> None:
    granted = await decided(ledger, await ledger.approvals.ask(QUESTION))
    assert (await decided(ledger, granted, ApprovalDecision.CANCELLED)).state is ApprovalState.CANCELLED
    effect_id = await planned(ledger)
    with pytest.raises(LeaveLost):
        await ledger.start(effect_id, granted.approval_id)


async def test_a_leave_that_was_used_cannot_be_withdrawn(ledger: EffectLedger) -> None:
    granted = await decided(ledger, await ledger.approvals.ask(QUESTION))
    await ledger.start(await planned(ledger), granted.approval_id)
    assert (await decided(ledger, granted, ApprovalDecision.CANCELLED)).state is ApprovalState.APPROVED


async def test_approvals_are_listed_by_page_newest_first(ledger: EffectLedger, clock: FakeClock) -> None:
    ids = []
    for number in range(4):
        ids.append((await ledger.approvals.ask(replace(QUESTION, step_id=f"1.t{number}"))).approval_id)
        clock.advance(1)
    newest = await ledger.approvals.list("acme", ApprovalQuery(limit=3))
    older = await ledger.approvals.list("acme", ApprovalQuery(limit=3, before_approval_id=newest[-1].approval_id))
    assert [approval.approval_id for approval in (*newest, *older)] == ids[::-1]
    assert await ledger.approvals.list("acme", ApprovalQuery(run_id="elsewhere")) == ()
    assert await ledger.approvals.list("acme", ApprovalQuery(state=ApprovalState.REJECTED)) == ()


async def test_old_approvals_are_forgotten_with_their_calls(ledger: EffectLedger, clock: FakeClock) -> None:
    lapsed = await ledger.approvals.ask(replace(QUESTION, step_id="1.t9"))
    granted = await decided(ledger, await ledger.approvals.ask(QUESTION))
    effect_id = await planned(ledger)
    await ledger.start(effect_id, granted.approval_id)
    await ledger.finish(effect_id, EffectState.UNKNOWN, "")
    clock.advance(1000)
    assert await ledger.forgettable_before(clock.now()) == Forgotten(approvals=1, unsettled=1)
    assert await ledger.forget_before(clock.now()) == Forgotten(approvals=1, unsettled=1)
    (kept,) = await ledger.approvals.list("acme", ApprovalQuery())
    assert (kept.approval_id, kept.approval_id != lapsed.approval_id) == (granted.approval_id, True)
    await ledger.finish(effect_id, EffectState.SUCCEEDED, "")
    clock.advance(1)
    assert await ledger.forgettable_before(clock.now()) == Forgotten(effects=1, approvals=1)
    assert await ledger.forget_before(clock.now()) == Forgotten(effects=1, approvals=1)
    assert await ledger.approvals.list("acme", ApprovalQuery()) == ()
