"""Heavy work runs beside the event loop, so much at a time, so much waiting, the rest refused."""

from __future__ import annotations

import asyncio
import threading
from contextvars import ContextVar

import pytest

from taoloop.core.errors import QueueFull
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.observation.heavy_work import HeavyBounds, heavy_work

BOUNDS = HeavyBounds(slots=1, max_waiting=1)


def telemetry() -> Telemetry:
    return Telemetry.build(TelemetrySettings(), "test")


async def test_work_returns_and_raises_what_it_does() -> None:
    def fail() -> None:
        raise ValueError("as it is")

    async with heavy_work(BOUNDS, telemetry().metrics) as work:
        assert await work.run(lambda: 7) == 7
        with pytest.raises(ValueError, match="as it is"):
            await work.run(fail)


async def test_what_exceeds_the_bound_is_refused_and_counted_and_room_comes_back() -> None:
    told = telemetry()
    gate = threading.Event()
    async with heavy_work(BOUNDS, told.metrics) as work, asyncio.TaskGroup() as group:
        running = [group.create_task(work.run(gate.wait), name=f"work {n}") for n in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(QueueFull) as caught:
            await work.run(lambda: None)
        assert caught.value.retry_after_seconds == 1.0
        assert repr(work) == "<HeavyWork [2 of 1+1]>"
        shown = told.metrics.exposition()
        assert "taoloop_observation_heavy_refused_total 1.0" in shown
        assert "taoloop_observation_heavy_waiting 2.0" in shown
        gate.set()
        await asyncio.gather(*running)
        assert await work.run(lambda: "again") == "again"


async def test_work_that_nobody_waits_for_is_not_begun() -> None:
    gate = threading.Event()
    begun: list[str] = []
    async with heavy_work(BOUNDS, telemetry().metrics) as work, asyncio.TaskGroup() as group:
        first = group.create_task(work.run(gate.wait), name="first")
        second = group.create_task(work.run(lambda: begun.append("second")), name="second")
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.sleep(0)
        gate.set()
        await first
    assert begun == []


async def test_only_so_many_threads_work_at_a_time() -> None:
    at_once, most = 0, 0
    lock = threading.Lock()

    def busy() -> None:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        sum(range(20_000))
        with lock:
            at_once -= 1

    async with heavy_work(HeavyBounds(slots=2, max_waiting=50), telemetry().metrics) as work:
        await asyncio.gather(*(work.run(busy) for _ in range(40)))
    assert 1 <= most <= 2


async def test_work_sees_the_context_of_who_asked_so_that_its_spans_keep_their_trace() -> None:
    asked = ContextVar("asked", default="nobody")
    asked.set("somebody")

    async with heavy_work(BOUNDS, telemetry().metrics) as work:
        assert await work.run(asked.get) == "somebody"
