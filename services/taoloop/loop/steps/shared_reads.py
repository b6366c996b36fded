"""Reads of one plan that are the same: the first is made, the others wait for it and take its result."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from taoloop.plan.acting import ActionResult, ActionStatus


@dataclass(slots=True)
class Turn:
    """A step's turn with a read.

    Attributes:
        shared: The result of the same read, made by another step; None when this step makes it itself.
    """

    shared: ActionResult | None = None
    _brought: asyncio.Future[ActionResult | None] | None = field(default=None, repr=False)

    def bring(self, result: ActionResult) -> None:
        """Give the result to those who wait for it; one that is no success serves nobody else."""
        if self._brought is not None and not self._brought.done() and result.status is ActionStatus.SUCCEEDED:
            self._brought.set_result(result)


class SharedReads:
    """Knows the reads of one plan that were made or are under way.

    A failure is not shared: the next of those who wait makes the call itself. What was read before a write began or
    ended is not given to a read that comes after, since the write may have changed it.
    """

    def __init__(self) -> None:
        self._reads: dict[str, asyncio.Future[ActionResult | None]] = {}

    @asynccontextmanager
    async def turn(self, key: str) -> AsyncIterator[Turn]:
        """Wait until the same read, if one is under way, is over; then take its result or make the call.

        Args:
            key: What all spellings of one call share, as `call_key` gives it.
        """
        while (known := self._reads.get(key)) is not None:
            result = await asyncio.shield(known)
            if result is not None:
                yield Turn(result)
                return
        brought: asyncio.Future[ActionResult | None] = asyncio.get_running_loop().create_future()
        self._reads[key] = brought
        try:
            yield Turn(None, brought)
        finally:
            if not brought.done():
                self._forget(key, brought)
                brought.set_result(None)

    @contextmanager
    def write(self) -> Iterator[None]:
        """Note that something is written meanwhile."""
        self._reads.clear()
        try:
            yield
        finally:
            self._reads.clear()

    def _forget(self, key: str, brought: asyncio.Future[ActionResult | None]) -> None:
        """Forget a read; one that began after a write has its place, and keeps it."""
        if self._reads.get(key) is brought:
            del self._reads[key]

    def __repr__(self) -> str:
        return f"<SharedReads [{len(self._reads)} known]>"
