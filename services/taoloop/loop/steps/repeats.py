"""How often a run made the same call and got the same result."""

from __future__ import annotations

from collections.abc import Iterable

from taoloop.core.exact_json import ABSENT, Json, JsonValue, digest
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.loop.steps.step_record import StepRecord
from taoloop.plan.flow.repetition import LoopGuard, spelt_alike
from taoloop.plan.model import PlanStep


def is_repeated(records: Iterable[StepRecord], step: PlanStep, arguments: JsonValue, max_equal_calls: int) -> bool:
    """Tell whether a call brings nothing new.

    Args:
        records: The run's steps, oldest first.
        step: The step that is to make it.
        arguments: With what.
        max_equal_calls: How often the call may give the same result. A result that differs starts the count anew.
    """
    made = [record for record in records if record.tool == step.tool and record.has_called]
    if len(made) < max_equal_calls:
        return False  # the common case costs no digest
    guard = LoopGuard(max_equal_calls)
    for record in made:
        guard.record(step.tool, _present(record.arguments), _result(record), _plan_of(record.step_id))
    return guard.is_loop(step.tool, arguments, _plan_of(step.step_id))


def first_good(records: Iterable[StepRecord], tool: str, arguments: JsonValue) -> StepRecord | None:
    """Return the first step that made the call, however it was spelt, with a result that may be used."""
    alike = (record for record in records if record.tool == tool and record.has_succeeded and not record.same_as)
    return next((each for each in alike if spelt_alike(_present(each.arguments), arguments)), None)


def loop_fault(tool: str, max_equal_calls: int) -> Fault:
    """Return why a call that brings nothing new is not made once more."""
    return Fault(
        code=FaultCode.LOOP_DETECTED,
        stage=FaultStage.LOOP,
        message=f"{tool} gave the same result to the same arguments {max_equal_calls} times.",
        field="max_equal_calls",
        suggestion=FaultCode.LOOP_DETECTED.remedy,
    )


def _plan_of(step_id: str) -> str:
    """Return which plan a step belongs to: the ids of one plan's steps begin alike, `2` of `2.t1`."""
    return step_id.partition(".")[0]


def _result(record: StepRecord) -> JsonValue:
    """Return what came back: status, failure and a digest of the body, without times and attempts."""
    action = record.action
    assert action is not None
    body = action.body.sha256 if action.body is not None and action.body.sha256 else digest(_present(action.parsed))
    return [action.status, str(action.fault.code) if action.fault is not None else "", body]


def _present(value: Json) -> JsonValue:
    return None if value is ABSENT else value
