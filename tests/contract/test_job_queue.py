"""One suite for every thought queue: what front and worker rely on."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import SecretStr

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import DeadlineExceeded, QueueFull
from taoloop.core.settings import RedisSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.task import Role, Turn
from taoloop.plan.thinking import Refusal, RefusalReason, ThinkRequest, ThinkResponse
from taoloop.testing.job_queue import InMemoryJobQueue
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.thought.model import Lease, ThinkFailure, ThinkJob, ThinkReply
from taoloop.thought.ports import JobQueue, JobSource
from taoloop.thought.queue.job_codec import JobCodec
from taoloop.thought.queue.queue_keys import QueueKeys
from taoloop.thought.queue.redis_job_queue import RedisJobQueue, redis_job_queue
from taoloop.thought.queue.redis_job_source import Patience, RedisJobSource
from taoloop.thought.servicer import record_codec
from taoloop.wire.redis.redis_link import RedisLink, redis_link

LEASE_SECONDS = 0.2
TELEMETRY = Telemetry.build(TelemetrySettings(), "test")


@dataclass
class Sides:
    """A front and two workers on one queue."""

    queue: JobQueue
    source: JobSource
    other_source: JobSource


def soon(seconds: float = 5.0) -> Deadline:
    return Deadline.after(seconds, SystemClock())


def job(job_id: str = "t:r:1", seconds: float = 5.0) -> ThinkJob:
    request = ThinkRequest(run_id="r", iteration=1, turns=(Turn(role=Role.USER, text="where is it?"),))
    return ThinkJob(
        job_id=job_id,
        tenant="t",
        request=request,
        expires_at=datetime.now(UTC) + timedelta(seconds=seconds),
        trace={"traceparent": "00-" + "1" * 32 + "-" + "2" * 16 + "-01"},
    )


def reply(thought_id: str = "a" * 32) -> ThinkReply:
    refusal = Refusal(reason=RefusalReason.NO_TOOL, message="nothing fits")
    return ThinkReply(ThinkResponse(outcome=refusal, thought_id=thought_id, run_id="r", iteration=1))


def _source(link: RedisLink, keys: QueueKeys, consumer: str) -> RedisJobSource:
    patience = Patience(5.0, SystemClock())
    codec = JobCodec(record_codec())
    return RedisJobSource(link, codec, keys, consumer=consumer, lease_seconds=LEASE_SECONDS, patience=patience)


@pytest.fixture(params=["memory", "redis"])
async def sides(request: pytest.FixtureRequest, valkey: EmbeddedValkey) -> AsyncIterator[Sides]:
    if request.param == "memory":
        queue = InMemoryJobQueue(SystemClock(), max_jobs=3, lease_seconds=LEASE_SECONDS)
        yield Sides(queue, queue, queue)
        return
    keys = QueueKeys(f"test-{uuid.uuid4().hex[:8]}")
    async with AsyncExitStack() as stack:
        link = await stack.enter_async_context(redis_link(RedisSettings(url=SecretStr(valkey.url)), TELEMETRY))
        front = RedisJobQueue(link, JobCodec(record_codec()), keys, 3, SystemClock(), TELEMETRY)
        await stack.enter_async_context(redis_job_queue(front))
        yield Sides(front, _source(link, keys, "one"), _source(link, keys, "two"))


async def take_one(source: JobSource) -> Lease:
    for _ in range(50):
        leases = await source.take(1, 0.1)
        if leases:
            return leases[0]
    raise AssertionError("no job came")


async def reach_length(source: JobSource, length: int) -> None:
    for _ in range(200):
        if await source.length() == length:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"the queue does not come to hold {length} jobs")


async def answer_next(source: JobSource, make: Callable[[], ThinkReply] = reply) -> Lease:
    lease = await take_one(source)
    await source.answer(lease, make())
    return lease


async def test_the_caller_gets_the_workers_reply(sides: Sides) -> None:
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(sides.queue.ask(job(), soon()))
        lease = await answer_next(sides.source)

    assert asked.result() == reply()
    assert lease.job is not None
    assert lease.job.request == job().request
    assert lease.job.trace == job().trace
    assert await sides.source.length() == 0


async def test_a_failure_travels_as_it_is(sides: Sides) -> None:
    failure = ThinkFailure(
        reason="CATALOGUE_MISMATCH", message="另一个目录", metadata={"wanted": "a"}, retry_after_seconds=1.5
    )
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(sides.queue.ask(job(), soon()))
        await answer_next(sides.source, lambda: ThinkReply(failure))

    assert asked.result().outcome == failure


async def test_a_job_that_was_answered_is_not_done_again(sides: Sides) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(sides.queue.ask(job(), soon()))
        await answer_next(sides.source)

    assert await sides.queue.ask(job(), soon()) == reply()
    assert list(await sides.source.take(1, 0.05)) == []


async def test_two_callers_of_one_job_share_its_reply(sides: Sides) -> None:
    async with asyncio.TaskGroup() as group:
        first = group.create_task(sides.queue.ask(job(), soon()))
        second = group.create_task(sides.queue.ask(job(), soon()))
        await answer_next(sides.source)

    assert first.result() == second.result() == reply()


async def test_a_lapsed_lease_goes_to_another_worker_with_its_count(sides: Sides) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(sides.queue.ask(job(), soon()))
        lost = await take_one(sides.source)
        await asyncio.sleep(LEASE_SECONDS * 1.5)
        again = await take_one(sides.other_source)
        await sides.other_source.answer(again, reply())

    assert (lost.deliveries, again.deliveries) == (1, 2)
    assert again.entry_id == lost.entry_id


async def test_the_first_answer_stands(sides: Sides) -> None:
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(sides.queue.ask(job(), soon()))
        lost = await take_one(sides.source)
        await asyncio.sleep(LEASE_SECONDS * 1.5)
        again = await take_one(sides.other_source)
        await sides.other_source.answer(again, reply("b" * 32))
        await sides.source.answer(lost, reply("c" * 32))

    assert asked.result() == reply("b" * 32)
    assert await sides.queue.ask(job(), soon()) == reply("b" * 32)


async def test_a_full_queue_refuses_and_says_when_to_come_back(sides: Sides) -> None:
    async with asyncio.TaskGroup() as group:
        waiting = [group.create_task(sides.queue.ask(job(f"t:r:{number}"), soon())) for number in range(3)]
        await reach_length(sides.source, 3)

        with pytest.raises(QueueFull) as refused:
            await sides.queue.ask(job("t:r:9"), soon())
        for _ in waiting:
            await answer_next(sides.source)

    assert refused.value.retry_after_seconds == 1.0


async def test_leased_jobs_count_as_full(sides: Sides) -> None:
    async with asyncio.TaskGroup() as group:
        waiting = [group.create_task(sides.queue.ask(job(f"t:r:{number}"), soon())) for number in range(3)]
        leases = [await take_one(sides.source) for _ in waiting]

        with pytest.raises(QueueFull):
            await sides.queue.ask(job("t:r:9"), soon())
        for lease in leases:
            await sides.source.answer(lease, reply())


async def test_a_caller_does_not_wait_past_its_deadline(sides: Sides) -> None:
    with pytest.raises(DeadlineExceeded):
        await sides.queue.ask(job(), soon(0.2))


async def test_an_entry_set_aside_leaves_the_queue_and_its_caller_is_told(sides: Sides) -> None:
    failure = ThinkFailure(reason="INTERNAL", message="Internal error; incident 1-0.")
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(sides.queue.ask(job(), soon()))
        lease = await take_one(sides.source)
        await sides.source.set_aside(lease, "poison", failure)

    assert asked.result().outcome == failure
    assert await sides.source.length() == 0
    assert (await sides.queue.ask(job(), soon())).outcome == failure


async def test_nothing_to_do_is_an_empty_answer_in_time(sides: Sides) -> None:
    assert list(await sides.source.take(4, 0.05)) == []
