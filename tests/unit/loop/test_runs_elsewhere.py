"""Runs that another host drives: attached to, followed, answered and cancelled through the log."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from taoloop.core.errors import InvalidRequest
from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.core.telemetry import names
from taoloop.loop.hosting.leases import LeaseKeeper, LeaseTerms
from taoloop.plan.acting import ActionResult, ActionStatus, ExecuteRequest, JobCare
from taoloop.plan.effects import ApprovalDecision
from taoloop.plan.running import (
    ActionReturned,
    CancelRunRequest,
    LoopServiceDecideApprovalRequest,
    ProvideInputRequest,
    RunFinished,
)
from taoloop.plan.task import InputField, Outcome, ProvidedInput
from taoloop.plan.thinking import NeedInput, ThinkResponse
from taoloop.testing.run_log import InMemoryRunLeases
from taoloop.testing.services import ScriptedAction
from tests.unit.loop.people.waiting import ANSWERS, FIND, PAY, TASK, Host, Store, outcome_of, plan, waiting_host

INPUT_ID = "a" * 32
ASK = ThinkResponse(
    outcome=NeedInput(input_id=INPUT_ID, fields=(InputField(pointer="/id", tool="find", schema={"type": "string"}),))
)


class Hanging:
    """A tool that never answers, and knows whether its call was cut off."""

    def __init__(self) -> None:
        self.is_asked = asyncio.Event()
        self.was_cancelled = False

    async def __call__(self, _: ExecuteRequest) -> JsonValue:
        self.is_asked.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.was_cancelled = True
            raise
        return {}


async def renew(here: Host, name: str) -> None:
    """Let a host renew its leases, as it does each third of their time."""
    leases = InMemoryRunLeases(here.store.leases, name)
    terms = LeaseTerms(lease_seconds=10.0, timeout_seconds=1.0)
    await LeaseKeeper(here.store.log, leases, terms, here.telemetry, here.store.clock).renew(tuple(here.host.open_runs))


async def test_a_run_that_is_cancelled_elsewhere_stops_its_tools_when_its_host_renews_its_lease() -> None:
    store, tool = Store(), Hanging()
    action = ScriptedAction({**ANSWERS, "find": tool})
    async with (
        waiting_host(plan(FIND), store=store, action=action) as here,
        waiting_host(store=store, name="there") as there,
    ):
        run_id = (await here.runs.submit(TASK, "d", here.call())).run_id
        await tool.is_asked.wait()
        outcome = await there.runs.cancel(CancelRunRequest(run_id=run_id, reason="not wanted"), there.call())
        again = await there.runs.cancel(CancelRunRequest(run_id=run_id), there.call())
        await renew(here, "here")
        await asyncio.wait([run.work for run in here.host.open_runs], timeout=5.0)
        bodies = await here.bodies(run_id)

    assert (outcome, again) == (Outcome.CANCELLED, Outcome.CANCELLED)
    assert tool.was_cancelled
    assert here.counted(names.RUN_LEASES_LOST) == 0  # that counts hosts which stood still
    (cut,) = [body.result for body in bodies if isinstance(body, ActionReturned)]
    assert cut is not None
    assert (cut.status, cut.fault and cut.fault.message) == (ActionStatus.FAILED, "not wanted")
    (finished,) = [body for body in bodies if isinstance(body, RunFinished)]
    assert finished.fault is not None
    assert finished.fault.message == "not wanted"


async def test_the_jobs_of_a_run_that_is_cancelled_elsewhere_are_let_go() -> None:
    store, is_waiting = Store(), asyncio.Event()

    async def work_on(request: ExecuteRequest) -> ActionResult | JsonValue:
        if request.job_handle is ABSENT:
            return ActionResult(step_id="", tool="", status=ActionStatus.PENDING, job_handle={"job": 7})
        is_waiting.set()
        await asyncio.Event().wait()
        return {}

    async with (
        waiting_host(plan(FIND), store=store, action=ScriptedAction({**ANSWERS, "find": work_on})) as here,
        waiting_host(store=store, name="there") as there,
    ):
        run_id = (await here.runs.submit(TASK, "d", here.call())).run_id
        await is_waiting.wait()
        await there.runs.cancel(CancelRunRequest(run_id=run_id), there.call())
        await renew(here, "here")

    (told,) = there.action.requests
    assert (told.job_care, told.job_handle) == (JobCare.CANCEL, {"job": 7})


async def test_the_reason_of_a_cancellation_is_in_the_log_wherever_the_run_is_driven() -> None:
    tool = Hanging()
    async with waiting_host(plan(FIND), action=ScriptedAction({**ANSWERS, "find": tool})) as here:
        run_id = (await here.runs.submit(TASK, "d", here.call())).run_id
        await tool.is_asked.wait()
        with pytest.raises(InvalidRequest, match="too long"):
            await here.runs.cancel(CancelRunRequest(run_id=run_id, reason="x" * 4097), here.call())
        await here.runs.cancel(CancelRunRequest(run_id=run_id, reason="not wanted"), here.call())
        summary = await here.summary(run_id)

    assert summary.fault is not None
    assert (summary.fault.code, summary.fault.message) == ("CANCELLED", "not wanted")


async def test_the_same_request_attaches_to_the_run_of_another_host() -> None:
    store = Store()
    async with (
        waiting_host(plan(FIND), store=store) as here,
        waiting_host(plan(FIND), store=store, name="there") as there,
    ):
        first = [event async for event in here.runs.run(TASK, "d", here.call())]
        second = [event async for event in there.runs.run(TASK, "d", there.call())]
        other = await there.runs.submit(TASK, "d", there.call(tenant="other"))

    assert first == second
    assert other.run_id != first[0].run_id  # a request id stands for one run of its tenant
    assert not other.attached


async def test_a_question_is_answered_on_any_host_and_a_repeat_gets_the_same_reply() -> None:
    store = Store()
    given = ProvidedInput(input_id=INPUT_ID, values={"id": "A1"})
    async with (
        waiting_host(ASK, plan(FIND), store=store) as here,
        waiting_host(ASK, plan(FIND), store=store, name="there") as there,
    ):
        run_id = await here.begin()
        request = ProvideInputRequest(run_id=run_id, input=given)
        reply = await there.people.desk.provide_input(request, there.call())
        assert outcome_of(await here.from_event(run_id, reply.next_sequence)) is Outcome.ANSWERED
        again = await here.people.desk.provide_input(request, here.call())

    assert again == reply


async def test_the_repeat_of_a_decision_gets_the_same_reply() -> None:
    store = Store()
    async with waiting_host(plan(PAY), store=store) as here:
        run_id = await here.begin()
        request = LoopServiceDecideApprovalRequest(
            run_id=run_id, approval_id="leave for 1.t1", decision=ApprovalDecision.APPROVED, decided_by="ana"
        )
        first = await here.people.desk.decide_approval(request, here.call())
        again = await here.people.desk.decide_approval(request, here.call())

    assert again == first


class Slow:
    """A tool that answers when it is let."""

    def __init__(self) -> None:
        self.is_asked = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def __call__(self, _: ExecuteRequest) -> JsonValue:
        self.is_asked.set()
        await self.may_answer.wait()
        return {}


async def test_a_second_caller_follows_an_open_run_on_any_host_and_may_leave_it() -> None:
    store, tool = Store(), Slow()
    async with (
        waiting_host(plan(FIND), store=store, action=ScriptedAction({**ANSWERS, "find": tool})) as here,
        waiting_host(store=store, name="there") as there,
    ):
        first = asyncio.ensure_future(here.begin())
        await tool.is_asked.wait()
        async with aclosing(there.runs.run(TASK, "d", there.call())) as leaving:
            run_id = (await anext(leaving)).run_id
        async with aclosing(here.runs.run(TASK, "d", here.call())) as leaving:
            assert (await anext(leaving)).run_id == run_id
        staying = asyncio.ensure_future(there.from_event(run_id, 1))
        await asyncio.sleep(0)
        tool.may_answer.set()

        assert await first == run_id
        assert outcome_of(await staying) is Outcome.ANSWERED
