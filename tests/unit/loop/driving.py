"""A run on doubles, for the tests of what drives it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from taoloop.core.calls import CallContext
from taoloop.core.deadlines import Deadline
from taoloop.core.exact_json import ABSENT, Json
from taoloop.loop.answering.answerer import Answerer
from taoloop.loop.correction.corrector import CorrectionServices
from taoloop.loop.driver import DriverServices, RunDriver
from taoloop.loop.limits import RunLimits
from taoloop.loop.runlog.writer import RunWriter
from taoloop.loop.state import RunState
from taoloop.loop.steps.services import StepServices
from taoloop.loop.tool_directory import ToolDirectory
from taoloop.plan.model import Binding, PlanStep, ThoughtPlan
from taoloop.plan.running import RunEvent, RunResumed, RunStarted
from taoloop.plan.task import Limits, Outcome, Role, Task, Turn
from taoloop.plan.thinking import ThinkResponse
from taoloop.testing.clock import FakeClock
from taoloop.testing.run_log import InMemoryRunLog
from taoloop.testing.services import ScriptedAction, ScriptedObservation, ScriptedThought

RUN_ID = "1" * 32
LIMITS = RunLimits(
    max_iterations=5, max_wall_time_seconds=30.0, max_tokens=1000, max_calls_per_tool=10, max_result_bytes=10_000
)
TEXT = "where is A1"


def step(
    step_id: str, tool: str, depends_on: tuple[str, ...] = (), *bindings: Binding, optional: bool = False
) -> PlanStep:
    return PlanStep(step_id=step_id, tool=tool, depends_on=depends_on, bindings=bindings, optional=optional)


def plan(*steps: PlanStep) -> ThinkResponse:
    return ThinkResponse(outcome=ThoughtPlan(steps=steps))


class Run:
    """One run on doubles, driven and read back."""

    def __init__(
        self, thought: ScriptedThought, action: ScriptedAction, observation: ScriptedObservation | None = None
    ) -> None:
        self.clock = FakeClock(is_impatient=True)
        self.log = InMemoryRunLog()
        self.thought = thought
        self.action = action
        self.observation = observation or ScriptedObservation()
        self.corrections = CorrectionServices()
        self.text, self.locale = TEXT, "en"
        self.writer = RunWriter(self.log, "acme", RunState(RUN_ID), self.clock, timeout_seconds=1.0)

    async def drive(
        self, limits: Limits | None = None, deadline_seconds: float = 10.0, output_schema: Json = ABSENT
    ) -> RunState:
        task = Task(
            request_id="q",
            turns=(Turn(role=Role.USER, text=self.text),),
            state={},
            reference_time=datetime(2026, 3, 10, tzinfo=UTC),
            time_zone="UTC",
            locale=self.locale,
            limits=LIMITS.within(limits).as_record(),
            output_schema=output_schema,
        )
        await self.writer.emit(RunStarted(task=task, catalogue_digest="d" * 64))
        return await self.go_on(deadline_seconds)

    async def go_on(self, deadline_seconds: float = 10.0) -> RunState:
        """Drive the run on from where it stands."""
        services = DriverServices(
            thought=self.thought,
            steps=StepServices(action=self.action, observation=self.observation, clock=self.clock),
            directory=ToolDirectory(self.action, self.clock, 60.0),
            clock=self.clock,
            corrections=self.corrections,
            answerer=Answerer(self.observation),
        )
        call = CallContext(deadline=Deadline.after(deadline_seconds, self.clock), tenant="acme")
        await RunDriver(services, self.writer, LIMITS, max_parallel_steps=4).drive(call)
        return self.writer.state

    async def take_over(self, events: Sequence[RunEvent], deadline_seconds: float = 10.0) -> RunState:
        """Drive a run on of which another host has left some events."""
        await self.log.append("acme", events, Deadline.after(1.0, self.clock))
        self.writer = RunWriter(self.log, "acme", RunState.from_events(RUN_ID, events), self.clock, timeout_seconds=1.0)
        await self.writer.emit(RunResumed(reason="take_over"))
        return await self.go_on(deadline_seconds)

    async def bodies(self) -> list[object]:
        events = await self.log.read("acme", RUN_ID, 1, Deadline.after(1.0, self.clock))
        return [event.body for event in events]


def ended(state: RunState) -> tuple[Outcome | None, str]:
    """Return outcome and fault code of a run that has ended."""
    assert state.finished is not None
    fault = state.finished.fault
    return state.finished.outcome, fault.code if fault is not None else ""
