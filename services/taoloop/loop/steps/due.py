"""Whether and for what a step runs: its condition, and the list that it runs over."""

from __future__ import annotations

from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Absent, JsonValue
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.loop.state import RunState
from taoloop.plan.flow.conditions import Condition
from taoloop.plan.model import PlanStep, StepOutput
from taoloop.tools.rules import Verdict

_MAX_NAMED: Final = 5


def why_left_out(step: PlanStep, state: RunState) -> Fault | None:
    """Return why a step does not run for its condition: it is false, or nobody can tell; None when it runs."""
    if isinstance(step.when, Absent):
        return None
    results = {
        record.step_id: None if isinstance(record.observation.data, Absent) else record.observation.data
        for record in state.steps.values()
        if record.observation is not None and record.observation.valid
    }
    try:
        condition = Condition.of(step.when, state.steps.keys())
    except ValueError as exc:  # a plan that was never checked
        return _undecided(f"The condition of the step cannot be used: {exc}.")
    absent = [
        read.step_id for read in condition.sources if isinstance(read, StepOutput) and read.step_id not in results
    ]
    if absent:
        return _undecided(f"The condition of the step reads {absent[0]}, which has no result.")
    outcome = condition.judged(results, state.task.state, state.inputs)
    match outcome.verdict:
        case Verdict.PASS:
            return None
        case Verdict.FAIL:
            return Fault(
                code=FaultCode.CONDITION_NOT_MET, stage=FaultStage.LOOP, message="The step's condition is false."
            )
        case Verdict.INDETERMINATE:
            named = ", ".join(outcome.missing[:_MAX_NAMED]) or "a value that it reads"
            return _undecided(f"The condition of the step hangs on what is missing: {named}.")
        case Verdict.ERROR:
            return _undecided(f"The condition of the step could not be judged: {outcome.cause}.")


def items_of(step: PlanStep, state: RunState, max_items: int) -> list[JsonValue] | Fault:
    """Return the list that a step runs over, or why it cannot.

    Args:
        step: A step with `for_each`.
        state: The run so far.
        max_items: Most items that the loop serves; the plan's own bound is lower, or not set.
    """
    fan_out = step.for_each
    if fan_out is None or fan_out.items is None:
        return _unresolved("The step names no list that it runs over.")
    source = fan_out.items
    record = state.steps.get(source.step_id)
    data = record.observation.data if record is not None and record.observation is not None else ABSENT
    if record is None or not record.has_succeeded or isinstance(data, Absent):
        return _unresolved(f"The step {source.step_id!r} has no result.")
    try:
        items = pointers.lookup(data, source.pointer)
    except (pointers.PointerNotFound, pointers.PointerSyntaxError):
        return _unresolved(f"The result of {source.step_id!r} has nothing at {source.pointer!r}.")
    if not isinstance(items, list):
        return _too_many(f"There is no list at {source.pointer!r} of {source.step_id!r}.", "list", None)
    if fan_out.max_items and len(items) > fan_out.max_items:
        message = f"The list has {len(items)} items; the plan allows {fan_out.max_items}."
        return _too_many(message, fan_out.max_items, len(items))
    if len(items) > max_items:
        return Fault(
            code=FaultCode.LIMIT_REACHED,
            stage=FaultStage.LOOP,
            message=f"The list has {len(items)} items; a step runs for {max_items} at most.",
            field="max_items",
            expected=max_items,
            actual=len(items),
        )
    return items


def _undecided(message: str) -> Fault:
    code = FaultCode.CONDITION_UNDECIDED
    return Fault(code=code, stage=FaultStage.LOOP, message=message, field="/when", suggestion=code.remedy)


def _unresolved(message: str) -> Fault:
    code = FaultCode.UNRESOLVED_REFERENCE
    return Fault(code=code, stage=FaultStage.RESOLVE, message=message, field="/for_each/items", suggestion=code.remedy)


def _too_many(message: str, expected: JsonValue, actual: JsonValue) -> Fault:
    code = FaultCode.TOO_MANY_ITEMS
    return Fault(
        code=code,
        stage=FaultStage.LOOP,
        message=message,
        field="/for_each/items",
        expected=expected,
        actual=actual,
        suggestion=code.remedy,
    )
