"""A run without any wire: the real domains of the services wired to each other in one process, remembering requests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from taoloop.action.executor import Executor
from taoloop.action.listing import list_tools
from taoloop.action.ports import Reply, ToolCall, Transport
from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import FeatureNotServed
from taoloop.core.telemetry import Telemetry
from taoloop.loop.answering.answerer import Answerer
from taoloop.loop.driver import DriverServices
from taoloop.loop.host import RunHost, RunsConfig
from taoloop.loop.limits import RunLimits
from taoloop.loop.runs import Runs
from taoloop.loop.steps.services import StepServices
from taoloop.loop.tool_directory import ToolDirectory
from taoloop.observation.confidence import SourceWeights
from taoloop.observation.grounding.checking import check_answer
from taoloop.observation.judging import ObservationPolicy
from taoloop.observation.metering import MeteredObserver
from taoloop.observation.observer import Observer
from taoloop.observation.ports import FixedCatalogue
from taoloop.plan.acting import ActionResult, ExecuteRequest
from taoloop.plan.answering import CheckAnswerRequest, CheckAnswerResponse
from taoloop.plan.effects import DecideApprovalRequest, DecideApprovalResponse
from taoloop.plan.observing import ObservationResult, ObserveRequest
from taoloop.plan.running import RunEvent
from taoloop.plan.task import Task, ToolAvailability
from taoloop.plan.thinking import ThinkRequest, ThinkResponse
from taoloop.testing.effect_ledger import InMemoryEffectLedger
from taoloop.testing.run_log import InMemoryRunLeases, InMemoryRunLog, LeaseTable
from taoloop.thought.pipeline.pipeline import Pipeline
from taoloop.thought.pipeline.ports import InThread
from taoloop.thought.pipeline.stages import Stages
from taoloop.thought.planners.graph import GraphPlanner
from taoloop.thought.thinker import Thinker
from taoloop.tools.catalogue import Catalogue
from taoloop.wire.clients import ToolListing

RUN_SECONDS = 30.0

_LIMITS = RunLimits(
    max_iterations=5, max_wall_time_seconds=30.0, max_tokens=80_000, max_calls_per_tool=10, max_result_bytes=16 << 20
)


@dataclass(slots=True)
class Seen:
    """What crossed the borders in the last run."""

    thinks: list[tuple[ThinkRequest, ThinkResponse]] = field(default_factory=list)
    executes: list[tuple[ExecuteRequest, ActionResult]] = field(default_factory=list)
    observes: list[tuple[ObserveRequest, ObservationResult]] = field(default_factory=list)
    tool_calls: list[ToolCall] = field(default_factory=list)
    events: list[RunEvent] = field(default_factory=list)


class ReplayingTransport:
    """A `Transport` that asks the real one once for each call and afterwards gives the same reply."""

    def __init__(self, real: Transport, seen: Seen) -> None:
        self._real = real
        self._seen = seen
        self._replies: dict[str, Reply] = {}

    async def attempt(self, call: ToolCall) -> Reply:
        """Give the reply of the first such call."""
        key = f"{call.contract.name} {call.arguments}"
        if key not in self._replies:
            self._seen.tool_calls.append(call)
            self._replies[key] = await self._real.attempt(call)
        return self._replies[key]


class InProcess:
    """The four domains in one process; it satisfies the loop's ports by plain calls.

    Args:
        catalogue: The tools.
        transport: The way to them, asked once for each call.
        telemetry: As each service has it by default.
        clock: The machine's.
    """

    def __init__(self, catalogue: Catalogue, transport: Transport, telemetry: Telemetry, clock: Clock) -> None:
        self.catalogue = catalogue
        self.seen = Seen()
        self.planner = GraphPlanner(catalogue)
        pipeline = Pipeline(catalogue, InThread(self.planner), Stages(telemetry, clock))
        self.thinker = Thinker(catalogue, pipeline, clock, telemetry)
        self.executor = Executor(
            catalogue, ReplayingTransport(transport, self.seen), InMemoryEffectLedger(clock), telemetry, clock
        )
        source = FixedCatalogue(catalogue)
        policy = ObservationPolicy(max_body_bytes=16 << 20, weights=SourceWeights(fallback=0.8, cache=0.6))
        self.observer = MeteredObserver(Observer(source, policy), source, telemetry)
        self._clock = clock
        steps = StepServices(action=self, observation=self, clock=clock)
        self._services = DriverServices(
            thought=self,
            steps=steps,
            directory=ToolDirectory(self, clock, 3600.0),
            clock=clock,
            answerer=Answerer(self),
        )
        self._telemetry = telemetry

    @asynccontextmanager
    async def runs(self) -> AsyncIterator[Runs]:
        """Give the loop's domain on a log in memory."""
        config = RunsConfig(
            limits=_LIMITS, max_parallel_steps=8, max_open_runs=1000, log_timeout_seconds=15.0, drain_seconds=5.0
        )
        log, leases = InMemoryRunLog(), InMemoryRunLeases(LeaseTable(self._clock))
        async with RunHost(self._services, log, leases, config, self._telemetry, self._clock) as host:
            yield Runs(host, log, config.limits, self._clock)

    async def run(self, runs: Runs, task: Task) -> None:
        """Make one run; what crossed the borders is in `seen` afterwards."""
        seen = self.seen
        for noted in (seen.thinks, seen.executes, seen.observes, seen.events):
            noted.clear()
        async for event in runs.run(task, "digest", self.call()):
            seen.events.append(event)

    def call(self) -> CallContext:
        """Return the context of a call that begins now."""
        return CallContext(deadline=Deadline.after(RUN_SECONDS, self._clock))

    async def think(self, request: ThinkRequest, call: CallContext) -> ThinkResponse:
        """Think here."""
        response = await self.thinker.think(request, call.deadline)
        self.seen.thinks.append((request, response))
        return response

    async def execute(self, request: ExecuteRequest, call: CallContext) -> ActionResult:
        """Act here."""
        result = await self.executor.execute(request, call)
        self.seen.executes.append((request, result))
        return result

    async def list_tools(self, _call: CallContext) -> ToolListing:
        """List here."""
        listed = list_tools(self.catalogue, 0, "", lambda tool: ToolAvailability(tool=tool, available=True))
        return ToolListing(tools=listed.tools, catalogue_digest=listed.catalogue_digest)

    async def check_answer(self, request: CheckAnswerRequest, _call: CallContext) -> CheckAnswerResponse:
        """Check here."""
        return check_answer(request)

    async def decide_approval(self, _request: DecideApprovalRequest, _call: CallContext) -> DecideApprovalResponse:
        """Refuse: the measured task asks for no leave."""
        raise FeatureNotServed.rpc("DecideApproval")

    async def observe(self, request: ObserveRequest, _call: CallContext) -> ObservationResult:
        """Judge here."""
        result = self.observer.observe(request)
        self.seen.observes.append((request, result))
        return result
