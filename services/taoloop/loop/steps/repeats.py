"""How often a run made the same call and got the same result."""

from __future__ import annotations

from collections.abc import Iterable

from taoloop.core.exact_json import ABSENT, Json, JsonValue, digest
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.loop.state import StepRecord
from taoloop.plan.calls import call_key


def loop_fault(records: Iterable[StepRecord], tool: str, arguments: JsonValue, max_equal_calls: int) -> Fault | None:
    """Return why a call is not made once more; None when it may still bring something new.

    Args:
        records: The run's steps, oldest first.
        tool: The tool that is to be called.
        arguments: With what; key order and number form do not matter.
        max_equal_calls: How often the call may give the same result. A result that differs starts the count anew.
    """
    made = [record for record in records if record.tool == tool and record.action is not None]
    if len(made) < max_equal_calls:
        return None  # the common case costs no digest
    key = call_key(tool, arguments)
    results = [_result(record) for record in made if call_key(tool, _present(record.arguments)) == key]
    if len(results) < max_equal_calls or len(set(results[-max_equal_calls:])) > 1:
        return None
    return Fault(
        code=FaultCode.LOOP_DETECTED,
        stage=FaultStage.LOOP,
        message=f"{tool} gave the same result to the same arguments {max_equal_calls} times.",
        field="max_equal_calls",
        suggestion=FaultCode.LOOP_DETECTED.remedy,
    )


def _result(record: StepRecord) -> str:
    """Return a digest of what came back: status, body and failure, without times and attempts."""
    action = record.action
    assert action is not None
    body = action.body.sha256 if action.body is not None else digest(_present(action.parsed))
    return f"{action.status} {action.fault.code if action.fault is not None else ''} {body}"


def _present(value: Json) -> JsonValue:
    return None if value is ABSENT else value
