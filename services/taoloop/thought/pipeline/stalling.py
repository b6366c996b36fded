"""Finds thoughts that stand still: no step, calls that were made already, or what was thought before once more."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Absent, Json, JsonValue, equal
from taoloop.core.faults import Fault, FaultCode
from taoloop.plan.check_context import plan_fault
from taoloop.plan.fingerprint import thought_fingerprint
from taoloop.plan.flow.fan_out import at_item, with_first_items
from taoloop.plan.model import PlanStep, StepOutput, ThoughtPlan
from taoloop.plan.task import InputReason
from taoloop.plan.thinking import Answer, CompletedStep, Escalation, NeedInput, Refusal, ThinkRequest

Outcome = ThoughtPlan | Answer | NeedInput | Refusal | Escalation


class Stall(StrEnum):
    """How a thought stands still; the word goes to the fault and to the metric."""

    EMPTY_PLAN = "empty_plan"
    """The plan has no step."""
    REPEATED_PLAN = "repeated_plan"
    """The plan is the one before, or every call of it was made with success."""
    REPEATED_QUESTION = "repeated_question"
    """What is asked for was asked before, and answered."""


_SENTENCES: Final[Mapping[Stall, str]] = {
    Stall.EMPTY_PLAN: "The plan has no step",
    Stall.REPEATED_PLAN: "The plan is the same as before",
    Stall.REPEATED_QUESTION: "The question is the same as before, and was answered",
}

STATE_LOST: Final = "session_state_lost"
"""The session's state is empty: whoever keeps it may have dropped it, such as by a TTL that is too short."""
INPUT_NOT_READ: Final = "input_not_read"
"""The caller gave answers that no step takes a value from: the steps' `input_sources` may leave them out."""
WORDS_NOT_READ: Final = "words_not_read"
"""No step takes a value from the user's last turn."""
RESULTS_NOT_READ: Final = "results_not_read"
"""Results are there, and no step takes a value from them."""


def stall_of(outcome: Outcome, request: ThinkRequest) -> Stall | None:
    """Return how a thought stands still; None when it moves its run on.

    A plan whose calls failed in a way that may pass is tried again, and a value that did not fit is asked for again.
    """
    match outcome:
        case ThoughtPlan(steps=()):
            return Stall.EMPTY_PLAN
        case ThoughtPlan():
            return Stall.REPEATED_PLAN if _is_repeated_plan(outcome, request) else None
        case NeedInput():
            return Stall.REPEATED_QUESTION if _is_repeated_question(outcome, request) else None
        case _:
            return None


def find_stall(outcome: Outcome, request: ThinkRequest) -> Fault | None:
    """Return why a thought does not move its run on: THOUGHT_STALLED with its likely causes; None when it does.

    Call it with what is to leave the worker. `actual` is `{"stall": "repeated_plan", "causes": ["input_not_read"]}`.
    """
    stall = stall_of(outcome, request)
    if stall is None:
        return None
    causes = _causes(outcome, request)
    sentence = _SENTENCES[stall] + (", although the caller has answered since." if request.inputs else ".")
    actual: JsonValue = {"stall": stall.value, "causes": [*causes]}
    return plan_fault(FaultCode.THOUGHT_STALLED, "", sentence, actual=actual)


def _is_repeated_plan(plan: ThoughtPlan, request: ThinkRequest) -> bool:
    tools = {step.tool for step in plan.steps}
    if any(done.tool in tools and done.fault is not None and done.fault.retriable for done in request.completed):
        return False
    before = request.previous_thought_sha256
    if before and thought_fingerprint(plan) == before:
        return True
    return all(_was_done(step, request.completed) for step in plan.steps)


def _was_done(step: PlanStep, completed: tuple[CompletedStep, ...]) -> bool:
    """Tell whether the same call was made with success, as far as its arguments are known before it is made."""
    done = [each for each in completed if each.tool == step.tool and each.fault is None]
    if not done:
        return False
    arguments = _arguments(step, completed) if step.for_each is None else _arguments_of_items(step, completed)
    return arguments is not None and any(
        equal(arguments, {} if isinstance(each.arguments, Absent) else each.arguments) for each in done
    )


def _arguments_of_items(step: PlanStep, completed: tuple[CompletedStep, ...]) -> JsonValue | None:
    """Return the list of the arguments of a step that runs once per item; None while its list is not known."""
    listed = step.for_each.items if step.for_each is not None else None
    results = {done.step_id: done.exposed for done in completed if done.fault is None}
    exposed = results.get(listed.step_id, ABSENT) if listed is not None else ABSENT
    if listed is None or isinstance(exposed, Absent):
        return None
    items = _looked_up(exposed, listed.pointer)
    if not isinstance(items, list):
        return None
    arguments = [_arguments(at_item(step, index), completed) for index in range(len(items))]
    return None if None in arguments else [*arguments]


def _arguments(step: PlanStep, completed: tuple[CompletedStep, ...]) -> JsonValue | None:
    """Return the step's arguments; None while one of them is not known."""
    results = {done.step_id: done.exposed for done in completed if done.fault is None}
    arguments: JsonValue = {}
    for binding in step.bindings:
        value = binding.value
        if isinstance(binding.source, StepOutput):
            exposed = results.get(binding.source.step_id, ABSENT)
            value = ABSENT if isinstance(exposed, Absent) else _looked_up(exposed, binding.source.pointer)
        if isinstance(value, Absent):
            return None
        try:
            arguments = pointers.assign(arguments, binding.pointer, value)
        except (pointers.PointerNotFound, pointers.PointerSyntaxError):
            return None
    return arguments


def _looked_up(value: JsonValue, pointer: str) -> Json:
    try:
        return pointers.lookup(value, pointer)
    except (pointers.PointerNotFound, pointers.PointerSyntaxError):
        return ABSENT


def _is_repeated_question(question: NeedInput, request: ThinkRequest) -> bool:
    """Tell whether the question was asked before and answered; what did not fit may be asked for again."""
    if any(field.reason is not InputReason.MISSING for field in question.fields) or not request.inputs:
        return False
    before = request.previous_thought_sha256
    return bool(before) and thought_fingerprint(question) == before


def _causes(outcome: Outcome, request: ThinkRequest) -> list[str]:
    """Return what may be behind it, the likeliest first; nothing here is sure."""
    read = _sources_read(outcome) if isinstance(outcome, ThoughtPlan) else set()
    causes = [STATE_LOST] if request.state is ABSENT or request.state == {} else []
    if request.inputs and "InputValue" not in read:
        causes.insert(0, INPUT_NOT_READ)
    if request.completed and isinstance(outcome, ThoughtPlan) and "StepOutput" not in read:
        causes.append(RESULTS_NOT_READ)
    if isinstance(outcome, ThoughtPlan) and "QuerySpan" not in read:
        causes.append(WORDS_NOT_READ)
    return causes


def _sources_read(plan: ThoughtPlan) -> set[str]:
    return {type(binding.source).__name__ for step in with_first_items(plan).steps for binding in step.bindings}
