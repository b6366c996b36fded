"""The thought queue's hop over Valkey, and its peer: the same three commands with nothing around them."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any, Final

from pydantic import SecretStr
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from benchmarks.caller import Work
from benchmarks.echo import PAYLOAD
from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.ids import new_id
from taoloop.core.settings import RedisSettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.thinking import ThinkRequest, ThinkResponse
from taoloop.thought.front import ThoughtFront
from taoloop.thought.model import QueueLimits
from taoloop.thought.queue.job_codec import JobCodec
from taoloop.thought.queue.queue_access import QueueAccess
from taoloop.thought.queue.queue_keys import QueueKeys
from taoloop.thought.queue.redis_job_queue import redis_job_queue
from taoloop.thought.queue.redis_job_source import SourceConfig, redis_job_source
from taoloop.thought.servicer import record_codec
from taoloop.thought.worker import Mind, ThoughtWorker, WorkerConfig
from taoloop.wire.redis.redis_link import redis_link
from taoloop.wire.redis.redis_replies import stream_entries

PREFIX: Final = "bench"
HOP_SECONDS: Final = 30.0
_GROUP: Final = "peers"
_PEER_JOBS: Final = f"{PREFIX}:peer:jobs"
_PEER_REPLIES: Final = f"{PREFIX}:peer:replies"
_BLOCK_MS: Final = 500
_READ_COUNT: Final = 64


@dataclass(frozen=True, slots=True)
class Remembering:
    """A mind that thinks nothing: what remains is the hop."""

    response: ThinkResponse

    async def think(self, _request: ThinkRequest, _deadline: Deadline, _tenant: str) -> ThinkResponse:
        """See `Mind.think`."""
        return self.response


@asynccontextmanager
async def thought_hop(
    url: str, request: ThinkRequest, response: ThinkResponse, telemetry: Telemetry, clock: Clock, *, slots: int = 4
) -> AsyncIterator[Work]:
    """Give one hop from the front over the queue to a worker and back, both sides in this process."""
    mind = Remembering(response)
    async with (
        thought_front(url, request, response, telemetry, clock) as hop,
        thought_worker(url, mind, telemetry, clock, slots=slots),
    ):
        yield hop


@asynccontextmanager
async def thought_front(
    url: str, request: ThinkRequest, response: ThinkResponse, telemetry: Telemetry, clock: Clock
) -> AsyncIterator[Work]:
    """Give the front's side of a hop, which some worker answers with the response."""
    async with opened_front(url, telemetry, clock) as front:

        async def hop() -> bool:
            asked = replace(request, run_id=new_id(clock))
            call = CallContext(deadline=Deadline.after(HOP_SECONDS, clock))
            return (await front.think(asked, call)).thought_id == response.thought_id

        yield hop


@asynccontextmanager
async def opened_front(url: str, telemetry: Telemetry, clock: Clock) -> AsyncIterator[ThoughtFront]:
    """Give a front on the queue, without a server before it."""
    async with redis_link(RedisSettings(url=SecretStr(url), key_prefix=PREFIX), telemetry) as link:
        access = QueueAccess(link, JobCodec(record_codec()), QueueKeys(PREFIX), clock, telemetry)
        limits = QueueLimits(max_jobs=10_000, max_background_jobs=10_000, max_tenant_jobs=10_000)
        async with redis_job_queue(access, limits) as queue:
            yield ThoughtFront(queue)


@asynccontextmanager
async def thought_worker(
    url: str, mind: Mind, telemetry: Telemetry, clock: Clock, *, slots: int
) -> AsyncIterator[None]:
    """Run a worker on the queue while the block runs."""
    async with redis_link(RedisSettings(url=SecretStr(url), key_prefix=PREFIX), telemetry) as link:
        access = QueueAccess(link, JobCodec(record_codec()), QueueKeys(PREFIX), clock, telemetry)
        async with redis_job_source(access, SourceConfig(consumer=new_id(clock))) as source:
            worker = ThoughtWorker(source, mind, WorkerConfig(slots=slots), clock, telemetry)
            async with asyncio.TaskGroup() as group:
                group.create_task(worker.run(), name="worker")
                try:
                    yield
                finally:
                    worker.stop()


@asynccontextmanager
async def bare_hop(url: str) -> AsyncIterator[Work]:
    """Give one XADD → XREADGROUP → XADD and XACK → XREAD of a kilobyte, both sides in this process."""
    async with bare_front(url) as hop, bare_worker(url):
        yield hop


@asynccontextmanager
async def bare_front(url: str) -> AsyncIterator[Work]:
    """Give the asking side of a bare round trip."""
    waiting: dict[bytes, asyncio.Future[None]] = {}
    async with Redis.from_url(url, protocol=3) as client:

        async def hop() -> bool:
            job = uuid.uuid4().hex.encode()
            future = waiting[job] = asyncio.get_running_loop().create_future()
            async with asyncio.timeout(HOP_SECONDS):
                await client.xadd(_PEER_JOBS, {"job": job, "request": PAYLOAD})
                await future
            return True

        async with _beside(_deliver(client, waiting), "peer replies"):
            yield hop


@asynccontextmanager
async def bare_worker(url: str) -> AsyncIterator[None]:
    """Answer bare round trips while the block runs."""
    async with Redis.from_url(url, protocol=3) as client:
        with suppress(ResponseError):  # it is there
            await client.xgroup_create(_PEER_JOBS, _GROUP, id="0", mkstream=True)
        async with _beside(_answer(client), "peer worker"):
            yield


@asynccontextmanager
async def _beside(work: Coroutine[Any, Any, None], name: str) -> AsyncIterator[None]:
    """Do something that never ends while the block runs."""
    async with asyncio.TaskGroup() as group:
        task = group.create_task(work, name=name)
        try:
            yield
        finally:
            while not task.done():  # the library may forget a cancellation, see `redis_link`
                task.cancel()
                await asyncio.wait((task,), timeout=0.1)


async def _answer(client: Redis) -> None:
    while True:
        read: Any = await client.xreadgroup(_GROUP, "peer", {_PEER_JOBS: ">"}, count=_READ_COUNT, block=_BLOCK_MS)
        entries = list(stream_entries(read))
        if not entries:
            continue
        async with client.pipeline(transaction=False) as pipe:
            for entry_id, fields in entries:
                pipe.xadd(_PEER_REPLIES, {"job": fields[b"job"], "reply": fields[b"request"]}, maxlen=10_000)
                pipe.xack(_PEER_JOBS, _GROUP, entry_id)
                pipe.xdel(_PEER_JOBS, entry_id)
            await pipe.execute()


async def _deliver(client: Redis, waiting: dict[bytes, asyncio.Future[None]]) -> None:
    last: Any = "0-0"
    while True:
        read: Any = await client.xread({_PEER_REPLIES: last}, count=_READ_COUNT, block=_BLOCK_MS)
        for entry_id, fields in stream_entries(read):
            last = entry_id
            waiting.pop(fields[b"job"]).set_result(None)
