"""A whole pipeline around a scripted graph planner and scripted language models, for the tests beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from taoloop.core.deadlines import Deadline
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.models.ports import ChatReply, ModelFailed, ModelFailureKind
from taoloop.models.profiles.model import ModelProfile
from taoloop.plan.model import Decision, DecisionKind, Reasoning
from taoloop.plan.thinking import Refusal, RefusalReason, ThinkRequest
from taoloop.testing.chat.scripted_model import ScriptedChatModel
from taoloop.testing.clock import FakeClock
from taoloop.thought.budgets.spending import Spending
from taoloop.thought.pipeline.asking import Asking
from taoloop.thought.pipeline.climbing import LadderParts, LadderRules, ModelLadder, Outcome, Thought
from taoloop.thought.pipeline.pipeline import Pipeline, PipelineRules
from taoloop.thought.pipeline.ports import FirstModel, ModelChoice, PlanningModel
from taoloop.thought.pipeline.repairing import Repairing, RepairRules
from taoloop.thought.pipeline.rungs import Rung
from taoloop.thought.pipeline.selecting import SelectionRules, Selector
from taoloop.thought.pipeline.stages import Stages
from taoloop.thought.planners.graph import PlannerReply
from taoloop.thought.planners.model.questions import QuestionRules, Questions
from taoloop.tools.catalogue import Catalogue
from tests.unit.thought.planners.model.tools import BOOK, FIND, FOREIGN, request_of

Said = str | ChatReply | ModelFailed

CATALOGUE: Final = Catalogue.from_signatures([FIND, BOOK, FOREIGN])
NAMES: Final = [tool.name for tool in CATALOGUE.signatures()]
FIND_NUMBER: Final = NAMES.index("find_guest") + 1
GOOD: Final = f'{{"why": "A guest is wanted.", "plan": [[{FIND_NUMBER}, "555-0199"]]}}'
BAD: Final = '{"why": "", "plan": [[99, "555-0199"]]}'
EMPTY: Final = '{"why": "", "plan": []}'
NO_TOOL: Final = Refusal(reason=RefusalReason.NO_TOOL, message="Nothing serves this.")
AWAY: Final = ModelFailed(ModelFailureKind.UNREACHABLE, "No connection to the model's server could be made.")
TIMEOUT_SECONDS: Final = 10.0


@dataclass
class ScriptedGraph:
    """A graph planner that says what it was told to say."""

    outcome: Outcome = NO_TOOL
    fit: float = 0.4
    arguments: float = 0.4
    name: str = "graph/1"
    requests: list[ThinkRequest] = field(default_factory=list)

    async def plan(self, request: ThinkRequest) -> PlannerReply:
        self.requests.append(request)
        kind = DecisionKind.NONE if isinstance(self.outcome, Refusal) else DecisionKind.PLAN
        decision = Decision(kind=kind, fit=self.fit, margin=0.1)
        return PlannerReply(self.outcome, decision, Reasoning(known=("graph",)), self.arguments)


@dataclass
class Rig:
    """Everything around one pipeline."""

    graph: ScriptedGraph = field(default_factory=ScriptedGraph)
    clock: FakeClock = field(default_factory=FakeClock)
    exporter: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)
    repair: RepairRules = field(default_factory=RepairRules)
    ladder: LadderRules = field(default_factory=LadderRules)
    rules: PipelineRules = field(default_factory=PipelineRules)
    asked: QuestionRules = field(default_factory=QuestionRules)
    choice: ModelChoice = field(default_factory=FirstModel)
    chats: list[ScriptedChatModel] = field(default_factory=list)
    is_ready: bool = True
    reply_seconds: float = 0.0
    profile: ModelProfile | None = None
    spending: Spending | None = None

    def __post_init__(self) -> None:
        self.telemetry = Telemetry.build(TelemetrySettings(), "test", exporter=self.exporter)
        self.stages = Stages(self.telemetry, self.clock)

    def pipeline(self, *replies: Sequence[Said]) -> Pipeline:
        """Return a pipeline with one model for each script, weakest first."""
        parts = self.parts(*replies)
        ladder = ModelLadder(parts, self.stages, self.clock, self.ladder) if replies else None
        return Pipeline(CATALOGUE, self.graph, self.stages, ladder, self.rules)

    def parts(self, *replies: Sequence[Said]) -> LadderParts:
        self.chats = [
            ScriptedChatModel(script, self.profile, clock=self.clock, reply_seconds=self.reply_seconds)
            for script in replies
        ]
        rungs = (Rung.MODEL, Rung.STRONGER_MODEL)
        models = tuple(
            PlanningModel(rung=rung, model=chat, timeout_seconds=TIMEOUT_SECONDS, is_ready=lambda: self.is_ready)
            for rung, chat in zip(rungs, self.chats, strict=False)
        )
        return LadderParts(
            models=models,
            questions=Questions(CATALOGUE, self.asked),
            selector=Selector(CATALOGUE, SelectionRules()),
            repairing=self.repairing(),
            choice=self.choice,
            draw_seed=lambda: 77,
        )

    def repairing(self) -> Repairing:
        asking = Asking(self.asked, self.stages, self.clock, self.spending)
        return Repairing(asking, self.asked.prompts, self.repair, self.stages)

    def deadline(self, seconds: float = 60.0) -> Deadline:
        return Deadline.after(seconds, self.clock)

    def shown(self) -> str:
        return self.telemetry.metrics.exposition()

    def span(self, name: str) -> dict[str, Any]:
        """Return the attributes of the last span of this name."""
        spans = [span for span in self.exporter.get_finished_spans() if span.name == name]
        return dict(spans[-1].attributes or {})

    def span_names(self) -> list[str]:
        return [span.name for span in self.exporter.get_finished_spans()]


async def thought_of(rig: Rig, *replies: Sequence[Said], seconds: float = 60.0, **request: Any) -> Thought:
    """Return what a pipeline with these scripts comes to."""
    return await rig.pipeline(*replies).think(request_of(**request), rig.deadline(seconds))


def reply(text: str, **more: Any) -> ChatReply:
    """Return a whole reply."""
    return replace(ChatReply(text=text, finish_reason="stop"), **more)
