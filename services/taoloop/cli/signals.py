"""SIGTERM and SIGINT: the first asks to stop in order, the second stops at once, the third does not wait for that."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import AsyncGeneratorType
from typing import Any, Final

from taoloop.core.logs import EventLog

_MAX_TOLD_TASKS: Final = 30
_MAX_TOLD_FRAMES: Final = 5

_log = EventLog(__name__)


class StopSignals:
    """What the process was asked to do by signals.

    Args:
        main: The task that is cancelled by the second signal, or when stopping in order takes too long.
        limit_seconds: How long stopping in order may take.
    """

    def __init__(self, main: asyncio.Task[object], limit_seconds: float) -> None:
        self._main = main
        self._limit_seconds = limit_seconds
        self._overdue: asyncio.TimerHandle | None = None
        self._asked = asyncio.Event()
        self._count = 0

    def __repr__(self) -> str:
        return f"<StopSignals [{self._count} received]>"

    async def wait(self) -> None:
        """Wait for the first signal."""
        await self._asked.wait()

    def receive(self, number: int) -> None:
        """Take note of one signal."""
        self._count += 1
        self._asked.set()
        if self._count == 1:
            self._overdue = asyncio.get_running_loop().call_later(self._limit_seconds, self._give_up)
        elif self._count == 2:
            self._main.cancel()  # what is open is closed, without a grace period
        else:
            os._exit(128 + number)

    def close(self) -> None:
        """Stop measuring how long stopping takes."""
        if self._overdue is not None:
            self._overdue.cancel()

    def _give_up(self) -> None:
        tasks = sorted(asyncio.all_tasks(), key=lambda task: task is not self._main)
        _log.error("process_stop_overdue", limit_seconds=self._limit_seconds, tasks=len(tasks))
        for task in tasks[:_MAX_TOLD_TASKS]:
            _log.error("process_stop_waits", task=task.get_name(), at=_places(task))
        self._main.cancel()


def _places(task: asyncio.Task[object]) -> str:
    """Return where a task waits: its innermost frames, the innermost first."""
    places: list[str] = []
    waiting: Any = task.get_coro()
    while waiting is not None:
        frame = _first(waiting, "cr_frame", "gi_frame", "ag_frame")
        if frame is not None:
            places.append(f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno} {frame.f_code.co_name}")
        waiting = _first(waiting, "cr_await", "gi_yieldfrom", "ag_await") or _generator_of(waiting)
    return " < ".join(reversed(places[-_MAX_TOLD_FRAMES:]))


def _first(owner: object, *names: str) -> Any:
    return next((found for name in names if (found := getattr(owner, name, None)) is not None), None)


def _generator_of(step: object) -> AsyncGeneratorType[object, object] | None:
    """Return the generator of one step of it: the step does not tell, so the garbage collector is asked."""
    return next((found for found in gc.get_referents(step) if isinstance(found, AsyncGeneratorType)), None)


@contextmanager
def stop_signals(limit_seconds: float) -> Iterator[StopSignals]:
    """Listen to SIGTERM and SIGINT for the block, in the running loop's main task.

    Args:
        limit_seconds: How long stopping in order may take after the first signal; then the main task is cancelled.
    """
    main = asyncio.current_task()
    assert main is not None
    loop = asyncio.get_running_loop()
    stop = StopSignals(main, limit_seconds)
    numbers = (signal.SIGTERM, signal.SIGINT)
    for number in numbers:
        loop.add_signal_handler(number, stop.receive, number)
    try:
        yield stop
    finally:
        stop.close()
        for number in numbers:
            loop.remove_signal_handler(number)
