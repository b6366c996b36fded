"""What stands in for a call that failed: the contract's fallback tool, else the last good answer, else a person."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from taoloop.action.faulting import action_fault, unknown_outcome
from taoloop.action.outcomes import CheckedCall, Outcome
from taoloop.action.policies import argument_templates, objections
from taoloop.action.policies.cached_reads import CachedReads
from taoloop.core import exact_json
from taoloop.core.exact_json import ABSENT
from taoloop.core.faults import Fault, FaultCode
from taoloop.core.logs import EventLog
from taoloop.core.telemetry import names
from taoloop.core.telemetry.metrics import Metrics
from taoloop.plan.acting import ActionResult, ActionStatus, ServedBy
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.contract import MAX_STAND_INS, Fallback

_log = EventLog(__name__)

_ANOTHER_MAY_HELP: Final = frozenset(
    {
        FaultCode.TOOL_TIMEOUT,
        FaultCode.TOOL_UNREACHABLE,
        FaultCode.TOOL_PROTOCOL_FAULT,
        FaultCode.RESPONSE_INCOMPLETE,
        FaultCode.RESPONSE_MALFORMED,
        FaultCode.RESPONSE_TOO_LARGE,
        FaultCode.RATE_LIMITED,
        FaultCode.UPSTREAM_UNAVAILABLE,
        FaultCode.CREDENTIAL_MISSING,
        FaultCode.EGRESS_FORBIDDEN,
        FaultCode.TOOL_SWITCHED_OFF,
        FaultCode.BREAKER_OPEN,
        FaultCode.LIMITER_SHED,
        FaultCode.RETRY_BUDGET_EXHAUSTED,
    }
)
"""Failures of the tool; those of the request itself go back to whoever made it."""

Pipeline = Callable[[CheckedCall], Awaitable[ActionResult]]


class Fallbacks:
    """Finds the stand-in of a failed call.

    The fallback's own contract decides about it: its schema, permissions, taint, ledger, breaker and limits, and
    its own fallback in turn. It comes before the last good answer, since it tells the present.

    Args:
        catalogue: The tools.
        cached: Holds the last good answers.
        pipeline: Makes a checked call with everything that belongs to it.
        metrics: Counts stand-ins.
    """

    def __init__(self, catalogue: Catalogue, cached: CachedReads, pipeline: Pipeline, metrics: Metrics) -> None:
        self._catalogue = catalogue
        self._cached = cached
        self._pipeline = pipeline
        self._count = metrics.counter(names.FALLBACKS)

    async def instead_of(self, call: CheckedCall, failed: Outcome) -> Outcome:
        """Return what stands in for a call, or its own outcome if nothing does or nothing may."""
        if not _may_be_replaced(failed):
            return failed
        rules, refusal = call.tool.contract.fallback, None
        if rules is not None:
            answer = await self._answer(call, rules)
            if isinstance(answer, ActionResult):
                self._counted(call, "answered", rules.tool)
                return _in_place(failed, answer)
            refusal = answer
        last_good = self._cached.last_good(call)
        if last_good is not None:
            self._counted(call, "last_good", "")
            return replace(last_good, attempts=failed.attempts, breaker=failed.breaker)
        if rules is None or refusal is None:
            return failed
        self._counted(call, "failed", rules.tool)
        return replace(failed, fault=_both_failed(call, rules, failed, refusal))

    async def _answer(self, call: CheckedCall, rules: Fallback) -> ActionResult | Fault:
        """Return the result of the fallback, or why it is no answer."""
        checked = self._checked(call, rules)
        if isinstance(checked, Fault):
            return checked
        result = await self._pipeline(checked)
        if result.status in {ActionStatus.SUCCEEDED, ActionStatus.OUTCOME_UNKNOWN}:
            return result
        if result.status is ActionStatus.PENDING and checked.writes:
            # Its handle is good for the fallback alone, which nobody planned: its effect stays listed as unknown.
            cause = action_fault(FaultCode.FALLBACK_FAILED, f"{rules.tool} has accepted it and still works on it.")
            return replace(result, status=ActionStatus.OUTCOME_UNKNOWN, fault=unknown_outcome(cause), job_handle=ABSENT)
        return result.fault or action_fault(FaultCode.FALLBACK_FAILED, f"It ended as {result.status}.")

    def _checked(self, call: CheckedCall, rules: Fallback) -> CheckedCall | Fault:
        path = (*call.stands_in_for, call.tool.contract.name)
        if len(path) > MAX_STAND_INS or rules.tool in path:
            return action_fault(FaultCode.FALLBACK_FAILED, f"The chain of fallbacks ends at {path[-1]}.")
        tool = self._catalogue.compiled(rules.tool)
        template = (
            argument_templates.same_names(tool.contract, call.arguments) if rules.arguments is None else rules.arguments
        )
        arguments = argument_templates.fill(template, call.arguments)
        request = replace(
            call.request,
            tool=rules.tool,
            arguments=arguments,
            provenance=argument_templates.sources(template, arguments, call.request.provenance),
            request_id="",  # the id is that of the request for the first tool
            approval_id="",
            job_handle=ABSENT,
        )
        objection = objections.objection(request, tool, arguments)
        if objection is not None:
            return objection
        return CheckedCall(
            request=request,
            context=call.context,
            tool=tool,
            arguments=arguments,
            arguments_hash=exact_json.digest(arguments),
            deadline=call.deadline,
            stands_in_for=path,
        )

    def _counted(self, call: CheckedCall, outcome: str, fallback: str) -> None:
        tool = call.tool.contract.name
        self._count.labels(tool=tool, outcome=outcome).inc()
        _log.info("call_replaced", tool=tool, outcome=outcome, fallback=fallback)

    def __repr__(self) -> str:
        return f"Fallbacks({self._cached!r})"


def _may_be_replaced(failed: Outcome) -> bool:
    """Tell whether another tool may be asked: it could help, and this one surely changed nothing."""
    if failed.fault is None or failed.status not in {
        ActionStatus.FAILED,
        ActionStatus.TIMED_OUT,
        ActionStatus.REJECTED,
    }:
        return False
    return failed.fault.retriable or failed.fault.code in _ANOTHER_MAY_HELP


def _in_place(failed: Outcome, answer: ActionResult) -> Outcome:
    """Return the fallback's result as the call's: who answered is told, and whose words they are."""
    served_by = ServedBy.CACHE if answer.served_by is ServedBy.CACHE else ServedBy.FALLBACK
    return replace(
        Outcome.of(answer),
        served_by=served_by,
        served_by_tool=answer.served_by_tool or answer.tool,
        attempts=failed.attempts + answer.attempts,
        breaker=failed.breaker,
    )


def _both_failed(call: CheckedCall, rules: Fallback, failed: Outcome, refusal: Fault) -> Fault:
    """Return the fault that hands over to a person: neither the tool nor what stands in for it can do it."""
    assert failed.fault is not None
    cause, tool = failed.fault, call.tool.contract.name
    message = (
        f"{tool} failed ({cause.code}): {cause.message} Its fallback {rules.tool} did not help "
        f"({refusal.code}): {refusal.message}"
    )
    return replace(action_fault(FaultCode.FALLBACK_FAILED, message), actual=cause.actual)
