"""One planner process, seen from the worker: started, asked, killed."""

from __future__ import annotations

import asyncio
import pickle
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.planner_processes.child import HEADER
from taoloop.thought.planners.graph import PlannerReply

_MODULE: Final = "taoloop.thought.planner_processes.child"
START_SECONDS: Final = 60.0
MAX_REPLY_BYTES: Final = 64 * 1024 * 1024


class PlannerDied(Exception):
    """The process ended, did not start, or said something that is no reply; the message says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How a planner process is started.

    Attributes:
        catalogue: Where its catalogue is.
        digest: Of the catalogue that the worker has.
        module: What the process runs.
        environment: What it has of the environment beside the language; it needs nothing.
    """

    catalogue: Path
    digest: str
    module: str = _MODULE
    environment: Mapping[str, str] = field(default_factory=dict)


class PlannerProcess:
    """A process that plans one request after the other.

    Args:
        process: It, with pipes to its standard input and from its standard output.
    """

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    def __repr__(self) -> str:
        return f"<PlannerProcess {self._process.pid} {'alive' if self._process.returncode is None else 'ended'}>"

    @property
    def pid(self) -> int:
        """Return its process id."""
        return self._process.pid

    @classmethod
    async def start(cls, launch: Launch) -> PlannerProcess:
        """Start a process and wait until it takes requests.

        Raises:
            PlannerDied: It does not come to take any.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-P",  # the working directory does not decide what is imported
                "-X",
                "utf8",
                "-m",
                launch.module,
                str(launch.catalogue),
                launch.digest,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env={"LANG": "C.UTF-8", **launch.environment},
                start_new_session=True,  # Ctrl-C is for the worker, which still answers what it has in hand
            )
        except OSError as error:
            raise PlannerDied(f"no process could be started: {error}") from error
        started = cls(process)
        try:
            async with asyncio.timeout(START_SECONDS):
                fault = await started._receive()
            if fault:
                raise PlannerDied(str(fault))
        except TimeoutError as error:
            await started.kill()
            raise PlannerDied(f"it did not load its catalogue within {START_SECONDS:g} s") from error
        except BaseException:
            await started.kill()
            raise
        return started

    async def plan(self, request: ThinkRequest) -> PlannerReply:
        """Return the reply to a request; cancelled, the process must be killed.

        Raises:
            PlannerDied: No reply comes any more.
        """
        assert self._process.stdin is not None
        content = pickle.dumps(request, pickle.HIGHEST_PROTOCOL)
        try:
            self._process.stdin.write(HEADER.pack(len(content)) + content)
            await self._process.stdin.drain()
        except OSError as error:
            raise PlannerDied("it ended before it was asked") from error
        reply = await self._receive()
        if not isinstance(reply, PlannerReply):
            raise PlannerDied("it said something that is no reply")
        return reply

    async def kill(self) -> None:
        """End it at once, and wait until it has ended."""
        with suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()
        if self._process.stdin is not None:
            self._process.stdin.close()

    async def _receive(self) -> Any:
        assert self._process.stdout is not None
        try:
            (length,) = HEADER.unpack(await self._process.stdout.readexactly(HEADER.size))
            if length > MAX_REPLY_BYTES:
                raise PlannerDied("it said more than any reply is long")
            content = await self._process.stdout.readexactly(length)
        except (asyncio.IncompleteReadError, OSError) as error:
            raise PlannerDied("it ended before it had replied") from error
        return pickle.loads(content)  # noqa: S301 - from a process of this installation, which this one has started
