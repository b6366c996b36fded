"""One suite for every thought queue: what front and worker rely on."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

import pytest
from pydantic import SecretStr

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import DeadlineExceeded, QueueFull, TenantQueueFull
from taoloop.core.settings import RedisSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.task import Priority, Role, Turn
from taoloop.plan.thinking import Refusal, RefusalReason, ThinkRequest, ThinkResponse
from taoloop.testing.job_queue import InMemoryJobQueue, StoredJobs
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.thought.model import Lease, LeaseEnd, QueueLimits, ThinkFailure, ThinkJob, ThinkReply
from taoloop.thought.ports import JobQueue, JobSource
from taoloop.thought.queue.job_codec import JobCodec
from taoloop.thought.queue.queue_access import QueueAccess
from taoloop.thought.queue.queue_keys import QueueKeys
from taoloop.thought.queue.redis_job_queue import redis_job_queue
from taoloop.thought.queue.redis_job_source import SourceConfig, redis_job_source
from taoloop.thought.servicer import record_codec
from taoloop.wire.redis.redis_link import redis_link

LEASE_SECONDS = 0.2
LIMITS = QueueLimits(max_jobs=12, max_background_jobs=10, max_tenant_jobs=11)
TELEMETRY = Telemetry.build(TelemetrySettings(), "test")


@dataclass
class Sides:
    """A front and two workers on one queue."""

    queue: JobQueue
    source: JobSource
    other_source: JobSource


def soon(seconds: float = 5.0) -> Deadline:
    return Deadline.after(seconds, SystemClock())


def job(job_id: str = "t:r:1", tenant: str = "t", priority: Priority = Priority.INTERACTIVE) -> ThinkJob:
    turns = (Turn(role=Role.USER, text="where is it?"),)
    return ThinkJob(
        job_id=job_id,
        tenant=tenant,
        request=ThinkRequest(run_id="r", iteration=1, turns=turns, priority=priority),
        trace={"traceparent": "00-" + "1" * 32 + "-" + "2" * 16 + "-01"},
    )


def reply(thought_id: str = "a" * 32) -> ThinkReply:
    refusal = Refusal(reason=RefusalReason.NO_TOOL, message="nothing fits")
    return ThinkReply(ThinkResponse(outcome=refusal, thought_id=thought_id, run_id="r", iteration=1))


@pytest.fixture(params=["memory", "redis"])
async def sides(request: pytest.FixtureRequest, valkey: EmbeddedValkey) -> AsyncIterator[Sides]:
    if request.param == "memory":
        stored = StoredJobs(SystemClock(), LIMITS, LEASE_SECONDS)
        one, two = (InMemoryJobQueue(SystemClock(), stored=stored, consumer=name) for name in ("one", "two"))
        yield Sides(one, one, two)
        return
    keys = QueueKeys(f"test-{uuid.uuid4().hex[:8]}")
    async with AsyncExitStack() as stack:
        link = await stack.enter_async_context(redis_link(RedisSettings(url=SecretStr(valkey.url)), TELEMETRY))
        access = QueueAccess(link, JobCodec(record_codec()), keys, SystemClock(), TELEMETRY)
        front = await stack.enter_async_context(redis_job_queue(access, LIMITS))
        sources = [
            await stack.enter_async_context(
                redis_job_source(access, SourceConfig(consumer=name, lease_seconds=LEASE_SECONDS))
            )
            for name in ("one", "two")
        ]
        yield Sides(front, *sources)


async def take_one(source: JobSource) -> Lease:
    for _ in range(50):
        leases = await source.take(1, 0.1)
        if leases:
            return leases[0]
    raise AssertionError("no job came")


async def reach_length(source: JobSource, length: int) -> None:
    for _ in range(200):
        if (await source.state()).length == length:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"the queue does not come to hold {length} jobs")


async def answer_next(source: JobSource, make: Callable[[], ThinkReply] = reply) -> Lease:
    lease = await take_one(source)
    assert await source.answer(lease, make())
    return lease


async def test_the_caller_gets_the_workers_reply(sides: Sides) -> None:
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(sides.queue.ask(job(), soon()))
        lease = await answer_next(sides.source)

    assert asked.result() == reply()
    assert lease.job is not None
    assert lease.job.request == job().request
    assert lease.job.trace == job().trace
    assert 4.0 < lease.deadline.remaining_seconds() <= 5.0
    assert (await sides.source.state()).length == 0


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


async def fill(sides: Sides, group: asyncio.TaskGroup, jobs: list[ThinkJob]) -> None:
    for number, each in enumerate(jobs, start=1):
        group.create_task(sides.queue.ask(each, soon()))
        await reach_length(sides.source, number)


async def drain(sides: Sides, count: int) -> list[Lease]:
    return [await answer_next(sides.source) for _ in range(count)]


async def test_a_full_queue_refuses_and_says_when_to_come_back(sides: Sides) -> None:
    async with asyncio.TaskGroup() as group:
        await fill(sides, group, [job(f"t{number}:r:1", f"t{number}") for number in range(12)])

        with pytest.raises(QueueFull) as refused:
            await sides.queue.ask(job("t:r:99"), soon())
        await drain(sides, 12)

    assert refused.value.retry_after_seconds == 1.0
    assert refused.value.reason == "QUEUE_FULL"


async def test_leased_jobs_count_as_full(sides: Sides) -> None:
    async with asyncio.TaskGroup() as group:
        await fill(sides, group, [job(f"t{number}:r:1", f"t{number}") for number in range(12)])
        leases = [await take_one(sides.source) for _ in range(12)]

        with pytest.raises(QueueFull):
            await sides.queue.ask(job("t:r:99"), soon())
        for lease in leases:
            await sides.source.answer(lease, reply())


async def test_a_tenant_may_not_fill_the_queue_and_others_are_still_taken(sides: Sides) -> None:
    async with asyncio.TaskGroup() as group:
        await fill(sides, group, [job(f"t:r:{number}") for number in range(11)])

        with pytest.raises(TenantQueueFull):
            await sides.queue.ask(job("t:r:99"), soon())
        group.create_task(sides.queue.ask(job("other:r:1", "other"), soon()))
        await reach_length(sides.source, 12)
        await drain(sides, 12)


async def test_what_is_answered_frees_the_tenants_share(sides: Sides) -> None:
    for round_number in range(3):
        async with asyncio.TaskGroup() as group:
            await fill(sides, group, [job(f"t:r:{round_number}-{number}") for number in range(11)])
            await drain(sides, 11)


async def test_the_background_may_not_fill_the_queue(sides: Sides) -> None:
    background = [job(f"t{n}:r:1", f"t{n}", Priority.BACKGROUND) for n in range(10)]
    async with asyncio.TaskGroup() as group:
        await fill(sides, group, background)

        with pytest.raises(QueueFull):
            await sides.queue.ask(job("t:r:99", priority=Priority.BACKGROUND), soon())
        group.create_task(sides.queue.ask(job(), soon()))
        await reach_length(sides.source, 11)
        leases = await drain(sides, 11)

    assert Priority.INTERACTIVE in {lease.priority for lease in leases[:5]}


async def test_interactive_jobs_come_first_and_the_background_gets_a_fifth(sides: Sides) -> None:
    jobs = [job(f"b{n}:r:1", f"b{n}", Priority.BACKGROUND) for n in range(3)]
    jobs += [job(f"i{n}:r:1", f"i{n}") for n in range(8)]
    async with asyncio.TaskGroup() as group:
        await fill(sides, group, jobs)
        order = "".join(lease.priority.value[0] for lease in await drain(sides, 11))

    assert order == "iiiibiiiibb"


@pytest.mark.parametrize("priority", list(Priority))
async def test_a_job_of_either_priority_is_taken_while_nothing_else_waits(sides: Sides, priority: Priority) -> None:
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(sides.source.take(4, 5.0))
        await asyncio.sleep(0.05)
        group.create_task(sides.queue.ask(job(priority=priority), soon()))
        leases = await waiting
        await sides.source.answer(leases[0], reply())

    assert [lease.priority for lease in leases] == [priority]


async def test_a_worker_gets_no_more_than_it_has_room_for(sides: Sides) -> None:
    jobs = [job(f"b{n}:r:1", f"b{n}", Priority.BACKGROUND) for n in range(4)]
    jobs += [job(f"i{n}:r:1", f"i{n}") for n in range(4)]
    async with asyncio.TaskGroup() as group:
        await fill(sides, group, jobs)
        taken = [list(await sides.source.take(count, 0.1)) for count in (1, 3, 2)]
        for lease in (lease for leases in taken for lease in leases):
            await sides.source.answer(lease, reply())
        await drain(sides, 2)

    assert [len(leases) for leases in taken] == [1, 3, 2]


async def test_a_renewed_lease_does_not_lapse(sides: Sides) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(sides.queue.ask(job(), soon()))
        lease = await take_one(sides.source)
        for _ in range(6):
            await asyncio.sleep(LEASE_SECONDS / 3)
            assert await sides.source.renew([lease]) == {}
            assert list(await sides.other_source.take(1, 0.01)) == []
        await sides.source.answer(lease, reply())


async def test_a_worker_learns_that_its_lease_is_lost_and_its_answer_changes_nothing(sides: Sides) -> None:
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(sides.queue.ask(job(), soon()))
        lost = await take_one(sides.source)
        await asyncio.sleep(LEASE_SECONDS * 1.5)
        again = await take_one(sides.other_source)

        assert await sides.source.renew([lost]) == {lost.key: LeaseEnd.LOST}
        assert await sides.source.answer(lost, reply("c" * 32)) is False
        assert await sides.other_source.renew([again]) == {}
        assert await sides.other_source.answer(again, reply("b" * 32)) is True

    assert asked.result() == reply("b" * 32)


async def test_a_worker_learns_that_nobody_waits_any_more(sides: Sides) -> None:
    asked = asyncio.ensure_future(sides.queue.ask(job(), soon()))
    lease = await take_one(sides.source)
    assert await sides.source.renew([lease]) == {}

    asked.cancel()
    await asyncio.wait([asked])
    ended = await sides.source.renew([lease])
    for _ in range(100):
        ended = await sides.source.renew([lease])
        if ended:
            break
        await asyncio.sleep(0.01)

    assert ended == {lease.key: LeaseEnd.ABANDONED}
    await sides.source.answer(lease, None)
    assert (await sides.source.state()).length == 0


async def test_a_waiting_job_leaves_the_queue_with_its_caller(sides: Sides) -> None:
    asked = asyncio.ensure_future(sides.queue.ask(job(), soon()))
    await reach_length(sides.source, 1)

    asked.cancel()
    await asyncio.wait([asked])

    await reach_length(sides.source, 0)
    assert list(await sides.source.take(1, 0.05)) == []


async def test_a_job_of_two_callers_stays_for_the_second(sides: Sides) -> None:
    async with asyncio.TaskGroup() as group:
        first = asyncio.ensure_future(sides.queue.ask(job(), soon()))
        second = group.create_task(sides.queue.ask(job(), soon()))
        await reach_length(sides.source, 1)
        first.cancel()
        await asyncio.wait([first])
        await asyncio.sleep(0.05)
        await answer_next(sides.source)

    assert second.result() == reply()


async def test_what_a_worker_gives_back_is_taken_at_once_and_is_no_failed_attempt(sides: Sides) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(sides.queue.ask(job(), soon()))
        lease = await take_one(sides.source)
        await sides.source.leave([lease])
        again = await take_one(sides.other_source)
        await sides.other_source.answer(again, reply())

    assert (again.entry_id, again.deliveries) == (lease.entry_id, 1)


async def test_the_state_tells_waiting_leased_and_dead_jobs_apart(sides: Sides) -> None:
    async with asyncio.TaskGroup() as group:
        await fill(sides, group, [job("a:r:1", "a"), job("b:r:1", "b"), job("c:r:1", "c", Priority.BACKGROUND)])
        lease = await take_one(sides.source)
        await asyncio.sleep(0.02)
        state = await sides.source.state()
        await sides.source.set_aside(lease, "poison", ThinkFailure(reason="INTERNAL", message="Internal error."))
        await drain(sides, 2)

    interactive, background = (state.streams[priority] for priority in Priority)
    assert (interactive.waiting, interactive.leased, background.waiting) == (1, 1, 1)
    assert 0.01 < interactive.oldest_seconds < 5.0
    assert (await sides.source.state()).dead == 1


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
    assert (await sides.source.state()).length == 0
    assert (await sides.queue.ask(job(), soon())).outcome == failure


async def test_nothing_to_do_is_an_empty_answer_in_time(sides: Sides) -> None:
    assert list(await sides.source.take(4, 0.05)) == []
