"""What only a real engine shows: its tokens, its grammars, its errors and its cache."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import ConfigurationError
from taoloop.core.exact_json import JsonValue
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.models.http_chat_model import HttpChatModel, ModelServer
from taoloop.models.opening import open_chat_model
from taoloop.models.ports import ChatMessage, ChatRequest, JsonForm, ModelFailed, ModelFailureKind, Role
from taoloop.models.profiles.loading import load_profile
from taoloop.models.settings import ChatModelSettings, ProbeMode
from tests.vllm.server import NAME, VllmServer

pytestmark = [pytest.mark.vllm, pytest.mark.timeout(900)]

GREETING = ChatRequest(messages=(ChatMessage(Role.USER, "Greet me in one sentence."),), max_tokens=64)


@pytest.fixture
async def model(vllm_server: VllmServer) -> AsyncIterator[HttpChatModel]:
    server = ModelServer(
        url=vllm_server.url,
        model=NAME,
        timeout_seconds=120.0,
        silence_seconds=60.0,
        profile=load_profile("vllm-grammar"),
    )
    async with HttpChatModel(server) as opened:
        yield opened


def soon() -> Deadline:
    return Deadline.after(120.0, SystemClock())


async def failure(model: HttpChatModel, request: ChatRequest) -> ModelFailed:
    with pytest.raises(ModelFailed) as failed:
        await model.complete(request, soon())
    return failed.value


async def test_a_grammar_is_kept(model: HttpChatModel) -> None:
    form = JsonForm("point", {"type": "array"}, grammar='root ::= "[" [1-3] "," [0-9]{1,2} "]"')
    reply = await model.complete(replace(GREETING, form=form), soon())
    assert reply.text[0] == "["
    assert reply.text[-1] == "]"
    first, second = reply.text[1:-1].split(",")
    assert first in {"1", "2", "3"}
    assert second.isdigit()


async def test_json_is_compact(model: HttpChatModel) -> None:
    schema: dict[str, JsonValue] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {"word": {"enum": ["yes", "no"]}},
        "required": ["word"],
    }
    form = JsonForm("word", schema)
    assert (await model.complete(replace(GREETING, form=form), soon())).text in {'{"word":"yes"}', '{"word":"no"}'}


async def test_a_reply_at_its_longest_length_is_cut_off(model: HttpChatModel) -> None:
    assert (await failure(model, replace(GREETING, max_tokens=2))).kind is ModelFailureKind.CUT_OFF


async def test_a_reply_ends_before_a_text_that_stops_it(model: HttpChatModel) -> None:
    form = JsonForm("count", {"type": "array"}, grammar='root ::= "one two three"')
    reply = await model.complete(replace(GREETING, form=form, stop=(" three",)), soon())
    assert (reply.text, reply.finish_reason) == ("one two", "stop")


async def test_another_seed_gives_another_reply(model: HttpChatModel) -> None:
    hot = replace(GREETING, temperature=1.5, form=JsonForm("word", {}, grammar='root ::= "\\"" [a-z]{12} "\\""'))
    texts = {(await model.complete(replace(hot, seed=seed), soon())).text for seed in range(5)}
    assert len(texts) > 1


async def test_a_prompt_above_the_context_is_too_large(model: HttpChatModel) -> None:
    long = replace(GREETING, messages=(ChatMessage(Role.USER, "word " * 3000),))
    failed = await failure(model, long)
    assert (failed.kind, failed.status_code, failed.is_retriable) == (ModelFailureKind.TOO_LARGE, 400, False)


async def test_a_refusal_names_the_servers_code(vllm_server: VllmServer) -> None:
    async with HttpChatModel(ModelServer(url=vllm_server.url, model="no such name", timeout_seconds=60.0)) as other:
        failed = await failure(other, GREETING)
    assert (failed.kind, failed.status_code, failed.is_retriable) == (ModelFailureKind.REFUSED, 404, False)
    assert "NotFoundError" in failed.message
    assert "no such name" not in failed.message


async def test_a_grammar_that_is_none_is_refused_and_the_engine_goes_on(model: HttpChatModel) -> None:
    failed = await failure(model, replace(GREETING, form=JsonForm("broken", {}, grammar="nonsense ::=")))
    assert failed.kind is ModelFailureKind.REFUSED
    assert failed.status_code in {400, 500}  # which of them depends on the engine's library for grammars
    form = JsonForm("word", {}, grammar='root ::= "hi"')
    assert (await model.complete(replace(GREETING, form=form), soon())).text == "hi"


async def test_a_prefix_that_was_read_before_is_told_as_cached(model: HttpChatModel) -> None:
    instructions = ChatMessage(Role.SYSTEM, "You plan calls of tools and nothing else. " * 40)
    requests = [
        replace(GREETING, messages=(instructions, ChatMessage(Role.USER, words)))
        for words in ("Greet Ana in one word.", "Greet Bo in one word.")
    ]
    form = JsonForm("word", {}, grammar='root ::= "hi"')
    first, second = [await model.complete(replace(request, form=form), soon()) for request in requests]
    assert first.usage.input_tokens > 256
    assert second.usage.cached_tokens >= 256


async def test_a_server_without_the_model_of_the_settings_keeps_the_process_from_starting(
    vllm_server: VllmServer,
) -> None:
    settings = ChatModelSettings(url=vllm_server.url, model="other", profile="vllm", probe=ProbeMode.REQUIRE)
    telemetry = Telemetry.build(TelemetrySettings(), "test")
    with pytest.raises(ConfigurationError, match=r"model: expected 'other', found 'smol'"):
        async with open_chat_model(settings, "planner", telemetry, SystemClock()):
            pass
    await telemetry.aclose()
