"""What an answer, its absence or a limit means: faults for the reader, and verdicts for the retry policy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Final

from taoloop.action.policies.limiter import ShedReason
from taoloop.action.policies.refused_arguments import pointed
from taoloop.action.policies.retry import Failure
from taoloop.action.policies.retry_after import retry_after_seconds
from taoloop.action.ports import Reply, TransportFault
from taoloop.core.exact_json import JsonValue
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.rules import CompiledRule, RuleData
from taoloop.tools.rules import Verdict as RuleVerdict

_REMEDIES = {code.value: code.remedy for code in FaultCode}
_MOMENTARY_REFUSALS = frozenset({408, 425, 429})

_KINDS: Final[dict[str, str]] = {
    FaultCode.TOOL_TIMEOUT: "timeout",
    FaultCode.TOOL_UNREACHABLE: "connect",
    FaultCode.RESPONSE_INCOMPLETE: "reset",
}
"""Codes of transport faults in the words of a contract's `retry.on`."""

_BREAKER_CODES: Final = frozenset(_KINDS) | {FaultCode.TOOL_PROTOCOL_FAULT}
"""Transport faults that say that the tool or the way to it is broken; the others are about the call."""

_ENDED_JOBS: Final = frozenset({FaultCode.JOB_FAILED, FaultCode.JOB_CANCELLED})
"""Transport faults in which the tool itself says that nothing came of the call."""

_STATUS_ALONE: Final = frozenset({"status_code"})

