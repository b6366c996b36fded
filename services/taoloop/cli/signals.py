"""SIGTERM and SIGINT: the first asks to stop in order, the second stops at once, the third does not wait for that."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager


class StopSignals:
    """What the process was asked to do by signals.

    Args:
        main: The task that is cancelled by the second signal.
    """

    def __init__(self, main: asyncio.Task[object]) -> None:
        self._main = main
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
        if self._count == 2:
            self._main.cancel()  # what is open is closed, without a grace period
        elif self._count > 2:
            os._exit(128 + number)


@contextmanager
def stop_signals() -> Iterator[StopSignals]:
    """Listen to SIGTERM and SIGINT for the block, in the running loop's main task."""
    main = asyncio.current_task()
    assert main is not None
    loop = asyncio.get_running_loop()
    stop = StopSignals(main)
    numbers = (signal.SIGTERM, signal.SIGINT)
    for number in numbers:
        loop.add_signal_handler(number, stop.receive, number)
    try:
        yield stop
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)
