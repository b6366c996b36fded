"""An event loop in a thread of its own, on which other threads have work done and wait for it."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError, Future
from contextvars import copy_context
from typing import Any, Final, Generic, TypeVar

from taoloop.wire.event_loop import run as run_loop

T = TypeVar("T")

_LOOKING_UP_SECONDS: Final = 1.0
"""A thread that waits looks up so often: a signal that comes just before it begins to wait does not end the wait."""
STOPPING_SECONDS: Final = 10.0
"""How long work that is cancelled may take to clean up; it is left behind after that."""


class BackgroundLoop:
    """Does the work of other threads; its thread ends with `close` and never keeps the process alive.

    It does not survive a fork: in the child there is no thread, so that work would never be done.
    """

    def __init__(self, name: str) -> None:
        self._process_id = os.getpid()
        # Nothing is handed to the loop after the word to stop, which would never be done. Re-entrant, since a collected
        # iterator may be closed by a thread that holds it.
        self._lock = threading.RLock()
        self._is_open = threading.Event()
        self._is_closed = False
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event
        self._thread = threading.Thread(target=lambda: run_loop(self._serve()), name=name, daemon=True)
        self._thread.start()
        self._is_open.wait()

    def __repr__(self) -> str:
        return f"<BackgroundLoop [{'closed' if self._is_closed else 'open'}]>"

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return what the work returns; an interrupt from the keyboard cancels it and waits until it has cleaned up.

        The work sees the context variables of the thread that asks, such as its current span.

        Raises:
            RuntimeError: The loop is closed, belongs to the parent of this process, or is that of the caller.
        """
        job: _Job[T] = _Job(work)
        with self._lock:
            refusal = self._refusal()
            if refusal:
                work.close()
                raise RuntimeError(refusal)
            self._loop.call_soon_threadsafe(job.start, context=copy_context())
        try:
            while not job.has_ended.wait(_LOOKING_UP_SECONDS):
                pass
        except BaseException:  # this thread was interrupted
            self._loop.call_soon_threadsafe(job.cancel)
            job.has_ended.wait(STOPPING_SECONDS)
            raise
        try:
            return job.outcome.result()
        except CancelledError:
            raise RuntimeError("The client was closed during the call.") from None

    def leave(self, work: Coroutine[Any, Any, None]) -> None:
        """Have something closed: wait for it where that is possible, else let it happen, else forget it.

        A collected iterator is closed by whichever thread the collector runs in, which may be that of the loop.
        """
        if threading.current_thread() is self._thread:
            _Job(work).start()
        elif self._refusal():
            work.close()
        else:
            self.run(work)

    def close(self) -> None:
        """Cancel what is still being done and end the thread; closing twice changes nothing."""
        with self._lock:
            if self._is_closed or os.getpid() != self._process_id:
                return
            self._is_closed = True
            self._loop.call_soon_threadsafe(self._stop.set)
        if threading.current_thread() is not self._thread:
            self._thread.join(STOPPING_SECONDS)

    def _refusal(self) -> str:
        if os.getpid() != self._process_id:
            return "The client was opened before this process was forked; open one in each process."
        if self._is_closed:
            return "The client is closed."
        if threading.current_thread() is self._thread:
            return "The client is called from its own event loop; use AsyncClient there."
        return ""

    async def _serve(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop = asyncio.Event()
        self._is_open.set()
        await self._stop.wait()


class _Job(Generic[T]):
    """Work of one caller: a task on the loop and the future that the caller waits on."""

    def __init__(self, work: Coroutine[Any, Any, T]) -> None:
        self.outcome: Future[T] = Future()
        self.has_ended = threading.Event()
        self._work = work
        self._task: asyncio.Task[T] | None = None

    def start(self) -> None:
        """Begin, on the loop."""
        # Not in a task group, which would end the work of all callers when that of one fails; the caller owns it.
        self._task = asyncio.get_running_loop().create_task(self._work, name="client call")
        self._task.add_done_callback(self._ended)

    def cancel(self) -> None:
        """Cancel it, on the loop."""
        if self._task is not None:
            self._task.cancel()

    def _ended(self, task: asyncio.Task[T]) -> None:
        if task.cancelled():
            self.outcome.cancel()
        elif (error := task.exception()) is not None:
            self.outcome.set_exception(error)
        else:
            self.outcome.set_result(task.result())
        self.has_ended.set()
