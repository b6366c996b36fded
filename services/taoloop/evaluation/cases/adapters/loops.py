"""The loop on doubles of the other services: plans are thought as they are given, tools do as they are told."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.exact_json import Json
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.loop.app import config_of
from taoloop.loop.driver import DriverServices
from taoloop.loop.host import RunHost
from taoloop.loop.people.people import People
from taoloop.loop.ports import ActionPort
from taoloop.loop.runs import Runs
from taoloop.loop.settings import LoopSettings
from taoloop.loop.steps.services import StepServices
from taoloop.loop.tool_directory import ToolDirectory
from taoloop.plan.acting import ActionResult, ExecuteRequest, ToolSummary
from taoloop.plan.effects import DecideApprovalRequest, DecideApprovalResponse
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.task import Role, Task, Turn
from taoloop.plan.thinking import ThinkResponse
from taoloop.testing.run_log import InMemoryRunLeases, InMemoryRunLog, LeaseTable
from taoloop.testing.services import ListedTools, ScriptedObservation, ScriptedThought
from taoloop.tools.signature import Trust

Play = Callable[[ExecuteRequest], Awaitable[ActionResult]]
"""What a tool does with a call."""

_MAX_AGE_SECONDS: Final = 60.0


class PlayedAction:
    """An `ActionPort` whose every tool is played by one function; it notes the calls in their order."""

    def __init__(self, tools: tuple[str, ...], play: Play) -> None:
        self.requests: list[ExecuteRequest] = []
        self._listing = ListedTools(
            tuple(ToolSummary(name=name, parameters={}, trust=Trust.TRUSTED) for name in dict.fromkeys(tools))
        )
        self._play = play

    async def execute(self, request: ExecuteRequest, call: CallContext) -> ActionResult:  # noqa: ARG002 - the port's
        """See `ActionPort.execute`."""
        self.requests.append(request)
        return await self._play(request)

    async def decide_approval(self, request: DecideApprovalRequest, call: CallContext) -> DecideApprovalResponse:  # noqa: ARG002 - the port's
        """See `ActionPort.decide_approval`; no played tool asks for leave, so the decision stands alone."""
        return DecideApprovalResponse(approval_id=request.approval_id, decision=request.decision)

    async def list_tools(self, call: CallContext) -> ListedTools:  # noqa: ARG002 - the port's
        """See `ActionPort.list_tools`."""
        return self._listing


def new_telemetry() -> Telemetry:
    """Return telemetry that nobody collects."""
    return Telemetry.build(TelemetrySettings(), "taoloop-cases")


@dataclass(frozen=True, slots=True)
class DoubledLoop:
    """The loop's domain on doubles of what it needs."""

    runs: Runs
    people: People


@asynccontextmanager
async def runs_on_doubles(
    plan: ThoughtPlan, action: PlayedAction, log: InMemoryRunLog, telemetry: Telemetry, clock: Clock
) -> AsyncIterator[DoubledLoop]:
    """Drive runs that all follow one plan; whatever still runs at the end is given up."""
    services = DriverServices(
        thought=ScriptedThought(ThinkResponse(outcome=plan)),
        steps=StepServices(action=action, observation=ScriptedObservation(), clock=clock),
        directory=ToolDirectory(action, clock, _MAX_AGE_SECONDS),
        clock=clock,
    )
    async with loop_of(services, action, log, telemetry, clock) as loop:
        yield loop


@asynccontextmanager
async def loop_of(
    services: DriverServices, action: ActionPort, log: InMemoryRunLog, telemetry: Telemetry, clock: Clock
) -> AsyncIterator[DoubledLoop]:
    """Drive runs with these services and a log in memory; whatever still runs at the end is given up."""
    config = config_of(LoopSettings(shutdown_grace_seconds=1.0))
    leases = InMemoryRunLeases(LeaseTable(clock))
    async with RunHost(services, log, leases, config, telemetry, clock) as host:
        people = People.of(host, log, action, telemetry.metrics, clock)
        yield DoubledLoop(Runs(host, log, config.limits, clock), people)


def task_with(state: Json) -> Task:
    """Return a task with this session state; what its user says does not matter to a given plan."""
    return Task(turns=(Turn(role=Role.USER, text="Follow the plan."),), state=state)
