"""Approvals that nobody decides: warned of, lapsed, and what their runs do then, on whatever host looks first."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from taoloop.core.calls import CallContext
from taoloop.core.errors import BackendUnavailable
from taoloop.core.faults import FaultCode
from taoloop.core.tasks import beside
from taoloop.core.telemetry import names
from taoloop.loop.people.expiry import OnExpire
from taoloop.loop.people.wake_ups import ExpiryWarning
from taoloop.loop.state import RunState
from taoloop.plan.effects import ApprovalDecision, DecideApprovalRequest
from taoloop.plan.running import (
    ApprovalExpiring,
    ApprovalRequired,
    CancelRunRequest,
    LoopServiceDecideApprovalRequest,
    RunResumed,
    StepSkipped,
)
from taoloop.plan.task import Outcome
from taoloop.testing.services import GatedAction
from tests.unit.loop.people.waiting import (
    ANSWERS,
    FIND,
    OPEN_FOR,
    PAY,
    REFUND,
    TELL,
    WARNING,
    Host,
    Store,
    key,
    outcome_of,
    plan,
    waiting_host,
)

OPEN_SECONDS = OPEN_FOR.total_seconds()
LEAVE = "leave for 1.t1"


def lapse(here: Host, *approval_ids: str) -> None:
    """Let approvals lapse at the executor."""
    here.action.lapsed.update(approval_ids or {LEAVE})


async def rest_after(here: Host, run_id: str, sequence: int) -> Outcome | None:
    return outcome_of(await here.from_event(run_id, sequence + 1))


async def test_it_is_told_once_before_an_approval_lapses() -> None:
    async with waiting_host(plan(PAY)) as here:
        run_id = await here.begin()
        before = await here.bodies(run_id)
        await here.wake(OPEN_SECONDS - WARNING.seconds - 1)
        assert await here.bodies(run_id) == before
        await here.wake(1)
        await here.wake(1)
        bodies = await here.bodies(run_id)
        summary = await here.summary(run_id)

    (told,) = [body for body in bodies if isinstance(body, ApprovalExpiring)]
    (asked,) = [body for body in bodies if isinstance(body, ApprovalRequired)]
    assert (told.approval_id, told.step_id, told.tool, told.expires_at) == (LEAVE, "1.t1", "pay", asked.expires_at)
    assert (summary.outcome, summary.approvals_required) == (Outcome.NEEDS_APPROVAL, (asked,))
    assert here.counted(names.APPROVALS_WARNED) == 1


async def test_a_warned_run_can_still_be_let_go_on() -> None:
    async with waiting_host(plan(PAY)) as here:
        run_id = await here.begin()
        await here.wake(OPEN_SECONDS - 60)
        request = LoopServiceDecideApprovalRequest(
            run_id=run_id, approval_id=LEAVE, decision=ApprovalDecision.APPROVED, decided_by="ana"
        )
        reply = await here.people.desk.decide_approval(request, here.call())
        rest = await here.from_event(run_id, reply.next_sequence)
        await here.wake(OPEN_SECONDS)

    assert outcome_of(rest) is Outcome.ANSWERED
    assert here.counted(names.APPROVALS_LAPSED, reaction="fail") == 0


async def test_who_follows_a_run_through_its_waits_sees_the_warning_and_the_end() -> None:
    async with waiting_host(plan(PAY)) as here:
        run_id = await here.begin()
        await here.wake(OPEN_SECONDS - 60)
        lapse(here)
        await here.wake(60)
        events = [event async for event in here.runs.watch(run_id, 1, here.call(), through_waits=True)]
        resting = [event async for event in here.runs.watch(run_id, events[-1].sequence + 1, here.call())]

    kinds = [type(event.body).__name__ for event in events]
    assert kinds.index("ApprovalExpiring") < kinds.index("RunResumed")
    assert outcome_of(events) is Outcome.FAILED
    assert resting == []


async def test_after_a_lapse_the_run_goes_on_by_itself_with_the_outcome_expired() -> None:
    async with waiting_host(plan(PAY, TELL, FIND)) as here:
        run_id = await here.begin()
        asked = (await here.summary(run_id)).last_sequence
        lapse(here)
        await here.wake(OPEN_SECONDS)
        outcome = await rest_after(here, run_id, asked)
        bodies = await here.bodies(run_id)
        summary = await here.summary(run_id)

    (went_on,) = [body for body in bodies if isinstance(body, RunResumed)]
    assert went_on.approval is not None
    assert (went_on.approval.decision, went_on.approval.decided_by) == (ApprovalDecision.EXPIRED, "")
    assert outcome is Outcome.FAILED
    assert summary.fault is not None
    assert summary.fault.code == FaultCode.APPROVAL_EXPIRED
    assert here.action.decisions == []  # nobody rejected anything
    assert here.counted(names.APPROVALS_LAPSED, reaction="fail") == 1


async def test_a_decision_of_the_last_moment_holds() -> None:
    async with waiting_host(plan(PAY)) as here:
        run_id = await here.begin()
        asked = (await here.summary(run_id)).last_sequence
        decision = DecideApprovalRequest(approval_id=LEAVE, decision=ApprovalDecision.APPROVED, decided_by="ben")
        await here.action.decide_approval(decision, here.call())  # told to the executor, not to the run
        lapse(here)
        await here.wake(OPEN_SECONDS)
        outcome = await rest_after(here, run_id, asked)
        bodies = await here.bodies(run_id)

    (went_on,) = [body for body in bodies if isinstance(body, RunResumed)]
    assert went_on.approval is not None
    assert (went_on.approval.decision, went_on.approval.decided_by) == (ApprovalDecision.APPROVED, "ben")
    assert outcome is Outcome.ANSWERED


async def test_the_executors_clock_says_when_an_approval_has_lapsed() -> None:
    async with waiting_host(plan(PAY)) as here:
        run_id = await here.begin()
        asked = (await here.summary(run_id)).last_sequence
        await here.wake(OPEN_SECONDS)  # the executor takes it for open still
        assert (await here.summary(run_id)).outcome is Outcome.NEEDS_APPROVAL
        lapse(here)
        await here.wake(1)

        assert await rest_after(here, run_id, asked) is Outcome.FAILED


async def test_several_approvals_lapse_together_and_each_is_told() -> None:
    async with waiting_host(plan(PAY, REFUND)) as here:
        run_id = await here.begin()
        asked = (await here.summary(run_id)).last_sequence
        lapse(here, LEAVE, "leave for 1.t2")
        await here.wake(OPEN_SECONDS)
        outcome = await rest_after(here, run_id, asked)
        bodies = await here.bodies(run_id)

    told = [body.approval for body in bodies if isinstance(body, RunResumed)]
    assert [each and each.approval_id for each in told] == [LEAVE, "leave for 1.t2"]
    assert outcome is Outcome.FAILED


async def test_a_lapse_is_handed_over_where_the_operator_wants_it() -> None:
    async with waiting_host(plan(PAY, TELL), on_expire=OnExpire.HAND_OVER) as here:
        run_id = await here.begin()
        lapse(here)
        await here.wake(OPEN_SECONDS)
        summary = await here.summary(run_id)
        bodies = await here.bodies(run_id)

    assert summary.outcome is Outcome.NEEDS_HUMAN
    (required,) = summary.handovers_required
    assert (required.step_id, required.fault and required.fault.code) == ("1.t1", FaultCode.APPROVAL_EXPIRED)
    assert summary.approvals_required == ()
    assert [body.step_id for body in bodies if isinstance(body, StepSkipped)] == ["1.t1"]
    assert [request.step_id for request in here.action.requests] == ["1.t1"]
    assert here.counted(names.HANDOVERS, event="opened") == 1


async def test_of_two_questions_the_one_that_lapses_leaves_the_other_open() -> None:
    async with waiting_host(plan(PAY, REFUND), on_expire=OnExpire.HAND_OVER) as here:
        run_id = await here.begin()
        lapse(here)
        await here.wake(OPEN_SECONDS)
        between = await here.summary(run_id)
        request = LoopServiceDecideApprovalRequest(
            run_id=run_id, approval_id="leave for 1.t2", decision=ApprovalDecision.APPROVED, decided_by="ana"
        )
        reply = await here.people.desk.decide_approval(request, here.call())
        rest = await here.from_event(run_id, reply.next_sequence)
        after = await here.summary(run_id)

    assert [each.step_id for each in between.approvals_required] == ["1.t2"]
    assert [each.step_id for each in between.handovers_required] == ["1.t1"]
    assert outcome_of(rest) is Outcome.NEEDS_HUMAN  # the refund was made, and the payment is still a person's
    assert after.handovers_required == between.handovers_required
    assert here.action.requests[-1].tool == "refund"


async def test_a_lapse_is_asked_about_again_where_the_operator_wants_it() -> None:
    async with waiting_host(plan(PAY, TELL), on_expire=OnExpire.ASK_AGAIN) as here:
        run_id = await here.begin()
        asked = (await here.summary(run_id)).last_sequence
        lapse(here)
        await here.wake(OPEN_SECONDS)
        outcome = await rest_after(here, run_id, asked)
        summary = await here.summary(run_id)

    assert outcome is Outcome.NEEDS_APPROVAL
    assert [each.approval_id for each in summary.approvals_required] == ["leave for 2.t1"]
    assert here.thoughts.requests[1].completed == ()


async def test_asking_again_ends_with_the_runs_thoughts() -> None:
    action = GatedAction(ANSWERS, frozenset({"pay"}), Store().clock.now())
    async with waiting_host(plan(PAY), action=action, on_expire=OnExpire.ASK_AGAIN) as here:
        run_id = await here.begin()
        outcome = None
        for iteration in range(1, 6):
            asked = (await here.summary(run_id)).last_sequence
            lapse(here, f"leave for {iteration}.t1")
            await here.wake(1)
            outcome = await rest_after(here, run_id, asked)
        await here.wake(1)

    assert outcome is Outcome.LIMIT_REACHED


async def test_two_hosts_that_look_at_the_same_time_act_once() -> None:
    store = Store()
    async with (
        waiting_host(plan(PAY), store=store) as here,
        waiting_host(plan(PAY), store=store, action=None) as there,
    ):
        run_id = await here.begin()
        asked = (await here.summary(run_id)).last_sequence
        lapse(here)
        lapse(there)
        store.clock.advance(OPEN_SECONDS)
        await store.wake_ups.set(key(run_id), store.clock.now(), here.call().deadline)
        await here.waker.look()
        await store.wake_ups.set(key(run_id), store.clock.now(), here.call().deadline)
        await there.waker.look()
        assert await rest_after(here, run_id, asked) is Outcome.FAILED
        bodies = await here.bodies(run_id)

    assert len([body for body in bodies if isinstance(body, RunResumed)]) == 1


async def test_the_run_of_a_host_that_died_is_woken_by_another() -> None:
    store = Store()
    async with waiting_host(plan(PAY), store=store) as here:
        run_id = await here.begin()
        asked = (await here.summary(run_id)).last_sequence
    async with waiting_host(plan(PAY), store=store) as there:
        lapse(there)
        await there.wake(OPEN_SECONDS)

        assert await rest_after(there, run_id, asked) is Outcome.FAILED


async def test_a_host_that_stops_leaves_what_has_lapsed_to_others() -> None:
    async with waiting_host(plan(PAY)) as here:
        run_id = await here.begin()
        lapse(here)
        await here.host.wind_down()
        await here.wake(OPEN_SECONDS)

        due = here.store.wake_ups.moment_of(key(run_id))
        assert due is not None
        assert due <= here.store.clock.now()


async def test_a_run_whose_executor_is_away_is_woken_later() -> None:
    async with waiting_host(plan(PAY)) as here:
        run_id = await here.begin()
        asked = (await here.summary(run_id)).last_sequence
        known = here.action.list_approvals

        async def away(_request: object, _call: object) -> object:
            raise BackendUnavailable("away")

        here.action.list_approvals = away  # type: ignore[method-assign, assignment]
        await here.wake(OPEN_SECONDS)
        assert (await here.summary(run_id)).outcome is Outcome.NEEDS_APPROVAL
        here.action.list_approvals = known  # type: ignore[method-assign]
        lapse(here)
        await here.wake(31)  # the claim is over

        assert await rest_after(here, run_id, asked) is Outcome.FAILED


async def test_a_decision_that_comes_too_late_is_told_what_holds() -> None:
    async with waiting_host(plan(PAY)) as here:
        run_id = await here.begin()
        lapse(here)
        request = LoopServiceDecideApprovalRequest(
            run_id=run_id, approval_id=LEAVE, decision=ApprovalDecision.APPROVED, decided_by="ana"
        )
        reply = await here.people.desk.decide_approval(request, here.call())
        rest = await here.from_event(run_id, reply.next_sequence)
        again = await here.people.desk.decide_approval(request, here.call())

    assert reply.decision is ApprovalDecision.EXPIRED
    assert outcome_of(rest) is Outcome.FAILED
    assert isinstance(rest[0].body, RunResumed)
    assert rest[0].body.approval is not None
    assert rest[0].body.approval.decided_by == ""
    assert again == reply


async def test_a_run_that_waits_for_leave_no_more_is_left_alone() -> None:
    async with waiting_host(plan(PAY)) as here:
        run_id = await here.begin()
        await here.runs.cancel(CancelRunRequest(run_id=run_id), here.call())
        before = await here.bodies(run_id)
        lapse(here)
        await here.wake(OPEN_SECONDS)

        assert await here.bodies(run_id) == before
        assert here.store.wake_ups.moment_of(key(run_id)) is None


async def test_a_run_past_its_retention_is_forgotten() -> None:
    async with waiting_host(plan(PAY)) as here:
        await here.store.wake_ups.set(key("0" * 32), here.store.clock.now(), here.call().deadline)
        await here.wake()

        assert here.store.wake_ups.moment_of(key("0" * 32)) is None


@pytest.mark.parametrize(
    ("open_for", "seconds", "told_before"),
    [
        (timedelta(hours=24), 3600.0, timedelta(hours=1)),
        (timedelta(minutes=10), 3600.0, timedelta(minutes=5)),
        (timedelta(hours=24), 0.0, None),
    ],
)
def test_the_warning_comes_in_good_time_and_at_most_half_way(
    open_for: timedelta, seconds: float, told_before: timedelta | None
) -> None:
    asked_at = Store().clock.now()
    approval = ApprovalRequired(approval_id=LEAVE, expires_at=asked_at + open_for)
    told_at = ExpiryWarning(seconds=seconds).at(approval, asked_at)

    assert told_at == (None if told_before is None else asked_at + open_for - told_before)


async def test_wake_ups_that_are_away_do_not_end_the_looking() -> None:
    async with waiting_host(plan(PAY)) as here:
        run_id = await here.begin()
        asked = (await here.summary(run_id)).last_sequence
        lapse(here)
        here.store.wake_ups.is_down = True
        with pytest.raises(BackendUnavailable):
            await here.wake(OPEN_SECONDS)
        async with asyncio.timeout(10), beside(looking=here.waker.look_again_and_again()):
            for _ in range(3):
                await asyncio.sleep(0)
                here.store.clock.advance(1)
            here.store.wake_ups.is_down = False
            while (await here.summary(run_id)).outcome is Outcome.NEEDS_APPROVAL:
                await asyncio.sleep(0)
                here.store.clock.advance(1)

            assert await rest_after(here, run_id, asked) is Outcome.FAILED


async def test_a_run_that_somebody_else_writes_to_is_looked_at_again() -> None:
    async with waiting_host(plan(PAY)) as here:
        run_id = await here.begin()
        asked = (await here.summary(run_id)).last_sequence
        lapse(here)
        known = here.people.lapses.runs.read

        async def outdated(run_id: str, call: CallContext) -> RunState:
            state = await known(run_id, call)
            state.last_sequence -= 1  # as if an event were written between the look and the word
            return state

        here.people.lapses.runs.read = outdated  # type: ignore[method-assign]
        await here.wake(OPEN_SECONDS)
        assert (await here.summary(run_id)).outcome is Outcome.NEEDS_APPROVAL
        here.people.lapses.runs.read = known  # type: ignore[method-assign]
        await here.wake(1)

        assert await rest_after(here, run_id, asked) is Outcome.FAILED
