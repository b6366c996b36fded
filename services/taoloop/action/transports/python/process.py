"""One worker process, seen from the service: started, called, killed."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from taoloop.action.transports.python.frames import FrameBroken, Kind, frame, receive_frame

_MODULE: Final = "taoloop.action.transports.python.worker"
_MAX_NOTE_BYTES: Final = 64 * 1024
"""Longest text beside results: arguments refused, exceptions."""
_ENDED: Final = "the worker process ended before it had answered"


class WorkerDied(Exception):
    """The process ended, or said something that is no answer."""


class FunctionNotLoaded(Exception):
    """The process could not be started, or the function not be loaded; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How a worker is started.

    Attributes:
        entry_point: Its function.
        max_result_bytes: Largest result, as JSON.
        start_timeout_seconds: How long the function may take to be loaded.
        search_path: Directories where modules are looked for before the installed packages.
        environment: All of its environment.
    """

    entry_point: str
    max_result_bytes: int
    start_timeout_seconds: float
    search_path: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


class WorkerProcess:
    """A process that has loaded its function; one call at a time.

    Args:
        process: Leader of a session of its own.
        launch: How it was started.
    """

    def __init__(self, process: asyncio.subprocess.Process, launch: Launch) -> None:
        self._process = process
        self._launch = launch

    @classmethod
    async def start(cls, launch: Launch) -> WorkerProcess:
        """Start a process, which then loads its function.

        Raises:
            FunctionNotLoaded: It cannot be started.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",  # neither the environment nor the working directory decides what is imported
                "-X",
                "utf8",
                "-m",
                _MODULE,
                launch.entry_point,
                str(launch.max_result_bytes),
                *launch.search_path,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env={"LANG": "C.UTF-8", **launch.environment},  # never empty: uvloop passes its own on then
                start_new_session=True,  # Ctrl-C is for the service, and a kill reaches what the function started
            )
        except OSError as exc:
            raise FunctionNotLoaded("no process could be started") from exc
        return cls(process, launch)

    async def loaded(self) -> None:
        """Wait until the function is loaded; before that the process takes no call.

        Raises:
            FunctionNotLoaded: It cannot be loaded, or not in time; the process must be killed.
        """
        limit = self._launch.start_timeout_seconds
        try:
            async with asyncio.timeout(limit):
                kind, text = await self._receive()
        except TimeoutError as exc:
            raise FunctionNotLoaded(f"its module was not imported within {limit:g} s") from exc
        except WorkerDied as exc:
            raise FunctionNotLoaded("the process ended while it loaded it") from exc
        if kind is not Kind.READY:
            raise FunctionNotLoaded(text.decode(errors="replace"))

    @property
    def is_alive(self) -> bool:
        """Whether the process is known to run."""
        return self._process.returncode is None

    async def call(self, arguments: bytes) -> tuple[Kind, bytes]:
        """Call the function; cancelled, the worker must be killed.

        Args:
            arguments: A JSON object.

        Raises:
            WorkerDied: No answer comes any more.
        """
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(frame(Kind.CALL, arguments))
            await self._process.stdin.drain()
        except OSError as exc:
            raise WorkerDied(_ENDED) from exc
        return await self._receive()

    async def _receive(self) -> tuple[Kind, bytes]:
        assert self._process.stdout is not None
        limit = max(self._launch.max_result_bytes, _MAX_NOTE_BYTES)
        try:
            return await receive_frame(self._process.stdout.readexactly, limit)
        except FrameBroken as exc:
            raise WorkerDied("the worker process said something that is no answer") from exc
        except (asyncio.IncompleteReadError, OSError) as exc:
            raise WorkerDied(_ENDED) from exc

    def kill(self) -> None:
        """End the process at once, with whatever it started in its session."""
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return  # it has ended by itself, and nothing of it is left

    async def ended(self) -> None:
        """Wait until the process has ended."""
        await self._process.wait()
        assert self._process.stdin is not None
        self._process.stdin.close()

    def __repr__(self) -> str:
        return f"WorkerProcess({self._process.pid}, {'alive' if self.is_alive else 'ended'})"
