"""Hosts whose runs wait for people, on doubles: one log, one table of wake-ups, a clock that tests move."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta

from taoloop.core.calls import CallContext
from taoloop.core.deadlines import Deadline
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.core.telemetry.names import MetricSpec
from taoloop.loop.admission.open_runs import Admission
from taoloop.loop.driver import DriverServices
from taoloop.loop.host import RunHost, RunsConfig
from taoloop.loop.limits import RunLimits
from taoloop.loop.people.expiry import OnExpire
from taoloop.loop.people.people import People
from taoloop.loop.people.wake_ups import ExpiryWarning
from taoloop.loop.people.waker import Waker, WakingTerms
from taoloop.loop.people.waking_log import WakingRunLog
from taoloop.loop.ports import RunKey
from taoloop.loop.runs import Runs
from taoloop.loop.state import RunState
from taoloop.loop.steps.services import StepServices
from taoloop.loop.tool_directory import ToolDirectory
from taoloop.plan.model import PlanStep, ThoughtPlan
from taoloop.plan.running import EventBody, RunEvent, RunFinished, RunSummary
from taoloop.plan.task import Outcome, Role, Task, Turn
from taoloop.plan.thinking import ThinkRequest, ThinkResponse
from taoloop.testing.clock import FakeClock
from taoloop.testing.loop_stores.open_runs import InMemoryOpenRuns
from taoloop.testing.loop_stores.wake_ups import InMemoryWakeUps
from taoloop.testing.run_log import InMemoryRunLeases, InMemoryRunLog, LeaseTable
from taoloop.testing.services import Answer, GatedAction, ScriptedAction, ScriptedObservation

TENANT = "acme"
TASK = Task(request_id="q1", session_id="s1", turns=(Turn(role=Role.USER, text="pay the bill"),))
PAY = PlanStep(step_id="1.t1", tool="pay")
REFUND = PlanStep(step_id="1.t2", tool="refund")
FIND = PlanStep(step_id="1.t3", tool="find")
TELL = PlanStep(step_id="1.t4", tool="tell", depends_on=("1.t1",))
ANSWERS: dict[str, Answer] = {"pay": {"n": 1}, "refund": {"n": 2}, "find": {"n": 3}, "tell": {"n": 4}}
OPEN_FOR = timedelta(hours=10)
HOLD_SECONDS = 60.0
WARNING = ExpiryWarning(seconds=3600.0)
CONFIG = RunsConfig(
    limits=RunLimits(
        max_iterations=5, max_wall_time_seconds=30.0, max_tokens=1000, max_calls_per_tool=10, max_result_bytes=10_000
    ),
    max_parallel_steps=4,
    max_open_runs=20,
    log_timeout_seconds=1.0,
    drain_seconds=0.05,
)


def plan(*steps: PlanStep) -> ThinkResponse:
    """Return a thought; the steps' ids are those of the first iteration, and follow it in later ones."""
    return ThinkResponse(outcome=ThoughtPlan(steps=steps))


class Thoughts:
    """A `ThoughtPort` whose responses come in turn, the last one again and again; step ids follow the iteration."""

    def __init__(self, *responses: ThinkResponse) -> None:
        self.requests: list[ThinkRequest] = []
        self._responses = responses

    async def think(self, request: ThinkRequest, call: CallContext) -> ThinkResponse:
        """See `ThoughtPort.think`."""
        self.requests.append(request)
        response = self._responses[min(request.iteration, len(self._responses)) - 1]
        outcome = response.outcome
        if isinstance(outcome, ThoughtPlan):
            outcome = ThoughtPlan(steps=tuple(_of_iteration(step, request.iteration) for step in outcome.steps))
        return ThinkResponse(
            outcome=outcome,
            thought_id=f"{request.iteration:032x}",
            run_id=request.run_id,
            iteration=request.iteration,
            planner="scripted/1",
        )


class Remembered:
    """A `RunMemory` that notes how the runs stood that it was to remember."""

    def __init__(self) -> None:
        self.outcomes: list[Outcome | None] = []

    async def restored(self, tenant: str, task: Task) -> Task:
        """See `RunMemory.restored`."""
        return task

    async def recall(self, tenant: str, state: RunState, call: CallContext) -> None:
        """See `RunMemory.recall`."""

    async def remember(self, tenant: str, state: RunState) -> None:
        """See `RunMemory.remember`."""
        self.outcomes.append(state.finished.outcome if state.finished is not None else None)


