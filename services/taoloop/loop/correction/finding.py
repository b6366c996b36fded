"""Finds what failed in a plan that ran, or in a thought: by records and codes alone, never by asking a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from taoloop.core.exact_json import ABSENT
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.loop.correction.classes import FaultClass, class_of
from taoloop.loop.correction.failure import Failure, Situation
from taoloop.loop.correction.machine import State
from taoloop.loop.correction.progress import is_second, second_of, state_after
from taoloop.loop.steps.step_record import StepRecord
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.running import CorrectionMade
from taoloop.plan.thinking import Escalation, Refusal, RefusalReason, ThinkResponse

_CODE_OF_REFUSAL: Final = {
    RefusalReason.NO_TOOL: FaultCode.NO_TOOL,
    RefusalReason.NOT_ALLOWED: FaultCode.EFFECT_NOT_ALLOWED,
    RefusalReason.MISSING_USER_QUERY: FaultCode.MISSING_USER_QUERY,
    RefusalReason.INSUFFICIENT_CONTEXT: FaultCode.INSUFFICIENT_CONTEXT,
    RefusalReason.PLAN_FAILED: FaultCode.INVALID_PLAN,
}

_NO_WAY_ROUND: Final = frozenset(RefusalReason) - {RefusalReason.MISSING_USER_QUERY}
"""Refusals that, after a failure, say that there is no other way."""

_OF_PLANS: Final = frozenset(
    {FaultClass.TOOL_SCHEMA_VIOLATION, FaultClass.TOOL_FAILED, FaultClass.RESPONSE_MALFORMED, FaultClass.TOOL_TIMEOUT}
)
"""Classes that a fault of a plan only seems to have: no tool was called, and the planner wrote it."""


def failed_steps(situation: Situation, plan: ThoughtPlan) -> tuple[Failure, ...]:
    """Return the steps of a plan that failed by themselves, in its order.

    A step that was skipped for another's failure says nothing new, unless the plan can do without the other one and not
    without this; one that was left out was spoken of.
    """
    return tuple(_failed_steps(situation, plan))


def doubtful_steps(situation: Situation, plan: ThoughtPlan) -> tuple[Failure, ...]:
    """Return the steps of a plan whose results are too doubtful to answer with, when no result of the run is better."""
    run = situation.run
    planned = {step.step_id for step in plan.steps}
    return tuple(
        _of_step(situation, run.steps[step_id], _doubt(run.steps[step_id]))
        for step_id in run.doubtful_steps
        if step_id in planned and not is_second(step_id)
    )


def failed_thought(situation: Situation, response: ThinkResponse) -> tuple[Failure, ...]:
    """Return what is wrong with a thought that is neither plan nor answer nor question.

    After failures that were to be planned round, a thought that finds no way leaves these failures where they were.
    """
    outcome, causes = response.outcome, situation.run.corrections.causes
    steps = [made for made in causes if made.step_id in situation.run.steps]
    if steps and _finds_no_way(outcome, steps):
        return tuple(_once_more(situation, made) for made in steps)
    match outcome:
        case Refusal():
            return (_of_thought(situation, _fault_of_refusal(outcome)),)
        case Escalation():
            return (_of_escalation(situation, outcome),)
        case _:
            return (_of_thought(situation, plan_fault("The thought decided nothing.")),)


def plan_fault(message: str) -> Fault:
    """Return the fault of a plan that cannot be carried out."""
    return Fault(code=FaultCode.INVALID_PLAN, stage=FaultStage.PLAN, message=message)


def _failed_steps(situation: Situation, plan: ThoughtPlan) -> Iterator[Failure]:
    run = situation.run
    optional = {step.step_id for step in plan.steps if step.optional}
    for step in plan.steps:
        record = run.steps.get(step.step_id)
        if record is not None and record.missing is not None and not _is_dealt_with(situation, record):
            yield _lacks_items(situation, record, record.missing)
        if record is None or record.is_open or record.has_succeeded or _is_dealt_with(situation, record):
            continue
        fault = record.fault or plan_fault(f"Step {step.step_id} has no result.")
        if not fault.cause_step_id or (not step.optional and fault.cause_step_id in optional):
            yield _of_step(situation, record, fault, is_optional=step.optional, is_news=True)


def _is_dealt_with(situation: Situation, record: StepRecord) -> bool:
    """Tell whether nothing is to be done: no failure, given up, or a person has spoken or is asked for leave."""
    if record.is_left_out or record.is_settled or situation.run.corrections.is_given_up(record.step_id):
        return True
    second = situation.run.steps.get(second_of(record.step_id))
    return second is not None and second.is_waiting


def _of_step(
    situation: Situation, record: StepRecord, fault: Fault, *, is_optional: bool = False, is_news: bool = False
) -> Failure:
    kind = class_of(
        fault.code,
        may_have_effect=not record.has_succeeded and situation.may_have_acted(record),
        status_code=0 if record.action is None else record.action.status_code,
    )
    return Failure(
        fault=fault,
        kind=kind,
        state=situation.run.corrections.state_of(record.step_id, record.tool, kind),
        step_id=record.step_id,
        tool=record.tool,
        record=record,
        is_optional=is_optional,
        is_news=is_news,
    )


def _lacks_items(situation: Situation, record: StepRecord, fault: Fault) -> Failure:
    """Return the failure of items that an optional step goes on without; others build on its list, so it stays."""
    return replace(_of_step(situation, record, fault, is_optional=True), state=State.ENDED)


def _once_more(situation: Situation, made: CorrectionMade) -> Failure:
    record = situation.run.steps[made.step_id]
    return _of_step(situation, record, made.fault or plan_fault("The step failed."))


def _finds_no_way(outcome: object, causes: list[CorrectionMade]) -> bool:
    if isinstance(outcome, Refusal):
        is_outdated = any(class_of(fault.code) is FaultClass.PLAN_OUTDATED for fault in outcome.faults)
        return outcome.reason in _NO_WAY_ROUND and not is_outdated
    codes = {made.fault.code for made in causes if made.fault is not None}
    return isinstance(outcome, Escalation) and any(fault.code in codes for fault in outcome.faults)


def _of_thought(situation: Situation, fault: Fault, *, is_escalated: bool = False) -> Failure:
    kind = class_of(fault.code)
    # A tool that the planner's own catalogue lacks was made up: that catalogue is as new as the plan.
    if kind in _OF_PLANS or fault.code == FaultCode.UNKNOWN_TOOL:
        kind = FaultClass.LLM_OUTPUT_MALFORMED
    corrections = situation.run.corrections
    reached = max((state_after(made) for made in corrections.causes if not made.step_id), default=State.FRESH)
    return Failure(
        fault=fault,
        kind=kind,
        state=reached,
        is_escalated=is_escalated,
        is_news=kind is FaultClass.PLAN_OUTDATED,
    )


def _of_escalation(situation: Situation, escalation: Escalation) -> Failure:
    """Return what a planner that wants a person failed at; a plan that may not run is its own failure."""
    written = next((fault for fault in escalation.faults if fault.stage == FaultStage.PLAN), None)
    if written is not None:
        return _of_thought(situation, written, is_escalated=True)
    fault = Fault(
        code=FaultCode.DECISION_BY_PERSON_NEEDED,
        stage=FaultStage.PLAN,
        message=escalation.message or "No way was found.",
    )
    return _of_thought(situation, fault, is_escalated=True)


def _fault_of_refusal(refusal: Refusal) -> Fault:
    if refusal.faults and refusal.reason is not RefusalReason.NO_TOOL:
        return refusal.faults[0]
    return Fault(
        code=_CODE_OF_REFUSAL[refusal.reason],
        stage=FaultStage.PLAN,
        message=refusal.message,
        actual=list(refusal.required_fields) if refusal.required_fields else ABSENT,
    )


def _doubt(record: StepRecord) -> Fault:
    confidence = record.observation.confidence if record.observation is not None else 0.0
    return Fault(
        code=FaultCode.RESULT_DOUBTFUL,
        stage=FaultStage.LOOP,
        message=f"The result of {record.tool} has a confidence of {confidence:.2f}.",
        suggestion=FaultCode.RESULT_DOUBTFUL.remedy,
    )
