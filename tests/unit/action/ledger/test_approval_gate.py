"""Which calls need leave, and what the answer means for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from taoloop.action.ledger.approval_gate import ApprovalGate, ApprovalPolicy, Leave, approval_policy
from taoloop.action.ledger.approvals import ApprovalQuery, Decision
from taoloop.action.outcomes import CheckedCall, Outcome
from taoloop.core.errors import ConfigurationError
from taoloop.core.faults import FaultCode
from taoloop.plan.acting import ActionStatus, Provenance
from taoloop.plan.effects import ApprovalDecision
from taoloop.plan.task import Permissions, TaintedEffects
from taoloop.testing.approvals import InMemoryApprovalBook
from taoloop.testing.clock import FakeClock
from taoloop.tools.contract import Approval, ToolContract
from taoloop.tools.signature import Effect, Reach, Trust
from tests.unit.action.calls import checked
from tests.unit.action.contracts import CHANGE, LOOK_UP, SEND_OUT, telemetry

LARGE: Any = {">": [{"var": "arguments.size"}, 1000]}
PAY = replace(CHANGE, approval=Approval(when=LARGE, expires_in_seconds=60.0))


class Gate:
    """A gate on doubles."""

    def __init__(self, when: str = "") -> None:
        self.clock = FakeClock()
        self.book = InMemoryApprovalBook(self.clock)
        self.telemetry = telemetry()
        self.gate = ApprovalGate(self.book, self.telemetry.metrics, approval_policy(when, 30.0))

    async def check(self, tool: ToolContract, **changes: Any) -> Leave | Outcome | None:
        call = checked(tool, self.clock, **changes)
        return await self.gate.check(call)

    async def decide(self, asked: Leave | Outcome | None, decision: ApprovalDecision, comment: str = "") -> None:
        assert isinstance(asked, Outcome)
        wanted = Decision(approval_id=asked.approval_id, decision=decision, decided_by="ana", comment=comment)
        await self.book.decide("acme", wanted)


def said(outcome: Leave | Outcome | None) -> tuple[ActionStatus, str]:
    assert isinstance(outcome, Outcome)
    assert outcome.fault is not None
    return outcome.status, outcome.fault.code


def sized(size: Any) -> dict[str, Any]:
    return {"key": "abc", "size": size}


async def test_a_call_without_a_rule_needs_no_leave() -> None:
    assert await Gate().check(CHANGE) is None


async def test_a_call_that_the_contract_names_waits_for_a_person() -> None:
    gate = Gate()
    assert await gate.check(PAY, arguments=sized(10)) is None
    asked = await gate.check(PAY, arguments=sized(1001))
    assert said(asked) == (ActionStatus.APPROVAL_REQUIRED, FaultCode.APPROVAL_REQUIRED)
    assert isinstance(asked, Outcome)
    assert asked.approval_expires_at is not None
    assert (asked.approval_expires_at - gate.clock.now()).total_seconds() == 60.0
    (listed,) = await gate.book.list("acme", ApprovalQuery())
    assert (listed.approval_id, listed.arguments) == (asked.approval_id, sized(1001))
    envelope = asked.envelope(checked(PAY, gate.clock, arguments=sized(1001)))
    assert (envelope.approval_id, envelope.approval_expires_at) == (asked.approval_id, asked.approval_expires_at)
    count = gate.telemetry.metrics.registry.get_sample_value(
        "taoloop_action_approvals_total", {"tool": "change", "state": "open"}
    )
    assert count == 1


@pytest.mark.parametrize("arguments", [{"key": "abc"}, {"key": "abc", "size": None}])
async def test_what_is_not_surely_false_asks(arguments: dict[str, Any]) -> None:
    assert said(await Gate().check(PAY, arguments=arguments))[0] is ActionStatus.APPROVAL_REQUIRED


async def test_the_deepest_arguments_are_judged_like_any() -> None:
    deep: Any = "leaf"
    for _ in range(63):
        deep = [deep]
    gate = Gate()
    assert await gate.check(PAY, arguments={"key": deep, "size": 1}) is None
    assert said(await gate.check(PAY, arguments={"key": deep, "size": 1001}))[0] is ActionStatus.APPROVAL_REQUIRED


async def test_a_number_that_rules_cannot_read_exactly_asks() -> None:
    assert said(await Gate().check(PAY, arguments=sized(-(10**400))))[0] is ActionStatus.APPROVAL_REQUIRED


@pytest.mark.parametrize(
    ("decision", "expected"),
    [
        (ApprovalDecision.REJECTED, FaultCode.APPROVAL_REJECTED),
        (ApprovalDecision.CANCELLED, FaultCode.APPROVAL_CANCELLED),
    ],
)
async def test_a_refusal_is_told_with_who_and_why(decision: ApprovalDecision, expected: FaultCode) -> None:
    gate = Gate()
    await gate.decide(await gate.check(PAY, arguments=sized(2000)), decision, "too much")
    refused = await gate.check(PAY, arguments=sized(2000))
    assert said(refused) == (ActionStatus.REJECTED, expected)
    assert isinstance(refused, Outcome)
    assert refused.fault is not None
    assert "ana" in refused.fault.message
    assert "too much" in refused.fault.message


async def test_a_lapse_is_no_rejection() -> None:
    gate = Gate()
    await gate.check(PAY, arguments=sized(2000))
    gate.clock.advance(60)
    assert said(await gate.check(PAY, arguments=sized(2000))) == (ActionStatus.REJECTED, FaultCode.APPROVAL_EXPIRED)


async def test_leave_is_given_for_the_same_call_alone() -> None:
    gate = Gate()
    asked = await gate.check(PAY, arguments=sized(2000))
    await gate.decide(asked, ApprovalDecision.APPROVED)
    assert isinstance(asked, Outcome)
    assert await gate.check(PAY, arguments=sized(2000)) == Leave(asked.approval_id)
    for other in ({"arguments": sized(2001)}, {"arguments": sized(2000), "step_id": "1.t2"}):
        assert said(await gate.check(PAY, **other))[0] is ActionStatus.APPROVAL_REQUIRED


@pytest.mark.parametrize(
    ("when", "asks"),
    [
        ('{"===": [{"var": "effect"}, "write"]}', True),
        ('{"===": [{"var": "reach"}, "outward"]}', False),
        ('{"===": [{"var": "tenant"}, "acme"]}', True),
        ('{"===": [{"var": "tool"}, "look_up"]}', False),
        ('{"some": [{"var": "provenance"}, {"===": [{"var": "trust"}, "untrusted"]}]}', False),
        ("true", True),
    ],
)
async def test_the_operators_rule_stands_beside_the_contracts(when: str, asks: bool) -> None:
    gate = Gate(when)
    found = await gate.check(replace(CHANGE, reach=Reach.INTERNAL))
    assert (found is not None) is asks
    if asks:
        assert isinstance(found, Outcome)
        assert found.approval_expires_at is not None
        assert (found.approval_expires_at - gate.clock.now()).total_seconds() == 30.0


async def test_reads_need_leave_too_where_a_rule_says_so() -> None:
    assert said(await Gate("true").check(LOOK_UP))[0] is ActionStatus.APPROVAL_REQUIRED


async def test_nobody_is_asked_about_a_stand_in() -> None:
    gate = Gate()
    call: CheckedCall = replace(checked(PAY, gate.clock, arguments=sized(2000)), stands_in_for=("another",))
    assert said(await gate.gate.check(call)) == (ActionStatus.REJECTED, FaultCode.APPROVAL_REQUIRED)
    assert await gate.book.list("acme", ApprovalQuery()) == ()


@pytest.mark.parametrize("when", ["{", '{"no_such_operator": []}'])
def test_a_setting_that_is_no_rule_is_refused_at_start(when: str) -> None:
    with pytest.raises(ConfigurationError, match="TAOLOOP_APPROVAL__WHEN"):
        approval_policy(when, 30.0)


def test_an_empty_setting_is_no_rule() -> None:
    assert approval_policy("  ", 30.0) == ApprovalPolicy(expires_in_seconds=30.0)
    assert "when=None" in repr(Gate().gate)


@pytest.mark.parametrize("effects", [None, TaintedEffects.ASK])
async def test_untrusted_text_that_steers_or_feeds_a_harmful_call_asks_with_the_reason(
    effects: TaintedEffects | None,
) -> None:
    permissions = Permissions(max_effect=Effect.WRITE, tainted_effects=effects)
    fed = (Provenance(pointer="/key", source="step_output", step_id="1.t1", trust=Trust.UNTRUSTED),)
    for tool in (CHANGE, SEND_OUT):
        gate = Gate()
        asked = await gate.check(tool, provenance=fed, tainted_context=True, permissions=permissions)
        assert said(asked)[0] is ActionStatus.APPROVAL_REQUIRED
        assert isinstance(asked, Outcome)
        assert asked.approval_reason == ("Untrusted text may have shaped this call. Untrusted text (1.t1) feeds /key.")
        assert asked.approval_expires_at is not None
        assert (asked.approval_expires_at - gate.clock.now()).total_seconds() == 30.0


async def test_taint_that_is_allowed_and_reads_that_stay_inside_ask_nobody() -> None:
    gate = Gate()
    allowing = Permissions(max_effect=Effect.WRITE, tainted_effects=TaintedEffects.ALLOW)
    assert await gate.check(CHANGE, tainted_context=True, permissions=allowing) is None
    assert await gate.check(LOOK_UP, tainted_context=True) is None


async def test_a_leave_for_one_call_is_none_for_the_same_tool_with_what_untrusted_text_put_in() -> None:
    gate = Gate()
    asked = await gate.check(CHANGE, tainted_context=True, arguments=sized(1))
    await gate.decide(asked, ApprovalDecision.APPROVED)
    assert isinstance(await gate.check(CHANGE, tainted_context=True, arguments=sized(1)), Leave)
    assert said(await gate.check(CHANGE, tainted_context=True, arguments=sized(2)))[0] is (
        ActionStatus.APPROVAL_REQUIRED
    )


async def test_the_contract_s_rule_and_taint_are_both_told_and_the_contract_says_how_long() -> None:
    gate = Gate()
    asked = await gate.check(PAY, arguments=sized(2000), tainted_context=True)
    assert isinstance(asked, Outcome)
    assert asked.approval_reason == ("The contract of change asks for leave. Untrusted text may have shaped this call.")
    assert asked.approval_expires_at is not None
    assert (asked.approval_expires_at - gate.clock.now()).total_seconds() == 60.0


async def test_a_tainted_stand_in_does_not_stand_in() -> None:
    gate = Gate()
    call = replace(checked(CHANGE, gate.clock, tainted_context=True), stands_in_for=("another",))
    assert said(await gate.gate.check(call)) == (ActionStatus.REJECTED, FaultCode.APPROVAL_REQUIRED)