@dataclass(slots=True)
class Store:
    """What the hosts of one deployment share."""

    clock: FakeClock = field(default_factory=FakeClock)
    log: InMemoryRunLog = field(default_factory=InMemoryRunLog)
    wake_ups: InMemoryWakeUps = field(init=False)
    leases: LeaseTable = field(init=False)
    open_runs: InMemoryOpenRuns = field(init=False)

    def __post_init__(self) -> None:
        self.open_runs = InMemoryOpenRuns(self.clock)
        self.wake_ups = InMemoryWakeUps(self.clock)
        self.leases = LeaseTable(self.clock)


@dataclass(slots=True)
class Host:
    """One host, and what it is asked with."""

    host: RunHost
    runs: Runs
    people: People
    waker: Waker
    action: ScriptedAction
    thoughts: Thoughts
    memory: Remembered
    store: Store
    telemetry: Telemetry

    def call(self, tenant: str = TENANT) -> CallContext:
        """Return a call with a deadline."""
        return CallContext(deadline=Deadline.after(5.0, self.store.clock), tenant=tenant)

    async def begin(self, task: Task = TASK) -> str:
        """Start a run and return its id once it rests."""
        events = [event async for event in self.runs.run(task, "d", self.call())]
        return events[0].run_id

    async def summary(self, run_id: str) -> RunSummary:
        """Return where a run stands."""
        return await self.runs.get(run_id, self.call())

    async def from_event(self, run_id: str, sequence: int) -> list[RunEvent]:
        """Return a run's events from one on, once it rests."""
        return [event async for event in self.runs.watch(run_id, sequence, self.call())]

    async def bodies(self, run_id: str) -> list[EventBody | None]:
        """Return what happened so far."""
        return [event.body for event in await self.store.log.read(TENANT, run_id, 1, self.call().deadline)]

    async def wake(self, seconds: float = 0.0) -> None:
        """Let time pass, then let the host look at what is due, and wait for what it started."""
        self.store.clock.advance(seconds)
        await self.waker.look()

    def counted(self, spec: MetricSpec, **labels: str) -> float:
        """Return how far a counter is."""
        counter = self.telemetry.metrics.counter(spec)
        value: float = (counter.labels(**labels) if labels else counter)._value.get()
        return value


@asynccontextmanager
async def waiting_host(
    *thoughts: ThinkResponse,
    store: Store | None = None,
    action: ScriptedAction | None = None,
    observation: ScriptedObservation | None = None,
    on_expire: OnExpire = OnExpire.FAIL,
    warning: ExpiryWarning = WARNING,
    gated: frozenset[str] = frozenset({"pay", "refund"}),
    max_tenant_runs: int = 0,
    name: str = "here",
) -> AsyncIterator[Host]:
    """Give a host, whose log sets the wake-ups of the store."""
    store = store or Store()
    clock, telemetry = store.clock, Telemetry.build(TelemetrySettings(), "test")
    action = action or GatedAction(ANSWERS, gated, clock.now() + OPEN_FOR)
    scripted, memory = Thoughts(*thoughts), Remembered()
    services = DriverServices(
        thought=scripted,
        steps=StepServices(action=action, observation=observation or ScriptedObservation(), clock=clock),
        directory=ToolDirectory(action, clock, 60.0),
        clock=clock,
        memory=memory,
    )
    log = WakingRunLog(store.log, store.wake_ups, warning)
    admission = Admission(
        open_runs=store.open_runs,
        most=max_tenant_runs,
        hold_seconds=HOLD_SECONDS,
        timeout_seconds=1.0,
        clock=clock,
        metrics=telemetry.metrics,
    )
    config = replace(CONFIG, admission=admission)
    async with RunHost(services, log, InMemoryRunLeases(store.leases, name), config, telemetry, clock) as run_host:
        people = People.of(run_host, log, action, telemetry.metrics, clock, on_expire)
        terms = WakingTerms(interval_seconds=1.0, timeout_seconds=1.0, warning=warning)
        waker = Waker(people.lapses, action, store.wake_ups, terms)
        runs = Runs(run_host, log, CONFIG.limits, clock)
        yield Host(run_host, runs, people, waker, action, scripted, memory, store, telemetry)


def key(run_id: str) -> RunKey:
    """Name a run of the tenant."""
    return RunKey(TENANT, run_id)


def outcome_of(events: list[RunEvent]) -> Outcome | None:
    """Return how a run ended, or what it rests for."""
    body = events[-1].body
    assert isinstance(body, RunFinished)
    return body.outcome


def _of_iteration(step: PlanStep, iteration: int) -> PlanStep:
    def renamed(step_id: str) -> str:
        return f"{iteration}.{step_id.partition('.')[2]}"

    return replace(step, step_id=renamed(step.step_id), depends_on=tuple(renamed(each) for each in step.depends_on))
