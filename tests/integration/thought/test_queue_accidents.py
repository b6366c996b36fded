"""What operators, other versions and a server in trouble do to the queue: no accepted job is lost by it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Never

import pytest

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendOutOfMemory, BackendUnavailable, DeadlineExceeded, TenantQueueFull
from taoloop.plan.task import Priority
from taoloop.plan.thinking import Refusal, RefusalReason, ThinkRequest, ThinkResponse
from taoloop.testing.ports import LOOPBACK, free_ports
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.thought.model import QueueLimits, ThinkFailure
from taoloop.thought.queue.queue_keys import GROUP
from taoloop.thought.queue.redis_job_source import MAX_LETTER_VALUE_BYTES, SourceConfig, redis_job_source
from taoloop.thought.worker import ThoughtWorker, WorkerConfig
from tests.integration.thought.queue_ground import QueueGround, eventually, job, queue_ground, reply, soon, take_one
from tests.redis_servers import RedisProcess, running

JOBS = Priority.INTERACTIVE


@pytest.fixture
async def ground(valkey: EmbeddedValkey) -> AsyncIterator[QueueGround]:
    async with queue_ground(valkey.url) as opened:
        yield opened


@pytest.fixture
async def own_valkey(tmp_path: Path) -> AsyncIterator[EmbeddedValkey]:
    """A server that a test may take away or fill."""
    async with EmbeddedValkey(tmp_path / "valkey") as server:
        yield server


async def test_a_lost_group_is_made_again_and_skips_nothing(ground: QueueGround) -> None:
    front, worker = await ground.front(), await ground.worker()
    async with asyncio.TaskGroup() as group:
        await worker.take(1, 0.01)
        asked = [group.create_task(front.ask(job(f"t:r:{n}"), soon())) for n in range(3)]
        await eventually(lambda: _length(ground, 3))
        await ground.bare.xgroup_destroy(ground.keys.jobs(JOBS), GROUP)
        for _ in asked:
            await worker.answer(await take_one(worker), reply())

    assert all(task.result() == reply() for task in asked)


async def test_a_job_in_hand_is_answered_though_the_group_was_lost_meanwhile(ground: QueueGround) -> None:
    front, worker = await ground.front(), await ground.worker()
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(front.ask(job(), soon()))
        lease = await take_one(worker)
        await ground.bare.xgroup_destroy(ground.keys.jobs(JOBS), GROUP)

        assert await worker.renew([lease]) == {}
        assert await worker.answer(lease, reply())

    assert asked.result() == reply()
    assert await _length(ground, 0)


async def test_jobs_are_queued_again_when_their_stream_is_deleted_under_the_group(ground: QueueGround) -> None:
    front, worker = await ground.front(), await ground.worker()
    async with asyncio.TaskGroup() as group:
        waiting = group.create_task(worker.take(1, 5.0))
        await asyncio.sleep(0.05)
        await ground.bare.delete(ground.keys.jobs(JOBS))
        assert await waiting == []
        asked = [group.create_task(front.ask(job(f"t:r:{n}"), soon())) for n in range(2)]
        await eventually(lambda: _length(ground, 2))
        in_hand = await take_one(worker)
        await ground.bare.delete(ground.keys.jobs(JOBS))

        # The job in hand is answered from the worker's memory, the other one comes back from the front's.
        assert await worker.answer(in_hand, reply())
        again = await take_one(worker)
        await worker.answer(again, reply())

    assert again.job != in_hand.job
    assert all(task.result() == reply() for task in asked)


async def test_everything_flushed_loses_no_job(ground: QueueGround, own_valkey: EmbeddedValkey) -> None:
    async with queue_ground(own_valkey.url) as flushed, asyncio.TaskGroup() as group:
        front, worker = await flushed.front(), await flushed.worker()
        asked = [group.create_task(front.ask(job(f"t:r:{n}"), soon(15.0))) for n in range(3)]
        await eventually(lambda: _length(flushed, 3))
        await flushed.bare.flushall()
        for _ in asked:
            await worker.answer(await take_one(worker), reply())

    assert all(task.result() == reply() for task in asked)


async def test_an_answer_from_before_a_loss_ends_the_entry_that_came_after_it(ground: QueueGround) -> None:
    front, worker = await ground.front(), await ground.worker()
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(front.ask(job(), soon()))
        lease = await take_one(worker)
        await ground.bare.delete(ground.keys.jobs(JOBS))
        await eventually(lambda: _length(ground, 1))
        await worker.answer(lease, reply())

    assert asked.result() == reply()
    assert await _length(ground, 0)


async def test_a_pending_entry_that_was_deleted_is_buried(ground: QueueGround) -> None:
    """Servers before Redis 7 leave such ghosts in the pending list and tell them without a name."""
    worker = await ground.worker()
    ghost = await ground.bare.xadd(ground.keys.jobs(JOBS), {"rubbish": "x"})
    await take_one(worker)
    await ground.bare.xdel(ground.keys.jobs(JOBS), ghost)
    assert (await ground.bare.xpending(ground.keys.jobs(JOBS), GROUP))["pending"] == 1

    await worker._taking._bury(ground.bare, ground.keys.jobs(JOBS))

    assert (await ground.bare.xpending(ground.keys.jobs(JOBS), GROUP))["pending"] == 0


async def test_a_pending_entry_that_was_deleted_is_counted_when_its_lease_lapses(ground: QueueGround) -> None:
    worker, other = await ground.worker(), await ground.worker("two", lease_seconds=0.1)
    ghost = await ground.bare.xadd(ground.keys.jobs(JOBS), {"rubbish": "x"})
    await take_one(worker)
    await ground.bare.xdel(ground.keys.jobs(JOBS), ghost)
    await asyncio.sleep(0.15)

    assert await other.take(1, 0.05) == []
    assert "taoloop_queue_deleted_total 1.0" in ground.telemetry.metrics.exposition()


async def test_what_the_server_forgets_too_early_costs_work_and_no_answer(ground: QueueGround) -> None:
    """Keys with a time to live may go before their time: by somebody's command, or a server that evicts."""
    front, worker = await ground.front(), await ground.worker()
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(front.ask(job(), soon()))
        lease = await take_one(worker)
        await ground.bare.delete(ground.keys.note("t:r:1"))
        await eventually(lambda: _length(ground, 2))
        assert await worker.answer(lease, reply())

    assert asked.result() == reply()
    assert await _length(ground, 0)


