"""Work that takes the processor for long: in few threads, a bounded number waiting, so that the service answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from taoloop.core.errors import QueueFull
from taoloop.core.telemetry.metrics import Metrics
from taoloop.core.telemetry.names import HEAVY_REFUSED, HEAVY_WAITING

LARGE_CHARACTERS: Final = 64 * 1024
"""Longer JSON text is heavy work: about 10 ms, in which no other call would be answered."""

_RETRY_AFTER_SECONDS: Final = 1.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class HeavyBounds:
    """How much heavy work there may be.

    Attributes:
        slots: Threads that work at the same time; they share one interpreter with the event loop.
        max_waiting: Most pieces of work that wait for a thread.
    """

    slots: int = 1
    max_waiting: int = 64


class HeavyWork:
    """Runs pieces of work one after the other beside the event loop, which gets its turn every few milliseconds.

    More threads would not make the work faster, since they share one interpreter, and leave less of it to the loop.

    Args:
        bounds: How much there may be.
        metrics: Where it is counted.
    """

    def __init__(self, bounds: HeavyBounds, metrics: Metrics) -> None:
        self._bounds = bounds
        self._threads = ThreadPoolExecutor(max_workers=bounds.slots, thread_name_prefix="heavy-work")
        self._waiting = metrics.gauge(HEAVY_WAITING)
        self._refused = metrics.counter(HEAVY_REFUSED)
        self._unfinished = 0

    def __repr__(self) -> str:
        return f"<HeavyWork [{self._unfinished} of {self._bounds.slots}+{self._bounds.max_waiting}]>"

    async def run(self, work: Callable[[], T]) -> T:
        """Return what the work returns, or raise what it raises.

        Work that nobody waits for any more is not begun; begun work cannot be stopped and keeps its slot to the end.

        Raises:
            QueueFull: QUEUE_FULL, as much as may waits already.
        """
        if self._unfinished >= self._bounds.slots + self._bounds.max_waiting:
            self._refused.inc()
            raise QueueFull(
                f"{self._bounds.max_waiting} large results wait to be judged; this one was not looked at.",
                metadata={"limit": "TAOLOOP_OBSERVATION_HEAVY__MAX_WAITING"},
                retry_after_seconds=_RETRY_AFTER_SECONDS,
            )
        self._count(1)
        future = self._threads.submit(copy_context().run, work)  # so that spans and logs keep their trace
        loop = asyncio.get_running_loop()
        future.add_done_callback(lambda done: self._ended(loop, done))
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """End the threads; what waits is not begun, and what is begun is waited for."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _ended(self, loop: asyncio.AbstractEventLoop, _done: Future[Any]) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(self._count, -1)

    def _count(self, change: int) -> None:
        self._unfinished += change
        self._waiting.set(self._unfinished)


@asynccontextmanager
async def heavy_work(bounds: HeavyBounds, metrics: Metrics) -> AsyncIterator[HeavyWork]:
    """Give the threads for heavy work; they are ended with the block."""
    work = HeavyWork(bounds, metrics)
    try:
        yield work
    finally:
        await asyncio.to_thread(work.close)
