"""Checked calls, and the parts that make them, for the tests of attempts, caches and fallbacks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from random import Random
from typing import Any

from taoloop.action.attempts import AttemptLoop, Switches
from taoloop.action.outcomes import CheckedCall, Outcome
from taoloop.action.policies.guards import Guards
from taoloop.core import exact_json
from taoloop.core.deadlines import Deadline
from taoloop.testing.clock import FakeClock
from taoloop.testing.transport import Answer, ScriptedTransport
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.contract import Jitter, Retry, ToolContract
from tests.unit.action.contracts import LOOK_UP, context, request, telemetry

BASES = {"things": "https://things.example:8443/api"}
TWICE = Retry(attempts=2, backoff_seconds=0.2, jitter=Jitter.NONE)
THRICE = replace(TWICE, attempts=3)


def contract(base: ToolContract = LOOK_UP, **changes: Any) -> ToolContract:
    """Return a contract with some policies, whose digest differs with them."""
    changed = replace(base, **changes)
    return replace(changed, document={"name": changed.name, "policies": sorted(map(str, changes.items()))})


def checked(
    tool: ToolContract, clock: FakeClock, *, seconds: float = 60.0, tenant: str = "acme", **changes: Any
) -> CheckedCall:
    """Return a call of the tool that passed every check."""
    wanted = request(tool.name, **changes)
    assert isinstance(wanted.arguments, dict)
    return CheckedCall(
        request=wanted,
        context=context(clock, seconds, tenant),
        tool=CompiledTool.compile(tool),
        arguments=wanted.arguments,
        arguments_hash=exact_json.digest(wanted.arguments),
        deadline=Deadline.after(seconds, clock),
    )


class LoopBench:
    """An attempt loop on doubles; pauses pass at once unless the clock is patient."""

    def __init__(
        self,
        tool: ToolContract,
        answers: Iterable[Answer] = (),
        *,
        switches: Switches | None = None,
        patient: bool = False,
    ) -> None:
        self.clock = FakeClock(is_impatient=not patient)
        self.transport = ScriptedTransport(answers)
        self.telemetry = telemetry()
        self.guards = Guards(BASES, self.telemetry.metrics, self.clock)
        self.loop = AttemptLoop(self.transport, self.guards, self.clock, Random(1), switches)
        self.tool = CompiledTool.compile(tool)

    async def run(self, seconds: float = 60.0, **changes: Any) -> Outcome:
        """Make one call."""
        call = checked(self.tool.contract, self.clock, seconds=seconds, **changes)
        return await self.loop.run(replace(call, tool=self.tool))

    def shown(self) -> str:
        """Return what is counted."""
        return self.telemetry.metrics.exposition()
