"""A worker's whole mind on a real engine: however poorly the model plans, a thought comes that may leave."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.models.opening import open_chat_model, open_prompt_counter, profile_of
from taoloop.models.ports import ChatMessage, ChatRequest, JsonForm
from taoloop.models.ports import Role as Speaker
from taoloop.models.settings import ChatModelSettings, ProbeMode
from taoloop.plan.check import CheckContext, check_plan
from taoloop.plan.check_context import PlanLimits
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.task import Permissions, Role, Turn
from taoloop.plan.thinking import Answer, Escalation, NeedInput, Refusal, ThinkRequest, ThinkResponse
from taoloop.thought.app import opened_mind
from taoloop.thought.pipeline.settings import RouteSettings, SelectSettings
from taoloop.thought.settings import PlanSettings, ThoughtWorkerSettings
from taoloop.thought.stage_settings import ModelPlanSettings, RepairSettings, StageSettings
from taoloop.thought.thinker import Thinker
from taoloop.tools.served_catalogue import read_catalogue
from tests.vllm.server import NAME, VllmServer

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(1800)]

CATALOGUE = Path(__file__).parents[2] / "examples" / "customer-service"
ALLOWED = ("check_stock", "find_order", "get_shipment", "get_weather")
ASKED = (
    "订单 20260308000012345 的快递到哪里了？",
    "What is the weather in Beijing tomorrow?",
    "How many of KB-2041 are left, and where is order 20260308000012345?",
    "Write me a poem about the sea.",
)
SECONDS = 600.0
CLOCK = SystemClock()
ONE_WORD = JsonForm(
    "word",
    {
        "type": "object",
        "required": ["word"],
        "additionalProperties": False,
        "properties": {"word": {"enum": ["yes"]}},
    },
)


@pytest.fixture
def spans() -> InMemorySpanExporter:
    return InMemorySpanExporter()


@pytest.fixture
async def mind(vllm_server: VllmServer, spans: InMemorySpanExporter) -> AsyncIterator[Thinker]:
    """A mind whose graph planner is sure of nothing, so that every request goes to the model."""
    unsure = RouteSettings(min_fit=1.0, min_arguments=1.0, min_missing=1.0, fit_of_none=0.0)
    settings = ThoughtWorkerSettings(
        catalogue=CATALOGUE,
        plan=PlanSettings(max_steps=2),
        model=ChatModelSettings(
            url=vllm_server.url,
            model=NAME,
            profile="vllm",
            timeout_seconds=SECONDS * 0.45,
            silence_seconds=SECONDS * 0.45,
            probe_seconds=SECONDS,
            probe_start_seconds=SECONDS,
        ),
        thought=StageSettings(
            route=unsure,
            select=SelectSettings(max_found=3, max_produced=1),
            plan=ModelPlanSettings(max_output_tokens=300),
            repair=RepairSettings(attempts=1),
        ),
    )
    telemetry = Telemetry.build(TelemetrySettings(), "test", exporter=spans)
    async with opened_mind(settings, read_catalogue(CATALOGUE), telemetry, CLOCK) as opened:
        yield opened
    await telemetry.aclose()


async def thought_of(mind: Thinker, text: str, seed: int = 7) -> tuple[ThinkRequest, ThinkResponse]:
    request = ThinkRequest(
        run_id="0" * 32,
        iteration=1,
        turns=(Turn(role=Role.USER, text=text),),
        permissions=Permissions(allowed_tools=ALLOWED),
        seed=seed,
    )
    return request, await mind.think(request, Deadline.after(SECONDS, CLOCK))


@pytest.mark.parametrize("text", ASKED)
async def test_whatever_the_model_writes_becomes_a_thought_that_may_leave(mind: Thinker, text: str) -> None:
    request, response = await thought_of(mind, text)

    assert isinstance(response.outcome, ThoughtPlan | Answer | NeedInput | Refusal | Escalation)
    assert response.planner in {"model/v1", "graph/1"}
    if isinstance(response.outcome, ThoughtPlan):
        tools = {tool.name: tool for tool in read_catalogue(CATALOGUE).signatures()}
        context = CheckContext(tools=tools, turns=request.turns, limits=PlanLimits(max_steps=2))
        assert check_plan(response.outcome, context).faults == ()
        assert {step.tool for step in response.outcome.steps} <= set(ALLOWED)


async def test_the_engine_is_asked_and_what_it_took_is_told(mind: Thinker, spans: InMemorySpanExporter) -> None:
    _, response = await thought_of(mind, ASKED[1])

    assert response.usage is not None
    assert response.usage.model_calls >= 1
    assert response.usage.input_tokens > 256
    assert response.usage.output_tokens > 0
    assert response.seed == 7
    chats = [dict(span.attributes or {}) for span in spans.get_finished_spans() if span.name == f"chat {NAME}"]
    assert len(chats) == response.usage.model_calls
    assert all(chat["gen_ai.request.seed"] == 7 and chat["taoloop.prompt.sha256"] for chat in chats)
    names = [span.name for span in spans.get_finished_spans()]
    assert {"thought graph", "thought route", "thought select", "thought plan", "thought expand"} <= set(names)


async def test_the_same_seed_gives_the_same_decision(mind: Thinker) -> None:
    (_, one), (_, other) = [await thought_of(mind, ASKED[0], seed=11) for _ in range(2)]

    assert type(one.outcome) is type(other.outcome)
    if isinstance(one.outcome, ThoughtPlan) and isinstance(other.outcome, ThoughtPlan):
        assert one.outcome.steps == other.outcome.steps


async def test_the_engine_counts_a_prompt_as_it_does_when_it_replies(vllm_server: VllmServer) -> None:
    settings = ChatModelSettings(url=vllm_server.url, model=NAME, profile="vllm", probe=ProbeMode.OFF)
    telemetry = Telemetry.build(TelemetrySettings(), "test")
    messages = (
        ChatMessage(Speaker.SYSTEM, "Reply with one word."),
        ChatMessage(Speaker.USER, "订单在哪里？ Where is it?"),
    )
    async with (
        open_chat_model(settings, "planner", telemetry, CLOCK) as model,
        open_prompt_counter(settings, profile_of(settings), CLOCK) as counter,
    ):
        assert model is not None
        assert counter is not None
        deadline = Deadline.after(SECONDS, CLOCK)
        reply = await model.complete(ChatRequest(messages=messages, max_tokens=32, form=ONE_WORD), deadline)
        counted = await counter.count(messages, deadline)
    assert counted == reply.usage.input_tokens > 10
    await telemetry.aclose()
