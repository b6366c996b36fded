"""Rules about the plan as a whole: size, ids, dependencies, what is served."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from taoloop.core.exact_json import ABSENT, JsonEncodeError, dumps
from taoloop.core.faults import Fault, FaultCode
from taoloop.plan.check_context import CheckContext, invalid, near, plan_fault, step_place
from taoloop.plan.form.json_form import MAX_TIMEOUT_SECONDS, PLAN_VERSION, step_to_json
from taoloop.plan.graph import Dependencies, cycles
from taoloop.plan.model import Binding, PlanStep, QuerySpan, ThoughtPlan

MAX_STEP_ID = 64
_STEP_ID = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)?", re.ASCII)


def dependencies_of(plan: ThoughtPlan) -> Dependencies:
    """Return the plan's graph; of steps with one id the first counts."""
    graph: dict[str, tuple[str, ...]] = {}
    for step in plan.steps:
        graph.setdefault(step.step_id, step.depends_on)
    return graph


def version_is_known(plan: ThoughtPlan, _: CheckContext) -> Iterator[Fault]:
    """A plan without a version is of the present one."""
    if plan.version not in {"", PLAN_VERSION}:
        yield plan_fault(
            FaultCode.NOT_YET_SUPPORTED, "/version", "The version of the plan form is not known.",
            expected=PLAN_VERSION, actual=plan.version,
        )  # fmt: skip


def catalogue_matches(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """A plan that names a catalogue was made for this one."""
    if plan.catalogue_digest and context.catalogue_digest and plan.catalogue_digest != context.catalogue_digest:
        yield plan_fault(
            FaultCode.CATALOGUE_MISMATCH, "/catalogue_digest", "The plan was made for another catalogue.",
            expected=context.catalogue_digest, actual=plan.catalogue_digest,
        )  # fmt: skip


def has_steps(plan: ThoughtPlan, _: CheckContext) -> Iterator[Fault]:
    """A plan has at least one step."""
    if not plan.steps:
        yield plan_fault(FaultCode.EMPTY_PLAN, "/steps", "The plan has no step.")


def times_are_in_bounds(plan: ThoughtPlan, _: CheckContext) -> Iterator[Fault]:
    """A step that has a time of its own has some, and no more than a day."""
    for index, step in enumerate(plan.steps):
        seconds = step.timeout_seconds
        if seconds is not None and not 0 < seconds <= MAX_TIMEOUT_SECONDS:
            message = f"A timeout is above 0 and at most {MAX_TIMEOUT_SECONDS} seconds."
            yield invalid(step_place(index, "timeout_seconds"), message)


def is_small(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """Steps and their tokens stay within the limits."""
    limits = context.limits
    if len(plan.steps) > limits.max_steps:
        yield plan_fault(
            FaultCode.PLAN_TOO_LARGE, "/steps", f"There are {len(plan.steps)} steps; {limits.max_steps} are allowed.",
            expected=limits.max_steps, actual=len(plan.steps),
        )  # fmt: skip
        return
    try:
        tokens = context.count_tokens(dumps([step_to_json(_pointing(step)) for step in plan.steps]))
    except JsonEncodeError as exc:
        yield invalid("/steps", f"The steps have no JSON form: {exc}.")
        return
    if tokens > limits.max_tokens:
        yield plan_fault(
            FaultCode.PLAN_TOO_LARGE, "/steps", f"The steps have {tokens} tokens; {limits.max_tokens} are allowed.",
            expected=limits.max_tokens, actual=tokens,
        )  # fmt: skip


def _pointing(step: PlanStep) -> PlanStep:
    """Return a step as it points: without the words that spans quote and the values that sources lead to.

    Both repeat what stands elsewhere; a planner writes where a value is, not the value.
    """
    return replace(step, bindings=tuple(map(_without_copies, step.bindings)), uses_snapshot=())


def _without_copies(binding: Binding) -> Binding:
    match binding.source:
        case None:
            return binding
        case QuerySpan() as span:
            return replace(binding, source=replace(span, text=""), value=ABSENT)
        case _:
            return replace(binding, value=ABSENT)


def ids_are_well_formed(plan: ThoughtPlan, _: CheckContext) -> Iterator[Fault]:
    """An id is one or two words of letters, digits, `_` and `-` with a dot between."""
    for index, step in enumerate(plan.steps):
        if len(step.step_id) > MAX_STEP_ID or _STEP_ID.fullmatch(step.step_id) is None:
            yield plan_fault(
                FaultCode.INVALID_STEP_ID, step_place(index, "id"),
                f"A step id has 1 to {MAX_STEP_ID} letters, digits, '_', '-' and at most one '.' between them.",
                actual=step.step_id,
            )  # fmt: skip


def ids_are_unique(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """No two steps of the run share an id."""
    seen = set(context.completed_by_id)
    for index, step in enumerate(plan.steps):
        if step.step_id in seen:
            yield plan_fault(
                FaultCode.DUPLICATE_STEP_ID, step_place(index, "id"),
                f"Another step of the run has the id {step.step_id!r}.", actual=step.step_id,
            )  # fmt: skip
        seen.add(step.step_id)


def dependencies_are_known(plan: ThoughtPlan, context: CheckContext) -> Iterator[Fault]:
    """A step waits for steps of this plan or for completed ones that succeeded."""
    completed = context.completed_by_id
    known = tuple(dict.fromkeys([*(step.step_id for step in plan.steps), *completed]))
    for index, step in enumerate(plan.steps):
        for position, other in enumerate(step.depends_on):
            place = step_place(index, "depends_on", position)
            if other not in known:
                yield plan_fault(
                    FaultCode.UNKNOWN_DEPENDENCY, place, f"There is no step {other!r}.", actual=other,
                    candidates=near(other, known),
                )  # fmt: skip
            elif other in completed and completed[other].fault is not None:
                yield plan_fault(
                    FaultCode.UNKNOWN_DEPENDENCY, place, f"The completed step {other!r} did not succeed.", actual=other
                )


def dependencies_have_no_cycle(plan: ThoughtPlan, _: CheckContext) -> Iterator[Fault]:
    """No steps wait for one another; each fault names the members of one cycle."""
    positions = {step.step_id: index for index, step in reversed(list(enumerate(plan.steps)))}
    for members in cycles(dependencies_of(plan)):
        yield plan_fault(
            FaultCode.DEPENDENCY_CYCLE, step_place(positions[members[0]], "depends_on"),
            f"The steps {', '.join(members)} wait for one another.", actual=list(members),
        )  # fmt: skip
