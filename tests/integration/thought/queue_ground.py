"""Fronts and workers on a real queue, with a bare client beside them that does what operators and accidents do."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from pydantic import SecretStr
from redis.asyncio import Redis

from taoloop.core.clock import Clock, SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.settings import RedisSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.task import Priority, Role, Turn
from taoloop.plan.thinking import Refusal, RefusalReason, ThinkRequest, ThinkResponse
from taoloop.thought.model import Lease, QueueLimits, ThinkJob, ThinkReply
from taoloop.thought.queue.job_codec import JobCodec
from taoloop.thought.queue.queue_access import QueueAccess
from taoloop.thought.queue.queue_keys import QueueKeys
from taoloop.thought.queue.redis_job_queue import RedisJobQueue, redis_job_queue
from taoloop.thought.queue.redis_job_source import RedisJobSource, SourceConfig, redis_job_source
from taoloop.thought.servicer import record_codec
from taoloop.wire.redis.redis_link import redis_link

LIMITS = QueueLimits(max_jobs=1000, max_background_jobs=1000, max_tenant_jobs=1000)


def job(job_id: str = "t:r:1", text: str = "where is it?", priority: Priority = Priority.INTERACTIVE) -> ThinkJob:
    """Return a job of the tenant `t`."""
    request = ThinkRequest(run_id="r", iteration=1, turns=(Turn(role=Role.USER, text=text),), priority=priority)
    return ThinkJob(job_id=job_id, tenant="t", request=request)


def reply(thought_id: str = "a" * 32) -> ThinkReply:
    """Return what a worker answers."""
    refusal = Refusal(reason=RefusalReason.NO_TOOL, message="nothing fits")
    return ThinkReply(ThinkResponse(outcome=refusal, thought_id=thought_id, run_id="r", iteration=1))


@dataclass
class QueueGround:
    """One queue under a prefix of its own.

    Attributes:
        bare: A client without any of our handling.
    """

    url: str
    stack: AsyncExitStack
    bare: Any
    keys: QueueKeys = field(default_factory=lambda: QueueKeys(f"test-{uuid.uuid4().hex[:8]}"))
    telemetry: Telemetry = field(default_factory=lambda: Telemetry.build(TelemetrySettings(), "test"))

    async def access(self, clock: Clock | None = None, **settings: Any) -> QueueAccess:
        """Return a way to the queue on a connection of its own."""
        redis = RedisSettings(url=SecretStr(self.url), **settings)
        link = await self.stack.enter_async_context(redis_link(redis, self.telemetry))
        return QueueAccess(link, JobCodec(record_codec()), self.keys, clock or SystemClock(), self.telemetry)

    async def front(self, limits: QueueLimits = LIMITS, **settings: Any) -> RedisJobQueue:
        """Open a front."""
        return await self.stack.enter_async_context(redis_job_queue(await self.access(**settings), limits))

    async def worker(
        self, consumer: str = "one", lease_seconds: float = 10.0, max_dead_letters: int = 1000, **settings: Any
    ) -> RedisJobSource:
        """Open a worker's side."""
        config = SourceConfig(consumer=consumer, lease_seconds=lease_seconds, max_dead_letters=max_dead_letters)
        return await self.stack.enter_async_context(redis_job_source(await self.access(**settings), config))


@asynccontextmanager
async def queue_ground(url: str) -> AsyncIterator[QueueGround]:
    """Give a queue on a server."""
    async with AsyncExitStack() as stack:
        bare = await stack.enter_async_context(Redis.from_url(url, protocol=3))
        yield QueueGround(url, stack, bare)


@asynccontextmanager
async def topology_ground(url: str) -> AsyncIterator[QueueGround]:
    """Give a queue on a set of servers, which no bare client reaches."""
    async with AsyncExitStack() as stack:
        yield QueueGround(url, stack, None)


def soon(seconds: float = 10.0) -> Deadline:
    """Return a deadline of the machine's clock."""
    return Deadline.after(seconds, SystemClock())


async def take_one(source: RedisJobSource, seconds: float = 10.0) -> Lease:
    """Return the next lease."""
    deadline = soon(seconds)
    while not deadline.is_expired:
        leases: Sequence[Lease] = await source.take(1, 0.1)
        if leases:
            return leases[0]
    raise AssertionError("no job came")


async def eventually(condition: Callable[[], Any], seconds: float = 10.0) -> None:
    """Wait until a condition, awaitable or not, holds."""
    deadline = soon(seconds)
    while not deadline.is_expired:
        held = condition()
        if await held if asyncio.iscoroutine(held) else held:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come about")
