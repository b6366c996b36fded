"""A model opened from its settings, beside a server that is there, away, or another one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import ConfigurationError
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.models.opening import open_chat_model, profile_of
from taoloop.models.ports import ChatMessage, ChatModel, ChatRequest, ModelFailed, ModelFailureKind, Role
from taoloop.models.profiles import StructuredOutput
from taoloop.models.readiness import facts
from taoloop.models.settings import ChatModelSettings, ProbeMode
from taoloop.testing.chat.probe import ServedModel
from taoloop.testing.chat.server import ChatServer, ScriptedReply
from taoloop.testing.ports import free_ports

REQUEST = ChatRequest(
    messages=(ChatMessage(Role.USER, "hello"),), max_tokens=10, temperature=0.8, form=facts.FORM, top_logprobs=2
)
HI = ScriptedReply(text="hi")


@asynccontextmanager
async def opened(settings: ChatModelSettings) -> AsyncIterator[tuple[ChatModel, Telemetry]]:
    telemetry = Telemetry.build(TelemetrySettings(), "test")
    async with open_chat_model(settings, "planner", telemetry, SystemClock(), seeds=lambda: 42) as model:
        assert model is not None
        yield model, telemetry
    await telemetry.aclose()


def settings_for(url: str, probe: ProbeMode = ProbeMode.DEGRADE, **more: object) -> ChatModelSettings:
    return ChatModelSettings.model_validate(
        {"url": url, "model": "small", "profile": "vllm", "probe": probe, "probe_again_seconds": 0.05, **more}
    )


async def ask(model: ChatModel) -> str:
    return (await model.complete(REQUEST, Deadline.after(5.0, SystemClock()))).text


async def test_without_a_url_there_is_no_model() -> None:
    telemetry = Telemetry.build(TelemetrySettings(), "test")
    async with open_chat_model(ChatModelSettings(), "planner", telemetry, SystemClock()) as model:
        assert model is None
    await telemetry.aclose()


@pytest.mark.parametrize("probe", list(ProbeMode))
async def test_a_server_as_its_profile_says_is_asked_in_the_profiles_way(probe: ProbeMode) -> None:
    async with ChatServer([HI], ServedModel(names=("small",))) as server:
        async with opened(settings_for(server.url, probe)) as (model, _):
            assert await ask(model) == "hi"
        (request,) = server.requests
        assert request.body["seed"] == 42
        assert request.body["top_logprobs"] == 2
        assert "response_format" in request.body
        assert (server.probes > 0) is (probe is not ProbeMode.OFF)


async def test_what_the_server_lacks_is_not_sent_any_more() -> None:
    kept, refused = frozenset({"json_object"}), frozenset({"json_schema"})
    served = ServedModel(parameters=kept, refuses=refused, repeats=False, has_logprobs=False)
    async with ChatServer([HI], served) as server:
        async with opened(settings_for(server.url)) as (model, telemetry):
            assert await ask(model) == "hi"
            assert model.profile.structured_output is StructuredOutput.JSON_MODE
            shown = telemetry.metrics.exposition()
        body = server.requests[0].body
        assert body["response_format"] == {"type": "json_object"}
        assert {"seed", "logprobs", "top_logprobs"}.isdisjoint(body)
    for capability in ("structured_output", "seed", "logprobs"):
        assert f'taoloop_model_degraded{{capability="{capability}",purpose="planner"}} 1.0' in shown


async def test_a_process_that_requires_its_profile_does_not_start_without_it() -> None:
    async with ChatServer([HI], ServedModel(repeats=False)) as server:
        with pytest.raises(ConfigurationError) as refused:
            async with opened(settings_for(server.url, ProbeMode.REQUIRE)):
                pass
    assert refused.value.metadata == {"model": "small", "profile": "vllm", "capabilities": "seed"}
    assert "seed: expected the same reply for the same seed, found another one." in refused.value.message


async def test_another_model_is_refused_at_every_call_and_the_process_runs_on() -> None:
    async with (
        ChatServer([HI], ServedModel(names=("other",))) as server,
        opened(settings_for(server.url)) as (model, _),
    ):
        with pytest.raises(ModelFailed) as failed:
            await ask(model)
        assert failed.value.kind is ModelFailureKind.NOT_READY
        assert not server.requests
        server.served = ServedModel(names=("small",))
        assert await _once_ready(model) == "hi"


async def test_a_server_that_comes_later_is_found() -> None:
    (port,) = free_ports(1)
    settings = settings_for(f"http://127.0.0.1:{port}/v1", ProbeMode.REQUIRE)
    async with opened(settings) as (model, _):
        with pytest.raises(ModelFailed) as failed:
            await ask(model)
        assert failed.value.kind is ModelFailureKind.NOT_READY
        async with ChatServer([HI], port=port):
            assert await _once_ready(model) == "hi"


async def test_a_server_that_hangs_holds_up_the_start_no_longer_than_its_probe() -> None:
    async with ChatServer([HI], ServedModel(names=("small",), delay_seconds=5.0)) as server:
        async with asyncio.timeout(2.0), opened(settings_for(server.url, probe_seconds=0.1)) as (model, _):
            with pytest.raises(ModelFailed) as failed:
                await ask(model)
        assert failed.value.kind is ModelFailureKind.NOT_READY


async def test_a_server_that_hangs_holds_up_the_start_only_a_little_and_is_used_once_it_has_answered() -> None:
    served = ServedModel(names=("small",), delay_seconds=0.3)
    async with (
        ChatServer([HI], served) as server,
        opened(settings_for(server.url, probe_start_seconds=0.05)) as (model, _),
    ):
        with pytest.raises(ModelFailed) as failed:
            await ask(model)
        assert failed.value.kind is ModelFailureKind.NOT_READY
        assert await _once_ready(model) == "hi"


async def test_a_profile_with_faults_is_told_before_anything_is_asked(tmp_path: Path) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("kind: ModelProfile\n", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="apiVersion"):
        async with opened(settings_for("http://127.0.0.1:9/v1", profile=str(path))):
            pass


def test_the_settings_stand_in_for_what_the_profile_says() -> None:
    settings = settings_for("http://h/v1", structured_output="none", context_tokens=1000)
    profile = profile_of(settings)
    assert (profile.name, profile.structured_output, profile.context_tokens) == ("vllm", StructuredOutput.NONE, 1000)


async def _once_ready(model: ChatModel) -> str:
    async with asyncio.timeout(10.0):
        while True:
            try:
                return await ask(model)
            except ModelFailed as failed:
                assert failed.kind is ModelFailureKind.NOT_READY  # noqa: PT017 - every other failure is one
                await asyncio.sleep(0.02)
