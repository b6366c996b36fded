"""The worker processes of one tool: started when they are wanted, given back, ended."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Generic, Protocol, TypeVar

from taoloop.action.transports.python.process import FunctionNotLoaded
from taoloop.core.clock import Clock


class Worker(Protocol):
    """What the pool needs of a worker."""

    @property
    def is_alive(self) -> bool:
        """Whether it can be called."""
        ...

    async def loaded(self) -> None:
        """Wait until it can be called; raises `FunctionNotLoaded`."""
        ...

    def kill(self) -> None:
        """End it at once."""
        ...

    async def ended(self) -> None:
        """Wait until it has ended."""
        ...


WorkerT = TypeVar("WorkerT", bound=Worker)


class WorkerPool(Generic[WorkerT]):
    """At most `size` workers; a call has one for itself alone.

    A worker is started by the pool, not by the call that waits for it: a call that gives up does not keep the next
    one from finding it ready. Of those that wait, the first comes first.

    Args:
        start: Starts one; raises `FunctionNotLoaded`.
        size: Most workers at a time.
        idle_seconds: How long one may wait for its next call.
        group: Runs what goes on beside the calls.
        clock: Measures idleness.
    """

    def __init__(
        self,
        start: Callable[[], Awaitable[WorkerT]],
        size: int,
        idle_seconds: float,
        group: asyncio.TaskGroup,
        clock: Clock,
    ) -> None:
        self._start = start
        self._size = size
        self._idle_seconds = idle_seconds
        self._group = group
        self._clock = clock
        self._idle: deque[tuple[float, WorkerT]] = deque()
        self._waiting: deque[asyncio.Future[WorkerT]] = deque()
        self._busy: set[WorkerT] = set()
        self._loading: set[WorkerT] = set()
        self._starting = 0
        self._ending = 0
        self._is_closed = False

    @property
    def busy(self) -> int:
        """Workers that a call holds now."""
        return len(self._busy)

    @property
    def idle(self) -> int:
        """Workers that wait for a call."""
        return len(self._idle)

    async def acquire(self) -> WorkerT:
        """Return a worker that is ready, for the caller alone until it is released.

        Raises:
            FunctionNotLoaded: None can be started.
        """
        while self._idle:
            _, worker = self._idle.pop()  # the one used last is warm
            if worker.is_alive:
                self._busy.add(worker)
                return worker
            self._end(worker)
        future: asyncio.Future[WorkerT] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        self._start_wanted()
        try:
            return await future
        except asyncio.CancelledError:
            if not future.cancelled() and future.exception() is None:
                self.release(future.result(), is_spent=False)
            raise
        finally:
            if future in self._waiting:
                self._waiting.remove(future)

    def release(self, worker: WorkerT, *, is_spent: bool) -> None:
        """Give a worker back; a spent one is killed, and its place is free when it has ended."""
        self._busy.discard(worker)
        if is_spent or not worker.is_alive:
            self._end(worker)
        else:
            self._offer(worker)

    async def sweep(self) -> None:
        """End workers that were idle for too long, for ever."""
        while True:
            await self._clock.sleep(self._idle_seconds)
            oldest = self._clock.monotonic() - self._idle_seconds
            while self._idle and self._idle[0][0] <= oldest:
                self._end(self._idle.popleft()[1])

    async def aclose(self) -> None:
        """Kill every worker and wait until it has ended; those that are being started end by themselves."""
        self._is_closed = True
        for worker in self._loading:
            worker.kill()
        workers = [*self._busy, *(worker for _, worker in self._idle)]
        self._busy.clear()
        self._idle.clear()
        for worker in workers:
            worker.kill()
        for worker in workers:
            await worker.ended()

    def _start_wanted(self) -> None:
        """Start as many workers as are waited for and have a place."""
        if self._is_closed:
            return
        held = len(self._busy) + len(self._idle) + self._ending
        while self._starting < len(self._waiting) and held + self._starting < self._size:
            self._starting += 1
            self._group.create_task(self._started(), name="start a worker process")

    async def _started(self) -> None:
        try:
            worker = await self._loaded()
        except FunctionNotLoaded as exc:
            while self._waiting:  # each would fail in the same way
                future = self._waiting.popleft()
                if not future.done():
                    future.set_exception(FunctionNotLoaded(str(exc)))
            return
        finally:
            self._starting -= 1
        self._offer(worker)

    async def _loaded(self) -> WorkerT:
        worker = await self._start()
        self._loading.add(worker)
        try:
            if self._is_closed:
                raise FunctionNotLoaded("the service is about to stop")
            await worker.loaded()
        except BaseException:
            worker.kill()
            await worker.ended()
            raise
        finally:
            self._loading.discard(worker)
        return worker

    def _offer(self, worker: WorkerT) -> None:
        while self._waiting:
            future = self._waiting.popleft()
            if not future.done():
                self._busy.add(worker)
                future.set_result(worker)
                return
        self._idle.append((self._clock.monotonic(), worker))

    def _end(self, worker: WorkerT) -> None:
        worker.kill()
        self._ending += 1
        self._group.create_task(self._ended(worker), name="wait for a worker process")

    async def _ended(self, worker: WorkerT) -> None:
        try:
            await worker.ended()
        finally:
            self._ending -= 1
        self._start_wanted()

    def __repr__(self) -> str:
        return (
            f"<WorkerPool {self.busy} busy, {self.idle} idle, {self._starting} starting of {self._size}, "
            f"{len(self._waiting)} waiting>"
        )