async def test_a_key_of_another_type_is_an_outage_and_ends_nobody(ground: QueueGround) -> None:
    front, worker = await ground.front(), await ground.worker()
    await worker.take(1, 0.01)
    await ground.bare.set(ground.keys.jobs(JOBS), "somebody else's")

    with pytest.raises(BackendUnavailable, match="WRONGTYPE"):
        await front.ask(job(), soon(1.0))
    with pytest.raises(BackendUnavailable, match="WRONGTYPE"):
        await worker.take(1, 0.01)
    with pytest.raises(BackendUnavailable, match="WRONGTYPE"):
        await worker.state()


async def test_no_trimming_takes_what_is_not_answered(ground: QueueGround) -> None:
    front, worker = await ground.front(), await ground.worker()
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(front.ask(job(f"t:r:{n}"), soon())) for n in range(300)]
        await eventually(lambda: _length(ground, 300))
        first = await take_one(worker)
        for _ in range(299):
            await worker.answer(await take_one(worker), reply())
        await worker.answer(first, reply())

    assert all(task.result() == reply() for task in asked)


@pytest.mark.parametrize(
    ("fields", "cause"),
    [
        ({"v": "9", "job": "x"}, "entry of version b'9'"),
        ({"rubbish": b"\xff\x00"}, "entry of version b'(none)'"),
        ({"v": "1", "job": "j", "tenant": "t", "request": b"\xff", "expires_ms": "1"}, "a field cannot be read"),
        ({"v": "1", "job": "j", "tenant": "t", "request": b"", "expires_ms": "soon"}, "a field cannot be read"),
        ({"v": "1", "request": b"x" * 5_000_000}, "field b'expires_ms' is missing"),
        ({f"field {number}": "x" for number in range(9000)}, "entry of version"),
    ],
    ids=["another version", "garbage", "no request", "no moment", "5 MB", "9000 fields"],
)
async def test_an_entry_that_cannot_be_read_becomes_a_dead_letter_and_the_next_one_is_answered(
    ground: QueueGround, fields: dict[str, str | bytes], cause: str
) -> None:
    front, worker = await ground.front(), await ground.worker()
    await ground.bare.xadd(ground.keys.jobs(JOBS), fields)
    lease = await take_one(worker)
    assert lease.job is None
    assert cause in lease.fault
    await worker.set_aside(lease, lease.fault, ThinkFailure(reason="INTERNAL", message="Internal error."))
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(front.ask(job(), soon()))
        await worker.answer(await take_one(worker), reply())

    assert asked.result() == reply()
    ((_, letter),) = await ground.bare.xrange(ground.keys.dead)
    assert cause.encode() in letter[b"cause"]
    assert sum(len(value) for value in letter.values()) <= MAX_LETTER_VALUE_BYTES
    assert await _length(ground, 0)


