"""What holds for a chat model on a real connection, with a server that behaves as badly as it likes."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.models.http_chat_model import HttpChatModel, ModelServer
from taoloop.models.ports import ChatMessage, ChatReply, ChatRequest, ModelFailed, ModelFailureKind, Role
from taoloop.models.profiles import ModelProfile
from taoloop.testing.chat.bodies import event, events
from taoloop.testing.chat.server import ChatServer, ScriptedReply
from taoloop.testing.ports import free_ports

REQUEST = ChatRequest(messages=(ChatMessage(Role.USER, "hello"),), max_tokens=10)


@asynccontextmanager
async def model_of(
    *replies: ScriptedReply,
    timeout_seconds: float = 5.0,
    silence_seconds: float = 5.0,
    max_reply_bytes: int = 4096,
    max_in_flight: int = 64,
    profile: ModelProfile | None = None,
) -> AsyncIterator[tuple[HttpChatModel, ChatServer]]:
    async with ChatServer(replies) as server:
        record = ModelServer(
            url=server.url,
            model="small",
            api_key="k-1",
            timeout_seconds=timeout_seconds,
            silence_seconds=silence_seconds,
            max_reply_bytes=max_reply_bytes,
            max_in_flight=max_in_flight,
            profile=profile or ModelProfile(),
        )
        async with HttpChatModel(record) as model:
            yield model, server


def soon() -> Deadline:
    return Deadline.after(5.0, SystemClock())


async def failure(model: HttpChatModel, deadline: Deadline | None = None) -> ModelFailed:
    with pytest.raises(ModelFailed) as failed:
        await model.complete(REQUEST, deadline or soon())
    return failed.value


async def eventually(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(5.0):
        while not holds():  # noqa: ASYNC110 - the other side of a socket has no event to wait for
            await asyncio.sleep(0.01)


WHOLE = ModelProfile(streams=False)


@pytest.mark.parametrize("profile", [ModelProfile(), WHOLE], ids=["streamed", "whole"])
async def test_a_reply_is_returned_whole(profile: ModelProfile) -> None:
    async with model_of(ScriptedReply(text="你好 吗"), profile=profile) as (model, server):
        reply = await model.complete(REQUEST, soon())
        assert isinstance(reply, ChatReply)
        assert (reply.text, reply.finish_reason, reply.usage.output_tokens) == ("你好 吗", "stop", 7)
        assert (reply.first_token_seconds is not None) is profile.streams
        assert server.requests[0].body["stream"] is profile.streams
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


async def test_a_server_that_does_not_stream_is_read_all_the_same() -> None:
    async with model_of(ScriptedReply(text="whole", is_whole=True)) as (model, _):
        reply = await model.complete(REQUEST, soon())
    assert (reply.text, reply.first_token_seconds) == ("whole", None)


async def test_a_stream_that_breaks_off_gives_no_reply() -> None:
    async with model_of(ScriptedReply(text="one two three four", breaks_off=True)) as (model, _):
        failed = await failure(model)
    assert (failed.kind, failed.is_retriable) == (ModelFailureKind.UNREACHABLE, True)


async def test_a_stream_that_ends_without_its_last_event_is_whole_once_it_said_why_it_ends() -> None:
    without_end = ScriptedReply(pieces=events("one two")[:-1])
    async with model_of(without_end) as (model, _):
        assert (await model.complete(REQUEST, soon())).text == "one two"


async def test_a_stream_that_ends_early_and_politely_gives_no_reply() -> None:
    async with model_of(ScriptedReply(pieces=events("one two three")[:3])) as (model, _):
        assert (await failure(model)).kind is ModelFailureKind.UNREACHABLE


async def test_a_stream_that_hangs_once_it_has_begun_is_given_up_long_before_its_time() -> None:
    pieces = (*events("one two")[:2], b": the rest never comes\n\n")
    async with model_of(ScriptedReply(pieces=pieces, pause_seconds=1.0), silence_seconds=0.05) as (model, server):
        assert (await failure(model)).kind is ModelFailureKind.TIMEOUT
        await eventually(lambda: server.in_progress == 0)


@pytest.mark.parametrize(
    ("pieces", "kind"),
    [
        ((b"data: {\n\n",), ModelFailureKind.MALFORMED),
        ((b"data: \xff\xfe\x00garbage\n\n",), ModelFailureKind.MALFORMED),
        ((b"data: [1, 2]\n\n",), ModelFailureKind.MALFORMED),
        ((b"data: [DONE]\n\n",), ModelFailureKind.MALFORMED),
        ((events("one two")[1], b'data: {"choices": 3}\n\n'), ModelFailureKind.MALFORMED),
        ((b"<html>gateway</html>",), ModelFailureKind.UNREACHABLE),
        ((b"\x00" * 2000,), ModelFailureKind.UNREACHABLE),
        (events(""), ModelFailureKind.EMPTY),
        (events("half", "length"), ModelFailureKind.CUT_OFF),
        ((b"data: " + b"x" * 5000,), ModelFailureKind.TOO_LARGE),
        ((b": ping\n\n" * 1000,), ModelFailureKind.TOO_LARGE),
    ],
)
async def test_garbage_in_a_stream_is_no_reply(pieces: tuple[bytes, ...], kind: ModelFailureKind) -> None:
    async with model_of(ScriptedReply(pieces=pieces), ScriptedReply(text="again")) as (model, server):
        assert (await failure(model)).kind is kind
        assert (await model.complete(REQUEST, soon())).text == "again"
        await eventually(lambda: server.in_progress == 0)


async def test_garbage_without_end_is_left_at_its_first_word() -> None:
    endless = ScriptedReply(pieces=(b"data: {\n\n",) * 1000, pause_seconds=0.01)
    async with model_of(endless) as (model, server):
        assert (await failure(model)).kind is ModelFailureKind.MALFORMED
        await eventually(lambda: server.in_progress == 0)


async def test_a_server_that_closes_the_connection_without_a_word_is_unreachable() -> None:
    async with model_of(ScriptedReply(hangs_up=True), ScriptedReply(text="again")) as (model, server):
        failed = await failure(model)
        assert (failed.kind, failed.status_code) == (ModelFailureKind.UNREACHABLE, 0)
        assert len(server.requests) == 1
        assert (await model.complete(REQUEST, soon())).text == "again"


@pytest.mark.parametrize(
    "error",
    [{"message": "CUDA out of memory", "type": "OutOfMemoryError", "code": 500}, "EngineCore died, see the log"],
)
async def test_a_server_that_runs_out_of_memory_within_its_reply_is_told_as_the_servers_failure(
    error: str | dict[str, str | int],
) -> None:
    pieces = (*events("one two")[:2], event({"error": dict(error) if isinstance(error, dict) else error}))
    async with model_of(ScriptedReply(pieces=pieces)) as (model, _):
        failed = await failure(model)
    assert (failed.kind, failed.status_code, failed.is_retriable) == (ModelFailureKind.REFUSED, 500, True)
    assert "memory " not in failed.message
    assert "died" not in failed.message


async def test_a_refusal_says_when_to_come_back() -> None:
    async with model_of(ScriptedReply(status=503, body=b"{}", retry_after="7")) as (model, _):
        assert (await failure(model)).retry_after_seconds == 7.0
    async with model_of(ScriptedReply(status=429, body=b"{}", retry_after="tomorrow")) as (model, _):
        assert (await failure(model)).retry_after_seconds is None


SLOW = ScriptedReply(pieces=events("one two three four five"), pause_seconds=3.0)


async def test_the_server_sees_at_once_that_the_caller_went_away() -> None:
    async with model_of(SLOW) as (model, server):
        async with asyncio.TaskGroup() as group:
            task = group.create_task(model.complete(REQUEST, soon()), name="abandoned")
            await eventually(lambda: server.in_progress == 1)
            task.cancel()
        await eventually(lambda: server.in_progress == 0)
        assert repr(model) == "<HttpChatModel small in_flight=0>"


async def test_the_server_sees_at_once_that_the_time_is_over() -> None:
    async with model_of(SLOW) as (model, server):
        assert (await failure(model, Deadline.after(0.1, SystemClock()))).kind is ModelFailureKind.TIMEOUT
        await eventually(lambda: server.in_progress == 0)


async def test_calls_above_the_limit_wait_in_their_own_time() -> None:
    async with model_of(SLOW, max_in_flight=2) as (model, server), asyncio.TaskGroup() as group:
        holders = [group.create_task(model.complete(REQUEST, soon()), name=f"holder {n}") for n in range(2)]
        await eventually(lambda: server.in_progress == 2)
        assert (await failure(model, Deadline.after(0.1, SystemClock()))).kind is ModelFailureKind.TIMEOUT
        assert len(server.requests) == 2
        for holder in holders:
            holder.cancel()


async def test_many_calls_share_the_model() -> None:
    async with model_of(ScriptedReply(text="hi there")) as (model, server):
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(model.complete(REQUEST, soon()), name=f"call {n}") for n in range(100)]
        assert {task.result().text for task in tasks} == {"hi there"}
        assert len(server.requests) == 100


async def test_a_reply_tells_the_seed_that_was_sent() -> None:
    seeded = replace(REQUEST, seed=11)
    async with model_of(ScriptedReply(text="hi")) as (model, _):
        assert (await model.complete(seeded, soon())).seed == 11
    async with model_of(ScriptedReply(text="hi"), profile=ModelProfile(takes_seed=False)) as (model, server):
        assert (await model.complete(seeded, soon())).seed is None
        assert "seed" not in server.requests[0].body
