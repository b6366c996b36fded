"""What holds for a chat model on a server that generates: a played one in every run, vLLM's in `make test-vllm`."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.models.http_chat_model import HttpChatModel, ModelServer
from taoloop.models.opening import open_chat_model
from taoloop.models.ports import ChatMessage, ChatRequest, JsonForm, ModelFailed, ModelFailureKind, Role
from taoloop.models.profiles import ModelProfile, StructuredOutput
from taoloop.models.readiness import facts
from taoloop.models.readiness.gate import ReadyChatModel, Standing
from taoloop.models.readiness.model import Capability
from taoloop.models.readiness.probing import Probe
from taoloop.models.settings import ChatModelSettings
from tests.contract.live_models import LiveModel, PlayedLiveModel, VllmLiveModel

LONG = ChatRequest(
    messages=(ChatMessage(Role.USER, "Count from one thousand to ten thousand."),),
    max_tokens=1500,
    form=JsonForm("numbers", {"type": "array", "items": {"type": "integer", "minimum": 1000}, "minItems": 400}),
)
"""Takes a real engine a minute on its own; without the form a small model has said enough after a second."""
SECONDS = 120.0
"""The engine shares two processors with whatever else runs."""


@pytest.fixture(
    params=["played", pytest.param("vllm", marks=[pytest.mark.vllm, pytest.mark.timeout(900)])],
)
async def live(request: pytest.FixtureRequest) -> AsyncIterator[LiveModel]:
    if request.param == "vllm":
        yield VllmLiveModel(request.getfixturevalue("vllm_server"))
        return
    async with PlayedLiveModel().open() as played:
        yield played


@asynccontextmanager
async def model_of(live: LiveModel, profile: ModelProfile | None = None) -> AsyncIterator[HttpChatModel]:
    server = ModelServer(
        url=live.url, model=live.name, timeout_seconds=SECONDS, silence_seconds=60.0, profile=profile or live.profile
    )
    async with HttpChatModel(server) as model:
        yield model


def soon(seconds: float = SECONDS) -> Deadline:
    return Deadline.after(seconds, SystemClock())


async def comes_to(live: LiveModel, busy: int) -> bool:
    """Wait until the server works on so many requests."""
    async with asyncio.timeout(30.0):
        while await live.busy() != busy:  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.05)
    return True


async def test_the_probe_finds_the_server_as_its_profile_says(live: LiveModel) -> None:
    async with model_of(live) as model:
        report = await Probe(model, live.profile, 512, SystemClock()).run(soon())
    assert report.is_usable
    assert report.profile == replace(live.profile, context_tokens=2048)
    assert {one.capability for one in report.mismatches} <= {Capability.FACTS}  # which a model of 135M may get wrong


@pytest.mark.parametrize("way", [way for way in StructuredOutput if way.is_enforced])
@pytest.mark.parametrize("streams", [True, False], ids=["streamed", "whole"])
async def test_a_reply_is_kept_to_its_form_against_the_models_will(
    live: LiveModel, way: StructuredOutput, streams: bool
) -> None:
    async with model_of(live, replace(live.profile, structured_output=way, streams=streams)) as model:
        reply = await model.complete(facts.tempting_question(), soon())
    assert facts.fits(reply.text), reply.text
    assert reply.finish_reason == "stop"
    assert reply.usage.output_tokens > 0
    assert reply.response_id


async def test_the_same_seed_gives_the_same_reply(live: LiveModel) -> None:
    async with model_of(live) as model:
        texts = {(await model.complete(facts.seeded_question(), soon())).text for _ in range(3)}
    assert len(texts) == 1


async def test_likelihoods_come_with_the_tokens_that_they_were_wanted_for(live: LiveModel) -> None:
    async with model_of(live) as model:
        reply = await model.complete(facts.facts_question(top_logprobs=1), soon())
        without = await model.complete(facts.facts_question(top_logprobs=0), soon())
    assert reply.logprobs[0].alternatives
    assert reply.logprobs[0].logprob <= 0
    assert without.logprobs == ()


async def test_many_calls_at_once_get_their_own_replies(live: LiveModel) -> None:
    async with model_of(live) as model:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(model.complete(facts.facts_question(0), soon())) for _ in range(16)]
        assert all(facts.fits(task.result().text) for task in tasks)
    assert await comes_to(live, 0)


async def test_the_server_stops_generating_when_the_caller_goes_away(live: LiveModel) -> None:
    async with model_of(live) as model:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(model.complete(LONG, soon())) for _ in range(3)]
            assert await comes_to(live, 3)
            for task in tasks:
                task.cancel()
        assert await comes_to(live, 0)


async def test_the_server_stops_generating_when_the_time_is_over(live: LiveModel) -> None:
    async with model_of(live) as model:
        with pytest.raises(ModelFailed) as failed:
            await model.complete(LONG, soon(1.0))
        assert failed.value.kind is ModelFailureKind.TIMEOUT
        assert await comes_to(live, 0)


async def test_a_server_that_is_killed_is_missed_at_once_and_found_again(live: LiveModel) -> None:
    settings = ChatModelSettings(
        url=live.url,
        model=live.name,
        profile="vllm",
        timeout_seconds=SECONDS,
        probe_start_seconds=SECONDS,
        probe_again_seconds=0.5,
    )
    telemetry = Telemetry.build(TelemetrySettings(), "test")
    async with open_chat_model(settings, "planner", telemetry, SystemClock()) as model:
        assert isinstance(model, ReadyChatModel)
        async with asyncio.TaskGroup() as group:
            task = group.create_task(_failure(model, LONG), name="in flight")
            assert await comes_to(live, 1)
            await live.kill()
        assert task.result() is ModelFailureKind.UNREACHABLE
        assert await _failure(model, LONG) in {ModelFailureKind.UNREACHABLE, ModelFailureKind.NOT_READY}
        await _stands(model, Standing.AWAY)
        assert await _failure(model, LONG) is ModelFailureKind.NOT_READY
        await live.restart()
        await _stands(model, Standing.READY)
        assert facts.fits((await model.complete(facts.facts_question(0), soon())).text)
    await telemetry.aclose()


async def _failure(model: ReadyChatModel, request: ChatRequest) -> ModelFailureKind:
    with pytest.raises(ModelFailed) as failed:
        await model.complete(request, soon())
    return failed.value.kind


async def _stands(model: ReadyChatModel, standing: Standing) -> None:
    async with asyncio.timeout(SECONDS):
        while model.standing is not standing:  # noqa: ASYNC110 - the gate tells nobody
            await asyncio.sleep(0.05)
