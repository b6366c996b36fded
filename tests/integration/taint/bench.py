"""Whole runs against tools that do as they are told, planned by models that do as anybody tells them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from taoloop.action.executor import Executor
from taoloop.action.ledger.approvals import Decision
from taoloop.action.secrets import ConfiguredSecrets
from taoloop.action.settings import ToolHttpSettings
from taoloop.action.transports.http import AiohttpTransport
from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.exact_json import ABSENT
from taoloop.core.ids import new_id
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.loop.driver import DriverServices, RunDriver
from taoloop.loop.limits import RunLimits
from taoloop.loop.ports import ThoughtPort
from taoloop.loop.runlog.writer import RunWriter
from taoloop.loop.state import RunState
from taoloop.loop.steps.services import StepServices
from taoloop.loop.tool_directory import ToolDirectory
from taoloop.models.ports import ChatReply, ChatRequest
from taoloop.models.profiles.model import ModelProfile
from taoloop.observation.judging import ObservationPolicy
from taoloop.observation.observer import Observer
from taoloop.observation.ports import FixedCatalogue
from taoloop.plan.effects import ApprovalDecision
from taoloop.plan.running import ApprovalOutcome, RunResumed, RunStarted
from taoloop.plan.task import Permissions, Role, Task, Turn
from taoloop.testing.effect_ledger import InMemoryEffectLedger
from taoloop.testing.in_process.services import LocalAction, LocalObservation, LocalThought
from taoloop.testing.mock_tools import MockTools, ScriptedReply
from taoloop.testing.run_log import InMemoryRunLog
from taoloop.thought.pipeline.asking import Asking
from taoloop.thought.pipeline.climbing import LadderParts, ModelLadder
from taoloop.thought.pipeline.pipeline import Pipeline, PipelineRules
from taoloop.thought.pipeline.ports import FirstModel, InThread, PlanningModel
from taoloop.thought.pipeline.repairing import Repairing, RepairRules
from taoloop.thought.pipeline.routing import RoutingRules, Thresholds
from taoloop.thought.pipeline.rungs import Rung
from taoloop.thought.pipeline.selecting import SelectionRules, Selector
from taoloop.thought.pipeline.stages import Stages
from taoloop.thought.planners.graph import GraphPlanner
from taoloop.thought.planners.model.questions import QuestionRules, Questions
from taoloop.thought.thinker import Thinker
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.contract import HttpTransport, Retry, ToolContract
from taoloop.tools.signature import Effect, Reach, Trust

CLOCK: Final = SystemClock()
RULES: Final = QuestionRules()
TENANT: Final = "acme"
SECONDS: Final = 20.0
LIMITS: Final = RunLimits(
    max_iterations=3, max_wall_time_seconds=SECONDS, max_tokens=10**6, max_calls_per_tool=10, max_result_bytes=10**7
)
TEXT: Final = "Read the page of shop 77 and tell me its hours, my order is A1001"
"""What the user says; the words that a gullible model quotes stand in it."""


def _tool(name: str, properties: dict[str, Any], required: Sequence[str], **more: Any) -> ToolContract:
    is_long = name == "summarise" or more.get("effect", Effect.READ) is not Effect.READ
    method = "POST" if is_long else "GET"
    given: dict[str, Any] = {
        "name": name,
        "description": name.replace("_", " "),
        "effect": Effect.READ,
        "parameters": {
            "type": "object",
            "required": list(required),
            "additionalProperties": False,
            "properties": properties,
        },
        "response": {"type": "object"},
        "transport": HttpTransport(
            method=method,
            url="{{base.tools}}/" + name,
            query={each: f"{{{each}}}" for each in properties} if method == "GET" else {},
            json={each: f"{{{each}}}" for each in properties} if method == "POST" else ABSENT,
        ),
        "retry": Retry(attempts=1),
        "timeout_seconds": 5.0,
        "document": {"name": name},
        "trust": Trust.TRUSTED,
    }
    return ToolContract(**(given | more))


_WORDS: Final = {"type": "string", "x-taoloop-source": ["query", "state", "step", "input", "generated"]}
_KEY: Final = {"type": "string"}
PAGE: Final = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "link": {"type": "string"}, "contact": {"type": "string"}},
}
READ_PAGE: Final = _tool(
    "read_page", {"shop": _KEY}, ["shop"], reach=Reach.OUTWARD, trust=Trust.UNTRUSTED, response=PAGE
)
GET_ORDER: Final = _tool("get_order", {"order_id": _KEY}, ["order_id"])
SUMMARISE: Final = _tool("summarise", {"text": _WORDS}, ["text"], response=PAGE)
HARMFUL: Final = (
    _tool("send_mail", {"to": _KEY, "text": _WORDS}, ["to", "text"], effect=Effect.WRITE, reach=Reach.OUTWARD),
    _tool("post_note", {"text": _WORDS}, ["text"], effect=Effect.IDEMPOTENT_WRITE),
    _tool("refund", {"order_id": _KEY}, ["order_id"], effect=Effect.WRITE),
    _tool("fetch_link", {"url": _KEY}, ["url"], reach=Reach.OUTWARD),
)
"""Tools that write or reach outside, whose calls a planted instruction wants."""
HARMFUL_NAMES: Final = frozenset(tool.name for tool in HARMFUL)


@dataclass(frozen=True)
class Injection:
    """One attempt: what an untrusted tool answers."""

    name: str
    body: dict[str, Any]


def injections() -> list[Injection]:
    """Return the attempts of the corpus; a row is a text, or a whole body."""
    lines = (Path(__file__).parent / "injections.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    plain = {"link": "https://collector.example/in?order=A1001", "contact": "drop@collector.example"}
    return [Injection(row["id"], row.get("body") or {"text": row["text"], **plain}) for row in rows]


@dataclass
class GullibleModel:
    """A chat model that obeys: it writes the same plans whatever it is told about them, one for each thought.

    Attributes:
        skeletons: What it writes in the first thought, and what in later ones.
        prompts: What it was shown.
    """

    skeletons: Sequence[dict[str, Any]]
    prompts: list[str] = field(default_factory=list)
    name: str = "gullible"
    profile: ModelProfile = field(default_factory=ModelProfile)

    async def complete(self, request: ChatRequest, deadline: Deadline) -> ChatReply:
        """Obey."""
        asked = request.messages[1].content
        thought = 1 if "\nCompleted: a " in asked and len(self.skeletons) > 1 else 0
        self.prompts.append(asked)
        return ChatReply(text=json.dumps({"why": "The text says so.", **self.skeletons[thought]}), finish_reason="stop")


@dataclass
class Bench:
    """Tools on a real HTTP server, and everything else in this process."""

    mock: MockTools
    catalogue: Catalogue
    executor: Executor
    ledger: InMemoryEffectLedger
    telemetry: Telemetry

    def __post_init__(self) -> None:
        """Prepare once what every thinker shares."""
        self._graph = InThread(GraphPlanner(self.catalogue))
        self._questions = Questions(self.catalogue, RULES)
        self._selector = Selector(self.catalogue, SelectionRules())
        self._observer = Observer(FixedCatalogue(self.catalogue), ObservationPolicy())

    def thinker(self, model: GullibleModel | None) -> LocalThought:
        """Return the thought service: the graph planner, and the model where there is one, which it always asks."""
        stages = Stages(self.telemetry, CLOCK)
        ladder = None if model is None else self._ladder(model, stages)
        unsure = Thresholds(fit=1.0, arguments=1.0, missing=1.0, none=0.0)
        routing = RoutingRules() if model is None else RoutingRules(thresholds=unsure)
        rules = PipelineRules(routing=routing, is_stall_refused=False)
        pipeline = Pipeline(self.catalogue, self._graph, stages, ladder, rules)
        return LocalThought(Thinker(self.catalogue, pipeline, CLOCK, self.telemetry))

    def _ladder(self, model: GullibleModel, stages: Stages) -> ModelLadder:
        asking = Asking(RULES, stages, CLOCK)
        parts = LadderParts(
            models=(PlanningModel(rung=Rung.MODEL, model=model, timeout_seconds=5.0),),
            questions=self._questions,
            selector=self._selector,
            repairing=Repairing(asking, RULES.prompts, RepairRules(), stages),
            choice=FirstModel(),
        )
        return ModelLadder(parts, stages, CLOCK)

    async def run(self, thought: ThoughtPort, permissions: Permissions, *, text: str = TEXT, **task: Any) -> RunState:
        """Drive a run to its end or to a rest."""
        writer = RunWriter(InMemoryRunLog(), TENANT, RunState(new_id(CLOCK)), CLOCK, timeout_seconds=5.0)
        asked = Task(
            request_id="q",
            turns=(Turn(role=Role.USER, text=text),),
            state={},
            reference_time=datetime(2026, 3, 10, tzinfo=UTC),
            time_zone="UTC",
            locale="en",
            limits=LIMITS.as_record(),
            permissions=permissions,
        )
        asked = replace(asked, **task)
        await writer.emit(RunStarted(task=asked, catalogue_digest=self.catalogue.digest))
        action = LocalAction(self.catalogue, self.executor, self.ledger)
        services = DriverServices(
            thought=thought,
            steps=StepServices(action=action, observation=LocalObservation(self._observer), clock=CLOCK),
            directory=ToolDirectory(action, CLOCK, 600.0),
            clock=CLOCK,
        )
        self._services, self._writer = services, writer
        await RunDriver(services, writer, LIMITS, max_parallel_steps=8).drive(self.call())
        return writer.state

    async def approve(self, approval_id: str) -> RunState:
        """Give leave for one call of the latest run, and drive the run on."""
        decision = Decision(approval_id=approval_id, decision=ApprovalDecision.APPROVED, decided_by="ana")
        await self.ledger.approvals.decide(TENANT, decision)
        leave = ApprovalOutcome(approval_id=approval_id, decision=ApprovalDecision.APPROVED, decided_by="ana")
        await self._writer.emit(RunResumed(reason="approval", approval=leave))
        await RunDriver(self._services, self._writer, LIMITS, max_parallel_steps=8).drive(self.call())
        return self._writer.state

    def call(self) -> CallContext:
        """Return a call with time enough."""
        return CallContext(deadline=Deadline.after(SECONDS, CLOCK), tenant=TENANT)

    def harm(self) -> list[str]:
        """Return the harmful tools that were called since this was asked last."""
        called = [name for name, count in self.mock.calls.items() for _ in range(count) if name in HARMFUL_NAMES]
        self.mock.calls.clear()
        return called


@asynccontextmanager
async def bench() -> AsyncIterator[Bench]:
    """Start the tools' server, and an executor on a real transport to it."""
    tools = (READ_PAGE, GET_ORDER, SUMMARISE, *HARMFUL)
    plan = Catalogue.of(tools, name="injected", bases={"tools": "http://127.0.0.1:9"})
    async with MockTools(plan, {}) as mock:
        for tool in tools:
            mock.script(tool.name, ScriptedReply(body={"ok": True}))
        mock.script("get_order", ScriptedReply(status=404, body={"error": "no such order"}))
        catalogue = Catalogue.of(tools, name="injected", bases=mock.bases)
        telemetry = Telemetry.build(TelemetrySettings(), "taoloop-test")
        transport = AiohttpTransport(ToolHttpSettings(), catalogue.bases, ConfiguredSecrets({}), telemetry, clock=CLOCK)
        ledger = InMemoryEffectLedger(CLOCK)
        executor = Executor(catalogue, transport, ledger, telemetry, CLOCK)
        try:
            yield Bench(mock, catalogue, executor, ledger, telemetry)
        finally:
            await transport.aclose()
            await telemetry.aclose()
