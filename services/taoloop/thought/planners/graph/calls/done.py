"""Whether a call was made before, by its arguments as far as they are known."""

from __future__ import annotations

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Absent, JsonValue
from taoloop.plan.model import StepOutput
from taoloop.plan.thinking import CompletedStep
from taoloop.thought.planners.graph.calls.model import Step
from taoloop.thought.planners.graph.sources import equal_arguments


def done_before(step: Step, completed: tuple[CompletedStep, ...]) -> CompletedStep | None:
    """Return the latest earlier call of the same tool with the same arguments, where they are known by now."""
    arguments = known_arguments(step, completed)
    if arguments is None:
        return None
    return next(
        (
            done
            for done in reversed(completed)
            if done.tool == step.tool.name and equal_arguments(arguments, done.arguments)
        ),
        None,
    )


def known_arguments(step: Step, completed: tuple[CompletedStep, ...]) -> JsonValue | None:
    """Return the arguments of a step; None while one of them waits for a step that has not run."""
    if step.items is not None:
        return None  # as many calls as its list has items
    arguments: JsonValue = {}
    results = {done.step_id: done.exposed for done in completed if done.fault is None}
    for pointer, bound in step.bound.items():
        value = bound.value
        if isinstance(bound.source, StepOutput):
            exposed = results.get(bound.source.step_id, ABSENT)
            try:
                value = ABSENT if isinstance(exposed, Absent) else pointers.lookup(exposed, bound.source.pointer)
            except KeyError:
                return None
        if isinstance(value, Absent):
            return None
        arguments = pointers.assign(arguments, pointer, value)
    return arguments
