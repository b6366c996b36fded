"""What a run's events tell a newcomer in two lines: what went wrong upstream, and what the loop did."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final

from taoloop.core.exact_json import Absent, dumps
from taoloop.core.faults import Fault, FaultCode
from taoloop.plan.acting import ActionResult, ActionStatus, Attempt, BreakerState, ServedBy
from taoloop.plan.observing import CheckFailure, Drift, DriftKind, ObservationResult
from taoloop.plan.running import (
    ActionReturned,
    ApprovalRequired,
    CorrectionMade,
    HandoverRequired,
    InputRequired,
    ResultObserved,
    RunEvent,
    RunResumed,
    StepSkipped,
    StepStarted,
)
from taoloop.tools.signature import Trust

_OWN: Final = {
    "BREAKER_OPEN": "its breaker is open",
    "LIMITER_SHED": "it has as many calls as it may have",
    "RETRY_BUDGET_EXHAUSTED": "it had too many repeats lately",
    "TAINTED_SOURCE": "text that is not trusted feeds the call",
    "REPEATED_WRITE": "the same write was made before",
    "LOOP_DETECTED": "the run goes round in circles",
}
"""Failures that are the loop's own doing, why nothing more was sent: nothing went wrong upstream."""
_ATTEMPTS: Final = {"TOOL_TIMEOUT": "does not answer", "TOOL_UNREACHABLE": "cannot be reached"}
_CHECKS: Final = {
    "parse": "a body that cannot be read",
    "empty": "nothing",
    "schema": "a body that its contract does not allow",
    "relevance": "nothing that fits the search well",
    "normalise": "a value that has no one reading",
    "latency": "too late",
    "soft": "words that say it failed",
    "consistency": "what contradicts itself or the request",
}
_DRIFTS: Final = {
    DriftKind.NEW_FIELD: "{tool} answers with the field {pointer}, never seen before",
    DriftKind.NEW_TYPE: "{tool} answers with {value} at {pointer}, a type never seen before",
    DriftKind.NEW_ENUM_VALUE: "{tool} answers {value} at {pointer}, a value never seen before",
}
_REACTIONS: Final = {
    "retry": "tries again",
    "fix_input": "corrects the input by the contract's words",
    "replan": "plans again with the failure in mind",
    "reprompt": "asks the model again, more strictly",
    "cross_check": "asks another source",
    "prefer": "of two sources takes the surer one",
    "fallback": "takes another source's answer",
    "leave_out": "goes on without it",
}
"""The corrections that no event of their own tells; one that asks or hands over has one."""


def went_wrong(events: Sequence[RunEvent], broken: Collection[str] = ()) -> tuple[str, ...]:
    """Return what the tools' servers did wrong, in the order in which it was seen; each thing once.

    Args:
        events: Of one task.
        broken: Tools whose breaker the tasks before left open.
    """
    codes = {
        event.body.result.step_id: event.body.result.status_code
        for event in events
        if isinstance(event.body, ActionReturned) and event.body.result is not None
    }
    return _once(words for event in events for words in _upstream(event, codes, broken))


def was_done(events: Sequence[RunEvent], broken: Collection[str] = ()) -> tuple[str, ...]:
    """Return what the loop did beyond calling its tools; each thing once. The arguments are those of `went_wrong`."""
    return _once([*_side_by_side(events), *(words for event in events for words in _reaction(event, broken))])


def breakers_opened(events: Sequence[RunEvent]) -> frozenset[str]:
    """Return the tools whose breaker these events tell to be open."""
    results = [event.body.result for event in events if isinstance(event.body, ActionReturned)]
    opened = (each for each in results if each and each.breaker and each.breaker.state is BreakerState.OPEN)
    return frozenset(each.tool for each in opened)


def _once(words: Iterator[str] | Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in words if word))


def _upstream(event: RunEvent, codes: Mapping[str, int], broken: Collection[str]) -> Iterator[str]:
    match event.body:
        case ActionReturned(result=ActionResult() as result):
            for attempt in result.attempts:
                yield _attempted(result.tool, attempt)
            if result.trust is Trust.UNTRUSTED and result.status is ActionStatus.SUCCEEDED:
                yield f"{result.tool} returns text that is not trusted"
        case ResultObserved(result=ObservationResult() as verdict) if verdict.drift:
            yield _drifted(verdict.tool, verdict.drift[0])
        case ResultObserved(result=ObservationResult() as verdict) if verdict.failures:
            yield _judged(verdict.tool, verdict.failures[0], codes.get(verdict.step_id, 0))
        case CorrectionMade(fault=Fault() as fault) if (tool := _withheld(fault)) in broken:
            yield f"{tool} failed before, so its breaker is open"
        case _:
            return


