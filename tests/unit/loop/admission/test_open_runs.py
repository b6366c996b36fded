"""How many runs a tenant may have open, on all hosts together."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from taoloop.core.errors import BackendUnavailable, InvalidRequest, RequestIdReused, TooManyTenantRuns
from taoloop.core.exact_json import JsonValue
from taoloop.core.telemetry import names
from taoloop.loop.state import RunState
from taoloop.plan.acting import ExecuteRequest
from taoloop.plan.effects import ApprovalDecision
from taoloop.plan.running import CancelRunRequest, LoopServiceDecideApprovalRequest
from taoloop.plan.task import Outcome
from taoloop.testing.services import ScriptedAction
from tests.unit.loop.people.waiting import (
    ANSWERS,
    FIND,
    HOLD_SECONDS,
    PAY,
    TASK,
    Host,
    Store,
    outcome_of,
    plan,
    waiting_host,
)


class Slow:
    """A tool that answers when it is let."""

    def __init__(self) -> None:
        self.may_answer = asyncio.Event()

    async def __call__(self, _: ExecuteRequest) -> JsonValue:
        await self.may_answer.wait()
        return {}


async def submit(here: Host, request_id: str, digest: str = "d") -> str:
    task = replace(TASK, request_id=request_id)
    return (await here.runs.submit(task, digest, here.call())).run_id


def slow(tool: Slow) -> ScriptedAction:
    return ScriptedAction({**ANSWERS, "find": tool})


async def test_one_run_too_many_is_refused_on_whatever_host_and_counted() -> None:
    store, tool = Store(), Slow()
    async with (
        waiting_host(plan(FIND), store=store, action=slow(tool), max_tenant_runs=2) as here,
        waiting_host(plan(FIND), store=store, action=slow(tool), max_tenant_runs=2, name="there") as there,
    ):
        await submit(here, "a")
        await submit(there, "b")
        with pytest.raises(TooManyTenantRuns) as refused:
            await submit(there, "c")
        tool.may_answer.set()

    assert refused.value.retry_after_seconds == 1.0
    assert refused.value.metadata == {"tenant": "acme", "open_runs": "2", "max_tenant_runs": "2"}
    assert there.counted(names.RUNS_OVER_TENANT_LIMIT) == 1


async def test_a_repeat_attaches_to_its_open_run_although_there_is_no_room() -> None:
    tool = Slow()
    async with waiting_host(plan(FIND), action=slow(tool), max_tenant_runs=1) as here:
        run_id = await submit(here, "a")
        assert await submit(here, "a") == run_id
        with pytest.raises(RequestIdReused):
            await submit(here, "a", digest="other")
        with pytest.raises(TooManyTenantRuns):
            await submit(here, "b")
        tool.may_answer.set()


async def test_a_run_that_ends_or_rests_makes_room() -> None:
    async with waiting_host(plan(FIND), max_tenant_runs=1) as here:
        for request_id in ("a", "b", "a", "c"):  # the third one attaches to a run that has ended, and takes no place
            events = [event async for event in here.runs.run(replace(TASK, request_id=request_id), "d", here.call())]
            assert outcome_of(events) is Outcome.ANSWERED
    async with waiting_host(plan(PAY), max_tenant_runs=1) as here:
        await here.begin()
        assert (
            outcome_of([event async for event in here.runs.run(replace(TASK, request_id="b"), "d", here.call())])
            is Outcome.NEEDS_APPROVAL
        )


async def test_a_run_makes_room_before_it_is_remembered() -> None:
    is_remembering, may_go_on = asyncio.Event(), asyncio.Event()

    async def remember(_tenant: str, _state: RunState) -> None:
        is_remembering.set()
        await may_go_on.wait()

    async with waiting_host(plan(FIND), max_tenant_runs=1) as here:
        here.memory.remember = remember  # type: ignore[method-assign, assignment]
        await submit(here, "a")
        await is_remembering.wait()
        await submit(here, "b")
        may_go_on.set()


async def test_a_run_that_people_let_go_on_is_never_refused_and_counts() -> None:
    tool = Slow()
    async with waiting_host(plan(PAY, FIND), max_tenant_runs=1) as here:
        run_id = await here.begin()
        here.action._answers["pay"] = tool
        request = LoopServiceDecideApprovalRequest(
            run_id=run_id, approval_id="leave for 1.t1", decision=ApprovalDecision.APPROVED, decided_by="ana"
        )
        reply = await here.people.desk.decide_approval(request, here.call())
        with pytest.raises(TooManyTenantRuns):
            await submit(here, "b")
        tool.may_answer.set()
        assert outcome_of(await here.from_event(run_id, reply.next_sequence)) is Outcome.ANSWERED


async def test_other_tenants_are_not_in_the_way() -> None:
    tool = Slow()
    async with waiting_host(plan(FIND), action=slow(tool), max_tenant_runs=1) as here:
        await submit(here, "a")
        other = await here.runs.submit(TASK, "d", here.call(tenant="other"))
        tool.may_answer.set()

    assert other.run_id


async def test_a_run_that_does_not_begin_keeps_no_place() -> None:
    async with waiting_host(plan(FIND), max_tenant_runs=1) as here:
        with pytest.raises(InvalidRequest):
            await here.runs.submit(replace(TASK, turns=()), "d", here.call())
        listing = here.action.list_tools

        async def away(_call: object) -> object:
            raise BackendUnavailable("away")

        here.action.list_tools = away  # type: ignore[method-assign, assignment]
        with pytest.raises(BackendUnavailable):
            await submit(here, "a")
        here.action.list_tools = listing  # type: ignore[method-assign]
        assert await submit(here, "b")


async def test_a_host_that_dies_keeps_its_places_for_a_while_only() -> None:
    store, tool = Store(), Slow()
    async with waiting_host(plan(FIND), store=store, action=slow(tool), max_tenant_runs=1) as here:
        await submit(here, "a")
        store.clock.advance(HOLD_SECONDS + 1)
        assert await submit(here, "b")
        tool.may_answer.set()


async def test_a_run_that_is_cancelled_makes_room() -> None:
    tool = Slow()
    async with waiting_host(plan(FIND), action=slow(tool), max_tenant_runs=1) as here:
        run_id = await submit(here, "a")
        await here.runs.cancel(CancelRunRequest(run_id=run_id), here.call())
        assert await submit(here, "b")
        tool.may_answer.set()


async def test_without_a_bound_nothing_is_counted() -> None:
    async with waiting_host(plan(FIND)) as here:
        here.store.open_runs.is_down = True
        events = [event async for event in here.runs.run(TASK, "d", here.call())]

    assert outcome_of(events) is Outcome.ANSWERED


async def test_a_count_that_is_away_when_a_run_ends_fails_no_run() -> None:
    tool = Slow()
    async with waiting_host(plan(FIND), action=slow(tool), max_tenant_runs=1) as here:
        run_id = await submit(here, "a")
        here.store.open_runs.is_down = True
        tool.may_answer.set()

        assert outcome_of(await here.from_event(run_id, 1)) is Outcome.ANSWERED
