"""Rules of doing at once what many ask for at the same time."""

import asyncio
from collections.abc import Sequence

import pytest

from taoloop.action.ledger.batches import Batches

EVIL = 13


class Doubler:
    """Doubles numbers, a batch at a time, when it is allowed to go on."""

    def __init__(self) -> None:
        self.batches: list[list[int]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def double(self, items: Sequence[int]) -> list[int]:
        self.batches.append(list(items))
        await self.gate.wait()
        if EVIL in items:
            raise ValueError(EVIL)
        return [2 * item for item in items]


async def asked(batches: Batches[int, int], group: asyncio.TaskGroup, *items: int) -> list[asyncio.Task[int]]:
    tasks = []
    for item in items:
        tasks.append(group.create_task(batches.do(item), name=f"item {item}"))
        await settled()
    return tasks


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_single_caller_is_served_at_once() -> None:
    doubler = Doubler()
    batches = Batches(doubler.double)
    assert [await batches.do(1), await batches.do(2)] == [2, 4]
    assert doubler.batches == [[1], [2]]
    assert repr(batches) == "Batches(0 waiting)"


async def test_those_who_come_meanwhile_are_done_together_in_order() -> None:
    doubler = Doubler()
    batches = Batches(doubler.double, most=3)
    doubler.gate.clear()
    async with asyncio.TaskGroup() as group:
        tasks = await asked(batches, group, 1, 2, 3, 4, 5)
        assert repr(batches) == "Batches(4 waiting)"
        doubler.gate.set()
    assert [task.result() for task in tasks] == [2, 4, 6, 8, 10]
    assert doubler.batches == [[1], [2, 3, 4], [5]]


async def test_one_that_fails_harms_nobody_else() -> None:
    doubler = Doubler()
    batches = Batches(doubler.double)
    doubler.gate.clear()
    async with asyncio.TaskGroup() as group:
        first, second, third = await asked(batches, group, 1, 2, 3)
        evil = asyncio.gather(batches.do(EVIL), return_exceptions=True)
        await settled()
        doubler.gate.set()
        (refusal,) = await evil
    assert isinstance(refusal, ValueError)
    assert (first.result(), second.result(), third.result()) == (2, 4, 6)
    assert doubler.batches == [[1], [2, 3, EVIL], [2], [3], [EVIL]]
    assert await batches.do(7) == 14


async def test_one_that_fails_alone_is_not_tried_again() -> None:
    doubler = Doubler()
    batches = Batches(doubler.double)
    with pytest.raises(ValueError, match=str(EVIL)):
        await batches.do(EVIL)
    assert doubler.batches == [[EVIL]]


async def test_what_was_begun_is_done_to_its_end_whoever_is_cancelled() -> None:
    doubler = Doubler()
    batches = Batches(doubler.double)
    doubler.gate.clear()
    async with asyncio.TaskGroup() as group:
        first, second, third = await asked(batches, group, 1, 2, 3)
        first.cancel()
        await settled()
        assert first.cancelled()
        assert not second.done()
        doubler.gate.set()
    assert (second.result(), third.result()) == (4, 6)
    assert doubler.batches == [[1], [2, 3]]
    await batches.drained()


async def test_who_no_longer_waits_is_not_done() -> None:
    doubler = Doubler()
    batches = Batches(doubler.double)
    doubler.gate.clear()
    async with asyncio.TaskGroup() as group:
        first, second, third = await asked(batches, group, 1, 2, 3)
        second.cancel()
        await settled()
        doubler.gate.set()
    assert (first.result(), second.cancelled(), third.result()) == (2, True, 6)
    assert doubler.batches == [[1], [3]]


async def test_drained_waits_for_what_nobody_waits_for() -> None:
    doubler = Doubler()
    batches = Batches(doubler.double)
    doubler.gate.clear()
    async with asyncio.TaskGroup() as group:
        (only,) = await asked(batches, group, 1)
        only.cancel()
        await settled()
        draining = group.create_task(batches.drained())
        await settled()
        assert not draining.done()
        doubler.gate.set()


async def test_drained_waits_for_those_that_try_alone() -> None:
    done: list[int] = []
    gate = asyncio.Event()

    async def work(items: Sequence[int]) -> Sequence[int]:
        if len(items) > 1:
            raise ValueError(items)
        await gate.wait()
        done.extend(items)
        return items

    batches = Batches(work)
    async with asyncio.TaskGroup() as group:
        first, second = [group.create_task(batches.do(item)) for item in (1, 2)]
        await settled()
        first.cancel()
        draining = group.create_task(batches.drained())
        await settled()
        assert not draining.done()
        gate.set()
        await draining
        assert done == [1, 2]
    assert second.result() == 2
