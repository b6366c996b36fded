"""Rules of driving a run whose tool works on after its answer."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.plan.acting import ActionResult, ActionStatus, ExecuteRequest, JobCare
from taoloop.plan.running import (
    ActionReturned,
    WaitingBegan,
)
from taoloop.plan.task import Outcome
from taoloop.testing.clock import FakeClock
from taoloop.testing.services import ScriptedAction, ScriptedThought
from tests.unit.loop.driving import Run, ended, plan, step


class Job:
    """A tool whose calls are pending until they were asked about so many times."""

    def __init__(self, clock: FakeClock, polls: int, seconds: float = 2.0) -> None:
        self.clock = clock
        self.polls = polls
        self.seconds = seconds

    async def __call__(self, request: ExecuteRequest) -> ActionResult | JsonValue:
        if request.job_handle is ABSENT:
            return ActionResult(step_id="", tool="", status=ActionStatus.PENDING, job_handle={"asked": 0})
        assert isinstance(request.job_handle, dict)
        asked = request.job_handle["asked"]
        assert isinstance(asked, int)
        assert request.timeout_seconds is not None
        await self.clock.sleep(min(self.seconds, request.timeout_seconds))
        if asked + 1 >= self.polls:
            return {"n": 3}
        return ActionResult(step_id="", tool="", status=ActionStatus.PENDING, job_handle={"asked": asked + 1})


def job_run(polls: int) -> Run:
    run = Run(ScriptedThought(plan(step("1.t1", "build"))), ScriptedAction({"build": {}}))
    run.action = ScriptedAction({"build": Job(run.clock, polls)})
    return run


async def test_a_pending_job_is_waited_for_by_its_handle() -> None:
    run = job_run(polls=3)

    state = await run.drive()

    assert ended(state) == (Outcome.ANSWERED, "")
    assert [request.job_handle for request in run.action.requests] == [ABSENT, {"asked": 0}, {"asked": 1}, {"asked": 2}]
    assert len({request.request_id for request in run.action.requests}) == 4
    (waiting,) = [body for body in await run.bodies() if isinstance(body, WaitingBegan)]
    assert (waiting.reason, waiting.until) == ("job", run.clock.now() + timedelta(seconds=10.0 - run.clock.monotonic()))


async def test_a_job_that_outlasts_its_run_is_recorded_pending_with_its_handle() -> None:
    run = job_run(polls=100)

    await run.drive(deadline_seconds=5.0)

    (returned,) = [body for body in await run.bodies() if isinstance(body, ActionReturned)]
    assert returned.result is not None
    assert (returned.result.status, returned.result.job_handle) == (ActionStatus.PENDING, {"asked": 3})
    assert run.clock.monotonic() <= 5.0


async def test_a_cancelled_run_cancels_its_job_and_one_that_is_late_does_not() -> None:
    run = job_run(polls=100)
    is_waiting = asyncio.Event()

    async def hang(request: ExecuteRequest) -> ActionResult | JsonValue:
        if request.job_handle is ABSENT:
            return ActionResult(step_id="", tool="", status=ActionStatus.PENDING, job_handle={"asked": 0})
        if request.job_care is not JobCare.CANCEL:
            is_waiting.set()
            await asyncio.Event().wait()
        return {}

    run.action = ScriptedAction({"build": hang})
    async with asyncio.TaskGroup() as group:
        driving = group.create_task(run.drive())
        await is_waiting.wait()
        driving.cancel()

    assert [request.job_care for request in run.action.requests] == [JobCare.KEEP, JobCare.KEEP, JobCare.CANCEL]
    assert run.action.requests[-1].job_handle == {"asked": 0}
    assert ended(run.writer.state)[0] is Outcome.CANCELLED

    late = job_run(polls=100)
    await late.drive(deadline_seconds=5.0)
    assert {request.job_care for request in late.action.requests} == {JobCare.KEEP}
