"""A job lives as long as its caller waits for it: no shorter after a loss, no longer after a standstill."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from taoloop.core.clock import SystemClock
from taoloop.core.errors import BackendUnavailable
from taoloop.plan.task import Priority
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.thought.model import ThinkFailure, ThinkReply
from taoloop.thought.queue import redis_job_queue
from tests.integration.thought.queue_ground import QueueGround, eventually, job, queue_ground, reply, soon, take_one

JOBS = Priority.INTERACTIVE


@pytest.fixture
async def ground(tmp_path: Path) -> AsyncIterator[tuple[QueueGround, EmbeddedValkey]]:
    """A server that a test may empty or stop."""
    async with EmbeddedValkey(tmp_path / "valkey") as server, queue_ground(server.url) as opened:
        yield opened, server


async def test_a_job_that_is_queued_again_lives_until_its_callers_deadline(
    ground: tuple[QueueGround, EmbeddedValkey], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_job_queue, "ASK_AGAIN_SECONDS", 0.1)
    queue, _ = ground
    front, worker = await queue.front(), await queue.worker()
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(front.ask(job(), soon(30.0)))
        await eventually(lambda: _length(queue, 1))
        await queue.bare.flushall()
        await eventually(lambda: _length(queue, 1))
        lease = await take_one(worker)
        await worker.answer(lease, reply())

    assert asked.result() == reply()
    assert 20.0 < lease.deadline.remaining_seconds() <= 30.0


async def test_asking_again_does_not_shorten_the_life_of_the_note(
    ground: tuple[QueueGround, EmbeddedValkey], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(redis_job_queue, "ASK_AGAIN_SECONDS", 0.1)
    queue, _ = ground
    front, worker = await queue.front(), await queue.worker()
    async with asyncio.TaskGroup() as group:
        group.create_task(front.ask(job(), soon(30.0)))
        lease = await take_one(worker)
        note = queue.keys.note("t:r:1")
        await queue.bare.persist(note)
        await eventually(lambda: _expires(queue, note))
        life_ms = await queue.bare.pttl(note)
        await worker.answer(lease, reply())

    assert 80_000 < life_ms <= 90_000


async def test_the_first_request_of_a_front_is_not_done_after_its_caller_went_away(
    ground: tuple[QueueGround, EmbeddedValkey],
) -> None:
    """The server stands still while the request is on its way, and has it when nobody waits any more."""
    queue, server = ground
    worker, front = await queue.worker(), await queue.front()
    assert await worker.take(1, 0.01) == []
    assert server.pid is not None
    async with asyncio.TaskGroup() as group:
        taken = group.create_task(worker.take(1, 2.0))
        await eventually(lambda: _is_blocked(queue))
        os.kill(server.pid, signal.SIGSTOP)
        try:
            with pytest.raises(BackendUnavailable):
                await front.ask(job(), soon(0.3))
            await asyncio.sleep(0.3)
        finally:
            os.kill(server.pid, signal.SIGCONT)

    assert taken.result() == []
    assert await _length(queue, 0)


async def test_a_front_asks_on_when_the_servers_clock_has_jumped_ahead(
    ground: tuple[QueueGround, EmbeddedValkey],
) -> None:
    queue, _ = ground
    front, worker = await queue.front(), await queue.worker()
    # As if the server had been heard of before its clock was set an hour ahead.
    seconds, microseconds = await queue.bare.time()
    front._time.note(seconds - 3600, microseconds, SystemClock().monotonic())
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(front.ask(job(), soon(30.0)))
        lease = await take_one(worker)
        await worker.answer(lease, reply())

    assert asked.result() == reply()
    assert 20.0 < lease.deadline.remaining_seconds() <= 30.0


async def test_a_failure_that_says_when_to_come_back_is_not_given_to_who_comes_back_then(
    ground: tuple[QueueGround, EmbeddedValkey],
) -> None:
    queue, _ = ground
    front, worker = await queue.front(), await queue.worker()
    spent = ThinkReply(ThinkFailure(reason="BUDGET_EXHAUSTED", message="Spent.", retry_after_seconds=1.0))
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(front.ask(job(), soon(30.0)))
        await worker.answer(await take_one(worker), spent)
    assert asked.result() == spent

    await asyncio.sleep(1.0)
    async with asyncio.TaskGroup() as group:
        asked = group.create_task(front.ask(job(), soon(30.0)))
        await worker.answer(await take_one(worker), reply())
    assert asked.result() == reply()


async def _length(ground: QueueGround, length: int) -> bool:
    return int(await ground.bare.xlen(ground.keys.jobs(JOBS))) == length


async def _expires(ground: QueueGround, key: str) -> bool:
    return int(await ground.bare.pttl(key)) > 0


async def _is_blocked(ground: QueueGround) -> bool:
    return int((await ground.bare.info("clients"))["blocked_clients"]) > 1
