"""Requests that are sent twice at the same time: one is taken, and the other gets what it came to."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from taoloop.core.exact_json import JsonValue
from taoloop.plan.acting import ExecuteRequest
from taoloop.plan.effects import ApprovalDecision
from taoloop.plan.running import CancelRunRequest, ProvideInputRequest
from taoloop.plan.task import Outcome, ProvidedInput
from taoloop.testing.services import GatedAction
from tests.unit.loop.people.waiting import ANSWERS, FIND, PAY, Store, plan, waiting_host
from tests.unit.loop.test_runs import ASK, INPUT_ID, PLAN, TASK, call, events_of, host, outcome_of


async def test_one_begins_the_run_and_the_other_attaches() -> None:
    async with host(PLAN) as here:
        first, second = await asyncio.gather(events_of(here), events_of(here))
        submitted = [here.runs.submit(replace(TASK, request_id="q2"), "d", call()) for _ in range(2)]
        replies = await asyncio.gather(*submitted)

    assert first == second
    assert outcome_of(first) is Outcome.ANSWERED
    assert len({reply.run_id for reply in replies}) == 1
    assert sorted(reply.attached for reply in replies) == [False, True]


async def test_an_answer_lets_the_run_go_on_once() -> None:
    async with host(ASK, PLAN) as here:
        run_id = (await events_of(here))[0].run_id
        request = ProvideInputRequest(run_id=run_id, input=ProvidedInput(input_id=INPUT_ID, values={"id": "A1"}))
        answers = [here.people.desk.provide_input(request, call()) for _ in range(3)]
        first, second, third = await asyncio.gather(*answers)

    assert first == second == third


async def test_a_run_that_is_cancelled_withdraws_its_questions_and_is_remembered_once() -> None:
    store, is_called = Store(), asyncio.Event()

    async def hang(_: ExecuteRequest) -> JsonValue:
        is_called.set()
        await asyncio.Event().wait()
        return {}

    action = GatedAction({**ANSWERS, "find": hang}, frozenset({"pay"}), store.clock.now())
    async with waiting_host(plan(PAY, FIND), store=store, action=action) as here:
        run_id = (await here.runs.submit(TASK, "d", here.call())).run_id
        await is_called.wait()
        cancelling = [here.runs.cancel(CancelRunRequest(run_id=run_id), here.call()) for _ in range(2)]
        outcomes = await asyncio.gather(*cancelling)

    assert outcomes == [Outcome.CANCELLED, Outcome.CANCELLED]
    assert [(told.approval_id, told.decision) for told in action.decisions] == [
        ("leave for 1.t1", ApprovalDecision.CANCELLED)
    ]
    assert here.memory.outcomes == [Outcome.CANCELLED]
