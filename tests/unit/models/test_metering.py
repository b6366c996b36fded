"""What is told of each call, and what is not."""

import asyncio
from decimal import Decimal

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from taoloop.core.deadlines import Deadline
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.models.metering import MeteredChatModel, prompt_sha256
from taoloop.models.ports import (
    ChatMessage,
    ChatModel,
    ChatReply,
    ChatRequest,
    ModelFailed,
    ModelFailureKind,
    Role,
    TokenUsage,
)
from taoloop.models.profiles import ModelProfile, Price
from taoloop.testing.chat.scripted_model import ScriptedChatModel
from taoloop.testing.clock import FakeClock

REQUEST = ChatRequest(messages=(ChatMessage(Role.USER, "a secret"),), max_tokens=10, temperature=0.5, seed=7)
REPLY = ChatReply(
    text="another secret",
    finish_reason="stop",
    usage=TokenUsage(100, 20, 40, 5),
    response_id="chatcmpl-1",
    model="small-v2",
    first_token_seconds=0.3,
)


class Metered:
    """A model in its meter."""

    def __init__(self, model: ChatModel) -> None:
        self.spans = InMemorySpanExporter()
        self.clock = FakeClock()
        self.telemetry = Telemetry.build(TelemetrySettings(), "test", exporter=self.spans)
        self.model = MeteredChatModel(model, "planner", self.telemetry, self.clock)

    async def ask(self) -> ChatReply:
        return await self.model.complete(REQUEST, Deadline.after(5.0, self.clock))

    def shown(self) -> str:
        return self.telemetry.metrics.exposition()

    async def span(self) -> dict[str, object]:
        await self.telemetry.aclose()
        (span,) = self.spans.get_finished_spans()
        return {"name": span.name, **(span.attributes or {})}


async def test_a_call_is_a_span_with_what_was_asked_and_what_came() -> None:
    metered = Metered(ScriptedChatModel([REPLY]))
    await metered.ask()
    span = await metered.span()
    assert span == {
        "name": "chat scripted",
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai-compatible",
        "gen_ai.request.model": "scripted",
        "gen_ai.request.max_tokens": 10,
        "gen_ai.request.temperature": 0.5,
        "gen_ai.request.top_p": 1.0,
        "gen_ai.request.seed": 7,
        "gen_ai.request.stream": True,
        "gen_ai.response.id": "chatcmpl-1",
        "gen_ai.response.model": "small-v2",
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.cache_read.input_tokens": 40,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.reasoning.output_tokens": 5,
        "taoloop.step.type": "planner",
        "taoloop.step.index": 1,
        "taoloop.prompt.sha256": prompt_sha256(REQUEST.messages),
    }


async def test_tokens_cost_and_times_are_counted() -> None:
    price = Price(
        currency="CNY",
        input_per_million=Decimal(10_000),
        cached_input_per_million=Decimal(1_000),
        output_per_million=Decimal(100_000),
    )
    metered = Metered(ScriptedChatModel([REPLY], ModelProfile(price=price)))
    await metered.ask()
    shown = metered.shown()
    for line in (
        'taoloop_model_calls_total{outcome="replied",purpose="planner"} 1.0',
        'taoloop_model_tokens_total{direction="input",purpose="planner"} 100.0',
        'taoloop_model_tokens_total{direction="cached_input",purpose="planner"} 40.0',
        'taoloop_model_tokens_total{direction="output",purpose="planner"} 20.0',
        'taoloop_model_cost_total{currency="CNY",purpose="planner"} 2.64',
        'taoloop_model_first_token_seconds_sum{purpose="planner"} 0.3',
        'taoloop_model_call_duration_seconds_count{outcome="replied",purpose="planner"} 1.0',
        'taoloop_model_in_flight{purpose="planner"} 0.0',
    ):
        assert line in shown


async def test_a_failure_is_counted_by_its_kind_and_marks_the_span() -> None:
    metered = Metered(ScriptedChatModel([ModelFailed(ModelFailureKind.TIMEOUT, "late")]))
    with pytest.raises(ModelFailed):
        await metered.ask()
    assert 'taoloop_model_calls_total{outcome="timeout",purpose="planner"} 1.0' in metered.shown()
    assert (await metered.span())["error.type"] == "timeout"


class Hanging(ScriptedChatModel):
    """Never replies."""

    async def complete(self, request: ChatRequest, deadline: Deadline) -> ChatReply:
        await asyncio.Event().wait()
        raise AssertionError


async def test_a_call_whose_caller_goes_away_is_abandoned_and_no_longer_in_flight() -> None:
    metered = Metered(Hanging(["never"]))
    async with asyncio.TaskGroup() as group:
        task = group.create_task(metered.ask(), name="abandoned")
        await asyncio.sleep(0)
        assert 'taoloop_model_in_flight{purpose="planner"} 1.0' in metered.shown()
        task.cancel()
    shown = metered.shown()
    assert 'taoloop_model_calls_total{outcome="abandoned",purpose="planner"} 1.0' in shown
    assert 'taoloop_model_in_flight{purpose="planner"} 0.0' in shown


async def test_no_word_of_prompt_or_reply_is_told() -> None:
    metered = Metered(ScriptedChatModel([REPLY]))
    await metered.ask()
    assert "secret" not in f"{metered.shown()} {await metered.span()} {metered.model!r}"


def test_the_hash_of_a_prompt_tells_roles_and_borders_apart() -> None:
    def hashed(*messages: ChatMessage) -> str:
        return prompt_sha256(messages)

    hashes = {
        hashed(ChatMessage(Role.USER, "ab")),
        hashed(ChatMessage(Role.SYSTEM, "ab")),
        hashed(ChatMessage(Role.USER, "a"), ChatMessage(Role.USER, "b")),
        hashed(ChatMessage(Role.USER, "auser 1 b")),
    }
    assert len(hashes) == 4