async def test_dead_letters_are_bounded(ground: QueueGround) -> None:
    worker = await ground.worker(max_dead_letters=3)
    for number in range(5):
        await ground.bare.xadd(ground.keys.jobs(JOBS), {"rubbish": str(number)})
        lease = await take_one(worker)
        await worker.set_aside(lease, "garbage", ThinkFailure(reason="INTERNAL", message="Internal error."))

    letters = await ground.bare.xrange(ground.keys.dead)
    assert [fields[b"rubbish"] for _, fields in letters] == [b"2", b"3", b"4"]


async def test_a_fronts_replies_are_removed_as_they_are_read_and_expire_without_it(ground: QueueGround) -> None:
    front, worker = await ground.front(), await ground.worker()
    for number in range(20):
        async with asyncio.TaskGroup() as group:
            group.create_task(front.ask(job(f"t:r:{number}"), soon()))
            await worker.answer(await take_one(worker), reply())

    (stream,) = await ground.bare.keys(f"{ground.keys.fronts}*")
    await eventually(lambda: _stream_is(ground, stream, 1))
    assert 0 < await ground.bare.pttl(stream) <= 300_000
    await ground.stack.aclose()


async def test_a_closed_front_leaves_no_stream(valkey: EmbeddedValkey) -> None:
    async with queue_ground(valkey.url) as other, queue_ground(valkey.url) as ground:
        front, worker = await ground.front(), await ground.worker()
        async with asyncio.TaskGroup() as group:
            group.create_task(front.ask(job(), soon()))
            await worker.answer(await take_one(worker), reply())
        keys = ground.keys
        await ground.stack.aclose()

        assert await other.bare.keys(f"{keys.fronts}*") == []
        assert await other.bare.xinfo_consumers(keys.jobs(JOBS), GROUP) == []


async def test_the_tenants_account_forgets_what_was_lost_with_its_stream(ground: QueueGround) -> None:
    front = await ground.front(QueueLimits(max_jobs=9, max_background_jobs=9, max_tenant_jobs=2))
    async with asyncio.TaskGroup() as group:
        lost = [group.create_task(front.ask(job(f"t:r:{n}"), soon(0.5))) for n in range(2)]
        await eventually(lambda: _length(ground, 2))
        with pytest.raises(TenantQueueFull, match="has 2 jobs in the queue; a tenant may have 2"):
            await front.ask(job("t:r:8"), soon())
        await ground.bare.delete(ground.keys.jobs(JOBS))
        taken = asyncio.ensure_future(front.ask(job("t:r:9"), soon()))
        await eventually(lambda: _length(ground, 1))
        taken.cancel()
        for task in lost:
            task.cancel()


