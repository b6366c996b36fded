"""Scripts that are sent together are answered each for itself, through errors, restarts and a server that hangs."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from redis.exceptions import ResponseError

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable
from taoloop.core.settings import RedisSettings
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.wire.redis.redis_link import RedisLink, redis_link
from taoloop.wire.redis.script_batch import MAX_CALLS, Script, ScriptBatch, script_batch

ECHO = Script("return ARGV[1]")
FAILING = Script("return redis.error_reply('WRONG on purpose')")
COUNTING = Script("return redis.call('INCR', KEYS[1])")


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[EmbeddedValkey]:
    async with EmbeddedValkey(tmp_path / "valkey") as valkey:
        yield valkey


@pytest.fixture
async def link(rig: Any, server: EmbeddedValkey) -> AsyncIterator[RedisLink]:
    settings = RedisSettings(url=SecretStr(server.url), command_timeout_seconds=1.0, outage_tolerance_seconds=5.0)
    async with redis_link(settings, rig.telemetry) as opened:
        yield opened


@pytest.fixture
async def batch(link: RedisLink) -> AsyncIterator[ScriptBatch]:
    async with script_batch(link) as opened:
        yield opened


def soon(seconds: float = 10.0) -> Deadline:
    return Deadline.after(seconds, SystemClock())


async def echo(batch: ScriptBatch, text: str, seconds: float = 10.0) -> bytes:
    reply: bytes = await batch.run(ECHO, ("k",), (text,), soon(seconds))
    return reply


async def test_each_caller_gets_its_own_reply_however_many_ask_at_once(batch: ScriptBatch) -> None:
    texts = [f"text {number}" for number in range(3 * MAX_CALLS)]

    replies = await asyncio.gather(*(echo(batch, text) for text in texts))

    assert replies == [text.encode() for text in texts]


async def test_what_is_asked_for_in_one_turn_is_one_pipeline(batch: ScriptBatch, link: RedisLink) -> None:
    await echo(batch, "warm")
    before = (await link.client.info("stats"))["total_reads_processed"]
    await asyncio.gather(*(echo(batch, str(number)) for number in range(MAX_CALLS)))
    after = (await link.client.info("stats"))["total_reads_processed"]

    assert after - before <= 4


async def test_an_error_of_one_script_is_its_own_callers(batch: ScriptBatch) -> None:
    calls = (echo(batch, "a"), batch.run(FAILING, ("k",), (), soon()), echo(batch, "b"))

    replies = await asyncio.gather(*calls, return_exceptions=True)

    assert (replies[0], replies[2]) == (b"a", b"b")
    assert isinstance(replies[1], ResponseError)


async def test_a_server_that_was_restarted_learns_the_scripts_again(batch: ScriptBatch, server: EmbeddedValkey) -> None:
    await echo(batch, "before")
    server.kill()
    asked = [asyncio.ensure_future(echo(batch, str(number))) for number in range(5)]
    await asyncio.sleep(0.2)
    await server.start()

    assert await asyncio.gather(*asked) == [b"0", b"1", b"2", b"3", b"4"]


async def test_a_server_that_stays_away_is_unavailable_when_patience_ends(
    batch: ScriptBatch, server: EmbeddedValkey
) -> None:
    server.kill()
    began = time.monotonic()
    with pytest.raises(BackendUnavailable) as refused:
        await echo(batch, "x", seconds=0.5)

    assert 0.4 < time.monotonic() - began < 2.0
    assert refused.value.metadata["backend"] == "redis"


async def test_a_server_that_hangs_holds_nobody_longer_than_it_may_wait(
    batch: ScriptBatch, server: EmbeddedValkey
) -> None:
    await echo(batch, "before")
    assert server.pid is not None
    os.kill(server.pid, signal.SIGSTOP)
    try:
        patient = asyncio.ensure_future(echo(batch, "patient"))
        began = time.monotonic()
        with pytest.raises(BackendUnavailable):
            await echo(batch, "hasty", seconds=0.3)
        assert time.monotonic() - began < 1.5
    finally:
        os.kill(server.pid, signal.SIGCONT)

    assert await patient == b"patient"


async def test_a_caller_that_is_cancelled_before_its_turn_asks_for_nothing(batch: ScriptBatch, link: RedisLink) -> None:
    asked = asyncio.ensure_future(batch.run(COUNTING, ("counted",), (), soon()))
    await asyncio.sleep(0)
    asked.cancel()
    await asyncio.wait([asked])
    await echo(batch, "after")

    assert await link.client.get("counted") is None


async def test_a_call_that_waits_when_the_batch_is_closed_ends(link: RedisLink, server: EmbeddedValkey) -> None:
    async with AsyncExitStack() as stack:
        batch = await stack.enter_async_context(script_batch(link))
        server.kill()
        asked = asyncio.ensure_future(echo(batch, "x", seconds=0.5))
        await asyncio.sleep(0.1)
        await stack.aclose()

        with pytest.raises(BackendUnavailable):
            await asked
