"""One step's call: its time, the job that it may begin, and services that are away, full or cut off."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from taoloop.core.errors import (
    BackendUnavailable,
    CatalogueMismatch,
    DeadlineExceeded,
    InvalidRequest,
    MessageTooLarge,
    TaoError,
    TooManyCalls,
)
from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.acting import ActionResult, ActionStatus, ExecuteRequest
from taoloop.plan.model import PlanStep
from taoloop.plan.observing import ObservationResult, ObserveRequest
from taoloop.plan.running import (
    ActionReturned,
    ApprovalRequired,
    LimitReached,
    ResultObserved,
    StepStarted,
    WaitingBegan,
)
from taoloop.testing.clock import FakeClock
from taoloop.testing.services import ScriptedAction, ScriptedObservation
from taoloop.tools.signature import Effect
from tests.unit.loop.steps.stepping import Stepping, data_of, fault_of, said

BEGUN = ActionResult(step_id="", tool="", status=ActionStatus.PENDING, job_handle={"job": "j1"})
BUILD = PlanStep(step_id="1.t1", tool="build")


def stepping(
    answer: object, *steps: PlanStep, effect: Effect = Effect.READ, clock: FakeClock | None = None
) -> Stepping:
    action = ScriptedAction({"build": answer})  # type: ignore[dict-item]
    return Stepping(action, *(steps or (BUILD,)), effects={"build": effect}, clock=clock)


async def job(request: ExecuteRequest) -> ActionResult | JsonValue:
    return BEGUN if request.job_handle is ABSENT else {"n": 3}


async def test_the_handle_of_a_job_is_written_down_before_it_is_waited_for() -> None:
    run = stepping(job)
    await run.run()
    events = [type(body) for body in await run.bodies()][2:]
    assert events == [StepStarted, WaitingBegan, ActionReturned, ResultObserved]
    (waiting,) = [body for body in await run.bodies() if isinstance(body, WaitingBegan)]
    assert (waiting.reason, waiting.step_id, waiting.tool, waiting.job_handle) == (
        "job", "1.t1", "build", {"job": "j1"},
    )  # fmt: skip


async def test_a_host_that_takes_over_asks_for_the_job_and_begins_no_other() -> None:
    run = stepping(job)
    await run.run()
    other = await run.on_another_host(4)  # up to the wait
    before = len(run.action.requests)
    state = await other.run()
    assert [request.job_handle for request in run.action.requests[before:]] == [{"job": "j1"}]
    assert data_of(state, "1.t1") == {"n": 3}
    assert state.steps["1.t1"].attempt == 1
    assert state.calls_per_tool == {"build": 1}


async def waiting_for_a_job(run: Stepping) -> None:
    """Write what another host left that waited for the job of `1.t1`."""
    await run.begin()
    waiting = WaitingBegan(reason="job", until=run.clock.now(), step_id="1.t1", tool="build", job_handle={"job": "j1"})
    await run.writer.emit(StepStarted(step_id="1.t1", tool="build", arguments={}, attempt=1), waiting)


async def test_a_job_that_another_host_began_is_one_of_the_calls_that_its_tool_may_have() -> None:
    run = stepping(job, BUILD, PlanStep(step_id="1.t2", tool="build", bindings=(said("x"),), depends_on=("1.t1",)))
    run.limits = replace(run.limits, max_calls_per_tool=1)
    await waiting_for_a_job(run)
    state = await run.run()
    assert data_of(state, "1.t1") == {"n": 3}
    assert fault_of(state, "1.t2") == ("LIMIT_REACHED", "max_calls_per_tool")


async def test_a_read_after_the_end_of_a_job_that_another_host_began_is_made_again() -> None:
    is_read = asyncio.Event()

    async def find(_: ExecuteRequest) -> JsonValue:
        is_read.set()
        return {}

    async def until_it_is_read(request: ExecuteRequest) -> ActionResult | JsonValue:
        await is_read.wait()
        return await job(request)

    reads = (PlanStep(step_id="1.r1", tool="find"), PlanStep(step_id="1.r2", tool="find", depends_on=("1.t1",)))
    action = ScriptedAction({"build": until_it_is_read, "find": find})
    run = Stepping(action, BUILD, *reads, effects={"build": Effect.WRITE})
    await waiting_for_a_job(run)
    await asyncio.wait_for(run.run(), 5.0)
    assert [step_id for step_id, tool in run.called if tool == "find"] == ["1.r1", "1.r2"]


async def test_a_call_that_waits_for_leave_is_none_of_those_that_its_tool_may_have() -> None:
    async def once_it_waits(_: ExecuteRequest) -> ActionResult | JsonValue:
        while (event := await events.get()) is not None and not isinstance(event.body, ApprovalRequired):
            continue
        return {}

    asks = ActionResult(step_id="", tool="", status=ActionStatus.APPROVAL_REQUIRED, approval_id="a1")
    later = PlanStep(step_id="1.t2", tool="build", bindings=(said("x"),), depends_on=("1.r1",))
    action = ScriptedAction({"build": asks, "find": once_it_waits})
    run = Stepping(action, BUILD, PlanStep(step_id="1.r1", tool="find"), later, effects={"build": Effect.WRITE})
    run.limits = replace(run.limits, max_calls_per_tool=1)
    events = run.writer.listen()
    state = await asyncio.wait_for(run.run(), 5.0)
    assert [state.steps[step_id].is_waiting for step_id in ("1.t1", "1.t2")] == [True, True]


async def test_a_host_that_takes_over_judges_what_came_back_and_calls_nobody() -> None:
    run = stepping({"n": 3}, effect=Effect.WRITE)
    await run.begin()
    bodies = (
        StepStarted(step_id="1.t1", tool="build", arguments={}, attempt=1),
        ActionReturned(
            result=ActionResult(step_id="1.t1", tool="build", status=ActionStatus.SUCCEEDED, parsed={"n": 9})
        ),
    )
    await run.writer.emit(*bodies)
    state = await run.run()
    assert data_of(state, "1.t1") == {"n": 9}
    assert run.called == []


async def test_a_host_that_takes_over_makes_a_call_of_which_nothing_came_once_more_under_its_own_id() -> None:
    run = stepping({"n": 3}, effect=Effect.WRITE)
    await run.begin()
    await run.writer.emit(StepStarted(step_id="1.t1", tool="build", arguments={}, attempt=1))
    state = await run.run()
    assert run.called == [("1.t1", "build")]
    assert state.steps["1.t1"].attempt == 2
    starts = [body.attempt for body in await run.bodies() if isinstance(body, StepStarted)]
    assert starts == [1, 2]


async def test_several_jobs_are_waited_for_side_by_side_though_one_call_may_be_made_at_a_time() -> None:
    are_pending = asyncio.Barrier(3)

    async def meet(request: ExecuteRequest) -> ActionResult | JsonValue:
        if request.job_handle is ABSENT:
            return BEGUN
        await are_pending.wait()
        return {}

    run = stepping(meet, *(PlanStep(step_id=f"1.t{n}", tool="build", bindings=(said(f"no {n}"),)) for n in range(3)))
    run.max_parallel_steps = 1
    state = await asyncio.wait_for(run.run(), 5.0)
    assert all(record.has_succeeded for record in state.steps.values())


async def test_a_job_has_its_steps_whole_time_however_long_the_step_waited_for_its_turn() -> None:
    clock = FakeClock(is_impatient=True)

    async def slow_at_first(request: ExecuteRequest) -> ActionResult | JsonValue:
        if request.step_id == "1.t1":
            await clock.sleep(2.0)
            return {"n": 1}
        return await job(request)

    second = PlanStep(step_id="1.t2", tool="build", bindings=(said("x"),), timeout_seconds=2.2)
    run = stepping(slow_at_first, BUILD, second, clock=clock)
    run.max_parallel_steps = 1
    state = await run.run()
    assert data_of(state, "1.t2") == {"n": 3}


async def test_the_smallest_of_the_times_counts_and_the_executor_has_the_last_word() -> None:
    left: list[tuple[float, float | None]] = []

    class Noting(ScriptedAction):
        async def execute(self, request: ExecuteRequest, call: object) -> ActionResult:
            left.append((round(call.deadline.remaining_seconds(), 3), request.timeout_seconds))  # type: ignore[attr-defined]
            return await super().execute(request, call)  # type: ignore[arg-type]

    steps = (
        PlanStep(step_id="1.a", tool="build", timeout_seconds=2.0),
        PlanStep(step_id="1.b", tool="build", bindings=(said("x"),), timeout_seconds=60.0),
        PlanStep(step_id="1.c", tool="build", bindings=(said("y"),)),
    )
    await Stepping(Noting({"build": {}}), *steps).run()
    assert left == [(2.5, 2.0), (10.0, 60.0), (10.0, None)]


async def test_a_step_that_used_its_own_time_up_says_so() -> None:
    clock = FakeClock(is_impatient=True)
    late = ActionResult(
        step_id="",
        tool="",
        status=ActionStatus.TIMED_OUT,
        fault=Fault(code=FaultCode.TOOL_TIMEOUT, stage=FaultStage.ACTION, message="late"),
    )

    async def slow(request: ExecuteRequest) -> ActionResult:
        clock.advance(2.0)
        return late

    run = stepping(slow, PlanStep(step_id="1.t1", tool="build", timeout_seconds=2.0), clock=clock)
    state = await run.run()
    assert LimitReached(limit="step_timeout", value=2.0) in await run.bodies()
    assert fault_of(state, "1.t1")[0] == "TOOL_TIMEOUT"
    run = stepping(late, PlanStep(step_id="1.t1", tool="build", timeout_seconds=2.0))
    await run.run()
    assert not [body for body in await run.bodies() if isinstance(body, LimitReached)]


async def test_a_job_that_goes_on_beyond_the_steps_own_time_says_so_too() -> None:
    run = stepping(BEGUN, PlanStep(step_id="1.t1", tool="build", timeout_seconds=2.0))
    state = await run.run()
    assert LimitReached(limit="step_timeout", value=2.0) in await run.bodies()
    action = state.steps["1.t1"].action
    assert action is not None
    assert (action.status, action.job_handle) == (ActionStatus.PENDING, {"job": "j1"})


async def test_a_full_executor_is_waited_for_as_it_says_and_the_run_says_so() -> None:
    clock = FakeClock(is_impatient=True)

    async def full_once(request: ExecuteRequest) -> JsonValue:
        if len(run.called) == 1:
            raise TooManyCalls("full", retry_after_seconds=3.0)
        return {"n": 1}

    run = stepping(full_once, clock=clock, effect=Effect.WRITE)
    began = clock.now()
    state = await run.run()
    assert data_of(state, "1.t1") == {"n": 1}
    (waiting,) = [body for body in await run.bodies() if isinstance(body, WaitingBegan)]
    assert waiting.reason == "backend"
    assert waiting.until is not None
    assert timedelta(seconds=3.0) <= waiting.until - began <= timedelta(seconds=3.4)
    assert len({request.request_id for request in run.action.requests}) == 1


@pytest.mark.parametrize(
    ("error", "effect", "status", "code"),
    [
        (BackendUnavailable("away"), Effect.READ, ActionStatus.FAILED, "SERVICE_UNAVAILABLE"),
        (BackendUnavailable("away"), Effect.WRITE, ActionStatus.OUTCOME_UNKNOWN, "OUTCOME_UNKNOWN"),
        (DeadlineExceeded("late"), Effect.READ, ActionStatus.FAILED, "DEADLINE_EXCEEDED"),
        (DeadlineExceeded("late"), Effect.WRITE, ActionStatus.OUTCOME_UNKNOWN, "OUTCOME_UNKNOWN"),
        (TooManyCalls("full", retry_after_seconds=60.0), Effect.WRITE, ActionStatus.FAILED, "SERVICE_UNAVAILABLE"),
        (InvalidRequest("no"), Effect.WRITE, ActionStatus.FAILED, "SERVICE_UNAVAILABLE"),
    ],
)
async def test_a_call_that_the_executor_did_not_answer_is_unknown_where_it_may_have_written(
    error: TaoError, effect: Effect, status: ActionStatus, code: str
) -> None:
    state = await stepping(error, effect=effect).run()
    action = state.steps["1.t1"].action
    assert action is not None
    assert action.fault is not None
    assert (action.status, action.fault.code) == (status, code)


async def test_result_and_verdict_are_one_write() -> None:
    run = stepping({"n": 1})
    writes: list[int] = []
    append = run.log.append

    async def counted(tenant: str, events: object, deadline: object) -> None:
        writes.append(len(events))  # type: ignore[arg-type]
        await append(tenant, events, deadline)  # type: ignore[arg-type]

    run.log.append = counted  # type: ignore[method-assign]
    await run.run()
    assert writes == [2, 1, 2]  # the run and its thought; the start, before the call; result and verdict


async def test_what_came_back_is_not_lost_when_the_step_is_stopped_before_it_is_judged() -> None:
    is_judging = asyncio.Event()

    class Hanging(ScriptedObservation):
        async def observe(self, request: ObserveRequest, call: object) -> ObservationResult:
            is_judging.set()
            await asyncio.Event().wait()
            raise AssertionError

    run = stepping({"paid": True}, effect=Effect.WRITE)
    run.observation = Hanging()
    working = asyncio.ensure_future(run.run())
    await is_judging.wait()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await working
    last = (await run.bodies())[-1]
    assert isinstance(last, ActionReturned)
    assert last.result is not None
    assert last.result.status is ActionStatus.SUCCEEDED


async def test_a_result_that_nobody_judges_is_not_used() -> None:
    class Away(ScriptedObservation):
        async def observe(self, request: ObserveRequest, call: object) -> ObservationResult:
            raise BackendUnavailable("away")

    run = stepping({"n": 1})
    run.observation = Away()
    state = await run.run()
    assert fault_of(state, "1.t1")[0] == "SERVICE_UNAVAILABLE"
    assert not state.steps["1.t1"].has_succeeded


@pytest.mark.parametrize(
    "errors",
    [
        (BackendUnavailable("away"), TooManyCalls("full")),
        (BackendUnavailable("away"), CatalogueMismatch.of("d" * 64, "e" * 64)),
        (MessageTooLarge.of(20_000_000, 16_000_000),),
    ],
)
async def test_a_refusal_does_not_undo_what_may_have_begun_before(errors: tuple[TaoError, ...]) -> None:
    left = list(errors)

    async def refuse(request: ExecuteRequest) -> JsonValue:
        raise left.pop(0)

    assert fault_of(await stepping(refuse, effect=Effect.WRITE).run(), "1.t1")[0] == "OUTCOME_UNKNOWN"
    left += errors
    assert fault_of(await stepping(refuse).run(), "1.t1")[0] != "OUTCOME_UNKNOWN"


async def test_a_write_that_a_silent_host_had_begun_is_unknown_when_the_executor_refuses_it_now() -> None:
    run = stepping(CatalogueMismatch.of("d" * 64, "e" * 64), effect=Effect.WRITE)
    await run.begin()
    await run.writer.emit(StepStarted(step_id="1.t1", tool="build", arguments={}, attempt=1))
    assert fault_of(await run.run(), "1.t1")[0] == "OUTCOME_UNKNOWN"


async def test_a_call_that_a_silent_host_had_begun_is_seen_to_its_end_though_a_limit_is_reached() -> None:
    run = stepping({"n": 3}, effect=Effect.WRITE)
    run.limits = replace(run.limits, max_result_bytes=0, max_calls_per_tool=0)
    await run.begin()
    await run.writer.emit(StepStarted(step_id="1.t1", tool="build", arguments={}, attempt=1))
    assert data_of(await run.run(), "1.t1") == {"n": 3}


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (TooManyCalls("full"), "OUTCOME_UNKNOWN"),
        (InvalidRequest("no"), "OUTCOME_UNKNOWN"),
        ("TOOL_SWITCHED_OFF", "OUTCOME_UNKNOWN"),
        ("JOB_FAILED", "JOB_FAILED"),
    ],
)
async def test_a_job_that_writes_is_over_only_when_its_tool_says_so(answer: TaoError | str, code: str) -> None:
    async def lost(request: ExecuteRequest) -> ActionResult:
        if request.job_handle is ABSENT:
            return BEGUN
        if isinstance(answer, TaoError):
            raise answer
        fault = Fault(code=answer, stage=FaultStage.ACTION, message="no")
        return ActionResult(step_id="", tool="", status=ActionStatus.REJECTED, fault=fault, job_handle={"job": "j1"})

    state = await stepping(lost, effect=Effect.WRITE).run()
    assert fault_of(state, "1.t1")[0] == code
    action = state.steps["1.t1"].action
    assert action is not None
    assert action.job_handle == {"job": "j1"}  # a person may ask the tool
