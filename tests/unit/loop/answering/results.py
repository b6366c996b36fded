"""Results of steps, tools and plans for the tests of answers."""

from __future__ import annotations

from datetime import UTC, datetime

from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.loop.state import RunState
from taoloop.loop.steps.step_record import StepRecord
from taoloop.loop.tool_directory import KnownTools
from taoloop.plan.acting import Provenance, ToolSummary
from taoloop.plan.model import PlanStep
from taoloop.plan.observing import ConfidenceLevel, ObservationResult
from taoloop.plan.task import Limits, Role, Task, Turn
from taoloop.tools.signature import Effect, Trust

HIGH, LOW = ConfidenceLevel.HIGH, ConfidenceLevel.LOW


def record(
    step_id: str,
    tool: str,
    exposed: JsonValue,
    arguments: JsonValue = None,
    *,
    after: tuple[str, ...] = (),
    level: ConfidenceLevel = HIGH,
    trust: Trust = Trust.TRUSTED,
    provenance: tuple[Provenance, ...] = (),
) -> StepRecord:
    """Return a step that succeeded."""
    observation = ObservationResult(
        step_id=step_id, tool=tool, valid=True, data=exposed, exposed=exposed, confidence_level=level, trust=trust
    )
    planned = PlanStep(step_id=step_id, tool=tool, depends_on=after)
    return StepRecord(step_id, tool, step=planned, arguments=arguments, provenance=provenance, observation=observation)


def failed(step_id: str, tool: str, *, cause: str = "", after: tuple[str, ...] = ()) -> StepRecord:
    """Return a step that brought nothing."""
    fault = Fault(code=FaultCode.NOT_FOUND, stage=FaultStage.ACTION, message="no such thing", cause_step_id=cause)
    observation = ObservationResult(step_id=step_id, tool=tool, valid=False, fault=fault)
    return StepRecord(
        step_id, tool, step=PlanStep(step_id=step_id, tool=tool, depends_on=after), observation=observation
    )


def said(pointer: str, source: str = "query_span", step_id: str = "", trust: Trust = Trust.TRUSTED) -> Provenance:
    """Return where an argument came from."""
    return Provenance(pointer=pointer, source=source, step_id=step_id, trust=trust)


def tool(name: str, answer: Json = ABSENT, description: str = "", *, effect: Effect = Effect.READ) -> ToolSummary:
    """Return a tool as the executor lists it."""
    return ToolSummary(name=name, answer=answer, description=description, effect=effect)


def known(*tools: ToolSummary) -> KnownTools:
    """Return a catalogue of these tools."""
    return KnownTools("d" * 64, {each.name: each for each in tools})


def state_of(
    *records: StepRecord,
    locale: str = "en",
    text: str = "where is A1",
    output_schema: Json = ABSENT,
    max_tokens: int = 1000,
) -> RunState:
    """Return a run with these steps."""
    task = Task(
        turns=(Turn(role=Role.USER, text=text),),
        locale=locale,
        time_zone="UTC",
        reference_time=datetime(2026, 3, 10, tzinfo=UTC),
        limits=Limits(max_tokens=max_tokens),
        output_schema=output_schema,
    )
    return RunState("1" * 32, task=task, steps={each.step_id: each for each in records})
