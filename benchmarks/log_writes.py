"""What a run's log costs to write, and its peer: the same bytes by pipelined XADDs with nothing around them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import groupby
from typing import Any, Final

from pydantic import SecretStr
from redis.asyncio import Redis

from benchmarks.caller import Work
from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.ids import new_id
from taoloop.core.settings import RedisSettings
from taoloop.core.telemetry import Telemetry
from taoloop.loop.runlog.event_form import EventForm
from taoloop.loop.runlog.redis_run_log import redis_run_log
from taoloop.loop.runlog.retention import Retention
from taoloop.loop.servicer import run_codec
from taoloop.plan.running import RunEvent
from taoloop.wire.redis.redis_link import redis_link

PREFIX: Final = "bench"
APPEND_SECONDS: Final = 30.0


def appends_of(events: Sequence[RunEvent]) -> list[list[RunEvent]]:
    """Return a run's events as they were written: those of one append have one time."""
    return [list(together) for _, together in groupby(events, key=lambda event: event.time)]


@asynccontextmanager
async def log_appends(
    url: str, appends: Sequence[Sequence[RunEvent]], telemetry: Telemetry, clock: Clock
) -> AsyncIterator[Work]:
    """Give the writing of one run to the run log, events to bytes included."""
    async with redis_link(RedisSettings(url=SecretStr(url), key_prefix=PREFIX), telemetry) as link:
        form = EventForm(run_codec(), inline_bytes=32 * 1024, max_bytes=4 * 1024 * 1024)
        retention = Retention(ended_seconds=600.0, open_seconds=600.0)
        async with redis_run_log(link, form, PREFIX, retention, clock) as log:

            async def append() -> bool:
                run_id = new_id(clock)
                for together in appends:
                    events = [replace(event, run_id=run_id) for event in together]
                    await log.append("default", events, Deadline.after(APPEND_SECONDS, clock))
                return True

            yield append


@asynccontextmanager
async def bare_appends(url: str, appends: Sequence[Sequence[RunEvent]], clock: Clock) -> AsyncIterator[Work]:
    """Give the writing of the same bytes, made before, by one pipeline of XADDs for each append."""
    encode = run_codec().encode
    written = [[(f"{event.sequence}-0", encode(event)) for event in together] for together in appends]
    async with Redis.from_url(url, protocol=3) as client:

        async def append() -> bool:
            stream = f"{PREFIX}:peer:{new_id(clock)}"
            for together in written:
                async with client.pipeline(transaction=False) as pipe:
                    for entry_id, data in together:
                        pipe.xadd(stream, {"event": data}, id=entry_id)
                    replies: list[Any] = await pipe.execute()
                    assert len(replies) == len(together)
            return True

        yield append
