"""Making thoughts: the guard on the catalogue, the check of every plan, the span and the metric."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from taoloop.core.errors import CatalogueMismatch
from taoloop.core.faults import FaultCode
from taoloop.core.ids import is_id
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.check_context import PlanLimits
from taoloop.plan.model import Binding, Decision, DecisionKind, PlanStep, QuerySpan, Reasoning, ThoughtPlan
from taoloop.plan.task import Role, ToolAvailability, Turn
from taoloop.plan.thinking import NeedInput, Refusal, RefusalReason, ThinkRequest
from taoloop.testing.clock import FakeClock
from taoloop.thought.planners.graph import GraphPlanner
from taoloop.thought.thinker import Outcome, Thinker
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.signature import ToolSignature

DIGITS = {"type": "string", "pattern": "^[0-9]{4}$", "description": "Number of the locker"}
CATALOGUE = Catalogue.from_signatures(
    [
        ToolSignature(
            name="open_hours_of_locker",
            description="When a locker is open.",
            parameters={"type": "object", "required": ["locker"], "properties": {"locker": DIGITS}},
        )
    ]
)
TEXT = "when is the locker 1234 open"


@dataclass
class ScriptedPlanner:
    """A planner that says what it was told to say."""

    outcome: Outcome
    name: str = "scripted/7"
    decision: Decision = field(default_factory=lambda: Decision(kind=DecisionKind.PLAN, fit=0.9, margin=0.4))
    reasoning: Reasoning = field(
        default_factory=lambda: Reasoning(known=("a",), gap=("b",), tool="t", why="w", expected="e")
    )

    def plan(self, request: ThinkRequest) -> ScriptedPlanner:
        return self


def _plan(tool: str = "open_hours_of_locker") -> ThoughtPlan:
    start = TEXT.index("1234")
    span = QuerySpan(turn=0, start=start, end=start + 4, text="1234")
    step = PlanStep(step_id="1.t1", tool=tool, bindings=(Binding(pointer="/locker", source=span, value="1234"),))
    return ThoughtPlan(version="1.0", run_id="0" * 32, iteration=1, steps=(step,))


def _request(text: str = TEXT) -> ThinkRequest:
    return ThinkRequest(run_id="0" * 32, iteration=1, turns=(Turn(role=Role.USER, text=text),))


@pytest.fixture
def exporter() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
def telemetry(exporter: InMemorySpanExporter) -> Telemetry:
    return Telemetry.build(TelemetrySettings(), "taoloop-test", exporter=exporter)


def _thinker(outcome: Outcome, telemetry: Telemetry) -> Thinker:
    return Thinker(CATALOGUE, ScriptedPlanner(outcome), FakeClock(), telemetry)


def test_a_plan_that_passes_is_let_out_with_its_thought_id_and_time(telemetry: Telemetry) -> None:
    clock = FakeClock()
    thinker = Thinker(CATALOGUE, ScriptedPlanner(_plan()), clock, telemetry)
    response = thinker.think(_request())
    assert isinstance(response.outcome, ThoughtPlan)
    assert is_id(response.thought_id)
    assert response.outcome.thought_id == response.thought_id
    assert response.outcome.created_at == clock.now()
    assert (response.planner, response.run_id, response.iteration) == ("scripted/7", "0" * 32, 1)
    assert response.decision == Decision(kind=DecisionKind.PLAN, fit=0.9, margin=0.4)
    assert response.usage is not None
    assert response.usage.iterations == 1


def test_a_plan_with_faults_becomes_a_refusal_with_all_of_them(telemetry: Telemetry) -> None:
    bad = _plan("no_such_tool")
    bad = replace(bad, steps=(replace(bad.steps[0], depends_on=("1.t9",)),))
    response = _thinker(bad, telemetry).think(_request())
    assert isinstance(response.outcome, Refusal)
    assert response.outcome.reason is RefusalReason.PLAN_FAILED
    assert {fault.code for fault in response.outcome.faults} == {FaultCode.UNKNOWN_TOOL, FaultCode.UNKNOWN_DEPENDENCY}
    assert response.decision is not None
    assert response.decision.kind is DecisionKind.NONE


def test_a_plan_above_the_configured_size_is_held_back_and_counted(telemetry: Telemetry) -> None:
    two = replace(_plan(), steps=tuple(replace(_plan().steps[0], step_id=step_id) for step_id in ("1.t1", "1.t2")))
    thinker = Thinker(CATALOGUE, ScriptedPlanner(two), FakeClock(), telemetry, PlanLimits(max_steps=1))
    outcome = thinker.think(_request()).outcome
    assert isinstance(outcome, Refusal)
    assert [fault.code for fault in outcome.faults] == [FaultCode.PLAN_TOO_LARGE]
    assert "taoloop_plan_too_large_total 1.0" in telemetry.metrics.exposition()


def test_a_plan_for_a_tool_that_cannot_be_called_is_held_back(telemetry: Telemetry) -> None:
    away = ToolAvailability(tool="open_hours_of_locker", available=False)
    response = _thinker(_plan(), telemetry).think(replace(_request(), availability=(away,)))
    assert isinstance(response.outcome, Refusal)
    assert [fault.code for fault in response.outcome.faults] == [FaultCode.TOOL_UNAVAILABLE]


def test_another_outcome_goes_out_as_it_is(telemetry: Telemetry) -> None:
    asked = NeedInput(input_id="f" * 32)
    assert _thinker(asked, telemetry).think(_request()).outcome is asked


def test_another_catalogue_is_an_error_and_no_thought(telemetry: Telemetry, exporter: InMemorySpanExporter) -> None:
    thinker = _thinker(_plan(), telemetry)
    with pytest.raises(CatalogueMismatch) as caught:
        thinker.think(replace(_request(), catalogue_digest="0" * 64))
    assert caught.value.reason == "CATALOGUE_MISMATCH"
    assert exporter.get_finished_spans() == ()
    assert thinker.think(replace(_request(), catalogue_digest=CATALOGUE.digest)).outcome is not None


def test_the_span_carries_the_thought_and_its_reasoning(telemetry: Telemetry, exporter: InMemorySpanExporter) -> None:
    response = _thinker(_plan(), telemetry).think(_request())
    (span,) = exporter.get_finished_spans()
    assert span.name == "plan scripted"
    attributes = dict(span.attributes or {})
    assert attributes["gen_ai.operation.name"] == "plan"
    assert attributes["taoloop.thought.id"] == response.thought_id
    assert attributes["taoloop.thought.outcome"] == "plan"
    assert attributes["taoloop.plan.steps"] == 1
    assert attributes["taoloop.reasoning.known"] == ("a",)
    assert attributes["taoloop.reasoning.gap"] == ("b",)
    assert attributes["taoloop.reasoning.why"] == "w"
    assert TEXT not in str(attributes)


def test_each_thought_is_counted_by_planner_and_outcome(telemetry: Telemetry) -> None:
    _thinker(_plan(), telemetry).think(_request())
    line = 'taoloop_thought_duration_seconds_count{outcome="plan",planner="scripted"} 1.0'
    assert line in telemetry.metrics.exposition()


def test_the_graph_planner_thinks_through_it(telemetry: Telemetry) -> None:
    thinker = Thinker(CATALOGUE, GraphPlanner(CATALOGUE), FakeClock(), telemetry)
    assert isinstance(thinker.think(_request()).outcome, ThoughtPlan)
    silent = thinker.think(_request("  ")).outcome
    assert isinstance(silent, Refusal)
    assert silent.reason is RefusalReason.MISSING_USER_QUERY
    assert "graph/1" in repr(thinker)
