"""A prompt is counted by the model's own server, and by nobody else's patience."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from pydantic import SecretStr

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.models.http_prompt_counter import HttpPromptCounter
from taoloop.models.opening import open_prompt_counter
from taoloop.models.ports import ChatMessage, Role
from taoloop.models.profiles.model import ModelProfile
from taoloop.models.settings import ChatModelSettings
from taoloop.testing.clock import FakeClock

PROMPT = (ChatMessage(Role.SYSTEM, "plan"), ChatMessage(Role.USER, "订单在哪里"))
COUNTS = ModelProfile(counts_prompts=True, extra={"chat_template_kwargs": {"enable_thinking": False}, "other": 1})


@dataclass
class Server:
    """Answers `/tokenize` as it is told."""

    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    answer: Callable[[], Awaitable[web.Response]] | None = None

    async def tokenize(self, request: web.Request) -> web.Response:
        self.asked.append(await request.json())
        self.headers.append(dict(request.headers))
        if self.answer is not None:
            return await self.answer()
        return web.json_response({"count": 42, "max_model_len": 2048, "tokens": list(range(42))})


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    double = Server()
    app = web.Application()
    app.router.add_post("/tokenize", double.tokenize)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    double.url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    yield double
    await runner.cleanup()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def counter(server: Server, clock: FakeClock) -> AsyncIterator[HttpPromptCounter]:
    settings = ChatModelSettings(url=server.url, model="small", api_key=SecretStr("key"))
    async with open_prompt_counter(settings, COUNTS, clock) as opened:
        assert opened is not None
        yield opened


async def count(counter: HttpPromptCounter, seconds: float = 5.0) -> int | None:
    return await counter.count(PROMPT, Deadline.after(seconds, SystemClock()))


async def test_the_whole_conversation_is_counted_with_its_template(counter: HttpPromptCounter, server: Server) -> None:
    assert await count(counter) == 42
    messages = [{"role": "system", "content": "plan"}, {"role": "user", "content": "订单在哪里"}]
    template = {"enable_thinking": False}
    assert server.asked == [{"model": "small", "messages": messages, "chat_template_kwargs": template}]
    assert server.headers[0]["Authorization"] == "Bearer key"


ANSWERS: dict[str, Callable[[], web.Response]] = {
    "no such path": lambda: web.Response(status=404),
    "an error": lambda: web.Response(status=500, text=json.dumps({"count": 3})),
    "no JSON": lambda: web.Response(text="<html>"),
    "no count": lambda: web.json_response({"tokens": [1]}),
    "a count that is none": lambda: web.json_response({"count": True}),
    "a negative count": lambda: web.json_response({"count": -1}),
    "another form": lambda: web.json_response([42]),
}


@pytest.mark.parametrize("case", ANSWERS)
async def test_an_answer_without_a_count_is_none_and_the_server_rests(
    case: str, counter: HttpPromptCounter, server: Server, clock: FakeClock
) -> None:
    async def answer() -> web.Response:
        return ANSWERS[case]()

    server.answer = answer
    assert await count(counter) is None
    server.answer = None
    assert await count(counter) is None
    assert len(server.asked) == 1
    clock.advance(31)
    assert await count(counter) == 42


async def test_a_server_that_hangs_holds_no_thought_up(counter: HttpPromptCounter, server: Server) -> None:
    async def never() -> web.Response:
        await asyncio.sleep(60)
        raise AssertionError

    server.answer = never
    async with asyncio.timeout(5):
        assert await count(counter) is None


async def test_a_thought_without_time_blames_no_server(counter: HttpPromptCounter, server: Server) -> None:
    assert await count(counter, seconds=0.0) is None
    assert await count(counter) == 42


async def test_a_server_that_is_gone_is_no_error(clock: FakeClock) -> None:
    async with open_prompt_counter(ChatModelSettings(url="http://127.0.0.1:1/v1"), COUNTS, clock) as opened:
        assert opened is not None
        assert await count(opened) is None


async def test_a_profile_that_cannot_count_has_no_counter(clock: FakeClock) -> None:
    async with open_prompt_counter(ChatModelSettings(url="http://127.0.0.1:1/v1"), ModelProfile(), clock) as opened:
        assert opened is None
