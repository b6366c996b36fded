"""Two hosts of runs on one log and one table of leases, on doubles."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.exact_json import JsonValue
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.core.telemetry.names import MetricSpec
from taoloop.loop.driver import DriverServices
from taoloop.loop.host import RunHost, RunsConfig
from taoloop.loop.hosting.leases import LeaseKeeper, LeaseTerms
from taoloop.loop.hosting.take_over import TakeOver, TakeOverTerms
from taoloop.loop.limits import RunLimits
from taoloop.loop.runs import Runs
from taoloop.loop.state import RunState
from taoloop.loop.steps.services import StepServices
from taoloop.loop.tool_directory import ToolDirectory
from taoloop.plan.acting import ExecuteRequest
from taoloop.plan.model import PlanStep, ThoughtPlan
from taoloop.plan.running import RunEvent
from taoloop.plan.task import Role, Task, Turn
from taoloop.plan.thinking import ThinkResponse
from taoloop.testing.run_log import InMemoryRunLeases, InMemoryRunLog, LeaseTable
from taoloop.testing.services import ScriptedAction, ScriptedObservation, ScriptedThought

CLOCK = SystemClock()
TENANT = "acme"
TASK = Task(request_id="q1", turns=(Turn(role=Role.USER, text="where is it"),))
PLAN = ThinkResponse(
    outcome=ThoughtPlan(
        steps=(
            PlanStep(step_id="1.t1", tool="find"),
            PlanStep(step_id="1.t2", tool="track", depends_on=("1.t1",)),
        )
    )
)
LIMITS = RunLimits(
    max_iterations=5, max_wall_time_seconds=5.0, max_tokens=1000, max_calls_per_tool=10, max_result_bytes=10_000
)
CONFIG = RunsConfig(limits=LIMITS, max_parallel_steps=4, max_open_runs=3, log_timeout_seconds=1.0, drain_seconds=0.05)


def soon(seconds: float = 1.0) -> Deadline:
    return Deadline.after(seconds, CLOCK)


def call(seconds: float = 5.0) -> CallContext:
    return CallContext(deadline=Deadline.after(seconds, CLOCK), tenant=TENANT)


class Hanging:
    """A tool that hangs until it is let go."""

    def __init__(self) -> None:
        self.is_asked = asyncio.Event()
        self.may_answer = asyncio.Event()

    async def __call__(self, _: ExecuteRequest) -> JsonValue:
        self.is_asked.set()
        await self.may_answer.wait()
        return {"n": 1}


@dataclass
class World:
    """What hosts share."""

    log: InMemoryRunLog
    table: LeaseTable

    async def events(self, run_id: str) -> tuple[RunEvent, ...]:
        return await self.log.read(TENANT, run_id, 1, soon())

    async def state(self, run_id: str) -> RunState:
        return RunState.from_events(run_id, await self.events(run_id))


@dataclass
class OneHost:
    """A host, with what looks after its runs; a test lets that act."""

    name: str
    host: RunHost
    runs: Runs
    leases: InMemoryRunLeases
    keeper: LeaseKeeper
    take_over: TakeOver
    action: ScriptedAction
    thought: ScriptedThought
    telemetry: Telemetry

    async def renew(self) -> None:
        await self.keeper.renew(tuple(self.host.open_runs))

    async def look(self) -> None:
        await self.take_over.look(self.host)

    async def at_rest(self) -> None:
        """Wait until nothing is driven here."""
        async with asyncio.timeout(2.0):
            while works := [run.work for run in self.host.open_runs]:
                await asyncio.wait(works)

    def counted(self, spec: MetricSpec) -> float:
        return float(self.telemetry.metrics.counter(spec)._value.get())


def new_world() -> World:
    return World(InMemoryRunLog(), LeaseTable(CLOCK))


@asynccontextmanager
async def host_on(
    world: World, name: str, *thoughts: ThinkResponse, max_take_overs: int = 3, **answers: object
) -> AsyncIterator[OneHost]:
    telemetry = Telemetry.build(TelemetrySettings(), "test")
    action = ScriptedAction({"find": {"n": 1}, "track": {"n": 2}} | answers)  # type: ignore[arg-type]
    thought = ScriptedThought(*thoughts)
    services = DriverServices(
        thought=thought,
        steps=StepServices(action=action, observation=ScriptedObservation(), clock=CLOCK),
        directory=ToolDirectory(action, CLOCK, 60.0),
        clock=CLOCK,
    )
    leases = InMemoryRunLeases(world.table, name)
    keeper = LeaseKeeper(world.log, leases, LeaseTerms(lease_seconds=10.0, timeout_seconds=1.0), telemetry, CLOCK)
    terms = TakeOverTerms(interval_seconds=1.0, max_take_overs=max_take_overs, timeout_seconds=1.0)
    take_over = TakeOver(world.log, leases, terms, telemetry, CLOCK)
    async with RunHost(services, world.log, leases, CONFIG, telemetry, CLOCK) as host:
        runs = Runs(host, world.log, LIMITS, CLOCK)
        yield OneHost(name, host, runs, leases, keeper, take_over, action, thought, telemetry)
