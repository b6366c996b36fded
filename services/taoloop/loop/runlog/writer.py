"""Writes a run's events: to the log first, then to the state, then to whoever listens."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.loop.ports import RunLog
from taoloop.loop.state import RunState
from taoloop.plan.running import EventBody, RunEvent


class RunWriter:
    """The one writer of a run on this host; steps that end at the same time are written one after the other.

    Args:
        log: Where events are made durable.
        tenant: Whose run it is.
        state: The run so far; kept up to date.
        clock: For the events' time.
        timeout_seconds: How long one write may take. It does not shrink with the caller's deadline, since how a
            run ended must be written although its time is up.
    """

    def __init__(self, log: RunLog, tenant: str, state: RunState, clock: Clock, timeout_seconds: float) -> None:
        self.state = state
        self.tenant = tenant
        self._log = log
        self._clock = clock
        self._timeout_seconds = timeout_seconds
        self._epoch = max(1, state.host_epoch)
        self._one_at_a_time = asyncio.Lock()
        self._listeners: list[asyncio.Queue[RunEvent | None]] = []

    def listen(self) -> asyncio.Queue[RunEvent | None]:
        """Return a queue that receives every event written from now on, and None when the work on the run ends."""
        queue: asyncio.Queue[RunEvent | None] = asyncio.Queue()
        self._listeners.append(queue)
        return queue

    async def emit(self, *bodies: EventBody) -> None:
        """Write events that stand or fall together, in this order.

        A caller that is cancelled in the middle does not cut the write off: whether the log has the event would not be
        known, and the next one would take its number.

        Raises:
            RunConflict: Another host wrote to the run; this one must stop.
            BackendUnavailable: The log does not answer.
        """
        await asyncio.shield(self._write(bodies))

    async def settle(self) -> None:
        """Wait until no write is under way."""
        async with self._one_at_a_time:
            return

    async def _write(self, bodies: Sequence[EventBody]) -> None:
        async with self._one_at_a_time:
            for body in bodies:
                event = RunEvent(
                    run_id=self.state.run_id,
                    sequence=self.state.last_sequence + 1,
                    time=self._clock.now(),
                    host_epoch=self._epoch,
                    body=body,
                )
                await self._log.append(self.tenant, event, Deadline.after(self._timeout_seconds, self._clock))
                self.state.apply(event)
                for queue in self._listeners:
                    queue.put_nowait(event)

    def close(self) -> None:
        """Tell the listeners that nobody on this host works on the run any more."""
        for queue in self._listeners:
            queue.put_nowait(None)
