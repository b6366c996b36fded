"""The faults of the action stage: refusals before a call, and what an answer or its absence means."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from taoloop.action.ports import Reply, TransportFault
from taoloop.action.retry_after import retry_after_seconds
from taoloop.core.exact_json import JsonValue
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.rules import RuleData, Verdict

_REMEDIES = {code.value: code.remedy for code in FaultCode}
_MOMENTARY_REFUSALS = frozenset({408, 425, 429})


def action_fault(code: str, message: str, *, is_retriable: bool = False) -> Fault:
    """Return a fault of the action stage with the suggestion that its code has, if it is one of ours."""
    return Fault(
        code=code, stage=FaultStage.ACTION, message=message, retriable=is_retriable, suggestion=suggestion_for(code)
    )


def suggestion_for(code: str) -> str:
    """Return what the reader can do about a code; empty for a code that a contract made up."""
    return _REMEDIES.get(code, "")


def status_fault(reply: Reply, now: datetime) -> Fault | None:
    """Return what an HTTP status means by its class; None for 2xx.

    Args:
        reply: The answer; its body is not looked at.
        now: Against which the date of a `Retry-After` is read, aware.
    """
    status = reply.status_code
    if 200 <= status < 300:
        return None
    fault = _by_class(status)
    seconds = retry_after_seconds(reply.retry_after, now) if fault.retriable else None
    return replace(fault, retry_after_seconds=seconds, actual=status)


def known_error(tool: CompiledTool, status_code: int, body: JsonValue) -> Fault | None:
    """Return the fault that the contract's `errors` make of an answer, the first match; None when none does.

    Args:
        tool: Whose contract.
        status_code: The transport's status.
        body: The parsed body; None when it is no JSON.
    """
    if not tool.errors:
        return None
    data = RuleData({"status_code": status_code, "body": body})
    for error, rule in tool.errors:
        if rule.verdict(data).verdict is Verdict.PASS:
            message = f"The tool answered {status_code}, which the contract calls {error.code}."
            fault = action_fault(error.code, message, is_retriable=error.is_retriable)
            return replace(fault, suggestion=error.suggestion or fault.suggestion, actual=status_code)
    return None


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
