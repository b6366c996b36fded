"""The pool of workers, with workers that do as the test says."""

from __future__ import annotations

import asyncio

import pytest

from taoloop.action.transports.python.process import FunctionNotLoaded
from taoloop.action.transports.python.workers import WorkerPool
from taoloop.testing.clock import FakeClock


class ScriptedWorker:
    def __init__(self, *, loads: bool = True) -> None:
        self.is_alive = True
        self.may_load = asyncio.Event()
        self.may_load.set()
        self.loads = loads
        self.has_ended = False

    async def loaded(self) -> None:
        await self.may_load.wait()
        if not self.loads or not self.is_alive:
            raise FunctionNotLoaded("no")

    def kill(self) -> None:
        self.is_alive = False
        self.may_load.set()

    async def ended(self) -> None:
        self.has_ended = True


class Started:
    """Starts workers and keeps them for the test."""

    def __init__(self) -> None:
        self.workers: list[ScriptedWorker] = []
        self.loads = True
        self.is_slow = False

    async def start(self) -> ScriptedWorker:
        worker = ScriptedWorker(loads=self.loads)
        if self.is_slow:
            worker.may_load.clear()
        self.workers.append(worker)
        return worker


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_a_worker_is_used_again_and_a_spent_one_replaced() -> None:
    started = Started()
    async with asyncio.TaskGroup() as group:
        pool = WorkerPool(started.start, 1, 60.0, group, FakeClock())
        first = await pool.acquire()
        pool.release(first, is_spent=False)
        assert await pool.acquire() is first
        waiting = group.create_task(pool.acquire())
        await settled()
        assert not waiting.done()
        pool.release(first, is_spent=True)
        second = await waiting
        assert (second is first, first.has_ended, pool.busy) == (False, True, 1)
        second.is_alive = False
        pool.release(second, is_spent=False)
        third = await pool.acquire()
        pool.release(third, is_spent=False)
        third.is_alive = False
        assert await pool.acquire() not in {first, second, third}
        await pool.aclose()
    assert "0 busy, 0 idle" in repr(pool)


async def test_a_call_that_gives_up_leaves_the_worker_to_the_next() -> None:
    started = Started()
    started.is_slow = True
    async with asyncio.TaskGroup() as group:
        pool = WorkerPool(started.start, 1, 60.0, group, FakeClock())
        gives_up, waits = (group.create_task(pool.acquire()) for _ in range(2))
        await settled()
        gives_up.cancel()
        await settled()
        started.workers[0].may_load.set()
        assert await waits is started.workers[0]
        assert len(started.workers) == 1
        pool.release(started.workers[0], is_spent=False)
        late = group.create_task(pool.acquire())
        await late
        await pool.aclose()


async def test_a_call_cancelled_as_its_worker_arrives_gives_it_back() -> None:
    started = Started()
    async with asyncio.TaskGroup() as group:
        pool = WorkerPool(started.start, 1, 60.0, group, FakeClock())
        holder = await pool.acquire()
        waits = group.create_task(pool.acquire())
        await settled()
        pool.release(holder, is_spent=False)
        waits.cancel()
        await settled()
        assert (pool.busy, pool.idle) == (0, 1)
        await pool.aclose()


async def test_a_function_that_does_not_load_fails_every_call_that_waits() -> None:
    started = Started()
    started.loads, started.is_slow = False, True
    async with asyncio.TaskGroup() as group:
        pool = WorkerPool(started.start, 1, 60.0, group, FakeClock())
        calls = [asyncio.ensure_future(pool.acquire()) for _ in range(3)]
        await settled()
        calls[1].cancel()
        started.workers[0].may_load.set()
        outcomes = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(each) for each in outcomes] == [FunctionNotLoaded, asyncio.CancelledError, FunctionNotLoaded]
        assert started.workers[0].has_ended
        started.is_slow = False
        with pytest.raises(FunctionNotLoaded):
            await pool.acquire()


async def test_idle_workers_end_after_their_time() -> None:
    started, clock = Started(), FakeClock()
    async with asyncio.TaskGroup() as group:
        pool = WorkerPool(started.start, 2, 60.0, group, clock)
        sweeper = group.create_task(pool.sweep())
        old, young = await pool.acquire(), await pool.acquire()
        pool.release(old, is_spent=False)
        await settled()
        await advanced(clock, 59.0)
        pool.release(young, is_spent=False)
        await advanced(clock, 1.0)
        assert (old.is_alive, young.is_alive, pool.idle) == (False, True, 1)
        sweeper.cancel()
        await pool.aclose()
    assert not young.is_alive


async def advanced(clock: FakeClock, seconds: float) -> None:
    clock.advance(seconds)
    await settled()


async def test_closing_ends_what_is_being_started_and_starts_no_more() -> None:
    started = Started()
    started.is_slow = True
    async with asyncio.TaskGroup() as group:
        pool = WorkerPool(started.start, 2, 60.0, group, FakeClock())
        call = asyncio.ensure_future(pool.acquire())
        await settled()
        await pool.aclose()
        with pytest.raises(FunctionNotLoaded):
            await call
        late = asyncio.ensure_future(pool.acquire())
        await settled()
        assert len(started.workers) == 1
        late.cancel()
    assert not started.workers[0].is_alive


async def test_a_worker_started_while_the_pool_closes_ends_at_once() -> None:
    started = Started()
    async with asyncio.TaskGroup() as group:
        pool = WorkerPool(started.start, 1, 60.0, group, FakeClock())
        call = asyncio.ensure_future(pool.acquire())
        await asyncio.sleep(0)
        await pool.aclose()
        with pytest.raises(FunctionNotLoaded):
            await call
    assert [worker.has_ended for worker in started.workers] == [True]


async def test_a_worker_that_comes_for_a_call_that_was_just_cancelled_stays_idle() -> None:
    started = Started()
    async with asyncio.TaskGroup() as group:
        pool = WorkerPool(started.start, 1, 60.0, group, FakeClock())
        holder = await pool.acquire()
        waits = group.create_task(pool.acquire())
        await settled()
        waits.cancel()
        pool.release(holder, is_spent=False)
        await settled()
        assert (pool.busy, pool.idle) == (0, 1)
        await pool.aclose()


async def test_a_failure_to_load_passes_over_a_call_that_was_just_cancelled() -> None:
    started = Started()
    started.loads, started.is_slow = False, True
    async with asyncio.TaskGroup() as group:
        pool = WorkerPool(started.start, 1, 60.0, group, FakeClock())
        waits = group.create_task(pool.acquire())
        await settled()
        started.workers[0].may_load.set()
        waits.cancel()
        await settled()
        assert "0 waiting" in repr(pool)
