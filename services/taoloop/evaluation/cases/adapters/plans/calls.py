"""Several calls at once: their ids, their results, and the guard against repeats."""

from __future__ import annotations

from functools import partial
from typing import Any

from taoloop.core.clock import SystemClock
from taoloop.core.faults import FaultCode
from taoloop.core.ids import new_id
from taoloop.evaluation.cases.adapters.refusing import errors_of, listed, need, rejected
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said, Unsupported
from taoloop.evaluation.cases.vocabulary import case_word
from taoloop.plan.calls import CallResult, ToolCall, pair_results, with_unique_ids
from taoloop.plan.flow.repetition import LoopGuard


def _tool_calls(case_input: CaseInput) -> Said:
    wanted = [_call(item) for item in listed(case_input["calls"], "calls")]
    calls = with_unique_ids(wanted, partial(new_id, SystemClock()))
    ids = [call.call_id for call in calls]
    return {"executions": len(calls), "unique_ids": len(set(ids)) == len(ids)}


def _tool_results(case_input: CaseInput) -> Said:
    pending = [_call(item) for item in listed(case_input["pending"], "pending")]
    results = [_result(item) for item in listed(case_input["results"], "results")]
    pairing = pair_results(pending, results)
    if pairing.faults:
        return rejected(pairing.faults[0].code, errors=errors_of(pairing.faults))
    return {"outcome": "accepted", "paired": {call_id: result.data for call_id, result in pairing.results.items()}}


def _call_sequence(case_input: CaseInput) -> Said:
    if case_input["threshold"] < 2:
        raise Unsupported("a threshold below 2 makes no loop")
    guard = LoopGuard(case_input["threshold"])
    for position, call in enumerate(listed(case_input["calls"], "calls"), start=1):
        tool = need(call, "tool", "a call")
        if guard.record(tool, call.get("args", {}), call.get("result")):
            word = case_word(FaultCode.LOOP_DETECTED)
            return {"loop_detected": True, "at_call": position, "error_class": word}
    return {"loop_detected": False}


def _call(item: Any) -> ToolCall:
    tool = need(item, "name", "a call")
    return ToolCall(call_id=item.get("id") or "", tool=tool, arguments=item.get("args", {}))


def _result(item: Any) -> CallResult:
    data = need(item, "data", "a result")
    return CallResult(call_id=item.get("id") or "", tool=item.get("name") or "", data=data)


TOOL_CALLS = Adapter(feed=_tool_calls, required=("calls",))
TOOL_RESULTS = Adapter(feed=_tool_results, required=("pending", "results"))
CALL_SEQUENCE = Adapter(feed=_call_sequence, required=("threshold", "calls"))
