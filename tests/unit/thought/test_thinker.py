"""Making thoughts: the guard on the catalogue, the check of every plan, the span and the metric."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from taoloop.core.deadlines import Deadline
from taoloop.core.errors import CatalogueMismatch
from taoloop.core.faults import FaultCode
from taoloop.core.ids import is_id
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.check_context import PlanLimits
from taoloop.plan.model import Binding, Decision, DecisionKind, PlanStep, QuerySpan, Reasoning, ThoughtPlan
from taoloop.plan.task import Role, ToolAvailability, Turn, Usage
from taoloop.plan.thinking import NeedInput, Refusal, RefusalReason, ThinkRequest, ThinkResponse
from taoloop.testing.clock import FakeClock
from taoloop.thought.pipeline.climbing import Outcome, Thought
from taoloop.thought.pipeline.pipeline import Pipeline, PipelineRules
from taoloop.thought.pipeline.ports import GraphRunner, InThread
from taoloop.thought.pipeline.stages import Stages
from taoloop.thought.planners.graph import GraphPlanner, PlannerReply
from taoloop.thought.thinker import Thinker
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

    async def plan(self, _request: ThinkRequest) -> PlannerReply:
        return PlannerReply(self.outcome, self.decision, self.reasoning, 0.9)


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


async def _think(thinker: Thinker, request: ThinkRequest | None = None) -> ThinkResponse:
    return await thinker.think(request or _request(), Deadline.after(5.0, FakeClock()))


def _thinker(outcome: Outcome, telemetry: Telemetry, clock: FakeClock | None = None) -> Thinker:
    return _around(ScriptedPlanner(outcome), telemetry, clock or FakeClock())


def _around(
    planner: GraphRunner, telemetry: Telemetry, clock: FakeClock, rules: PipelineRules | None = None
) -> Thinker:
    pipeline = Pipeline(CATALOGUE, planner, Stages(telemetry, clock), rules=rules)
    return Thinker(CATALOGUE, pipeline, clock, telemetry)


async def test_a_plan_that_passes_is_let_out_with_its_thought_id_and_time(telemetry: Telemetry) -> None:
    clock = FakeClock()
    thinker = _thinker(_plan(), telemetry, clock)
    response = await _think(thinker)
    assert isinstance(response.outcome, ThoughtPlan)
    assert is_id(response.thought_id)
    assert response.outcome.thought_id == response.thought_id
    assert response.outcome.created_at == clock.now()
    assert (response.planner, response.run_id, response.iteration) == ("scripted/7", "0" * 32, 1)
    assert response.decision == Decision(kind=DecisionKind.PLAN, fit=0.9, margin=0.4)
    assert response.usage is not None
    assert response.usage.iterations == 1


async def test_a_plan_with_faults_becomes_a_refusal_with_all_of_them(telemetry: Telemetry) -> None:
    bad = _plan("no_such_tool")
    bad = replace(bad, steps=(replace(bad.steps[0], depends_on=("1.t9",)),))
    response = await _think(_thinker(bad, telemetry))
    assert isinstance(response.outcome, Refusal)
    assert response.outcome.reason is RefusalReason.PLAN_FAILED
    assert {fault.code for fault in response.outcome.faults} == {FaultCode.UNKNOWN_TOOL, FaultCode.UNKNOWN_DEPENDENCY}
    assert response.decision is not None
    assert response.decision.kind is DecisionKind.NONE


async def test_a_plan_above_the_configured_size_is_held_back_and_counted(telemetry: Telemetry) -> None:
    two = replace(_plan(), steps=tuple(replace(_plan().steps[0], step_id=step_id) for step_id in ("1.t1", "1.t2")))
    rules = PipelineRules(limits=PlanLimits(max_steps=1))
    thinker = _around(ScriptedPlanner(two), telemetry, FakeClock(), rules)
    outcome = (await _think(thinker)).outcome
    assert isinstance(outcome, Refusal)
    assert [fault.code for fault in outcome.faults] == [FaultCode.PLAN_TOO_LARGE]
    assert "taoloop_plan_too_large_total 1.0" in telemetry.metrics.exposition()


async def test_a_plan_for_a_tool_that_cannot_be_called_is_held_back(telemetry: Telemetry) -> None:
    away = ToolAvailability(tool="open_hours_of_locker", available=False)
    response = await _think(_thinker(_plan(), telemetry), replace(_request(), availability=(away,)))
    assert isinstance(response.outcome, Refusal)
    assert [fault.code for fault in response.outcome.faults] == [FaultCode.TOOL_UNAVAILABLE]


async def test_another_outcome_goes_out_as_it_is(telemetry: Telemetry) -> None:
    asked = NeedInput(input_id="f" * 32)
    assert (await _think(_thinker(asked, telemetry))).outcome is asked


async def test_another_catalogue_is_an_error_and_no_thought(
    telemetry: Telemetry, exporter: InMemorySpanExporter
) -> None:
    thinker = _thinker(_plan(), telemetry)
    with pytest.raises(CatalogueMismatch) as caught:
        await _think(thinker, replace(_request(), catalogue_digest="0" * 64))
    assert caught.value.reason == "CATALOGUE_MISMATCH"
    assert exporter.get_finished_spans() == ()
    assert (await _think(thinker, replace(_request(), catalogue_digest=CATALOGUE.digest))).outcome is not None


async def test_the_span_carries_the_thought_and_its_reasoning(
    telemetry: Telemetry, exporter: InMemorySpanExporter
) -> None:
    response = await _think(_thinker(_plan(), telemetry))
    stages = [span.name for span in exporter.get_finished_spans()]
    assert stages == ["thought graph", "thought check", "plan scripted"]
    span = exporter.get_finished_spans()[-1]
    attributes = dict(span.attributes or {})
    assert attributes["gen_ai.operation.name"] == "plan"
    assert attributes["taoloop.thought.id"] == response.thought_id
    assert attributes["taoloop.thought.outcome"] == "plan"
    assert attributes["taoloop.plan.steps"] == 1
    assert attributes["taoloop.reasoning.known"] == ("a",)
    assert attributes["taoloop.reasoning.gap"] == ("b",)
    assert attributes["taoloop.reasoning.why"] == "w"
    assert TEXT not in str(attributes)


async def test_each_thought_is_counted_by_planner_and_outcome(telemetry: Telemetry) -> None:
    await _think(_thinker(_plan(), telemetry))
    line = 'taoloop_thought_duration_seconds_count{outcome="plan",planner="scripted"} 1.0'
    assert line in telemetry.metrics.exposition()


async def test_the_graph_planner_thinks_through_it(telemetry: Telemetry) -> None:
    thinker = _around(InThread(GraphPlanner(CATALOGUE)), telemetry, FakeClock())
    assert isinstance((await _think(thinker)).outcome, ThoughtPlan)
    silent = (await _think(thinker, _request("  "))).outcome
    assert isinstance(silent, Refusal)
    assert silent.reason is RefusalReason.MISSING_USER_QUERY
    assert "graph/1" in repr(thinker)


async def test_a_model_is_named_with_its_seed_and_what_it_took(
    telemetry: Telemetry, exporter: InMemorySpanExporter
) -> None:
    usage = Usage(model_calls=1, input_tokens=90, output_tokens=9, cached_input_tokens=60, model_time_seconds=0.5)
    thought = Thought(
        outcome=_plan(),
        decision=Decision(kind=DecisionKind.PLAN),
        reasoning=Reasoning(why="w"),
        planner="model/v1",
        model="small",
        usage=usage,
        seed=4711,
    )

    response = await _think(Thinker(CATALOGUE, Decided(thought), FakeClock(), telemetry))

    assert isinstance(response.outcome, ThoughtPlan)
    assert response.usage == response.outcome.usage == replace(usage, iterations=1)
    assert (response.seed, response.planner) == (4711, "model/v1")
    (span,) = exporter.get_finished_spans()
    assert span.name == "plan model"
    told = dict(span.attributes or {})
    assert (told["gen_ai.request.model"], told["gen_ai.request.seed"]) == ("small", 4711)
    assert (told["gen_ai.usage.input_tokens"], told["gen_ai.usage.output_tokens"]) == (90, 9)
    assert told["gen_ai.usage.cache_read.input_tokens"] == 60
    line = 'taoloop_thought_duration_seconds_count{outcome="plan",planner="model"} 1.0'
    assert line in telemetry.metrics.exposition()


class Decided(Pipeline):
    """A pipeline that has come to its thought."""

    def __init__(self, thought: Thought) -> None:
        self._thought = thought

    @property
    def name(self) -> str:
        return "graph/1"

    async def think(self, request: ThinkRequest, deadline: Deadline, tenant: str = "default") -> Thought:
        return self._thought
