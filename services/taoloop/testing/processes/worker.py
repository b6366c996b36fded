"""A thought worker as a process of its own, which a test or a demonstration may freeze and kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from taoloop.testing.processes.ending import end_in_order
from taoloop.testing.processes.guard import Guard

STOP_SECONDS: Final = 10.0


class WorkerProcess:
    """`taoloop serve thought-worker` for one queue and one catalogue; it takes thoughts once it has started.

    Use it as an asynchronous context manager. Leaving it ends the process in order, a frozen one by SIGKILL.

    Args:
        redis_url: The queue.
        catalogue: Directory, file or bundle of tools.
        log: Where its output goes.
        settings: Variables `TAOLOOP_…` that differ from the defaults; nothing else of taoloop is inherited.
    """

    def __init__(self, redis_url: str, catalogue: Path, log: Path, settings: Mapping[str, str] | None = None) -> None:
        self._log = log
        self._variables = {
            "TAOLOOP_REDIS__URL": redis_url,
            "TAOLOOP_CATALOGUE": str(catalogue),
            "TAOLOOP_TELEMETRY__METRICS_PORT": "0",
            **(settings or {}),
        }
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: Guard | None = None
        self._is_frozen = False

    def __repr__(self) -> str:
        return f"<WorkerProcess [{'down' if self.pid is None else f'pid {self.pid}'}]>"

    @property
    def pid(self) -> int | None:
        """Its process id; None while it is down."""
        return None if self._process is None else self._process.pid

    async def __aenter__(self) -> Self:
        self.start()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    def start(self) -> None:
        """Start the process; does nothing when it runs."""
        if self._process is not None:
            return
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("TAOLOOP_")}  # noqa: TID251 - handed on to a child
        with self._log.open("ab") as log:
            # In a session of its own: Ctrl-C goes to a terminal's whole process group, and this one is ended in order.
            self._process = subprocess.Popen(
                [sys.executable, "-m", "taoloop.cli.main", "serve", "thought-worker"],
                env={**inherited, **self._variables},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._guard = Guard(self._process.pid)
        self._is_frozen = False

    def freeze(self) -> None:
        """Stop it by SIGSTOP: what its queue hands out it takes, and never answers."""
        if self._process is not None:
            self._process.send_signal(signal.SIGSTOP)
            self._is_frozen = True

    def kill(self) -> None:
        """End it by SIGKILL, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._forget()

    async def stop(self) -> None:
        """End it in order; it is killed when it takes more than ten seconds or is frozen. Does nothing when down."""
        process = self._process
        if process is None:
            return
        if self._is_frozen:
            self.kill()
            return
        try:
            await end_in_order(process, STOP_SECONDS)
        finally:
            self._forget()

    def _forget(self) -> None:
        self._process = None
        if self._guard is not None:
            self._guard.dismiss()
            self._guard = None
