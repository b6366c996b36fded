"""The events of a run as sentences for a person, one line each, without what results hold."""

from __future__ import annotations

from collections.abc import Iterable

from taoloop.core.faults import Fault
from taoloop.plan.acting import ActionResult
from taoloop.plan.effects import ApprovalDecision
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.observing import ObservationResult
from taoloop.plan.running import (
    ActionReturned,
    ApprovalExpiring,
    ApprovalRequired,
    CorrectionMade,
    EventBody,
    HandoverRequired,
    InputRequired,
    ItemsGathered,
    LimitReached,
    ResultObserved,
    RunEvent,
    RunFinished,
    RunResumed,
    RunStarted,
    StepSkipped,
    StepStarted,
    ThoughtMade,
    WaitingBegan,
)
from taoloop.plan.running.handovers import HandoverMoment
from taoloop.plan.thinking import Answer, Escalation, NeedInput, Refusal, ThinkResponse


def moments(events: Iterable[RunEvent]) -> tuple[HandoverMoment, ...]:
    """Return what happened, in the order of the events."""
    return tuple(
        HandoverMoment(sequence=event.sequence, time=event.time, text=sentence(event.body))
        for event in events
        if event.body is not None
    )


def sentence(body: EventBody | None) -> str:
    """Return what an event says, in one sentence."""
    match body:
        case RunStarted():
            return "The run began."
        case ThoughtMade(response=ThinkResponse() as response):
            return f"Thought {response.iteration} by {response.planner or 'a planner'}: {_decided(response)}."
        case RunResumed() as resumed:
            return _resumed(resumed)
        case RunFinished() as finished:
            return f"The run came to rest: {finished.outcome or 'ended'}{_because(finished.fault)}."
        case Answer():
            return "The request was answered."
        case StepStarted() | StepSkipped() | ActionReturned() | ResultObserved() as of_step:
            return _of_step(of_step)
        case _:
            return _told(body)


def _of_step(body: StepStarted | StepSkipped | ActionReturned | ResultObserved) -> str:
    match body:
        case StepStarted(step_id=step_id, tool=tool, attempt=attempt):
            return f"Step {step_id} called {tool}{f', attempt {attempt}' if attempt > 1 else ''}."
        case StepSkipped(step_id=step_id, tool=tool, fault=fault):
            return f"Step {step_id} ({tool}) was not run{_because(fault)}."
        case ActionReturned(result=ActionResult() as result):
            return f"Step {result.step_id}: {result.tool} came back {result.status}{_because(result.fault)}."
        case ResultObserved(result=ObservationResult() as verdict):
            judged = "may be used" if verdict.valid else "may not be used"
            confidence = f"confidence {verdict.confidence:.2f}"
            return f"Step {verdict.step_id}: the result {judged}, {confidence}{_because(verdict.fault)}."
        case _:
            return "A step ended without a result."


def _told(body: object) -> str:
    match body:
        case CorrectionMade(reaction=reaction, fault=fault, message=message):
            return f"Tried against the failure: {reaction}{_because(fault)}. {message}".rstrip()
        case WaitingBegan(reason=reason):
            return f"The run waited for: {reason}."
        case ItemsGathered(step_id=step_id, items=items, failed=failed):
            return f"Step {step_id} ran over {items} items" + (f"; failed: {', '.join(failed)}." if failed else ".")
        case LimitReached(limit=limit, value=value):
            return f"The run reached its limit {limit} of {value:g}."
        case ApprovalRequired(approval_id=approval_id, tool=tool, step_id=step_id, reason=reason):
            return f"Approval {approval_id} was asked for step {step_id} ({tool}). {reason}".rstrip()
        case ApprovalExpiring(step_id=step_id, tool=tool):
            return f"The question about step {step_id} ({tool}) is about to lapse."
        case InputRequired(fields=fields):
            return f"The user was asked for {', '.join(field.pointer.lstrip('/') for field in fields)}."
        case HandoverRequired(step_id=step_id, reason=reason):
            who = f"Step {step_id}" if step_id else "The run"
            return f"{who} was handed over: {reason}" if reason else f"{who} was handed over."
        case ThoughtMade():
            return "A thought decided nothing."
        case _:
            return "Something happened that this version does not know."


def _decided(response: ThinkResponse) -> str:
    match response.outcome:
        case ThoughtPlan(steps=steps):
            return f"a plan of {len(steps)} step{'' if len(steps) == 1 else 's'}"
        case Answer():
            return "answer"
        case NeedInput():
            return "ask the user"
        case Refusal(reason=reason):
            return f"nothing can be done, {reason}"
        case Escalation():
            return "hand over to a person"
        case None:
            return "nothing"


def _resumed(resumed: RunResumed) -> str:
    if resumed.approval is not None:
        if resumed.approval.decision is ApprovalDecision.EXPIRED:
            return f"Approval {resumed.approval.approval_id} lapsed: nobody decided in time."
        by = f" by {resumed.approval.decided_by}" if resumed.approval.decided_by else ""
        return f"Approval {resumed.approval.approval_id} was {resumed.approval.decision}{by}."
    if resumed.handover is not None:
        by = f" by {resumed.handover.decided_by}" if resumed.handover.decided_by else ""
        comment = f": {resumed.handover.comment}" if resumed.handover.comment else ""
        return f"The handover was {resumed.handover.decision}{by}{comment}."
    if resumed.input is not None:
        return "The user gave the values that were asked for."
    return f"The run went on: {resumed.reason}."


def _because(fault: Fault | None) -> str:
    return "" if fault is None else f" ({fault.code}: {fault.message.rstrip('.')})"
