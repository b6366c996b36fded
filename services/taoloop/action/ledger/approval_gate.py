"""The stage that asks a person: which calls need leave, and what the answer means for the call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from taoloop.action.faulting import action_fault
from taoloop.action.ledger.approvals import ApprovalQuestion
from taoloop.action.ledger.ports import ApprovalBook
from taoloop.action.outcomes import CheckedCall, Outcome
from taoloop.action.policies.objections import taints
from taoloop.core import exact_json
from taoloop.core.errors import ConfigurationError
from taoloop.core.exact_json import JsonSyntaxError, JsonValue
from taoloop.core.faults import FaultCode
from taoloop.core.telemetry import names
from taoloop.core.telemetry.metrics import Metrics
from taoloop.plan.acting import ActionStatus
from taoloop.plan.effects import ApprovalRecord, ApprovalState
from taoloop.plan.task import TaintedEffects
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.rules import CompiledRule, RuleData, RuleRefused, Verdict
from taoloop.tools.signature import may_do_harm

_REFUSALS: Final = {
    ApprovalState.REJECTED: FaultCode.APPROVAL_REJECTED,
    ApprovalState.EXPIRED: FaultCode.APPROVAL_EXPIRED,
    ApprovalState.CANCELLED: FaultCode.APPROVAL_CANCELLED,
}


@dataclass(frozen=True, slots=True)
class Leave:
    """A person agreed to the call.

    Attributes:
        approval_id: The approval that the call has to use up.
    """

    approval_id: str


@dataclass(frozen=True, slots=True)
class ApprovalPolicy:
    """What the operator says about leave, beside the contracts.

    Attributes:
        when: JsonLogic over {tool, arguments, tenant, effect, reach, provenance}: what is not surely false asks. None
            asks about nothing.
        expires_in_seconds: How long a question stays open that no contract asks.
    """

    when: CompiledRule | None = None
    expires_in_seconds: float = 86_400.0


_NO_RULE: Final = ApprovalPolicy()


@dataclass(frozen=True, slots=True)
class _Need:
    """Why a call needs leave, for the person who decides, and how long the question stays open."""

    reason: str
    expires_in_seconds: float


class ApprovalGate:
    """Stands before the ledger: a call that needs leave passes with it, and no other does.

    Leave is needed where the tool's contract or the operator says so, and, unless the run's permissions say otherwise,
    where untrusted text steers or feeds a call that writes or reaches outside.

    Args:
        book: Where questions and decisions are kept.
        metrics: Counts what the gate said.
        policy: The operator's rule.
    """

    def __init__(self, book: ApprovalBook, metrics: Metrics, policy: ApprovalPolicy = _NO_RULE) -> None:
        self._book = book
        self._policy = policy
        self._count = metrics.counter(names.APPROVALS)

    def concerns(self, tool: CompiledTool) -> bool:
        """Tell whether a tool's calls may need leave."""
        return (
            tool.approval is not None
            or self._policy.when is not None
            or may_do_harm(tool.contract.effect, tool.contract.reach)
        )

    async def check(self, call: CheckedCall) -> Leave | Outcome | None:
        """Return the leave that the call has, why it may not be made, or None when it needs no leave.

        Raises:
            BackendUnavailable: The store does not answer.
        """
        need = self._needed(call)
        if need is None:
            return None
        if call.stands_in_for:
            # Nobody is asked about a stand-in: by the time of the answer the tool itself may serve again.
            fault = action_fault(FaultCode.APPROVAL_REQUIRED, "The fallback needs leave, so it did not stand in.")
            return Outcome(status=ActionStatus.REJECTED, fault=fault)
        approval = await self._book.ask(_question(call, need.expires_in_seconds))
        self._count.labels(tool=call.tool.contract.name, state=approval.state).inc()
        if approval.state is ApprovalState.APPROVED:
            return Leave(approval.approval_id)
        return _waiting(approval, need.reason) if approval.state is ApprovalState.OPEN else _refused(approval)

    def _needed(self, call: CheckedCall) -> _Need | None:
        """Return why leave is needed; None when nobody has to be asked."""
        contract, policy = call.tool.contract, self._policy
        reasons: list[str] = []
        expires_in_seconds = policy.expires_in_seconds
        if call.tool.approval is not None or policy.when is not None:
            data = _rule_data(call)
            if contract.approval is not None and call.tool.approval is not None and _asks(call.tool.approval, data):
                reasons.append(f"The contract of {contract.name} asks for leave.")
                expires_in_seconds = contract.approval.expires_in_seconds
            if policy.when is not None and _asks(policy.when, data):
                reasons.append("The operator's rule asks for leave.")
        if may_do_harm(contract.effect, contract.reach) and _asks_when_tainted(call):
            reasons += [taint.message for taint in taints(call.request)]
        return _Need(" ".join(reasons), expires_in_seconds) if reasons else None

    def __repr__(self) -> str:
        return f"ApprovalGate({self._book!r}, policy={self._policy!r})"


