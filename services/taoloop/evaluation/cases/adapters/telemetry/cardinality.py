"""How many span names and label sets many runs leave, each of another tenant about another thing."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Final

from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from taoloop.action.executor import Executor
from taoloop.action.secrets import ConfiguredSecrets
from taoloop.action.settings import ToolHttpSettings
from taoloop.action.transports.http import AiohttpTransport
from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.evaluation.cases.adapters.loops import DoubledLoop, loop_of
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said, Unsupported
from taoloop.loop.driver import DriverServices
from taoloop.loop.steps.services import StepServices
from taoloop.loop.tool_directory import ToolDirectory
from taoloop.observation.judging import ObservationPolicy
from taoloop.observation.metering import MeteredObserver
from taoloop.observation.observer import Observer
from taoloop.observation.ports import FixedCatalogue
from taoloop.plan.running import RunFinished
from taoloop.plan.task import Outcome, Role, Task, Turn
from taoloop.testing.effect_ledger import InMemoryEffectLedger
from taoloop.testing.in_process.services import LocalAction, LocalObservation, LocalThought
from taoloop.testing.mock_tools import MockTools, ScriptedReply
from taoloop.testing.run_log import InMemoryRunLog
from taoloop.thought.pipeline.pipeline import Pipeline
from taoloop.thought.pipeline.ports import InThread
from taoloop.thought.pipeline.stages import Stages
from taoloop.thought.planners.graph import GraphPlanner
from taoloop.thought.thinker import Thinker
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.contract import HttpTransport, ToolContract
from taoloop.tools.signature import Effect, Trust

_CLOCK: Final = SystemClock()
_RUN_SECONDS: Final = 20.0
_AT_ONCE: Final = 20
_THINGS: Final = (
    "order", "parcel", "invoice", "contract", "refund", "ticket", "booking", "voucher", "shipment", "claim",
)  # fmt: skip
# What makes series, and is no label of ours: the bounds of a histogram's buckets, and when a series began.
_NO_LABELS: Final = frozenset({"le", "quantile"})


@dataclass(slots=True)
class _Asked:
    """What one run was asked, and how it ended."""

    number: int
    outcome: Outcome | None = None


async def _cardinality(case_input: CaseInput) -> Said:
    runs, tools = case_input["runs"], case_input["tools"]
    if not 0 < tools <= len(_THINGS):
        raise Unsupported(f"a catalogue here has 1 to {len(_THINGS)} tools, not {tools}")
    spans = InMemorySpanExporter()
    telemetry = Telemetry.build(TelemetrySettings(), "taoloop-cases", exporter=spans)
    asked = [_Asked(number) for number in range(runs)]
    try:
        async with _loop(_catalogue(tools), telemetry) as loop:
            await _run_all(loop, asked, tools)
    finally:
        await telemetry.aclose()
    unanswered = Counter(str(one.outcome) for one in asked if one.outcome is not Outcome.ANSWERED)
    if unanswered:  # a run that went nowhere would leave fewer names than it should
        raise RuntimeError(f"of {runs} runs some were not answered: {dict(unanswered)}")
    return {
        "span_names": len({span.name for span in spans.get_finished_spans()}),
        "label_sets": len(_label_sets(telemetry)),
    }


def _label_sets(telemetry: Telemetry) -> set[tuple[tuple[str, str], ...]]:
    """Return the different sets of labels that some metric has."""
    samples = (sample for family in telemetry.metrics.registry.collect() for sample in family.samples)
    labels = ({name: text for name, text in sample.labels.items() if name not in _NO_LABELS} for sample in samples)
    return {tuple(sorted(each.items())) for each in labels if each}


async def _run_all(loop: DoubledLoop, asked: list[_Asked], tools: int) -> None:
    waiting = iter(asked)

    async def work(mine: Iterator[_Asked]) -> None:
        for one in mine:
            await _run_one(loop, one, _THINGS[one.number % tools])

    async with asyncio.TaskGroup() as group:
        for number in range(_AT_ONCE):
            group.create_task(work(waiting), name=f"runs {number}")


async def _run_one(loop: DoubledLoop, one: _Asked, thing: str) -> None:
    number = 10_000_000 + one.number
    task = Task(
        request_id=f"request-{number}",
        session_id=f"session-{number}",
        turns=(Turn(role=Role.USER, text=f"Show me the {thing} {number}"),),
    )
    call = CallContext(deadline=Deadline.after(_RUN_SECONDS, _CLOCK), tenant=f"tenant-{number}")
    async with aclosing(loop.runs.run(task, str(number), call)) as events:
        async for event in events:
            if isinstance(event.body, RunFinished):
                one.outcome = event.body.outcome


@asynccontextmanager
async def _loop(catalogue: Catalogue, telemetry: Telemetry) -> AsyncIterator[DoubledLoop]:
    """Run the loop on a real planner, executor and observer, and on tools behind a real HTTP server."""
    async with MockTools(catalogue, {}) as mock:
        for tool in catalogue:
            mock.script(tool.contract.name, ScriptedReply(body={"status": "sent"}))
        served = Catalogue.of((tool.contract for tool in catalogue), name="cases", bases=mock.bases)
        transport = AiohttpTransport(ToolHttpSettings(), served.bases, ConfiguredSecrets({}), telemetry, clock=_CLOCK)
        try:
            services, action = _services(served, transport, telemetry)
            async with loop_of(services, action, InMemoryRunLog(), telemetry, _CLOCK) as loop:
                yield loop
        finally:
            await transport.aclose()


def _services(
    catalogue: Catalogue, transport: AiohttpTransport, telemetry: Telemetry
) -> tuple[DriverServices, LocalAction]:
    ledger = InMemoryEffectLedger(_CLOCK)
    action = LocalAction(catalogue, Executor(catalogue, transport, ledger, telemetry, _CLOCK), ledger)
    catalogues = FixedCatalogue(catalogue)
    observer = MeteredObserver(Observer(catalogues, ObservationPolicy()), catalogues, telemetry)
    pipeline = Pipeline(catalogue, InThread(GraphPlanner(catalogue)), Stages(telemetry, _CLOCK))
    services = DriverServices(
        thought=LocalThought(Thinker(catalogue, pipeline, _CLOCK, telemetry)),
        steps=StepServices(action=action, observation=LocalObservation(observer), clock=_CLOCK),
        directory=ToolDirectory(action, _CLOCK, _RUN_SECONDS),
        clock=_CLOCK,
    )
    return services, action


def _catalogue(tools: int) -> Catalogue:
    return Catalogue.of(
        (_tool(thing) for thing in _THINGS[:tools]), name="cases", bases={"things": "http://127.0.0.1:9"}
    )


def _tool(thing: str) -> ToolContract:
    key = f"{thing}_id"
    return ToolContract(
        name=f"get_{thing}",
        description=f"Shows one {thing}.",
        effect=Effect.READ,
        trust=Trust.TRUSTED,
        parameters={
            "type": "object",
            "required": [key],
            "additionalProperties": False,
            "properties": {key: {"type": "string", "pattern": "^[0-9]{8}$", "description": f"Number of the {thing}"}},
        },
        response={"type": "object"},
        transport=HttpTransport(method="GET", url=f"{{{{base.things}}}}/{thing}s/{{{key}}}"),
        timeout_seconds=5.0,
    )


CARDINALITY = Adapter(feed=_cardinality, required=("runs", "tools"))
