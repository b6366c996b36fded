"""An executor on doubles, for the tests of what it does."""

from __future__ import annotations

import asyncio
from typing import Any

from taoloop.action.executor import Executor
from taoloop.action.ledger.effects import EffectQuery
from taoloop.action.ports import Reply, ToolCall
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.plan.effects import EffectState
from taoloop.testing.clock import FakeClock
from taoloop.testing.effect_ledger import InMemoryEffectLedger, StoredEffects
from taoloop.testing.transport import Answer, ScriptedTransport, json_reply
from tests.unit.action.contracts import catalogue, context, request, telemetry

OK = json_reply({"id": 1})


class Bench:
    """An executor on doubles."""

    def __init__(self, *answers: Answer, store: StoredEffects | None = None) -> None:
        self.clock = FakeClock(is_impatient=True)
        self.store = StoredEffects() if store is None else store
        self.transport = ScriptedTransport(answers)
        self.ledger = InMemoryEffectLedger(self.clock, self.store)
        self.telemetry = telemetry()
        self.executor = Executor(catalogue(), self.transport, self.ledger, self.telemetry, self.clock)

    async def run(self, tool: str = "look_up", *, seconds: float = 10.0, **changes: Any) -> ActionResult:
        return await self.executor.execute(request(tool, **changes), context(self.clock, seconds))

    async def states(self) -> list[EffectState]:
        return [effect.state for effect in await self.ledger.list("acme", EffectQuery())]


class Hanging:
    """An answer that never comes."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()

    async def __call__(self, _call: ToolCall) -> Reply:
        self.entered.set()
        await asyncio.Event().wait()
        raise AssertionError


def outcome(result: ActionResult) -> tuple[ActionStatus, str]:
    return result.status, result.fault.code if result.fault is not None else ""