_SHED_BY: Final = {
    ShedReason.IN_FLIGHT: "has as many calls in flight as its contract allows",
    ShedReason.QUEUE: "has as many calls waiting as its contract allows",
    ShedReason.MAX_WAIT: "had no free slot within the longest wait of its contract",
    ShedReason.DEADLINE: "had no free slot before the call's deadline",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """One attempt that did not succeed.

    Attributes:
        fault: For the reader.
        failure: For the retry policy.
        is_certain: Whether a write surely took no effect.
    """

    fault: Fault
    failure: Failure
    is_certain: bool


def action_fault(code: str, message: str, *, is_retriable: bool = False) -> Fault:
    """Return a fault of the action stage with the suggestion that its code has, if it is one of ours."""
    return Fault(
        code=code, stage=FaultStage.ACTION, message=message, retriable=is_retriable, suggestion=suggestion_for(code)
    )


def suggestion_for(code: str) -> str:
    """Return what the reader can do about a code; empty for a code that a contract made up."""
    return _REMEDIES.get(code, "")


def judge_reply(
    tool: CompiledTool, reply: Reply, body: JsonValue, now: datetime, body_text: bytes | None = None
) -> Verdict | None:
    """Return what is wrong with an answer by the contract's `errors` and its status; None for nothing.

    Args:
        tool: Whose contract.
        reply: The answer.
        body: Its parsed body; None when it is no JSON.
        now: Against which the date of a `Retry-After` is read, aware.
        body_text: The body as JSON in UTF-8, which spares writing it again; None when it is not at hand.
    """
    known = known_error(tool, reply.status_code, body, body_text)
    if known is not None:
        seconds = retry_after_seconds(reply.retry_after, now) if known.retriable else None
        known = pointed(replace(known, retry_after_seconds=seconds), tool.contract, reply.status_code, body)
        failure = failure_of(known, str(reply.status_code), is_declared=True)
        return Verdict(known, failure, is_certain=not reply.is_aftermath)
    fault = None if 200 <= reply.status_code < 300 else status_fault(reply, now)
    if reply.failure:
        # Whether a tool that failed had changed something first is more than its protocol says.
        fault = action_fault(FaultCode.TOOL_ERROR, reply.failure)
        return Verdict(fault, failure_of(fault, ""), is_certain=False)
    if fault is None:
        return None
    fault = pointed(fault, tool.contract, reply.status_code, body)
    return Verdict(fault, failure_of(fault, str(reply.status_code)), is_certain=_was_refused(reply))


def judge_malformed(message: str) -> Verdict:
    """Return the verdict on an answer whose body is not what it claims to be."""
    fault = action_fault(FaultCode.RESPONSE_MALFORMED, message)
    return Verdict(fault, failure_of(fault, ""), is_certain=False)


def judge_empty() -> Verdict:
    """Return the verdict on a success with null data whose contract says `empty: retry`."""
    fault = action_fault(FaultCode.EMPTY_RESULT, "The tool succeeded and returned nothing.", is_retriable=True)
    return Verdict(fault, failure_of(fault, "empty", is_declared=True), is_certain=False)


def judge_absence(error: TransportFault) -> Verdict:
    """Return the verdict on an attempt that brought no whole answer."""
    fault = transport_fault(error)
    was_refused = error.received is not None and _was_refused(error.received)
    failure = failure_of(fault, _KINDS.get(error.code, ""), may_have_left=error.may_have_left)
    is_certain = not error.may_have_left or was_refused or error.code in _ENDED_JOBS
    return Verdict(fault, failure, is_certain=is_certain)


def has_failed(got: Reply | TransportFault) -> bool | None:
    """Tell what an attempt says to a breaker: True for transport errors, timeouts and 5xx, None for nothing.

    Refusals, 429 among them, redirects and faults of the call itself are neutral.
    """
    if isinstance(got, TransportFault):
        return True if got.code in _BREAKER_CODES else None
    if got.status_code >= 500:
        return True
    return False if 200 <= got.status_code < 300 else None


def status_fault(reply: Reply, now: datetime) -> Fault:
    """Return what an HTTP status means by its class.

    Args:
        reply: An answer that is no 2xx; its body is not looked at.
        now: Against which the date of a `Retry-After` is read, aware.
    """
    fault = _by_class(reply.status_code)
    seconds = retry_after_seconds(reply.retry_after, now) if fault.retriable else None
    return replace(fault, retry_after_seconds=seconds, actual=reply.status_code)


def known_error(tool: CompiledTool, status_code: int, body: JsonValue, body_text: bytes | None = None) -> Fault | None:
    """Return the fault that the contract's `errors` make of an answer, the first match; None when none does.

    Args:
        tool: Whose contract.
        status_code: The transport's status.
        body: The parsed body; None when it is no JSON.
        body_text: The body as JSON in UTF-8; None when it is not at hand.
    """
    if not tool.errors:
        return None
    data: RuleData | None = None
    for error, rule in tool.errors:
        if rule.paths == _STATUS_ALONE:
            passes = _passes_by_status(rule, status_code)
        else:
            data = _rule_data(status_code, body, body_text) if data is None else data
            passes = rule.verdict(data).verdict is RuleVerdict.PASS
        if passes:
            message = f"The tool answered {status_code}, which the contract calls {error.code}."
            fault = action_fault(error.code, message, is_retriable=error.is_retriable)
            return replace(fault, suggestion=error.suggestion or fault.suggestion, actual=status_code)
    return None


@lru_cache(maxsize=4096)
def _passes_by_status(rule: CompiledRule, status_code: int) -> bool:
    """Tell whether a rule that reads nothing else passes: the same statuses come again and again."""
    return rule.verdict(RuleData({"status_code": status_code})).verdict is RuleVerdict.PASS


def _rule_data(status_code: int, body: JsonValue, body_text: bytes | None) -> RuleData:
    text = None if body_text is None else f'{{"status_code":{status_code},"body":{body_text.decode()}}}'
    return RuleData({"status_code": status_code, "body": body}, text)


def transport_fault(error: TransportFault) -> Fault:
    """Return the fault for an attempt that brought no whole answer."""
    fault = action_fault(error.code, error.message, is_retriable=error.is_retriable)
    return replace(fault, field=error.pointer)


def unknown_outcome(cause: Fault) -> Fault:
    """Return the fault of a write that may have taken effect; the cause is told in its message."""
    return replace(
        action_fault(FaultCode.OUTCOME_UNKNOWN, f"The write may have taken effect ({cause.code}): {cause.message}"),
        actual=cause.actual,
    )


def is_refusal(status_code: int) -> bool:
    """Tell whether a status says that the request was refused, so that a write surely had no effect.

    5xx does not say so: a gateway sends it too when it lost the tool in the middle. 408 neither.
    """
    return 400 <= status_code < 500 and status_code != 408


def _was_refused(reply: Reply) -> bool:
    """Tell whether an answer refuses the request itself, not what came after it."""
    return is_refusal(reply.status_code) and not reply.is_aftermath


def no_time() -> Fault:
    """Return the fault of a call that was not made since its time was over before."""
    return action_fault(FaultCode.DEADLINE_EXCEEDED, "No time was left for the call; it was not made.")


def switched_off(tool: str, reason: str) -> Fault:
    """Return the fault of a tool that an operator switched off, with the operator's words."""
    because = f": {reason.rstrip('.')}." if reason else "."
    return action_fault(FaultCode.TOOL_SWITCHED_OFF, f"The tool {tool} is switched off{because}")


def breaker_open(tool: str, seconds: float) -> Fault:
    """Return the fault of a breaker that lets no attempt pass for so long; 0 while it waits for its probe."""
    message = f"The breaker of {tool} is open: too many of its last calls failed."
    fault = action_fault(FaultCode.BREAKER_OPEN, message, is_retriable=True)
    return replace(fault, field="/spec/breaker", retry_after_seconds=seconds)


def limiter_shed(tool: str, reason: ShedReason) -> Fault:
    """Return the fault of a call that found no free slot, naming the limit."""
    fault = action_fault(FaultCode.LIMITER_SHED, f"The tool {tool} {_SHED_BY[reason]}.", is_retriable=True)
    return fault if reason is ShedReason.DEADLINE else replace(fault, field=f"/spec/limiter/{reason}")


def retry_budget_exhausted(tool: str) -> Fault:
    """Return the fault of a repeat that the tool's budget refused."""
    message = f"The tool {tool} was repeated too often lately for another attempt."
    fault = action_fault(FaultCode.RETRY_BUDGET_EXHAUSTED, message, is_retriable=True)
    return replace(fault, field="/spec/retry/budget_ratio")


def stopped_by(limit: Fault, cause: Fault) -> Fault:
    """Return the limit's fault for a call that had failed before the limit kept it from a further attempt."""
    if cause.code == FaultCode.OUTCOME_UNKNOWN:  # what matters most must not be hidden by a limit
        return replace(cause, message=f"{cause.message} {limit.message}")
    waits = [seconds for seconds in (limit.retry_after_seconds, cause.retry_after_seconds) if seconds is not None]
    return replace(
        limit,
        message=f"{limit.message} The last attempt ended with {cause.code}: {cause.message}",
        actual=cause.actual,
        retry_after_seconds=max(waits, default=None),
    )


def failure_of(fault: Fault, kind: str, *, is_declared: bool = False, may_have_left: bool = True) -> Failure:
    """Return what the retry policy needs to know of a fault; `kind` is a word of a contract's `retry.on`."""
    return Failure(
        kind=kind,
        code=fault.code,
        can_heal=fault.retriable,
        is_declared=is_declared,
        may_have_left=may_have_left,
        retry_after_seconds=fault.retry_after_seconds,
    )


def _by_class(status: int) -> Fault:
    if status == 404:
        return action_fault(FaultCode.NOT_FOUND, "The tool answered 404: it knows nothing under this key.")
    if status == 429:
        return action_fault(FaultCode.RATE_LIMITED, "The tool answered 429: too many calls.", is_retriable=True)
    if status >= 500:
        return action_fault(
            FaultCode.UPSTREAM_UNAVAILABLE, f"The tool answered {status}: it cannot serve now.", is_retriable=True
        )
    if status >= 400:
        message = f"The tool answered {status}: it refused the request."
        return action_fault(FaultCode.UPSTREAM_REFUSED, message, is_retriable=status in _MOMENTARY_REFUSALS)
    if status >= 300:
        message = f"The tool answered {status}: redirects are not followed."
        return action_fault(FaultCode.TOOL_PROTOCOL_FAULT, message)
    return action_fault(FaultCode.TOOL_PROTOCOL_FAULT, f"The tool answered {status}, which is no final answer.")
