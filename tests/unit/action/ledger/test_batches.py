"""Rules of doing at once what many ask for at the same time."""

import asyncio
from collections.abc import Sequence

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
    tasks = [group.create_task(batches.do(item), name=f"item {item}") for item in items]
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
    wanted = asyncio.gather(*map(batches.do, (1, 2, EVIL, 3)), return_exceptions=True)
    await settled()
    doubler.gate.set()
    first, second, evil, third = await wanted
    assert (first, second, third) == (2, 4, 6)
    assert isinstance(evil, ValueError)
    assert doubler.batches[:2] == [[1], [2, EVIL, 3]]
    assert await batches.do(7) == 14


async def test_the_cancellation_of_who_is_in_charge_costs_nobody_else_anything() -> None:
    doubler = Doubler()
    batches = Batches(doubler.double)
    doubler.gate.clear()
    async with asyncio.TaskGroup() as group:
        first, second, third = await asked(batches, group, 1, 2, 3)
        first.cancel()
        await settled()
        second.cancel()  # now in charge of the batch in which the third is
        await settled()
        doubler.gate.set()
    assert (first.cancelled(), second.cancelled(), third.result()) == (True, True, 6)
    assert doubler.batches == [[1], [2, 3], [3]]


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


async def test_who_is_put_in_charge_and_cancelled_at_once_hands_over() -> None:
    doubler = Doubler()
    batches = Batches(doubler.double)
    doubler.gate.clear()
    async with asyncio.TaskGroup() as group:
        first, second, third = await asked(batches, group, 1, 2, 3)
        doubler.gate.set()
        for _ in range(20):
            if first.done():
                break
            await asyncio.sleep(0)
        second.cancel()
    assert (second.cancelled(), third.result()) == (True, 6)
