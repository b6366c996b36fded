"""Rules of the limiter."""

from __future__ import annotations

import asyncio
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taoloop.action.policies.limiter import Limiter, Shed, ShedReason
from taoloop.core.deadlines import Deadline
from taoloop.testing.clock import FakeClock


class Bench:
    def __init__(self, in_flight: int = 1, queue: int = 0, max_wait_seconds: float = 0.0) -> None:
        self.clock = FakeClock()
        self.limiter = Limiter(in_flight=in_flight, queue=queue, max_wait_seconds=max_wait_seconds, clock=self.clock)
        self.order: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}

    async def call(self, name: str, seconds: float = 100.0) -> None:
        gate = self.gates[name] = asyncio.Event()
        async with self.limiter.slot(Deadline.after(seconds, self.clock)):
            self.order.append(name)
            await gate.wait()


async def turns() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def shed_reason(bench: Bench, seconds: float = 100.0) -> ShedReason:
    with pytest.raises(Shed) as raised:
        await bench.limiter.acquire(Deadline.after(seconds, bench.clock))
    return raised.value.reason


async def test_a_full_limiter_without_a_queue_sheds_at_once() -> None:
    bench = Bench(in_flight=2)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(bench.call(name)) for name in "ab"]
        await turns()
        assert repr(bench.limiter) == "Limiter(2 of 2 in flight, 0 of 0 waiting)"
        assert await shed_reason(bench) is ShedReason.IN_FLIGHT
        for task in tasks:
            task.cancel()
    assert (bench.limiter.in_flight, bench.limiter.waiting) == (0, 0)


async def test_a_freed_slot_goes_to_the_oldest_waiter() -> None:
    bench = Bench(queue=2, max_wait_seconds=5.0)
    async with asyncio.TaskGroup() as group:
        for name in "abc":
            group.create_task(bench.call(name))
            await turns()
        assert repr(bench.limiter) == "Limiter(1 of 1 in flight, 2 of 2 waiting)"
        assert await shed_reason(bench) is ShedReason.QUEUE
        for name in "abc":
            bench.gates[name].set()
            await turns()
    assert bench.order == ["a", "b", "c"]
    assert repr(bench.limiter) == "Limiter(0 of 1 in flight, 0 of 2 waiting)"


@pytest.mark.parametrize(("seconds", "reason"), [(100.0, ShedReason.MAX_WAIT), (2.0, ShedReason.DEADLINE)])
async def test_a_wait_ends_at_its_limit_or_at_the_deadline(seconds: float, reason: ShedReason) -> None:
    bench = Bench(queue=1, max_wait_seconds=5.0)
    async with asyncio.TaskGroup() as group:
        holder = group.create_task(bench.call("a"))
        await turns()
        waiting = group.create_task(shed_reason(bench, seconds))
        await turns()
        bench.clock.advance(min(seconds, 5.0))
        await turns()
        assert await waiting is reason
        assert (bench.limiter.waiting, bench.clock.sleepers) == (0, 0)
        holder.cancel()


async def test_a_cancelled_waiter_leaves_the_queue() -> None:
    bench = Bench(queue=2, max_wait_seconds=5.0)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(bench.call(name)) for name in "abc"]
        await turns()
        tasks[1].cancel()
        await turns()
        assert (bench.limiter.waiting, bench.clock.sleepers) == (1, 1)
        bench.gates["a"].set()
        await turns()
        assert bench.order == ["a", "c"]
        bench.gates["c"].set()


async def test_a_waiter_cancelled_as_it_gets_its_slot_hands_it_on() -> None:
    bench = Bench(queue=2, max_wait_seconds=5.0)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(bench.call(name)) for name in "abc"]
        await turns()
        bench.limiter.release()  # b's slot is given ...
        tasks[1].cancel()  # ... and b is cancelled before it runs
        await turns()
        assert bench.order == ["a", "c"]
        assert tasks[1].cancelled()
        bench.limiter._taken += 1  # the extra release above was a's
        for name in "ac":
            bench.gates[name].set()
    assert (bench.limiter.in_flight, bench.limiter.waiting) == (0, 0)


async def test_a_waiter_cancelled_as_its_wait_ends_owes_nothing() -> None:
    bench = Bench(queue=1, max_wait_seconds=5.0)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(bench.call(name)) for name in "ab"]
        await turns()
        bench.clock.advance(5.0)
        await asyncio.sleep(0)  # the timer runs and takes the waiter out
        tasks[1].cancel()
        await turns()
        assert tasks[1].cancelled()
        assert (bench.limiter.in_flight, bench.limiter.waiting) == (1, 0)
        bench.gates["a"].set()


async def test_a_slot_is_returned_when_the_call_raises() -> None:
    bench = Bench()
    with pytest.raises(RuntimeError):
        async with bench.limiter.slot(Deadline.after(1.0, bench.clock)):
            raise RuntimeError
    assert bench.limiter.in_flight == 0


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(0, 4))
def test_whatever_is_cancelled_no_slot_is_lost_and_none_is_given_twice(seed: int, in_flight: int, queue: int) -> None:
    asyncio.run(_storm(Random(seed), in_flight, queue))


async def _storm(random: Random, in_flight: int, queue: int) -> None:
    bench = Bench(in_flight, queue, 3.0)
    inside = 0

    async def call() -> None:
        nonlocal inside
        try:
            async with bench.limiter.slot(Deadline.after(random.uniform(0.5, 9.0), bench.clock)):
                inside += 1
                try:
                    assert inside <= in_flight
                    assert bench.limiter.in_flight <= in_flight
                    assert bench.limiter.waiting <= queue
                    for _ in range(random.randrange(6)):
                        await asyncio.sleep(0)
                finally:
                    inside -= 1
        except Shed:
            pass

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(call()) for _ in range(30)]
        for _ in range(40):
            await asyncio.sleep(0)
            if random.random() < 0.5:
                random.choice(tasks).cancel()
            if random.random() < 0.3:
                bench.clock.advance(random.uniform(0.0, 2.0))
        bench.clock.advance(20.0)
    assert (bench.limiter.in_flight, bench.limiter.waiting, bench.clock.sleepers) == (0, 0, 0)
