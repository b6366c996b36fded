"""Runs the steps of a plan: independent ones side by side, dependent ones when what they build on is valid."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final

from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.core.tasks import first_error
from taoloop.loop.steps.step_record import StepRecord
from taoloop.plan.check_context import CheckContext, plan_fault
from taoloop.plan.flow.conditions import steering_sources
from taoloop.plan.model import PlanStep, StepOutput, ThoughtPlan
from taoloop.plan.rules import structure
from taoloop.plan.rules.sources import sources_of
from taoloop.plan.thinking import CompletedStep

_RULES: Final = (
    structure.has_steps,
    structure.ids_are_well_formed,
    structure.ids_are_unique,
    structure.dependencies_are_known,
    structure.dependencies_have_no_cycle,
    structure.times_are_in_bounds,
)
"""What the order of steps, their time and their records rest on; a planner that is not ours may not have checked it."""


def faults_of_order(plan: ThoughtPlan, steps: Mapping[str, StepRecord]) -> tuple[Fault, ...]:
    """Return why the steps of a plan cannot be brought into an order, or be told from the run's earlier ones.

    Args:
        plan: A plan that was just made.
        steps: The steps of the run before it.
    """
    context = CheckContext(tools={}, completed=tuple(map(_known, steps.values())))
    return tuple(fault for rule in _RULES for fault in rule(plan, context))


def _known(record: StepRecord) -> CompletedStep:
    failed = plan_fault(FaultCode.UPSTREAM_STEP_FAILED, "", "The step did not succeed.")
    return CompletedStep(step_id=record.step_id, tool=record.tool, fault=None if record.has_succeeded else failed)


async def run_steps(
    plan: ThoughtPlan,
    steps: Mapping[str, StepRecord],
    run: Callable[[PlanStep], Awaitable[None]],
    skip: Callable[[PlanStep, Fault], Awaitable[None]],
) -> None:
    """Run every step of a checked plan once; return when all of them have ended.

    A step starts when all it depends on has succeeded. When one of them did not, the step is skipped, and so are
    the steps that depend on it; the others go on. A step whose condition was false is left out, and so is what depends
    on it, unless it is optional and the other step takes nothing of it. A step that waits for a person is left as it
    is, and so are the steps that depend on it. A step that ended before is not run again.

    Args:
        plan: A plan that `faults_of_order` finds nothing wrong with.
        steps: What is known of the steps; `run` and `skip` keep it up to date.
        run: Runs one step; what came of it stands in `steps` afterwards.
        skip: Notes that a step does not run, and why.
    """
    ended = {step.step_id: asyncio.Event() for step in plan.steps}
    planned = {step.step_id: step for step in plan.steps}

    async def follow(step: PlanStep) -> None:
        for earlier in step.depends_on:
            if earlier in ended:
                await ended[earlier].wait()
        if _is_to_run(step, steps):
            broken = [each for each in step.depends_on if not _is_met(step, each, steps, planned.get(each))]
            if broken:
                await skip(step, _because_of(_cause(broken, steps), steps))
            else:
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


def _is_met(step: PlanStep, step_id: str, steps: Mapping[str, StepRecord], earlier: PlanStep | None) -> bool:
    """Return whether a step may run as far as one that it depends on goes."""
    record = steps.get(step_id)
    if record is None:
        return False
    is_passed_over = record.is_left_out and earlier is not None and earlier.optional
    return record.has_succeeded or (is_passed_over and not _takes_of(step, step_id, steps))


def _takes_of(step: PlanStep, step_id: str, steps: Mapping[str, StepRecord]) -> bool:
    """Return whether a step takes a value of another, or hangs on it."""
    sources = (*(each for binding in step.bindings for each in sources_of(binding)), *steering_sources(step, steps))
    return any(isinstance(source, StepOutput) and source.step_id == step_id for source in sources)


def _cause(broken: Sequence[str], steps: Mapping[str, StepRecord]) -> str:
    """Return which of several steps keeps one from running; a failure says more than a condition that was false."""
    failed = (step_id for step_id in broken if step_id not in steps or not steps[step_id].is_left_out)
    return next(failed, broken[0])


def _because_of(step_id: str, steps: Mapping[str, StepRecord]) -> Fault:
    """Return the fault of a step that is skipped, naming the step with which it began."""
    record = steps.get(step_id)
    why = record.skipped or record.fault if record is not None else None
    root = (why.cause_step_id if why is not None else "") or step_id
    if record is not None and record.is_left_out:
        message = f"Step {step_id} was left out, since a condition was false."
        return Fault(code=FaultCode.CONDITION_NOT_MET, stage=FaultStage.LOOP, message=message, cause_step_id=root)
    return Fault(
        code=FaultCode.UPSTREAM_STEP_FAILED,
        stage=FaultStage.LOOP,
        message=f"Step {step_id} did not succeed" + (f": {why.message}" if why is not None else "."),
        cause_step_id=root,
    )
