"""Python programs that are killed, paused, and started again."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[3]
POLL_SECONDS: Final = 0.1


@dataclass
class Program:
    """A Python process.

    Attributes:
        arguments: Module and arguments.
        log: Where its output goes.
        lock: Held while something happens to it.
    """

    arguments: tuple[str, ...]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    def start(self) -> None:
        """Start it, in a session of its own: an interrupt from the keyboard is for who started it."""
        with self.log.open("ab") as log:
            command = [sys.executable, "-m", *self.arguments]
            self.process = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, start_new_session=True)

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self.process is not None and self.process.poll() is None

    @property
    def exit_code(self) -> int | None:
        """Return how it ended; None when it did not."""
        return None if self.process is None else self.process.poll()

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                self.process.send_signal(number)

    def kill(self) -> None:
        """End it by SIGKILL, also where it was stopped."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    async def ended(self, seconds: float) -> bool:
        """Wait until it ends by itself, for so long at most; return whether it did."""
        last = time.monotonic() + seconds
        while self.is_running and time.monotonic() < last:  # noqa: ASYNC110 - another process
            await asyncio.sleep(POLL_SECONDS)
        return not self.is_running