@pytest.mark.parametrize("server", ["valkey", pytest.param("redis", marks=pytest.mark.real)])
async def test_a_server_without_memory_refuses_new_jobs_and_takes_answers(server: str, tmp_path: Path) -> None:
    (port,) = free_ports(1)
    process = RedisProcess(tmp_path / "server", port, {"appendonly": "yes", "maxmemory-policy": "noeviction"})
    if server == "redis":
        process.binary = str(shutil.which("redis-server"))
    async with running(process), queue_ground(f"redis://{LOOPBACK}:{port}/0") as ground, asyncio.TaskGroup() as group:
        front = await ground.front(QueueLimits(max_jobs=9, max_background_jobs=9, max_tenant_jobs=8))
        worker = await ground.worker()
        asked = [group.create_task(front.ask(job(f"t:r:{n}"), soon())) for n in range(3)]
        leases = [await take_one(worker) for _ in asked]
        await ground.bare.config_set("maxmemory", "1mb")

        with pytest.raises(BackendOutOfMemory) as refused:
            await front.ask(job("t:r:9"), soon())
        await worker.answer(leases[0], reply())
        await worker.answer(leases[1], reply())
        await worker.set_aside(leases[2], "poison", ThinkFailure(reason="INTERNAL", message="Internal error."))

    assert [task.result() for task in asked[:2]] == [reply(), reply()]
    assert refused.value.code == "UNAVAILABLE"
    assert refused.value.retry_after_seconds == 5.0
    assert 'taoloop_queue_refused_total{reason="memory"} 1.0' in ground.telemetry.metrics.exposition()


class Slow:
    """A mind that thinks until it is told to be done, and notes what about."""

    def __init__(self) -> None:
        self.thoughts: list[str] = []
        self.may_end = asyncio.Event()

    async def think(self, request: ThinkRequest, deadline: Deadline, tenant: str) -> ThinkResponse:
        self.thoughts.append(request.run_id)
        await self.may_end.wait()
        return ThinkResponse(outcome=Refusal(reason=RefusalReason.NO_TOOL), run_id=request.run_id, iteration=1)


async def test_a_server_that_is_down_for_seconds_loses_nothing_accepted(own_valkey: EmbeddedValkey) -> None:
    mind = Slow()
    async with queue_ground(own_valkey.url) as ground, asyncio.TaskGroup() as group:
        front, source = await ground.front(), await ground.worker()
        worker = ThoughtWorker(source, mind, WorkerConfig(slots=5), SystemClock(), ground.telemetry)
        group.create_task(worker.run())
        jobs = [replace(job(f"t:r{n}:1"), request=replace(job().request, run_id=f"r{n}")) for n in range(20)]
        asked = [group.create_task(front.ask(each, soon(40.0))) for each in jobs]
        await eventually(lambda: len(mind.thoughts) == 5)
        await eventually(lambda: _length(ground, 20))
        own_valkey.kill()
        mind.may_end.set()
        await asyncio.sleep(4.0)
        await own_valkey.start()
        replies = await asyncio.gather(*asked)
        worker.stop()

    assert [reply.outcome.run_id for reply in replies if isinstance(reply.outcome, ThinkResponse)] == [
        f"r{n}" for n in range(20)
    ]
    assert sorted(mind.thoughts) == sorted(f"r{n}" for n in range(20)), "each was thought about once"


