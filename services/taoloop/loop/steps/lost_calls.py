"""Envelopes for calls of which nothing came back: refused by a service, or cut off by the end of their run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from taoloop.core.exact_json import ABSENT
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.loop.state import RunState
from taoloop.loop.steps.step_record import StepRecord
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.plan.flow.fan_out import planned_step_id
from taoloop.plan.running import ActionReturned


def nothing_came(run_id: str, thought_id: str, step_id: str, tool: str, fault: Fault) -> ActionResult:
    """Return the envelope of a call that brought nothing but a fault."""
    is_unknown = fault.code == FaultCode.OUTCOME_UNKNOWN
    return ActionResult(
        run_id=run_id,
        thought_id=thought_id,
        step_id=step_id,
        tool=tool,
        status=ActionStatus.OUTCOME_UNKNOWN if is_unknown else ActionStatus.FAILED,
        parsed=ABSENT,
        fault=fault,
    )


def unknown_outcome(tool: str, cause: str) -> Fault:
    """Return the fault of a call that may have taken effect, and of which nobody said so.

    Args:
        tool: The tool.
        cause: Why nobody did, as a sentence.
    """
    return Fault(
        code=FaultCode.OUTCOME_UNKNOWN,
        stage=FaultStage.ACTION,
        message=f"Whether {tool} took effect is not known: {cause}",
        suggestion="Look the effect up before anything is repeated.",
    )


def cut_off(state: RunState, is_read: Callable[[str], bool], fault: Fault) -> tuple[ActionReturned, ...]:
    """Return an event for each step whose call was under way when its run ended, so that none is without an end.

    What was read is of no use any more. What was written may have taken effect; the ledger of effects knows more.

    Args:
        state: The run as it ends.
        is_read: Tells whether a tool is known to change nothing.
        fault: Why the run ended.
    """
    in_flight = (record for record in state.steps.values() if record.is_in_flight)
    return tuple(ActionReturned(result=_cut_off(state, record, is_read, fault)) for record in in_flight)


def unknown_effects(state: RunState, cut: Iterable[ActionReturned]) -> dict[str, Fault]:
    """Return the fault of each step of which nobody knows whether it took effect, and about which no person has spoken.

    Args:
        state: The run as it ends.
        cut: What `cut_off` says of the steps under way.
    """
    known = (record.action for record in state.steps.values() if not _is_spoken_of(state, record))
    results = [each for each in (*known, *(returned.result for returned in cut)) if each is not None]
    return {
        each.step_id: each.fault or unknown_outcome(each.tool, "nothing came back.")
        for each in results
        if each.status is ActionStatus.OUTCOME_UNKNOWN
    }


def _is_spoken_of(state: RunState, record: StepRecord) -> bool:
    """Tell whether a person has spoken about a step, or about the one that it is an item of, or it was given up."""
    planned = state.steps.get(planned_step_id(record.step_id), record)
    is_given_up = state.corrections.is_given_up(planned.step_id)
    return record.is_settled or planned.is_settled or is_given_up


def _cut_off(state: RunState, record: StepRecord, is_read: Callable[[str], bool], fault: Fault) -> ActionResult:
    cause = fault if is_read(record.tool) else unknown_outcome(record.tool, fault.message)
    result = nothing_came(state.run_id, state.thought_id, record.step_id, record.tool, cause)
    return replace(result, job_handle=record.job_handle)
