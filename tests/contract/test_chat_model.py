"""What holds for a chat model, on a real connection."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.models.http_chat_model import HttpChatModel, ModelServer
from taoloop.models.ports import ChatMessage, ChatReply, ChatRequest, ModelFailed, ModelFailureKind, Role
from taoloop.models.profiles import ModelProfile
from taoloop.testing.chat_server import ChatServer, ScriptedReply
from taoloop.testing.ports import free_ports

REQUEST = ChatRequest(messages=(ChatMessage(Role.USER, "hello"),), max_tokens=10)


@asynccontextmanager
async def model_of(
    *replies: ScriptedReply, timeout_seconds: float = 5.0, max_reply_bytes: int = 4096
) -> AsyncIterator[tuple[HttpChatModel, ChatServer]]:
    async with ChatServer(replies) as server:
        record = ModelServer(
            url=server.url,
            model="small",
            api_key="k-1",
            timeout_seconds=timeout_seconds,
            max_reply_bytes=max_reply_bytes,
        )
        async with HttpChatModel(record) as model:
            yield model, server


def soon() -> Deadline:
    return Deadline.after(5.0, SystemClock())


async def failure(model: HttpChatModel, deadline: Deadline | None = None) -> ModelFailed:
    with pytest.raises(ModelFailed) as failed:
        await model.complete(REQUEST, deadline or soon())
    return failed.value


async def test_a_reply_is_returned_whole() -> None:
    async with model_of(ScriptedReply(text="你好")) as (model, server):
        reply = await model.complete(REQUEST, soon())
        assert isinstance(reply, ChatReply)
        assert reply.text == "你好"
        assert server.requests[0].authorization == "Bearer k-1"
        assert server.requests[0].body["model"] == "small"


async def test_a_server_that_nobody_runs_is_unreachable() -> None:
    async with HttpChatModel(ModelServer(url=f"http://127.0.0.1:{free_ports(1)[0]}/v1", model="small")) as model:
        failed = await failure(model)
    assert (failed.kind, failed.is_retriable) == (ModelFailureKind.UNREACHABLE, True)


async def test_a_connection_that_breaks_within_the_reply_gives_no_reply() -> None:
    async with model_of(ScriptedReply(text="whole?", breaks_off=True)) as (model, _):
        assert (await failure(model)).kind is ModelFailureKind.UNREACHABLE


async def test_a_reply_that_is_late_is_given_up() -> None:
    async with model_of(ScriptedReply(text="late", delay_seconds=5.0), timeout_seconds=0.05) as (model, _):
        failed = await failure(model)
    assert (failed.kind, failed.is_retriable) == (ModelFailureKind.TIMEOUT, True)


async def test_the_callers_deadline_bounds_the_reply() -> None:
    async with model_of(ScriptedReply(text="late", delay_seconds=5.0)) as (model, _):
        assert (await failure(model, Deadline.after(0.05, SystemClock()))).kind is ModelFailureKind.TIMEOUT


async def test_nothing_is_sent_when_no_time_is_left() -> None:
    async with model_of(ScriptedReply(text="never")) as (model, server):
        assert (await failure(model, Deadline.after(0.0, SystemClock()))).kind is ModelFailureKind.TIMEOUT
        assert not server.requests


@pytest.mark.parametrize(
    ("status", "is_retriable"), [(400, False), (401, False), (429, True), (500, True), (503, True)]
)
async def test_a_status_is_told_and_its_text_is_not(status: int, is_retriable: bool) -> None:
    async with model_of(ScriptedReply(status=status, body=b'{"error": "your key k-1 is bad"}')) as (model, _):
        failed = await failure(model)
    assert (failed.kind, failed.status_code) == (ModelFailureKind.REFUSED, status)
    assert failed.is_retriable is is_retriable
    assert "k-1" not in failed.message


async def test_a_redirect_is_not_followed() -> None:
    async with model_of(ScriptedReply(status=307, location="/elsewhere")) as (model, server):
        failed = await failure(model)
        assert (failed.kind, failed.status_code) == (ModelFailureKind.REFUSED, 307)
        assert len(server.requests) == 1


async def test_an_answer_that_is_too_large_is_not_read_to_its_end() -> None:
    async with model_of(ScriptedReply(text="x" * 100_000)) as (model, _):
        assert (await failure(model)).kind is ModelFailureKind.TOO_LARGE


async def test_a_prompt_that_surely_does_not_fit_is_not_sent() -> None:
    long = ChatRequest(messages=(ChatMessage(Role.USER, "x" * 10_000),), max_tokens=10)
    async with ChatServer([ScriptedReply(text="never")]) as server:
        record = ModelServer(url=server.url, model="small", profile=ModelProfile(context_tokens=512))
        async with HttpChatModel(record) as model:
            with pytest.raises(ModelFailed) as failed:
                await model.complete(long, soon())
        assert failed.value.kind is ModelFailureKind.TOO_LARGE
        assert not server.requests


async def test_an_answer_of_another_form_is_malformed() -> None:
    async with model_of(ScriptedReply(body=b"<html>gateway</html>")) as (model, _):
        assert (await failure(model)).kind is ModelFailureKind.MALFORMED


async def test_a_reply_that_was_cut_off_is_no_reply() -> None:
    async with model_of(ScriptedReply(text='{"status": "va', finish_reason="length")) as (model, _):
        assert (await failure(model)).kind is ModelFailureKind.CUT_OFF


async def test_a_failed_call_leaves_the_model_usable() -> None:
    async with model_of(ScriptedReply(status=500), ScriptedReply(text="again")) as (model, _):
        await failure(model)
        assert (await model.complete(REQUEST, soon())).text == "again"
        assert repr(model) == "<HttpChatModel small in_flight=0>"


def test_the_key_is_in_no_representation() -> None:
    assert "k-1" not in repr(ModelServer(url="http://h/v1", model="small", api_key="k-1"))
