"""Does at once what many ask for at the same time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

MOST_AT_ONCE: Final = 128

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

Work = Callable[[Sequence[ItemT]], Coroutine[Any, Any, Sequence[ResultT]]]
"""Does several items and returns their results in order. It may be asked for an item again after it broke off."""


@dataclass(slots=True, eq=False)
class _Place(Generic[ItemT, ResultT]):
    """One item in the queue."""

    item: ItemT
    turn: asyncio.Future[None]
    """Done when the item's batch is."""
    results: Sequence[ResultT] = ()
    """The item's own result; empty until there is one."""
    error: Exception | None = None
    """What the batch failed with."""
    was_alone: bool = False
    """Whether it was done without others."""


class Batches(Generic[ItemT, ResultT]):
    """A queue whose first takes everybody along who waits: while one batch is done the next one gathers.

    A single caller is served at once, as if there were no queue. A batch that fails is taken apart: each of its
    callers tries alone, so that nobody suffers from what another brought. A batch that was begun is done to its end,
    whoever of its callers is cancelled meanwhile: it is the others' too, and a store does not like to be left in the
    middle.

    Args:
        work: Does a batch.
        most: How many items a batch has at most.
    """

    def __init__(self, work: Work[ItemT, ResultT], most: int = MOST_AT_ONCE) -> None:
        self._work = work
        self._most = most
        self._waiting: deque[_Place[ItemT, ResultT]] = deque()
        self._worker: asyncio.Task[None] | None = None
        self._alone: set[asyncio.Task[Sequence[ResultT]]] = set()

    async def do(self, item: ItemT) -> ResultT:
        """Do an item, together with those that wait, and return its result; whatever `work` raises alone is raised."""
        place = await self._done(_Place(item, asyncio.get_running_loop().create_future()))
        if place.error is None:
            return place.results[0]
        if place.was_alone:
            raise place.error
        # Not in the queue: with a store that is away each would wait for the ones before it.
        task = asyncio.create_task(self._work([item]), name="batches-alone")  # noqa: TID251 - see drained
        self._alone.add(task)
        task.add_done_callback(self._alone.discard)
        return (await asyncio.shield(task))[0]

    async def drained(self) -> None:
        """Wait until nothing is done and nobody waits."""
        while tasks := {*self._alone, *([] if self._worker is None else [self._worker])}:
            await asyncio.wait(tasks)

    async def _done(self, place: _Place[ItemT, ResultT]) -> _Place[ItemT, ResultT]:
        self._waiting.append(place)
        if self._worker is None:
            worker = self._work_off()
            self._worker = asyncio.create_task(worker, name="batches")  # noqa: TID251 - outlives its caller; see drained
        try:
            await place.turn
        finally:
            if place in self._waiting:  # cancelled before it was begun
                self._waiting.remove(place)
        return place

    async def _work_off(self) -> None:
        try:
            while self._waiting:
                await self._do(self._next())
        finally:
            self._worker = None

    def _next(self) -> list[_Place[ItemT, ResultT]]:
        return [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]

    async def _do(self, batch: Sequence[_Place[ItemT, ResultT]]) -> None:
        error: Exception | None = None
        results: Sequence[ResultT] = ()
        try:
            results = await self._work([place.item for place in batch])
        except Exception as exc:  # noqa: BLE001 - whatever it is, it is raised to each caller
            error = exc
        for number, place in enumerate(batch):
            place.error, place.was_alone = error, len(batch) == 1
            place.results = results[number : number + 1]
            if not place.turn.done():
                place.turn.set_result(None)

    def __repr__(self) -> str:
        return f"Batches({len(self._waiting)} waiting)"
