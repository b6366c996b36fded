"""Runs whose host fell silent: found, opened anew from their log, and brought to their end."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

import pytest

from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable
from taoloop.core.exact_json import JsonValue
from taoloop.core.telemetry import names
from taoloop.loop.ports import NewRun, RunKey
from taoloop.loop.runlog.writer import RunWriter
from taoloop.loop.state import RunState
from taoloop.plan.acting import ExecuteRequest
from taoloop.plan.running import (
    ActionReturned,
    EventBody,
    LimitReached,
    ListRunsRequest,
    RunEvent,
    RunFinished,
    RunResumed,
    RunStarted,
    StepStarted,
    ThoughtMade,
)
from taoloop.plan.task import InputField, Outcome
from taoloop.plan.thinking import NeedInput, ThinkResponse
from tests.unit.loop.hosting.hosts import CLOCK, PLAN, TASK, TENANT, Hanging, call, host_on, new_world, soon

RUN_ID = "f" * 32
KEY = RunKey(TENANT, RUN_ID)


def kinds(events: tuple[RunEvent, ...]) -> list[str]:
    return [type(event.body).__name__ for event in events]


def calls_without_an_end(events: Iterable[RunEvent]) -> set[str]:
    """Return the steps that were begun and of whose call the log tells nothing more."""
    bodies = [event.body for event in events]
    ended = {body.result.step_id for body in bodies if isinstance(body, ActionReturned) and body.result is not None}
    return {body.step_id for body in bodies if isinstance(body, StepStarted)} - ended


async def test_a_run_of_a_silent_host_goes_on_where_its_log_ends() -> None:
    world, hanging = new_world(), Hanging()
    async with host_on(world, "one", PLAN, track=hanging) as one, host_on(world, "two", PLAN) as two:
        run_id = (await one.runs.submit(TASK, "d", call())).run_id
        await hanging.is_asked.wait()
        world.table.let_lapse()
        await two.look()
        await two.at_rest()
        events = await world.events(run_id)

        assert [event.sequence for event in events] == list(range(1, len(events) + 1))
        assert [event.host_epoch for event in events] == sorted(event.host_epoch for event in events)
        resumed = next(event for event in events if isinstance(event.body, RunResumed))
        assert isinstance(resumed.body, RunResumed)
        assert (resumed.body.reason, resumed.host_epoch) == ("take_over", 2)
        assert isinstance(events[-1].body, RunFinished)
        assert events[-1].body.outcome is Outcome.ANSWERED
        assert not two.thought.requests, "a thought that was made is used again"
        assert [request.tool for request in two.action.requests] == ["track"], "what had returned is not called again"
        assert two.counted(names.RUNS_TAKEN_OVER) == 1


async def test_a_step_that_had_begun_is_run_again_with_the_same_id_and_arguments() -> None:
    world, hanging = new_world(), Hanging()
    async with host_on(world, "one", PLAN, find=hanging) as one, host_on(world, "two", PLAN) as two:
        await one.runs.submit(TASK, "d", call())
        await hanging.is_asked.wait()
        world.table.let_lapse()
        await two.look()
        await two.at_rest()

        [before], again = one.action.requests, two.action.requests[0]
        assert (again.run_id, again.step_id, again.arguments) == (before.run_id, before.step_id, before.arguments)


async def test_a_question_that_was_thought_of_is_asked_and_not_thought_of_again() -> None:
    world = new_world()
    async with host_on(world, "two") as two:
        dead = RunWriter(world.log, TENANT, RunState(RUN_ID), CLOCK, 1.0)
        need = NeedInput(input_id="a" * 32, fields=(InputField(pointer="/id", tool="find", schema={}),))
        await dead.emit(RunStarted(task=TASK, catalogue_digest="d"))
        await dead.emit(ThoughtMade(response=ThinkResponse(thought_id="e" * 32, iteration=1, outcome=need)))
        await two.leases.hold(KEY, soon())
        world.table.let_lapse()
        await two.look()
        await two.at_rest()
        state = await world.state(RUN_ID)

    assert state.question is not None
    assert state.question.input_id == "a" * 32
    assert not two.thought.requests


async def test_a_host_that_was_only_slow_stops_without_a_word_once_another_has_its_run() -> None:
    world, hanging = new_world(), Hanging()
    async with host_on(world, "one", PLAN, track=hanging) as one, host_on(world, "two", PLAN) as two:
        run_id = (await one.runs.submit(TASK, "d", call())).run_id
        await hanging.is_asked.wait()
        world.table.let_lapse()
        await two.look()
        await two.at_rest()
        before = await world.events(run_id)
        hanging.may_answer.set()
        await one.at_rest()

        assert await world.events(run_id) == before
        assert kinds(before).count("RunFinished") == 1


async def test_who_follows_a_run_on_a_slow_host_sees_it_go_on_elsewhere() -> None:
    world, hanging = new_world(), Hanging()
    async with host_on(world, "one", PLAN, track=hanging) as one, host_on(world, "two", PLAN) as two:

        async def follow() -> list[RunEvent]:
            return [event async for event in one.runs.run(TASK, "d", call())]

        following = asyncio.create_task(follow())
        await hanging.is_asked.wait()
        world.table.let_lapse()
        await two.look()
        await two.at_rest()
        await one.renew()
        events = await following

        assert [event.sequence for event in events] == list(range(1, len(events) + 1))
        assert isinstance(events[-1].body, RunFinished)
        assert events[-1].body.outcome is Outcome.ANSWERED


async def test_the_time_in_which_nobody_drove_is_not_the_runs() -> None:
    world = new_world()
    started, now = RunStarted(task=TASK, catalogue_digest="d"), CLOCK.now()
    bodies: tuple[EventBody, ...] = (started, ThoughtMade(response=PLAN))
    ago = (now - timedelta(seconds=100), now - timedelta(seconds=98))
    events = [
        RunEvent(run_id=RUN_ID, sequence=index + 1, time=ago[index], host_epoch=1, body=body)
        for index, body in enumerate(bodies)
    ]
    await world.log.append(TENANT, events, soon())
    async with host_on(world, "two") as two:
        await two.leases.hold(KEY, soon())
        world.table.let_lapse()
        await two.look()
        await two.at_rest()
        state = await world.state(RUN_ID)

    assert state.finished is not None
    assert state.finished.outcome is Outcome.ANSWERED, "its limit of five seconds is not reached"
    assert 2.0 <= state.active_seconds < 3.0


async def test_a_run_that_its_caller_bounds_ends_at_the_callers_deadline_on_any_host() -> None:
    world = new_world()
    until = CLOCK.now() + timedelta(seconds=0.1)
    async with host_on(world, "two", PLAN, find=Hanging()) as two:
        dead = RunWriter(world.log, TENANT, RunState(RUN_ID), CLOCK, 1.0)
        await dead.emit(RunStarted(task=TASK, catalogue_digest="d", deadline=until))
        await two.leases.hold(KEY, soon())
        world.table.let_lapse()
        await two.look()
        await two.at_rest()
        finished = (await world.state(RUN_ID)).finished

    assert finished is not None
    assert finished.fault is not None
    assert (finished.outcome, finished.fault.code) == (Outcome.FAILED, "DEADLINE_EXCEEDED")


async def test_a_run_that_no_host_brings_on_is_ended() -> None:
    world = new_world()
    async with host_on(world, "two", PLAN, max_take_overs=2) as two:
        dead = RunWriter(world.log, TENANT, RunState(RUN_ID), CLOCK, 1.0)
        await dead.emit(RunStarted(task=TASK, catalogue_digest="d"))
        await dead.emit(ThoughtMade(response=PLAN), StepStarted(step_id="1.t1", tool="find"))
        for _ in range(2):
            await RunWriter(world.log, TENANT, await world.state(RUN_ID), CLOCK, 1.0).emit(
                RunResumed(reason="take_over"), StepStarted(step_id="1.t1", tool="find")
            )
        await two.leases.hold(KEY, soon())
        world.table.let_lapse()
        await two.look()
        events = await world.events(RUN_ID)

        assert kinds(events)[-2:] == ["LimitReached", "RunFinished"]
        assert isinstance(events[-2].body, LimitReached)
        assert (events[-2].body.limit, events[-2].body.value) == ("max_take_overs", 2.0)
        assert not calls_without_an_end(events)
        assert not two.action.requests
        assert not world.table.held


async def test_a_run_that_gains_something_between_take_overs_goes_on() -> None:
    world = new_world()
    async with host_on(world, "two", PLAN, max_take_overs=1) as two:
        dead = RunWriter(world.log, TENANT, RunState(RUN_ID), CLOCK, 1.0)
        await dead.emit(RunStarted(task=TASK, catalogue_digest="d"))
        await RunWriter(world.log, TENANT, await world.state(RUN_ID), CLOCK, 1.0).emit(
            RunResumed(reason="take_over"), ThoughtMade(response=PLAN)
        )
        await two.leases.hold(KEY, soon())
        world.table.let_lapse()
        await two.look()
        await two.at_rest()
        finished = (await world.state(RUN_ID)).finished

    assert finished is not None
    assert finished.outcome is Outcome.ANSWERED


async def test_a_lease_of_a_run_at_rest_is_released_and_the_run_is_left_alone() -> None:
    world = new_world()
    async with host_on(world, "two") as two:
        dead = RunWriter(world.log, TENANT, RunState(RUN_ID), CLOCK, 1.0)
        await dead.emit(RunStarted(task=TASK, catalogue_digest="d"), RunFinished(outcome=Outcome.NEEDS_INPUT))
        await two.leases.hold(KEY, soon())
        world.table.let_lapse()
        await two.look()

        assert len(await world.events(RUN_ID)) == 2
        assert not world.table.held


async def test_a_lease_of_a_run_that_never_began_is_released() -> None:
    world = new_world()
    await world.log.create(
        NewRun(tenant=TENANT, run_id=RUN_ID, request_id="q", task_digest="d", created_at=CLOCK.now()), soon()
    )
    async with host_on(world, "two") as two:
        await two.leases.hold(KEY, soon())
        world.table.let_lapse()
        await two.look()

    assert not world.table.held


async def test_a_host_takes_no_more_over_than_it_has_room_for() -> None:
    world = new_world()
    async with host_on(world, "two", *[PLAN] * 5, find=Hanging()) as two:
        for index in range(5):
            run_id = f"{index:032x}"
            dead = RunWriter(world.log, TENANT, RunState(run_id), CLOCK, 1.0)
            await dead.emit(RunStarted(task=TASK, catalogue_digest="d"))
            await two.leases.hold(RunKey(TENANT, run_id), soon())
        world.table.let_lapse()
        await two.look()

        assert len(two.host.open_runs) == 3
        assert two.telemetry.metrics.gauge(names.RUNS_ORPHANED)._value.get() == 2


async def test_a_host_that_stops_hands_its_runs_back_and_another_takes_them_over_at_once() -> None:
    world = new_world()
    async with host_on(world, "two", PLAN) as two:
        async with host_on(world, "one", PLAN, track=Hanging()) as one:
            run_id = (await one.runs.submit(TASK, "d", call())).run_id
        assert (await world.state(run_id)).finished is None
        await two.look()
        await two.at_rest()
        events = await world.events(run_id)

    assert kinds(events).count("RunFinished") == 1
    assert isinstance(events[-1].body, RunFinished)
    assert events[-1].body.outcome is Outcome.ANSWERED


async def test_a_run_that_ended_holds_no_lease_and_is_listed_so() -> None:
    world = new_world()
    async with host_on(world, "one", PLAN) as one:
        await one.runs.submit(TASK, "d", call())
        await one.at_rest()
        page = await one.runs.list(ListRunsRequest(outcome=Outcome.ANSWERED), call())

    assert not world.table.held
    assert [run.request_id for run in page.runs] == ["q1"]


async def test_a_run_whose_log_was_away_when_it_ended_is_taken_over_and_ends() -> None:
    world, hanging = new_world(), Hanging()
    async with host_on(world, "one", PLAN, track=hanging) as one, host_on(world, "two", PLAN) as two:
        run_id = (await one.runs.submit(TASK, "d", call())).run_id
        await hanging.is_asked.wait()
        world.log.is_down = True
        hanging.may_answer.set()
        await one.at_rest()
        world.log.is_down = False
        assert world.table.held, "nobody knows what the log has: the lease is left to lapse"
        world.table.let_lapse()
        await two.look()
        await two.at_rest()

        assert (await world.state(run_id)).finished is not None


async def test_the_fold_counts_an_action_that_returned_as_a_gain() -> None:
    state = RunState(RUN_ID)
    resumed = RunResumed(reason="take_over")
    bodies: tuple[EventBody, ...] = (RunStarted(task=TASK), resumed, resumed, ActionReturned())
    for index, body in enumerate(bodies):
        state.apply(RunEvent(run_id=RUN_ID, sequence=index + 1, time=CLOCK.now(), host_epoch=1, body=body))

    assert state.fruitless_take_overs == 2, "an action without a result gained nothing"


async def test_who_follows_a_run_on_a_host_that_stops_is_told_to_attach_again() -> None:
    world, hanging = new_world(), Hanging()

    async with host_on(world, "one", PLAN, track=hanging) as one:

        async def follow() -> list[RunEvent]:
            return [event async for event in one.runs.run(TASK, "d", call())]

        following = asyncio.create_task(follow())
        await hanging.is_asked.wait()
        await one.host.wind_down()

        with pytest.raises(BackendUnavailable) as told:
            await following
        assert told.value.retry_after_seconds == 1.0


async def test_a_host_that_stops_begins_and_resumes_nothing() -> None:
    world = new_world()
    async with host_on(world, "one", PLAN) as one:
        await one.host.wind_down()

        with pytest.raises(BackendUnavailable):
            await one.runs.submit(TASK, "d", call())
        dead = RunWriter(world.log, TENANT, RunState(RUN_ID), CLOCK, 1.0)
        await dead.emit(RunStarted(task=TASK, catalogue_digest="d"), RunFinished(outcome=Outcome.NEEDS_INPUT))
        with pytest.raises(BackendUnavailable):
            await one.host.resume(one.host.writer(await world.state(RUN_ID), TENANT), RunResumed(reason="input"))
        assert len(await world.events(RUN_ID)) == 2


async def test_a_fault_of_the_program_ends_the_run_and_no_other() -> None:
    world, hanging = new_world(), Hanging()

    async def break_down(_: ExecuteRequest) -> JsonValue:
        raise ZeroDivisionError("a fault of ours")

    async with host_on(world, "one", PLAN, PLAN, find=break_down, track=hanging) as one:
        events = [event async for event in one.runs.run(TASK, "d", call())]
        assert isinstance(events[-1].body, RunFinished)
        assert events[-1].body.outcome is Outcome.FAILED
        assert events[-1].body.fault is not None
        assert events[-1].body.fault.message.startswith("Internal error; incident ")
        assert not calls_without_an_end(events)
        one.action._answers["find"] = {"n": 1}
        hanging.may_answer.set()
        again = replace(TASK, request_id="q2")
        later = [event async for event in one.runs.run(again, "d", call())]

    assert isinstance(later[-1].body, RunFinished)
    assert later[-1].body.outcome is Outcome.ANSWERED


async def test_a_log_that_cannot_be_read_hurts_no_other_run(monkeypatch: pytest.MonkeyPatch) -> None:
    world = new_world()
    broken = "0" * 32
    async with host_on(world, "two", PLAN) as two:
        for run_id in (broken, RUN_ID):
            dead = RunWriter(world.log, TENANT, RunState(run_id), CLOCK, 1.0)
            await dead.emit(RunStarted(task=TASK, catalogue_digest="d"))
            await two.leases.hold(RunKey(TENANT, run_id), soon())
        read = world.log.read

        async def read_or_break(
            tenant: str, run_id: str, from_sequence: int, deadline: Deadline
        ) -> tuple[RunEvent, ...]:
            if run_id == broken:
                raise ValueError("an event of a form that nobody knows")
            return await read(tenant, run_id, from_sequence, deadline)

        world.table.let_lapse()
        with monkeypatch.context() as patched:
            patched.setattr(world.log, "read", read_or_break)
            await two.look()
        await two.at_rest()
        finished = (await world.state(RUN_ID)).finished

    assert finished is not None
    assert finished.outcome is Outcome.ANSWERED
    assert list(world.table.held) == [RunKey(TENANT, broken)], "another version of the program may read it"
