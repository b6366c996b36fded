"""What a person is given who takes a run over: made from the run's events alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from taoloop.core.exact_json import ABSENT
from taoloop.core.faults import FaultCode
from taoloop.loop.people.time_line import moments
from taoloop.loop.people.waits import HandoverRecord
from taoloop.loop.state import RunState
from taoloop.loop.steps.step_record import StepRecord
from taoloop.plan.acting import ActionStatus
from taoloop.plan.running import CorrectionMade, HandoverRequired, RunEvent
from taoloop.plan.running.handovers import Handover, HandoverStep

_WAYS_ON: Final = (
    "taoloop handovers answer {handover_id} --text '…'{data} answers the user in the run's place and ends the run.",
    "taoloop handovers resume {handover_id} --comment '…' lets the run think again, once what was in its way is gone.",
    "taoloop handovers close {handover_id} --comment '…' ends the run as failed.",
)


def package(state: RunState, events: Sequence[RunEvent], record: HandoverRecord) -> Handover:
    """Return a handover with all that a person needs: of results, only what their tools' contracts expose.

    Args:
        state: The run.
        events: Its events, oldest first.
        record: The handover, one of the run's.
    """
    task, required = state.task, record.required
    return Handover(
        run_id=state.run_id,
        required=required,
        opened_at=record.opened_at,
        outcome=record.outcome,
        request_id=task.request_id,
        session_id=task.session_id,
        turns=task.turns,
        locale=task.locale,
        inputs=state.inputs,
        plan=state.plan,
        steps=tuple(_step(each) for each in state.steps.values()),
        corrections=tuple(event.body for event in events if isinstance(event.body, CorrectionMade)),
        time_line=moments(events),
        usage=state.usage,
        others=() if state.has_ended else tuple(_others(state, required)),
        suggestions=tuple(_suggestions(state, record)),
        output_schema=task.output_schema,
    )


def _others(state: RunState, required: HandoverRequired) -> Iterator[HandoverRequired]:
    return (each for each in state.waits.open_handovers if each.handover_id != required.handover_id)


def _step(record: StepRecord) -> HandoverStep:
    action, observation = record.action, record.observation
    return HandoverStep(
        step_id=record.step_id,
        tool=record.tool,
        arguments=ABSENT if record.arguments is None else record.arguments,
        status=action.status if action is not None else None,
        is_valid=record.has_succeeded,
        exposed=observation.exposed if observation is not None else ABSENT,
        confidence=observation.confidence if observation is not None else 0.0,
        confidence_level=observation.confidence_level if observation is not None else None,
        trust=record.trust if observation is not None else None,
        fault=record.fault,
        effect_id=action.effect_id if action is not None else "",
    )


def _suggestions(state: RunState, record: HandoverRecord) -> Iterator[str]:
    """Yield what the person may do, what has to be done first before what ends the matter."""
    if state.has_ended or not record.is_open:
        return
    for step in state.steps.values():
        if step.action is not None and _is_unknown(step):
            effect = step.action.effect_id or "EFFECT_ID"
            find = "" if step.action.effect_id else f" Its id is told by: taoloop effects list --run {state.run_id}."
            yield (
                f"Whether step {step.step_id} ({step.tool}) took effect is not known. Look it up at the tool, then say "
                f"so with: taoloop effects resolve {effect} --by NAME --took-place, or --did-not-take-place.{find}"
            )
    fault = record.required.fault
    if fault is not None and fault.suggestion:
        yield fault.suggestion
    data = "" if state.task.output_schema is ABSENT else " --data FILE"
    for way in _WAYS_ON:
        yield way.format(handover_id=record.required.handover_id, data=data)


def _is_unknown(step: StepRecord) -> bool:
    fault = step.fault
    is_unknown = step.action is not None and step.action.status is ActionStatus.OUTCOME_UNKNOWN
    return is_unknown or (fault is not None and fault.code == FaultCode.OUTCOME_UNKNOWN)
