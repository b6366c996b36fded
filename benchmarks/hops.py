"""The thought queue's hop over Valkey, and its peer: the same three commands with nothing around them."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import SecretStr
from redis.asyncio import Redis

from benchmarks.caller import Work
from benchmarks.echo import PAYLOAD
from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.ids import new_id
from taoloop.core.settings import RedisSettings
from taoloop.core.telemetry import Telemetry
from taoloop.loop.runlog.redis_run_log import RedisRunLog
from taoloop.loop.servicer import event_codec
from taoloop.plan.running import RunEvent
from taoloop.plan.thinking import ThinkRequest, ThinkResponse
from taoloop.thought.front import ThoughtFront
from taoloop.thought.queue.job_codec import JobCodec
from taoloop.thought.queue.queue_keys import QueueKeys
from taoloop.thought.queue.redis_job_queue import RedisJobQueue, redis_job_queue
from taoloop.thought.queue.redis_job_source import Patience, RedisJobSource
from taoloop.thought.servicer import record_codec
from taoloop.thought.worker import ThoughtWorker, WorkerConfig
from taoloop.wire.redis.redis_link import redis_link
from taoloop.wire.redis.redis_replies import stream_entries

PREFIX: Final = "bench"
HOP_SECONDS: Final = 30.0
_GROUP: Final = "peers"
_BLOCK_MS: Final = 500
_READ_COUNT: Final = 64


@dataclass(frozen=True, slots=True)
class _Remembering:
    """A mind that thinks nothing: what remains is the hop."""

    response: ThinkResponse

    def think(self, request: ThinkRequest) -> ThinkResponse:
        return replace(self.response, run_id=request.run_id)


@asynccontextmanager
async def thought_hop(
    url: str, request: ThinkRequest, response: ThinkResponse, telemetry: Telemetry, clock: Clock
) -> AsyncIterator[Work]:
    """Give one hop from the front over the queue to a worker and back, both sides in this process."""
    async with AsyncExitStack() as stack:
        settings = RedisSettings(url=SecretStr(url), key_prefix=PREFIX)
        front_link = await stack.enter_async_context(redis_link(settings, telemetry))
        worker_link = await stack.enter_async_context(redis_link(settings, telemetry))
        codec, keys = JobCodec(record_codec()), QueueKeys(PREFIX)
        queue = await stack.enter_async_context(
            redis_job_queue(RedisJobQueue(front_link, codec, keys, 10_000, clock, telemetry))
        )
        source = RedisJobSource(
            worker_link, codec, keys, consumer=new_id(clock), lease_seconds=30.0, patience=Patience(5.0, clock)
        )
        worker = ThoughtWorker(source, _Remembering(response), WorkerConfig(slots=4), clock, telemetry)
        group = await stack.enter_async_context(asyncio.TaskGroup())
        group.create_task(worker.run(), name="worker")
        front = ThoughtFront(queue)

        async def hop() -> bool:
            asked = replace(request, run_id=new_id(clock))
            call = CallContext(deadline=Deadline.after(HOP_SECONDS, clock))
            return (await front.think(asked, call)).run_id == asked.run_id

        try:
            yield hop
        finally:
            worker.stop()


@asynccontextmanager
async def bare_hop(url: str) -> AsyncIterator[Work]:
    """Give one XADD → XREADGROUP → XADD and XACK → XREAD of a kilobyte, both sides in this process."""
    jobs, replies = f"{PREFIX}:peer:jobs", f"{PREFIX}:peer:replies"
    waiting: dict[bytes, asyncio.Future[None]] = {}
    async with AsyncExitStack() as stack:
        asking, answering = [await stack.enter_async_context(Redis.from_url(url, protocol=3)) for _ in range(2)]
        await asking.xgroup_create(jobs, _GROUP, id="0", mkstream=True)
        group = await stack.enter_async_context(asyncio.TaskGroup())
        beside = [
            group.create_task(_answer(answering, jobs, replies), name="peer worker"),
            group.create_task(_deliver(asking, replies, waiting), name="peer replies"),
        ]

        async def hop() -> bool:
            job = uuid.uuid4().hex.encode()
            future = waiting[job] = asyncio.get_running_loop().create_future()
            async with asyncio.timeout(HOP_SECONDS):
                await asking.xadd(jobs, {"job": job, "request": PAYLOAD})
                await future
            return True

        try:
            yield hop
        finally:
            for task in beside:
                task.cancel()
            with suppress(asyncio.CancelledError):
                await asyncio.wait(beside)


@asynccontextmanager
async def log_appends(url: str, events: list[RunEvent], telemetry: Telemetry, clock: Clock) -> AsyncIterator[Work]:
    """Give the appending of all events of one run to the run log."""
    async with redis_link(RedisSettings(url=SecretStr(url), key_prefix=PREFIX), telemetry) as link:
        log = RedisRunLog(link, event_codec(), PREFIX, 600.0)

        async def append() -> bool:
            run_id = new_id(clock)
            for event in events:
                await log.append("default", replace(event, run_id=run_id), Deadline.after(HOP_SECONDS, clock))
            return True

        yield append


async def _answer(client: Redis, jobs: str, replies: str) -> None:
    while True:
        read: Any = await client.xreadgroup(_GROUP, "peer", {jobs: ">"}, count=_READ_COUNT, block=_BLOCK_MS)
        entries = list(stream_entries(read))
        if not entries:
            continue
        async with client.pipeline(transaction=False) as pipe:
            for entry_id, fields in entries:
                pipe.xadd(replies, {"job": fields[b"job"], "reply": fields[b"request"]}, maxlen=10_000)
                pipe.xack(jobs, _GROUP, entry_id)
                pipe.xdel(jobs, entry_id)
            await pipe.execute()


async def _deliver(client: Redis, replies: str, waiting: dict[bytes, asyncio.Future[None]]) -> None:
    last: Any = "0-0"
    while True:
        read: Any = await client.xread({replies: last}, count=_READ_COUNT, block=_BLOCK_MS)
        for entry_id, fields in stream_entries(read):
            last = entry_id
            waiting.pop(fields[b"job"]).set_result(None)
