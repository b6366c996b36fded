"""Several calls at once: ids of our own, and results that go to their own call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from taoloop.core.exact_json import JsonValue, digest
from taoloop.core.faults import Fault, FaultCode, FaultStage


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One call that a model or a plan asks for.

    Attributes:
        call_id: Names the call; a model's own ids may repeat or be missing.
        tool: The tool's name.
        arguments: The arguments.
    """

    call_id: str = ""
    tool: str
    arguments: JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class CallResult:
    """One result that came back.

    Attributes:
        call_id: The call that it answers; empty when the sender does not say.
        tool: The tool that answered; empty when the sender does not say.
        data: The result.
    """

    call_id: str = ""
    tool: str = ""
    data: JsonValue


@dataclass(frozen=True, slots=True)
class Pairing:
    """Which result belongs to which call.

    Attributes:
        results: Result by call id.
        faults: AMBIGUOUS_RESULT for every result that fits no call or several, with the call ids as candidates.
    """

    results: Mapping[str, CallResult]
    faults: tuple[Fault, ...]


def call_key(tool: str, arguments: JsonValue) -> str:
    """Return the SHA-256 that all spellings of one call share: key order and number form do not matter.

    Raises:
        JsonEncodeError: The arguments have no JSON form.
    """
    return digest([tool, arguments])


def with_unique_ids(calls: Sequence[ToolCall], new_id: Callable[[], str]) -> tuple[ToolCall, ...]:
    """Give every call an id of ours, whatever ids the model wrote; equal calls stay separate calls."""
    return tuple(replace(call, call_id=new_id()) for call in calls)


def pair_results(pending: Sequence[ToolCall], results: Sequence[CallResult]) -> Pairing:
    """Give each result to its call.

    By id where the result has one, else by tool where exactly one call of that tool is left without a result. A
    result that fits several calls, or none, or a call that has one already, is refused: nothing is guessed by order.

    Args:
        pending: Calls with unique ids.
        results: In any order.
    """
    paired: dict[str, CallResult] = {}
    faults: list[Fault] = []
    by_id = {call.call_id: call for call in pending}
    for result in (item for item in results if item.call_id):
        call = by_id.get(result.call_id)
        if call is None or result.call_id in paired or result.tool not in {"", call.tool}:
            faults.append(_ambiguous(result, ()))
        else:
            paired[result.call_id] = result
    unnamed = [item for item in results if not item.call_id]
    for result in unnamed:
        fitting = [call.call_id for call in pending if call.call_id not in paired and result.tool in {"", call.tool}]
        rivals = sum(other.tool == result.tool or "" in {other.tool, result.tool} for other in unnamed)
        if len(fitting) == 1 and rivals == 1:
            paired[fitting[0]] = result
        else:
            faults.append(_ambiguous(result, tuple(fitting)))
    return Pairing(paired, tuple(faults))


def _ambiguous(result: CallResult, candidates: tuple[str, ...]) -> Fault:
    return Fault(
        code=FaultCode.AMBIGUOUS_RESULT,
        stage=FaultStage.LOOP,
        message="The result fits several calls." if candidates else "The result fits no call that waits for one.",
        actual={"call_id": result.call_id, "tool": result.tool},
        suggestion=FaultCode.AMBIGUOUS_RESULT.remedy,
        candidates=candidates,
    )
