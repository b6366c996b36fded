"""Does at once what many ask for at the same time."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

MOST_AT_ONCE: Final = 128

ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")

Work = Callable[[Sequence[ItemT]], Awaitable[Sequence[ResultT]]]
"""Does several items and returns their results in order. It may be asked for an item again after it broke off."""


@dataclass(slots=True, eq=False)
class _Place(Generic[ItemT, ResultT]):
    """One item in the queue."""

    item: ItemT
    turn: asyncio.Future[None]
    """Done when the item is done, or when it is its caller's turn to work for all who wait."""
    is_in_charge: bool = False
    results: Sequence[ResultT] = ()
    """The item's own result; empty until there is one."""

    def wake(self) -> None:
        if not self.turn.done():
            self.turn.set_result(None)


class Batches(Generic[ItemT, ResultT]):
    """A queue whose first takes everybody along who waits: while one batch is done the next one gathers.

    A single caller is served at once, as if there were no queue. A batch that fails is taken apart: each of its
    callers tries alone, so that nobody suffers from what another brought. There is no task of its own: whoever is in
    charge works for the others, and when it is cancelled the next one does its batch again.

    Args:
        work: Does a batch.
        most: How many items a batch has at most.
    """

    def __init__(self, work: Work[ItemT, ResultT], most: int = MOST_AT_ONCE) -> None:
        self._work = work
        self._most = most
        self._waiting: deque[_Place[ItemT, ResultT]] = deque()
        self._is_busy = False

    async def do(self, item: ItemT) -> ResultT:
        """Do an item, together with those that wait, and return its result; whatever `work` raises alone is raised."""
        place: _Place[ItemT, ResultT] = _Place(item, asyncio.get_running_loop().create_future())
        self._waiting.append(place)
        if not self._is_busy:
            self._is_busy = True
            self._pass_on()
        try:
            await place.turn
            if place.is_in_charge:
                await self._next()
        finally:
            if place in self._waiting:  # cancelled, or its batch broke off
                self._waiting.remove(place)
            if place.is_in_charge:
                self._pass_on()
        results = place.results or await self._work([item])
        return results[0]

    def _pass_on(self) -> None:
        """Put the first who still waits in charge."""
        for place in self._waiting:
            if not place.turn.done():
                place.is_in_charge = True
                place.wake()
                return
        self._is_busy = False

    async def _next(self) -> None:
        """Do the first batch, in which its caller's item is; one that fails as a whole leaves all without results."""
        batch = [self._waiting.popleft() for _ in range(min(self._most, len(self._waiting)))]
        try:
            results = await self._work([place.item for place in batch])
            for place, result in zip(batch, results, strict=True):
                place.results = (result,)
        except Exception:
            if len(batch) == 1:
                raise
        except BaseException:
            self._waiting.extendleft(reversed(batch))
            raise
        for place in batch:
            place.wake()

    def __repr__(self) -> str:
        return f"Batches({len(self._waiting)} waiting)"
