"""What goes through the link to Redis can be cancelled, whenever the cancellation comes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.settings import RedisSettings
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.wire.redis.redis_link import RedisLink, redis_link

CLOCK = SystemClock()


@pytest.fixture
async def link(rig: Any, tmp_path: Path) -> AsyncIterator[RedisLink]:
    async with (
        EmbeddedValkey(tmp_path / "valkey") as valkey,
        redis_link(RedisSettings(url=valkey.url), rig.telemetry) as opened,
    ):
        yield opened


async def ping(link: RedisLink) -> bool:
    return await link.is_alive()


async def write(link: RedisLink) -> object:
    return await link.run(lambda client: client.set("a", "b"), Deadline.after(5.0, CLOCK))


@pytest.mark.parametrize("operation", [ping, write])
async def test_a_task_that_is_cancelled_during_an_operation_ends(
    link: RedisLink, operation: Callable[[RedisLink], Awaitable[object]]
) -> None:
    async def work_on() -> None:
        while True:
            await operation(link)

    for turns in range(60):  # the moment at which the library forgets is one turn of the event loop
        task = asyncio.ensure_future(work_on())
        for _ in range(turns):
            await asyncio.sleep(0)
        task.cancel()
        ended, _ = await asyncio.wait([task], timeout=0.2)
        if not ended:
            task.cancel()
        assert ended, f"it went on after {turns} turns"


async def test_a_time_limit_around_an_operation_is_kept_whenever_it_is_over(link: RedisLink) -> None:
    async def work_on() -> None:
        while True:
            await write(link)

    for number in range(30):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(number * 0.0003):
                await work_on()
