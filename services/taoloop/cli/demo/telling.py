"""What a run's events tell a person in two lines: what went wrong upstream, and what the loop did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from taoloop.core.exact_json import Absent, dumps
from taoloop.plan.acting import ActionResult, ActionStatus, ServedBy
from taoloop.plan.observing import ObservationResult
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

# Failures that are the loop's own doing: nothing went wrong upstream.
_OWN_CODES = frozenset({"BREAKER_OPEN", "LIMITER_SHED", "RETRY_BUDGET_EXHAUSTED", "TAINTED_SOURCE", "REPEATED_WRITE"})
_REACTIONS = {
    "retry": "tries again",
    "fix_input": "corrects the input by the contract's words",
    "replan": "plans again, knowing {code}",
    "reprompt": "asks the model again, more strictly",
    "cross_check": "asks another source",
    "fallback": "takes another source's answer",
    "fail": "ends with {code}",
}
"""The corrections that no event of their own tells; one that asks or hands over has one."""


def went_wrong(events: Sequence[RunEvent]) -> tuple[str, ...]:
    """Return what the tools' servers did wrong, in the order in which it was seen; each thing once."""
    return _once(words for event in events for words in _upstream(event))


def was_done(events: Sequence[RunEvent]) -> tuple[str, ...]:
    """Return what the loop did beyond calling its tools; each thing once."""
    return _once([*_side_by_side(events), *(words for event in events for words in _reaction(event))])


def _once(words: Iterator[str] | Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in words if word))


def _upstream(event: RunEvent) -> Iterator[str]:
    match event.body:
        case ActionReturned(result=ActionResult() as result):
            for attempt in result.attempts:
                if attempt.code >= 400:
                    yield f"{result.tool} answers {attempt.code}"
                elif attempt.outcome not in {"answered", ""} and attempt.outcome not in _OWN_CODES:
                    yield f"{result.tool}: {attempt.outcome}"
            if result.trust is Trust.UNTRUSTED and result.status is ActionStatus.SUCCEEDED:
                yield f"{result.tool} returns other people's words"
        case ResultObserved(result=ObservationResult() as verdict) if verdict.drift:
            drift = verdict.drift[0]
            value = "something" if isinstance(drift.value, Absent) else dumps(drift.value)
            yield f"{verdict.tool} says {value} at {drift.pointer}, never seen before"
        case ResultObserved(result=ObservationResult() as verdict) if verdict.failures:
            first = verdict.failures[0]
            if first.stage != "status":
                yield f"{verdict.tool}: {first.stage} {first.rule_id} fails".replace("  ", " ")
        case _:
            return


def _reaction(event: RunEvent) -> Iterator[str]:
    match event.body:
        case ActionReturned(result=ActionResult() as result):
            yield from _of_call(result)
        case CorrectionMade(reaction=reaction, fault=fault):
            yield _REACTIONS.get(reaction, "").format(code=fault.code if fault is not None else "")
        case StepSkipped(fault=fault) if fault is not None and not fault.cause_step_id:
            yield f"refuses: {fault.code}"
        case InputRequired(fields=fields):
            yield f"asks for {', '.join(field.pointer.rsplit('/', 1)[-1] for field in fields)}"
        case ApprovalRequired(tool=tool):
            yield f"asks a person's leave for {tool}"
        case RunResumed(approval=outcome) if outcome is not None:
            yield f"a person {outcome.decision.value} it"
        case RunResumed(reason="input"):
            yield "goes on with the answer"
        case HandoverRequired():
            yield "hands over to a person"
        case _:
            return


def _of_call(result: ActionResult) -> Iterator[str]:
    if result.served_by is ServedBy.FALLBACK:
        yield f"{result.served_by_tool or 'a fallback'} answers instead"  # among the attempts there are its own
    if result.served_by is ServedBy.DUPLICATE:
        yield f"gives {result.tool} the answer of the same call"
    elif len(result.attempts) > 1:
        yield f"tries {len(result.attempts)} times"
    if result.fault is not None and result.fault.code in _OWN_CODES:
        yield f"refuses {result.tool} without a request: {result.fault.code}"


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