def approval_policy(when: str, expires_in_seconds: float) -> ApprovalPolicy:
    """Return the operator's policy from its settings.

    Args:
        when: JsonLogic as JSON text; empty for none.
        expires_in_seconds: How long a question stays open that no contract asks.

    Raises:
        ConfigurationError: The text is no JSON, or no rule.
    """
    if not when.strip():
        return ApprovalPolicy(expires_in_seconds=expires_in_seconds)
    try:
        return ApprovalPolicy(CompiledRule.compile(exact_json.loads(when)), expires_in_seconds)
    except (JsonSyntaxError, RuleRefused) as exc:
        raise ConfigurationError(
            f"TAOLOOP_APPROVAL__WHEN is no rule: {exc}.", metadata={"setting": "TAOLOOP_APPROVAL__WHEN"}
        ) from exc


def _asks_when_tainted(call: CheckedCall) -> bool:
    """Tell whether taint asks here: the permissions neither allow it nor, which was seen to before, refuse it."""
    permissions = call.request.permissions
    return permissions is None or permissions.tainted_effects in {None, TaintedEffects.ASK}


def _asks(rule: CompiledRule, data: RuleData) -> bool:
    return rule.verdict(data).verdict is not Verdict.FAIL


def _rule_data(call: CheckedCall) -> RuleData:
    """Return what the rules judge; arguments as deep as a request can have them are not too deep for it."""
    contract = call.tool.contract
    provenance: list[JsonValue] = [
        {"pointer": at.pointer, "source": at.source, "step_id": at.step_id, "trust": at.trust.value}
        for at in call.request.provenance
    ]
    return RuleData(
        {
            "tool": contract.name,
            "arguments": call.arguments,
            "tenant": call.context.tenant,
            "effect": contract.effect.value,
            "reach": contract.reach.value,
            "provenance": provenance,
        }
    )


def _question(call: CheckedCall, expires_in_seconds: float) -> ApprovalQuestion:
    return ApprovalQuestion(
        tenant=call.context.tenant,
        run_id=call.request.run_id,
        step_id=call.request.step_id,
        tool=call.tool.contract.name,
        arguments_hash=call.arguments_hash,
        arguments_text=exact_json.dumps(call.arguments),
        expires_in_seconds=expires_in_seconds,
    )


def _waiting(approval: ApprovalRecord, reason: str) -> Outcome:
    fault = action_fault(
        FaultCode.APPROVAL_REQUIRED,
        f"The call waits for a person's decision about approval {approval.approval_id}. {reason}",
    )
    return Outcome(
        status=ActionStatus.APPROVAL_REQUIRED,
        fault=fault,
        approval_id=approval.approval_id,
        approval_expires_at=approval.expires_at,
        approval_reason=reason,
    )


def _refused(approval: ApprovalRecord) -> Outcome:
    what = {
        ApprovalState.REJECTED: f"{approval.decided_by} rejected the call",
        ApprovalState.EXPIRED: "nobody decided, or used the leave, in time",
        ApprovalState.CANCELLED: f"{approval.decided_by or 'somebody'} withdrew the question",
    }[approval.state]
    message = f"Not called: {what}." + (f" Comment: {approval.comment}" if approval.comment else "")
    return Outcome(
        status=ActionStatus.REJECTED,
        fault=action_fault(_REFUSALS[approval.state], message),
        approval_id=approval.approval_id,
    )