async def test_what_comes_at_once_in_both_streams_beyond_the_room_is_given_back(ground: QueueGround) -> None:
    front, worker = await ground.front(), await ground.worker()
    jobs = [job("t:i:1"), job("t:b:1", priority=Priority.BACKGROUND)]
    async with asyncio.TaskGroup() as group:
        await worker.take(1, 0.01)
        waiting = group.create_task(worker.take(1, 5.0))
        await asyncio.sleep(0.05)
        asked = [group.create_task(front.ask(each, soon())) for each in jobs]
        leases = [*await waiting]
        while len(leases) < 2:
            more = await worker.take(1, 0.2)
            assert len(more) <= 1
            leases += more
        for lease in leases:
            await worker.answer(lease, reply())

    assert all(task.result() == reply() for task in asked)
    assert [lease.deliveries for lease in leases] == [1, 1]


async def test_what_was_handed_out_in_a_lost_reply_is_worked_on_before_its_lease_lapses(ground: QueueGround) -> None:
    front, worker = await ground.front(), await ground.worker(lease_seconds=3600.0)
    async with asyncio.TaskGroup() as group:
        await worker.take(1, 0.01)
        asked = group.create_task(front.ask(job(), soon()))
        await eventually(lambda: _length(ground, 1))
        # As if the reply had not come: the server has handed the entry out in this worker's name.
        await ground.bare.xreadgroup(GROUP, "one", {ground.keys.jobs(JOBS): ">"})
        await ground.bare.client_kill_filter(_type="normal", skipme=True)
        lease = await take_one(worker)
        await worker.answer(lease, reply())

    assert asked.result() == reply()


async def test_the_names_of_dead_workers_are_removed_and_what_one_of_them_holds_is_not_lost(
    ground: QueueGround,
) -> None:
    front, jobs = await ground.front(), ground.keys.jobs(JOBS)
    async with asyncio.TaskGroup() as group:
        group.create_task(front.ask(job(), soon()))
        holder = await ground.worker("holder")
        lease = await take_one(holder)
        await ground.bare.xgroup_createconsumer(jobs, GROUP, "dead")
        config = SourceConfig(consumer="tidy", forget_seconds=0.2)
        await ground.stack.enter_async_context(redis_job_source(await ground.access(), config))
        await eventually(lambda: _consumers_are(ground, {"holder"}))
        await holder.answer(lease, reply())


async def test_the_clock_of_a_worker_may_jump(ground: QueueGround) -> None:
    """Leases and deadlines are told by the server's clock, set against this process's monotonic one."""

    class Jumping(SystemClock):
        def now(self) -> Never:
            raise AssertionError("nobody asks for the wall clock")

    front = await ground.front()
    access = await ground.access(clock=Jumping())
    worker = await ground.stack.enter_async_context(redis_job_source(access, SourceConfig(consumer="one")))
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(front.ask(job(), soon()))
        lease = await take_one(worker)
        await worker.answer(lease, reply())

    assert asked.result() == reply()
    assert 8.0 < lease.deadline.remaining_seconds() <= 10.0
    assert lease.waited_seconds < 5.0


async def test_a_late_job_that_waits_leaves_the_queue_with_its_caller(ground: QueueGround) -> None:
    front, worker = await ground.front(), await ground.worker()
    with pytest.raises(DeadlineExceeded):
        await front.ask(job(), soon(0.2))

    await eventually(lambda: _length(ground, 0))
    assert await worker.take(1, 0.05) == []
    assert await ground.bare.keys(f"{ground.keys.prefix}*:wait:*") == []


async def _length(ground: QueueGround, length: int) -> bool:
    return int(await ground.bare.xlen(ground.keys.jobs(JOBS))) == length


async def _consumers_are(ground: QueueGround, names: set[str]) -> bool:
    rows = await ground.bare.xinfo_consumers(ground.keys.jobs(JOBS), GROUP)
    return {row["name"].decode() for row in rows} == names


async def _stream_is(ground: QueueGround, stream: bytes, length: int) -> bool:
    return int(await ground.bare.xlen(stream)) == length
