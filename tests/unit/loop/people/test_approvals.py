"""Runs that wait for leave: they rest, go on step by step as people decide, and withdraw what they no longer want."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from taoloop.core.errors import BackendUnavailable, DeadlineExceeded, InvalidRequest, NotWaiting, UnknownRun
from taoloop.core.exact_json import JsonValue
from taoloop.core.faults import FaultCode
from taoloop.plan.acting import ExecuteRequest
from taoloop.plan.effects import ApprovalDecision, DecideApprovalRequest
from taoloop.plan.model import PlanStep, ThoughtPlan
from taoloop.plan.running import (
    ApprovalRequired,
    CancelRunRequest,
    LoopServiceDecideApprovalRequest,
    LoopServiceDecideApprovalResponse,
    RunEvent,
    RunResumed,
    StepSkipped,
)
from taoloop.plan.task import Limits, Outcome
from taoloop.plan.thinking import ThinkResponse
from taoloop.testing.run_log import InMemoryRunLog
from taoloop.testing.services import Answer, GatedAction
from tests.unit.loop.test_runs import TASK, Host, SlowRunLog, call, events_of, host, outcome_of

EXPIRES_AT = datetime(2026, 3, 11, tzinfo=UTC)
PAY = PlanStep(step_id="1.t1", tool="pay")
REFUND = PlanStep(step_id="1.t2", tool="refund")
TELL = PlanStep(step_id="1.t3", tool="tell", depends_on=("1.t1",))
FIND = PlanStep(step_id="1.t4", tool="find")
ANSWERS: dict[str, Answer] = {"pay": {"n": 1}, "refund": {"n": 2}, "tell": {"n": 3}, "find": {"n": 4}}


def plan(*steps: PlanStep) -> ThinkResponse:
    return ThinkResponse(outcome=ThoughtPlan(steps=steps), thought_id="7" * 32)


@asynccontextmanager
async def gated(
    *steps: PlanStep, answers: dict[str, Answer] | None = None, log: InMemoryRunLog | None = None
) -> AsyncIterator[Host]:
    action = GatedAction({**ANSWERS, **(answers or {})}, frozenset({"pay", "refund"}), EXPIRES_AT)
    async with host(plan(*steps), action=action, log=log) as here:
        yield here


async def decide(
    here: Host,
    run_id: str,
    step: PlanStep = PAY,
    decision: ApprovalDecision = ApprovalDecision.APPROVED,
    seconds: float = 5.0,
) -> LoopServiceDecideApprovalResponse:
    request = LoopServiceDecideApprovalRequest(
        request_id=f"q-{step.step_id}",
        run_id=run_id,
        approval_id=f"leave for {step.step_id}",
        decision=decision,
        decided_by="ana",
        comment="fine",
    )
    return await here.people.desk.decide_approval(request, call(seconds))


async def rest_of(here: Host, reply: LoopServiceDecideApprovalResponse) -> list[RunEvent]:
    return [event async for event in here.runs.watch(reply.run_id, reply.next_sequence, call())]


def called(here: Host) -> list[str]:
    return [request.step_id for request in here.action.requests]


async def test_a_step_that_needs_leave_brings_the_run_to_rest() -> None:
    async with gated(PAY, TELL, FIND) as here:
        events = await events_of(here)
        summary = await here.runs.get(events[0].run_id, call())

    assert outcome_of(events) is Outcome.NEEDS_APPROVAL
    (asked,) = [event.body for event in events if isinstance(event.body, ApprovalRequired)]
    assert (asked.approval_id, asked.step_id, asked.tool) == ("leave for 1.t1", "1.t1", "pay")
    assert (asked.expires_at, asked.arguments) == (EXPIRES_AT, {})
    assert summary.approvals_required == (asked,)
    assert sorted(called(here)) == ["1.t1", "1.t4"]  # what does not build on it ran, and what does has not
    assert not [event for event in events if isinstance(event.body, StepSkipped)]
    assert summary.usage is not None
    assert summary.usage.tool_calls == 1


async def test_leave_lets_the_run_go_on_where_it_stood() -> None:
    async with gated(PAY, TELL, FIND) as here:
        asked = await events_of(here)
        reply = await decide(here, asked[0].run_id)
        rest = await rest_of(here, reply)

    assert reply.decision is ApprovalDecision.APPROVED
    assert outcome_of(rest) is Outcome.ANSWERED
    assert called(here)[2:] == ["1.t1", "1.t3"]  # nothing that was done is done again
    resumed = here.action.requests[2]
    assert (resumed.approval_id, resumed.thought_id, resumed.iteration) == ("leave for 1.t1", "7" * 32, 1)
    assert here.action.requests[3].approval_id == ""
    first = rest[0].body
    assert isinstance(first, RunResumed)
    assert (first.reason, first.approval and first.approval.decided_by) == ("approval", "ana")
    (told,) = here.action.decisions
    assert (told.request_id, told.decided_by, told.comment) == ("q-1.t1", "ana", "fine")


async def test_a_rejection_is_the_steps_failure() -> None:
    async with gated(PAY, TELL) as here:
        run_id = (await events_of(here))[0].run_id
        rest = await rest_of(here, await decide(here, run_id, decision=ApprovalDecision.REJECTED))
        summary = await here.runs.get(run_id, call())

    assert outcome_of(rest) is Outcome.FAILED
    assert summary.fault is not None
    assert summary.fault.code == FaultCode.APPROVAL_REJECTED
    assert called(here) == ["1.t1", "1.t1"]


async def test_several_questions_are_answered_one_by_one() -> None:
    async with gated(PAY, REFUND) as here:
        asked = await events_of(here)
        run_id = asked[0].run_id
        assert len((await here.runs.get(run_id, call())).approvals_required) == 2
        between = await rest_of(here, await decide(here, run_id, REFUND))
        (left,) = (await here.runs.get(run_id, call())).approvals_required
        rest = await rest_of(here, await decide(here, run_id, PAY))

    assert outcome_of(between) is Outcome.NEEDS_APPROVAL
    assert left.step_id == "1.t1"
    assert outcome_of(rest) is Outcome.ANSWERED
    assert called(here)[2:] == ["1.t2", "1.t1"]


async def test_decisions_at_the_same_time_have_their_turns() -> None:
    async with gated(PAY, REFUND) as here:
        run_id = (await events_of(here))[0].run_id
        await asyncio.gather(decide(here, run_id, PAY), decide(here, run_id, REFUND))
        events = [event async for event in here.runs.watch(run_id, 1, call())]
        while outcome_of(events) is not Outcome.ANSWERED:
            events = [event async for event in here.runs.watch(run_id, events[-1].sequence + 1, call())]

    assert sorted(called(here)[2:]) == ["1.t1", "1.t2"]


async def test_a_decision_that_comes_twice_changes_nothing() -> None:
    async with gated(PAY) as here:
        run_id = (await events_of(here))[0].run_id
        first = await decide(here, run_id)
        await rest_of(here, first)
        second = await decide(here, run_id, decision=ApprovalDecision.REJECTED)

    assert (second.run_id, second.decision) == (run_id, ApprovalDecision.APPROVED)
    assert len(here.action.decisions) == 1
    assert called(here) == ["1.t1", "1.t1"]


async def test_the_run_records_who_decided_first_where_two_say_the_same() -> None:
    async with gated(PAY) as here:
        events = await events_of(here)
        asked = next(event.body for event in events if isinstance(event.body, ApprovalRequired))
        told = DecideApprovalRequest(approval_id=asked.approval_id, decision=ApprovalDecision.APPROVED, decided_by="bo")
        await here.action.decide_approval(told, call())

        resumed = (await rest_of(here, await decide(here, events[0].run_id)))[0].body

        assert isinstance(resumed, RunResumed)
        assert resumed.approval is not None
        assert resumed.approval.decided_by == "bo"


async def test_a_decision_waits_for_what_the_run_still_does() -> None:
    asked, go_on = asyncio.Event(), asyncio.Event()

    async def slow(_request: ExecuteRequest) -> JsonValue:
        asked.set()
        await go_on.wait()
        return {}

    async with gated(PAY, FIND, answers={"find": slow}) as here:
        submitted = await here.runs.submit(TASK, "d", call())
        await asked.wait()
        with pytest.raises(DeadlineExceeded):
            await decide(here, submitted.run_id, seconds=0.05)
        deciding = asyncio.ensure_future(decide(here, submitted.run_id))
        await asyncio.sleep(0)
        go_on.set()
        rest = await rest_of(here, await deciding)

    assert outcome_of(rest) is Outcome.ANSWERED


async def test_a_comment_that_is_too_long_is_refused_before_the_executor_hears_of_it() -> None:
    async with gated(PAY) as here:
        run_id = (await events_of(here))[0].run_id
        request = LoopServiceDecideApprovalRequest(
            run_id=run_id,
            approval_id="leave for 1.t1",
            decision=ApprovalDecision.REJECTED,
            decided_by="ana",
            comment="x" * 4097,
        )
        with pytest.raises(InvalidRequest, match="comment must have at most 4096 characters, not 4097"):
            await here.people.desk.decide_approval(request, call())

    assert not here.action.decisions


async def test_what_a_run_does_not_wait_for_cannot_be_decided() -> None:
    async with gated(PAY, FIND) as here:
        run_id = (await events_of(here))[0].run_id
        with pytest.raises(NotWaiting, match=r"waits for leave for 1\.t1"):
            await decide(here, run_id, FIND)
        with pytest.raises(UnknownRun):
            await decide(here, "0" * 32)
        assert here.action.decisions == []
    async with gated(FIND) as here:
        run_id = (await events_of(here))[0].run_id
        with pytest.raises(NotWaiting, match="waits for no approval"):
            await decide(here, run_id)


async def test_a_run_that_is_cancelled_withdraws_its_questions() -> None:
    async with gated(PAY, REFUND) as here:
        run_id = (await events_of(here))[0].run_id
        assert await here.runs.cancel(CancelRunRequest(run_id=run_id), call()) is Outcome.CANCELLED
        with pytest.raises(NotWaiting):
            await decide(here, run_id)
        assert (await here.runs.get(run_id, call())).approvals_required == ()

    withdrawn = [(known.approval_id, known.decision) for known in here.action.decisions]
    assert withdrawn == [
        ("leave for 1.t1", ApprovalDecision.CANCELLED),
        ("leave for 1.t2", ApprovalDecision.CANCELLED),
    ]


async def test_a_run_that_fails_withdraws_its_questions() -> None:
    async with gated(PAY, FIND, answers={"find": BackendUnavailable("away")}) as here:
        events = await events_of(here, seconds=0.3)

    assert outcome_of(events) is Outcome.FAILED
    assert [known.decision for known in here.action.decisions] == [ApprovalDecision.CANCELLED]


async def test_questions_that_cannot_be_withdrawn_are_left_to_lapse() -> None:
    async with gated(PAY) as here:
        run_id = (await events_of(here))[0].run_id

        async def away(_request: object, _call: object) -> object:
            raise BackendUnavailable("away")

        here.action.decide_approval = away  # type: ignore[method-assign, assignment]
        assert await here.runs.cancel(CancelRunRequest(run_id=run_id), call()) is Outcome.CANCELLED


async def test_a_call_that_waits_for_leave_is_no_call_of_its_tool() -> None:
    task = replace(TASK, limits=Limits(max_calls_per_tool=1))
    async with gated(PAY) as here:
        run_id = (await events_of(here, task))[0].run_id
        rest = await rest_of(here, await decide(here, run_id))

    assert outcome_of(rest) is Outcome.ANSWERED


async def test_who_is_cut_off_while_deciding_has_decided() -> None:
    log = SlowRunLog(slow_write=7)
    async with gated(PAY, log=log) as here:
        run_id = (await events_of(here))[0].run_id
        caller = asyncio.get_running_loop().create_task(decide(here, run_id))
        await log.is_writing.wait()
        caller.cancel()
        await asyncio.wait([caller])
        rest = [event async for event in here.runs.watch(run_id, 7, call())]

    assert isinstance(rest[0].body, RunResumed)
    assert outcome_of(rest) is Outcome.ANSWERED