def _attempted(tool: str, attempt: Attempt) -> str:
    if attempt.code >= 400:
        return f"{tool} answers {attempt.code}"
    if attempt.outcome in {"answered", "", *_OWN}:
        return ""
    return f"{tool} {_ATTEMPTS.get(attempt.outcome, f'fails: {_meaning(attempt.outcome)}')}"


def _judged(tool: str, failure: CheckFailure, code: int) -> str:
    """Return what is wrong with an answer; the attempts tell about a call that brought none."""
    if failure.stage == "status":
        return ""
    if failure.stage == "success":
        return f"{tool} answers {code or 'in time'}, and its body says that it failed"
    if failure.stage in _CHECKS:
        return f"{tool} answers {_CHECKS[failure.stage]}"
    return f"{tool} answers what its contract's rule {failure.rule_id} forbids"


def _drifted(tool: str, drift: Drift) -> str:
    value = "something" if isinstance(drift.value, Absent) else dumps(drift.value)
    return _DRIFTS[drift.kind].format(tool=tool, value=value, pointer=drift.pointer)


def _reaction(event: RunEvent, broken: Collection[str]) -> Iterator[str]:
    match event.body:
        case ActionReturned(result=ActionResult() as result):
            yield from _of_call(result)
        case CorrectionMade(reaction="fail") as correction:
            yield _given_up(correction, broken)
        case CorrectionMade(reaction=reaction):
            yield _REACTIONS.get(reaction, "")
        case StepSkipped(tool=tool, fault=fault) if fault is not None and not fault.cause_step_id:
            yield f"does not call {tool}: {_meaning(fault.code)}"
        case InputRequired(fields=fields):
            yield f"asks for {', '.join(field.pointer.rsplit('/', 1)[-1] for field in fields)}"
        case ApprovalRequired(tool=tool, reason=reason):
            yield f"asks a person's leave for {tool}" + (f" ({reason.rstrip('.')})" if reason else "")
        case RunResumed(approval=outcome) if outcome is not None:
            yield f"a person {outcome.decision.value} it"
        case RunResumed(reason="input"):
            yield "goes on with the answer"
        case HandoverRequired():
            yield "hands over to a person"
        case _:
            return


def _given_up(correction: CorrectionMade, broken: Collection[str]) -> str:
    fault = correction.fault
    told = " and tells the user why" if correction.is_told_to_user else ""
    if fault is not None and fault.code == FaultCode.NO_TOOL:
        return f"finds no tool that serves this{told.replace('why', 'so')}"
    tool = _withheld(fault)
    if not tool:
        return f"gives up{told}"
    why = "its breaker is open" if tool in broken else "it cannot be called now"
    return f"makes no request to {tool}, since {why}; gives up{told}"


def _withheld(fault: Fault | None) -> str:
    """Return the tool that a planner would not even plan with; empty for every other failure."""
    if fault is None or fault.code != FaultCode.TOOL_UNAVAILABLE or not isinstance(fault.actual, str):
        return ""
    return fault.actual


def _of_call(result: ActionResult) -> Iterator[str]:
    tries = len(result.attempts)
    if result.served_by is ServedBy.FALLBACK:
        in_all = f"tries {tries} times in all and " if tries > 1 else ""  # among the attempts there are its own
        yield f"{in_all}takes the answer of {result.served_by_tool or 'a fallback'} instead"
    elif result.served_by is ServedBy.DUPLICATE:
        yield f"uses the answer of {result.tool} again, without a second request"
    elif tries > 1:
        yield f"tries {tries} times"
    if tries and result.breaker is not None and result.breaker.state is BreakerState.OPEN:
        yield f"opens the breaker of {result.tool}"
    if result.fault is not None and result.fault.code in _OWN:
        sent = "makes no more requests" if tries else "makes no request"
        yield f"{sent} to {result.tool}: {_OWN[result.fault.code]}"


def _meaning(code: str) -> str:
    """Return in words what a code says; a contract's own code has none but itself."""
    if code in _OWN:
        return _OWN[code]
    if code not in FaultCode.__members__:
        return code
    sentence = FaultCode[code].meaning.rstrip(".")
    return sentence[:1].lower() + sentence[1:]


def _side_by_side(events: Sequence[RunEvent]) -> Iterator[str]:
    open_calls = most = 0
    for event in events:
        if isinstance(event.body, StepStarted):
            open_calls += 1
            most = max(most, open_calls)
        elif isinstance(event.body, ActionReturned):
            open_calls -= 1
    if most > 1:
        yield f"makes {most} calls side by side"
