"""Which calls need leave, and what the answer means for them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from taoloop.action.ledger.approval_gate import ApprovalGate, Leave, approval_policy
from taoloop.action.ledger.approvals import ApprovalQuery, Decision
from taoloop.action.outcomes import CheckedCall, Outcome
from taoloop.core.errors import ConfigurationError
from taoloop.core.faults import FaultCode
from taoloop.plan.acting import ActionStatus
from taoloop.plan.effects import ApprovalDecision
from taoloop.testing.approvals import InMemoryApprovalBook
from taoloop.testing.clock import FakeClock
from taoloop.tools.contract import Approval, ToolContract
from taoloop.tools.signature import Reach
from tests.unit.action.calls import checked
from tests.unit.action.contracts import CHANGE, LOOK_UP, telemetry

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
    assert approval_policy("  ", 30.0) is None
    assert "policy=None" in repr(Gate().gate)
