"""The running stack of a demonstration, with a thought worker of its own that can be killed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from pydantic import SecretStr

from taoloop.cli.demo.tasks import Upstream
from taoloop.core.clock import Clock
from taoloop.core.errors import BackendUnavailable
from taoloop.core.settings import RedisSettings
from taoloop.testing.processes.worker import WorkerProcess
from taoloop.testing.stack import DevStack, StackOptions, dev_stack
from taoloop.thought.app import queue_desk
from taoloop.thought.queue.redis_queue_desk import QueueDesk

WORKER_LEASE_SECONDS: Final = 1.0
"""How long a dead worker keeps a thought; short, since somebody looks on."""
START_SECONDS: Final = 60.0
LOG_TAIL_CHARACTERS: Final = 500
TOOLS_MAX_AGE_SECONDS: Final = 0.5
"""How old the loop's list of available tools may become."""
TAKE_SECONDS: Final = 5.0
"""How long a frozen worker is given to take a thought."""
_POLL_SECONDS: Final = 0.02


class DemoStage:
    """Plays faults of tools, and a worker's death, on a running stack."""

    def __init__(self, stack: DevStack, worker: WorkerProcess, desk: QueueDesk, clock: Clock) -> None:
        self.stack = stack
        self.worker = worker
        self._desk = desk
        self._clock = clock
        self._failing: tuple[str, ...] = ()

    def requests(self) -> Mapping[str, int]:
        """Return how many requests each tool has had."""
        assert self.stack.mock is not None
        return self.stack.mock.calls

    def fail(self, upstream: Sequence[Upstream]) -> None:
        """Have these tools fail, and all others answer well."""
        assert self.stack.mock is not None
        for tool in self._failing:
            self.stack.mock.script(tool, None)
        for fault in upstream:
            self.stack.mock.script(fault.tool, fault.reply)
        self._failing = tuple(fault.tool for fault in upstream)

    async def worker_joins(self, log: Path) -> None:
        """Wait until the queue knows the worker.

        Args:
            log: Where the worker's output goes, for the error.

        Raises:
            BackendUnavailable: It does not come up.
        """
        until = self._clock.monotonic() + START_SECONDS
        while not await self._desk.workers():
            if self._clock.monotonic() > until:
                said = (await asyncio.to_thread(log.read_text, "utf-8", "replace"))[-LOG_TAIL_CHARACTERS:].strip()
                raise BackendUnavailable(f"The thought worker does not come up: {said}", metadata={"backend": "worker"})
            await self._clock.sleep(_POLL_SECONDS)

    def freeze_worker(self) -> None:
        """Stop the worker in the middle of whatever it does next."""
        self.worker.freeze()

    async def kill_worker(self) -> str:
        """Kill the frozen worker once it holds a thought, start another one, and return in words what was done."""
        until = self._clock.monotonic() + TAKE_SECONDS
        while not (is_held := await self._is_held()) and self._clock.monotonic() < until:
            await self._clock.sleep(_POLL_SECONDS)
        self.worker.kill()
        self.worker.start()
        return "worker killed with the thought in hand" if is_held else "worker killed before it took the thought"

    async def _is_held(self) -> bool:
        return any(stream.leased for stream in (await self._desk.state()).streams.values())


@asynccontextmanager
async def demo_stage(catalogue: Path, clock: Clock) -> AsyncIterator[DemoStage]:
    """Run a stack on free ports and one worker beside it; nothing is left when the block is.

    Raises:
        ConfigurationError: See `dev_stack`.
        CatalogueInvalid: See `dev_stack`.
        BackendUnavailable: See `dev_stack`.
    """
    # What one task does to a tool, the next one is to know.
    loop = {"tools_max_age_seconds": TOOLS_MAX_AGE_SECONDS}
    async with dev_stack(StackOptions(catalogue=catalogue, has_worker=False, settings={"loop": loop}), clock) as stack:
        settings = {"TAOLOOP_WORKER_LEASE_SECONDS": str(WORKER_LEASE_SECONDS)}
        log = stack.data_directory / "worker.log"
        async with (
            WorkerProcess(stack.valkey.url, catalogue, log, settings) as worker,
            queue_desk(RedisSettings(url=SecretStr(stack.valkey.url)), stack.telemetry, clock) as desk,
        ):
            stage = DemoStage(stack, worker, desk, clock)
            await stage.worker_joins(log)
            yield stage
