"""Runs the steps of a plan: independent ones side by side, dependent ones when what they build on is valid."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping

from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.core.tasks import first_error
from taoloop.loop.state import StepRecord
from taoloop.plan.model import PlanStep, ThoughtPlan


async def run_steps(
    plan: ThoughtPlan,
    steps: Mapping[str, StepRecord],
    run: Callable[[PlanStep], Awaitable[None]],
    skip: Callable[[PlanStep, Fault], Awaitable[None]],
    max_parallel: int,
) -> None:
    """Run every step of a checked plan once; return when all of them have ended.

    A step starts when all it depends on has succeeded. When one of them did not, the step is skipped, and so are
    the steps that depend on it; the others go on. A step that waits for a person is left as it is, and so are the
    steps that depend on it. A step that ended before is not run again.

    Args:
        plan: A plan without cycles.
        steps: What is known of the steps; `run` and `skip` keep it up to date.
        run: Runs one step; what came of it stands in `steps` afterwards.
        skip: Notes that a step does not run, and why.
        max_parallel: Most steps that run at the same time.
    """
    ended = {step.step_id: asyncio.Event() for step in plan.steps}
    slots = asyncio.Semaphore(max_parallel)

    async def follow(step: PlanStep) -> None:
        for earlier in step.depends_on:
            if earlier in ended:
                await ended[earlier].wait()
        if not _is_to_run(step, steps):
            ended[step.step_id].set()
            return
        broken = next((earlier for earlier in step.depends_on if not _has_succeeded(steps, earlier)), None)
        if broken is not None:
            await skip(step, _because_of(broken, steps))
        else:
            async with slots:
                await run(step)
        ended[step.step_id].set()

    # A step's own failure is data; what comes out here is the log or the host giving up, once is enough.
    with first_error():
        async with asyncio.TaskGroup() as group:
            for step in plan.steps:
                group.create_task(follow(step), name=f"step {step.step_id}")


def _is_to_run(step: PlanStep, steps: Mapping[str, StepRecord]) -> bool:
    """Return whether a step's turn has come: it has not ended, and neither it nor what it builds on waits."""
    record = steps.get(step.step_id)
    if record is not None and (record.is_done or record.is_waiting):
        return False
    return not any(_is_open(steps, earlier) for earlier in step.depends_on)


def _is_open(steps: Mapping[str, StepRecord], step_id: str) -> bool:
    """Return whether a step waits for a person, or was left alone because of one that does."""
    record = steps.get(step_id)
    return record is not None and not record.is_done


def _has_succeeded(steps: Mapping[str, StepRecord], step_id: str) -> bool:
    record = steps.get(step_id)
    return record is not None and record.has_succeeded


def _because_of(step_id: str, steps: Mapping[str, StepRecord]) -> Fault:
    """Return the fault of a step that is skipped, naming the step whose failure began it."""
    record = steps.get(step_id)
    fault = record.fault if record is not None else None
    root = (fault.cause_step_id if fault is not None else "") or step_id
    return Fault(
        code=FaultCode.UPSTREAM_STEP_FAILED,
        stage=FaultStage.LOOP,
        message=f"Step {step_id} did not succeed" + (f": {fault.message}" if fault is not None else "."),
        cause_step_id=root,
    )
