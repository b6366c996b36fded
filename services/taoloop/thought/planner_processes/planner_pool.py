"""A fixed number of planner processes, each replaced when it dies or has to be killed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from taoloop.core.clock import Clock
from taoloop.core.errors import ConfigurationError, DeadlineExceeded, InternalError
from taoloop.core.ids import new_id
from taoloop.core.logs import EventLog
from taoloop.core.tasks import first_error
from taoloop.core.telemetry import Telemetry, names
from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.pipeline.ports import GraphRunner
from taoloop.thought.planner_processes.planner_process import Launch, PlannerDied, PlannerProcess
from taoloop.thought.planners.graph import PlannerReply

REPLACE_PAUSE_SECONDS: Final = 1.0

_log = EventLog(__name__)


class InProcesses:
    """A `GraphRunner` in processes. Use it as `planner_processes` opens it.

    Args:
        launch: How one is started.
        timeout_seconds: How long one plan may take before its process is killed.
        stand_in: Plans while no process can be had.
        group: Runs replacements.
        clock: Paces them.
        telemetry: Counts the processes that ended.
    """

    def __init__(
        self,
        launch: Launch,
        timeout_seconds: float,
        stand_in: GraphRunner,
        *,
        group: asyncio.TaskGroup,
        clock: Clock,
        telemetry: Telemetry,
    ) -> None:
        self._launch = launch
        self._timeout_seconds = timeout_seconds
        self._stand_in = stand_in
        self._group = group
        self._clock = clock
        self._ended = telemetry.metrics.counter(names.PLANNER_PROCESSES_ENDED)
        self._idle: asyncio.LifoQueue[PlannerProcess] = asyncio.LifoQueue()
        self._processes: set[PlannerProcess] = set()
        self._spent: set[PlannerProcess] = set()
        self._replacing: set[asyncio.Task[None]] = set()

    def __repr__(self) -> str:
        return f"<InProcesses [{self._idle.qsize()} of {len(self._processes)} idle] {self.name}>"

    @property
    def name(self) -> str:
        """See `GraphRunner.name`."""
        return self._stand_in.name

    @property
    def pids(self) -> tuple[int, ...]:
        """Return the ids of the processes that live."""
        return tuple(sorted(process.pid for process in self._processes))

    async def plan(self, request: ThinkRequest) -> PlannerReply:
        """See `GraphRunner.plan`; waits for a free process, and plans with it alone.

        Raises:
            DeadlineExceeded: The plan took too long.
            InternalError: The process died of this request.
        """
        if not self._processes:
            return await self._stand_in.plan(request)
        process = await self._idle.get()
        is_spent = True
        try:
            async with asyncio.timeout(self._timeout_seconds):
                reply = await process.plan(request)
            is_spent = False
        except TimeoutError as error:
            self._ended.labels(reason="timeout").inc()
            seconds = f"{self._timeout_seconds:g}"
            raise DeadlineExceeded(
                f"The graph planner did not decide within {seconds} s.", metadata={"timeout_seconds": seconds}
            ) from error
        except PlannerDied as error:
            self._ended.labels(reason="died").inc()
            incident = new_id(self._clock)
            _log.error("planner_died", pid=process.pid, cause=str(error), incident=incident)
            raise InternalError.of(incident) from error
        except asyncio.CancelledError:
            self._ended.labels(reason="cancelled").inc()
            raise
        finally:
            if is_spent:
                self._processes.discard(process)
                self._spent.add(process)
                task = self._group.create_task(self._replace(process), name="replace a planner process")
                self._replacing.add(task)
                task.add_done_callback(self._replacing.discard)
            else:
                self._idle.put_nowait(process)
        return reply

    async def start(self, count: int) -> None:
        """Start processes side by side.

        Raises:
            ConfigurationError: One does not start.
        """
        starting = (PlannerProcess.start(self._launch) for _ in range(count))
        started = await asyncio.gather(*starting, return_exceptions=True)
        for process in started:
            if isinstance(process, PlannerProcess):
                self._add(process)
        for error in started:
            if isinstance(error, PlannerDied):
                await self.close()
                raise ConfigurationError(f"A planner process does not start: {error}.") from error
            if isinstance(error, BaseException):
                raise error

    async def close(self) -> None:
        """Kill every process, and start none any more."""
        replacing = tuple(self._replacing)
        for task in replacing:
            task.cancel()
        await asyncio.gather(*replacing, return_exceptions=True)
        # A replacement that was cancelled has left what it was to kill.
        for process in (*self._processes, *self._spent):
            await process.kill()

    async def _replace(self, spent: PlannerProcess) -> None:
        await spent.kill()
        self._spent.discard(spent)
        while True:
            try:
                self._add(await PlannerProcess.start(self._launch))
            except PlannerDied as error:
                _log.error("planner_not_started", cause=str(error))
                await self._clock.sleep(REPLACE_PAUSE_SECONDS)
            else:
                return

    def _add(self, process: PlannerProcess) -> None:
        self._processes.add(process)
        self._idle.put_nowait(process)


@asynccontextmanager
async def planner_processes(
    launch: Launch,
    count: int,
    timeout_seconds: float,
    stand_in: GraphRunner,
    *,
    clock: Clock,
    telemetry: Telemetry,
) -> AsyncIterator[InProcesses]:
    """Run `count` planner processes while the block runs.

    Raises:
        ConfigurationError: One does not start.
    """
    with first_error():
        async with asyncio.TaskGroup() as group:
            pool = InProcesses(launch, timeout_seconds, stand_in, group=group, clock=clock, telemetry=telemetry)
            await pool.start(count)
            try:
                yield pool
            finally:
                await pool.close()
