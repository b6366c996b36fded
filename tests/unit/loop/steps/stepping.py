"""The steps of one plan on doubles, without a driver, for the tests of what runs them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.core.telemetry import Metrics
from taoloop.loop.runlog.writer import RunWriter
from taoloop.loop.state import RunState
from taoloop.loop.steps.dag import run_steps
from taoloop.loop.steps.runner import StepRunner
from taoloop.loop.steps.services import StepServices
from taoloop.loop.tool_directory import KnownTools
from taoloop.plan.acting import ActionResult, ActionStatus, ToolSummary
from taoloop.plan.model import Binding, Generated, PlanStep, StepOutput, ThoughtPlan
from taoloop.plan.running import EventBody, RunStarted, ThoughtMade
from taoloop.plan.task import Role, Task, Turn
from taoloop.plan.thinking import ThinkResponse
from taoloop.testing.clock import FakeClock
from taoloop.testing.run_log import InMemoryRunLog
from taoloop.testing.services import ScriptedAction, ScriptedObservation
from taoloop.tools.signature import Effect
from tests.unit.loop.driving import LIMITS, RUN_ID

FAILED = ActionResult(
    step_id="",
    tool="",
    status=ActionStatus.FAILED,
    fault=Fault(code=FaultCode.TOOL_ERROR, stage=FaultStage.ACTION, message="broken"),
)


def said(text: str, pointer: str = "/q") -> Binding:
    """Bind a parameter to a text."""
    return Binding(pointer=pointer, source=Generated(text=text))


def of(step_id: str, path: str, pointer: str = "/q") -> Binding:
    """Bind a parameter to a place in an earlier result."""
    return Binding(pointer=pointer, source=StepOutput(step_id=step_id, pointer=path))


class Stepping:
    """A run whose plan is known and whose steps are to run."""

    def __init__(
        self,
        action: ScriptedAction,
        *steps: PlanStep,
        observation: ScriptedObservation | None = None,
        clock: Clock | None = None,
        state: JsonValue = None,
        effects: Mapping[str, Effect] | None = None,
    ) -> None:
        self.action = action
        self.observation = observation or ScriptedObservation()
        self.clock = clock or FakeClock(is_impatient=True)
        self.log = InMemoryRunLog()
        self.metrics = Metrics()
        self.plan = ThoughtPlan(steps=steps)
        self.limits = LIMITS
        self.max_parallel_steps = 4
        self.deadline_seconds = 10.0
        self.writer = RunWriter(self.log, "acme", RunState(RUN_ID), self.clock, timeout_seconds=1.0)
        self._state = state or {}
        self._effects = effects or {}

    async def begin(self) -> None:
        """Write the run's first events."""
        task = Task(
            request_id="q",
            turns=(Turn(role=Role.USER, text="do it"),),
            state=self._state,
            reference_time=datetime(2026, 3, 10, tzinfo=UTC),
            time_zone="UTC",
            locale="en",
        )
        response = ThinkResponse(outcome=self.plan, thought_id="7" * 32, run_id=RUN_ID, iteration=1)
        await self.writer.emit(RunStarted(task=task, catalogue_digest="d" * 64), ThoughtMade(response=response))

    async def run(self) -> RunState:
        """Run the plan's steps as one host does; once more goes on as another one would."""
        if self.writer.state.last_sequence == 0:
            await self.begin()
        listing = await self.action.list_tools(CallContext(deadline=Deadline.after(1.0, self.clock)))
        tools = {tool.name: self._with_effect(tool) for tool in listing.tools}
        runner = StepRunner(
            StepServices(action=self.action, observation=self.observation, clock=self.clock, metrics=self.metrics),
            self.writer,
            KnownTools("d" * 64, tools),
            self.limits,
            CallContext(deadline=Deadline.after(self.deadline_seconds, self.clock), tenant="acme"),
            self.max_parallel_steps,
        )
        await run_steps(self.plan, self.writer.state.steps, runner.run, runner.skip)
        return self.writer.state

    async def on_another_host(self, count: int) -> Stepping:
        """Return the same run as another host takes it over that finds the first `count` events in the log."""
        other = Stepping(
            self.action, *self.plan.steps, observation=self.observation, clock=self.clock, effects=self._effects
        )
        events = (await self.log.read("acme", RUN_ID, 1, Deadline.after(1.0, self.clock)))[:count]
        await other.log.append("acme", events, Deadline.after(1.0, self.clock))
        state = RunState.from_events(RUN_ID, events)
        other.writer = RunWriter(other.log, "acme", state, self.clock, timeout_seconds=1.0)
        return other

    async def bodies(self) -> list[EventBody]:
        """Return what happened."""
        events = await self.log.read("acme", RUN_ID, 1, Deadline.after(1.0, self.clock))
        return [event.body for event in events if event.body is not None]

    async def folded(self) -> RunState:
        """Return the run as another host reads it."""
        events = await self.log.read("acme", RUN_ID, 1, Deadline.after(1.0, self.clock))
        return RunState.from_events(RUN_ID, events)

    @property
    def called(self) -> list[tuple[str, str]]:
        """Step and tool of every request, in order."""
        return [(request.step_id, request.tool) for request in self.action.requests]

    def _with_effect(self, tool: ToolSummary) -> ToolSummary:
        return replace(tool, effect=self._effects.get(tool.name, tool.effect))


def data_of(state: RunState, step_id: str) -> JsonValue:
    """Return the data of a step that succeeded."""
    observation = state.steps[step_id].observation
    assert observation is not None
    assert observation.data is not ABSENT
    return observation.data


def fault_of(state: RunState, step_id: str) -> tuple[str, str]:
    """Return code and field of a step's fault."""
    record = state.steps[step_id]
    fault = record.skipped or record.fault
    assert fault is not None
    return str(fault.code), fault.field
