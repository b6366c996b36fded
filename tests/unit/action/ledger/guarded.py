"""A process with a write guard, for the tests of what it records."""

from __future__ import annotations

import asyncio
from typing import Any

from taoloop.action.ledger.approvals import ApprovalQuestion, Decision
from taoloop.action.ledger.effects import EffectQuery
from taoloop.action.ledger.write_guard import WriteCall, WriteGuard
from taoloop.core import exact_json
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.plan.effects import ApprovalDecision, EffectState
from taoloop.testing.clock import FakeClock
from taoloop.testing.effect_ledger import InMemoryEffectLedger, StoredEffects
from tests.unit.action.contracts import context, request, telemetry

DONE = ActionResult(step_id="1.t1", tool="change", status=ActionStatus.SUCCEEDED, parsed={"id": 1}, status_code=200)


class Process:
    """A guard, its ledger, and what is attempted."""

    def __init__(self, store: StoredEffects | None = None, *, patient: bool = False) -> None:
        self.clock = FakeClock(is_impatient=not patient)
        self.ledger = InMemoryEffectLedger(self.clock, store)
        self.telemetry = telemetry()
        self.guard = WriteGuard(self.ledger, self.clock, self.telemetry.metrics)
        self.attempts = 0
        self.result = DONE
        self.release = asyncio.Event()
        self.entered = asyncio.Event()
        self.release.set()

    async def attempt(self) -> ActionResult:
        self.attempts += 1
        self.entered.set()
        await self.release.wait()
        return self.result

    async def once(self, *, approval_id: str = "", seconds: float = 10.0, **changes: Any) -> ActionResult:
        wanted = request("change", **changes)
        blank = ActionResult(
            step_id=wanted.step_id,
            tool="change",
            status=ActionStatus.REJECTED,
            arguments_hash=exact_json.digest(wanted.arguments),
        )
        call = WriteCall(request=wanted, context=context(self.clock, seconds), blank=blank, approval_id=approval_id)
        return await self.guard.once(call, self.attempt)

    async def states(self) -> list[EffectState]:
        return [effect.state for effect in await self.ledger.list("acme", EffectQuery())]

    async def leave_for(self, **changes: Any) -> str:
        wanted = request("change", **changes)
        question = ApprovalQuestion(
            tenant="acme",
            run_id=wanted.run_id,
            step_id=wanted.step_id,
            tool="change",
            arguments_hash=exact_json.digest(wanted.arguments),
            expires_in_seconds=100.0,
        )
        approval_id = (await self.ledger.approvals.ask(question)).approval_id
        decision = Decision(approval_id=approval_id, decision=ApprovalDecision.APPROVED, decided_by="ana")
        await self.ledger.approvals.decide("acme", decision)
        return approval_id
