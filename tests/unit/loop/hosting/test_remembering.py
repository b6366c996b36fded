"""A host restores what memory knows, tells it to thoughts, leaves it what each run came to, and survives its faults."""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import dataclass, field, replace

from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.loop.driver import DriverServices
from taoloop.loop.host import RunHost, RunsConfig
from taoloop.loop.limits import RunLimits
from taoloop.loop.ports import RunMemory
from taoloop.loop.runs import Runs
from taoloop.loop.state import RunState
from taoloop.loop.steps.services import StepServices
from taoloop.loop.tool_directory import ToolDirectory
from taoloop.plan.model import PlanStep, ThoughtPlan
from taoloop.plan.running import RunEvent, RunFinished, RunStarted
from taoloop.plan.task import Outcome, Role, Task, Turn
from taoloop.plan.thinking import MemoryContext, ThinkResponse
from taoloop.testing.run_log import InMemoryRunLeases, InMemoryRunLog, LeaseTable
from taoloop.testing.services import ScriptedAction, ScriptedObservation, ScriptedThought

CLOCK = SystemClock()
TOLD = MemoryContext(summary="she asked for March")
LIMITS = RunLimits(
    max_iterations=5, max_wall_time_seconds=5.0, max_tokens=1000, max_calls_per_tool=10, max_result_bytes=10_000
)
CONFIG = RunsConfig(limits=LIMITS, max_parallel_steps=4, max_open_runs=2, log_timeout_seconds=1.0, drain_seconds=0.05)


@dataclass
class NotingMemory:
    """Restores one entry, tells one summary, and notes what it is left."""

    left: list[RunState] = field(default_factory=list)

    async def restored(self, tenant: str, task: Task) -> Task:
        return replace(task, state={"date_range": "d"})

    async def recall(self, tenant: str, state: RunState, call: CallContext) -> MemoryContext | None:
        return TOLD

    async def remember(self, tenant: str, state: RunState) -> None:
        self.left.append(state)


class FaultyMemory(NotingMemory):
    """Cannot remember for a reason that nobody thought of."""

    async def remember(self, tenant: str, state: RunState) -> None:
        raise RuntimeError("a fault of ours")


async def driven(memory: RunMemory, times: int = 1) -> tuple[list[RunEvent], ScriptedThought]:
    plan = ThinkResponse(outcome=ThoughtPlan(steps=(PlanStep(step_id="1.t1", tool="find"),)))
    thought = ScriptedThought(*[plan] * times)
    action = ScriptedAction({"find": {"n": 1}})
    services = DriverServices(
        thought=thought,
        steps=StepServices(action=action, observation=ScriptedObservation(), clock=CLOCK),
        directory=ToolDirectory(action, CLOCK, 60.0),
        clock=CLOCK,
        memory=memory,
    )
    log = InMemoryRunLog()
    events: list[RunEvent] = []
    telemetry = Telemetry.build(TelemetrySettings(), "test")
    async with RunHost(services, log, InMemoryRunLeases(LeaseTable(CLOCK)), CONFIG, telemetry, CLOCK) as host:
        runs = Runs(host, log, LIMITS, CLOCK)
        for number in range(times):
            task = Task(request_id=f"q{number}", session_id="s", turns=(Turn(role=Role.USER, text="where is it"),))
            call = CallContext(deadline=Deadline.after(5.0, CLOCK), tenant="acme")
            async with aclosing(runs.run(task, f"d{number}", call)) as stream:
                events += [event async for event in stream]
    return events, thought


async def test_a_run_begins_with_what_is_known_and_is_remembered_before_its_caller_sees_its_end() -> None:
    memory = NotingMemory()
    events, thought = await driven(memory)

    started = events[0].body
    assert isinstance(started, RunStarted)
    assert started.task is not None
    assert started.task.state == {"date_range": "d"}
    assert (thought.requests[0].state, thought.requests[0].memory) == ({"date_range": "d"}, TOLD)
    (left,) = memory.left
    assert left.finished is not None
    assert left.finished.outcome is Outcome.ANSWERED


async def test_a_memory_that_fails_in_an_unknown_way_harms_neither_its_run_nor_the_next() -> None:
    events, _ = await driven(FaultyMemory(), times=2)

    ends = [event.body.outcome for event in events if isinstance(event.body, RunFinished)]
    assert ends == [Outcome.ANSWERED, Outcome.ANSWERED]
