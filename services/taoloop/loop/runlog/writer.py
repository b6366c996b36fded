"""Writes a run's events: to the log first, then to the state, then to whoever listens."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, RunConflict
from taoloop.core.logs import EventLog
from taoloop.loop.ports import RunLog
from taoloop.loop.state import RunState
from taoloop.plan.running import EventBody, RunEvent, RunFinished, RunResumed

_log = EventLog(__name__)


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
        # Whoever opens a run writes in an epoch of its own: from its first event on, the one before is refused.
        self.epoch = state.host_epoch + 1
        self.is_noted = True
        """Whether the list of the tenant's runs says where the run stands."""
        self._is_sealed = False
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
            RunConflict: Another host wrote to the run, or the run was given up here; this host must stop.
            EventTooLarge: An event is larger than the log takes; none of them was written.
            BackendUnavailable: The log does not answer.
        """
        await asyncio.shield(self._write(bodies))

    def seal(self) -> None:
        """Write nothing more: the run is another host's now."""
        self._is_sealed = True

    async def settle(self) -> None:
        """Wait until no write is under way."""
        async with self._one_at_a_time:
            return

    async def _write(self, bodies: Sequence[EventBody]) -> None:
        async with self._one_at_a_time:
            if self._is_sealed:
                raise RunConflict(f"This host gave run {self.state.run_id} up.", metadata={"run_id": self.state.run_id})
            time, first = self._clock.now(), self.state.last_sequence + 1
            events = [
                RunEvent(
                    run_id=self.state.run_id,
                    sequence=first + offset,
                    time=time,
                    host_epoch=self.epoch,
                    body=body,
                )
                for offset, body in enumerate(bodies)
            ]
            await self._log.append(self.tenant, events, Deadline.after(self._timeout_seconds, self._clock))
            for event in events:
                self.state.apply(event)
                for queue in self._listeners:
                    queue.put_nowait(event)
            if any(isinstance(body, (RunFinished, RunResumed)) for body in bodies):
                await self.note()

    async def note(self) -> None:
        """Enter where the run stands in the tenant's list, or let `is_noted` say that it is not there."""
        deadline = Deadline.after(self._timeout_seconds, self._clock)
        try:
            await self._log.note(self.tenant, self.state.summary(), deadline)
        except BackendUnavailable as error:  # the events are written, and a list that is late is set right later
            _log.warning("run_not_noted", run_id=self.state.run_id, reason=error.reason)
            self.is_noted = False
        else:
            self.is_noted = True

    def close(self) -> None:
        """Tell the listeners that nobody on this host works on the run any more."""
        for queue in self._listeners:
            queue.put_nowait(None)
