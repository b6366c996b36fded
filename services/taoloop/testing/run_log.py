"""A run log in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, RequestIdReused, RunConflict, UnknownRun
from taoloop.loop.ports import NewRun
from taoloop.plan.running import RunEvent


class InMemoryRunLog:
    """A `RunLog` that lives as long as the process. `is_down` makes every call fail, as an outage does."""

    def __init__(self) -> None:
        self.is_down = False
        self._events: dict[tuple[str, str], list[RunEvent]] = {}
        self._requests: dict[tuple[str, str], tuple[str, str]] = {}
        self._runs: dict[str, list[str]] = {}
        self._changed = asyncio.Condition()

    def __repr__(self) -> str:
        return f"<InMemoryRunLog [{len(self._events)} runs]>"

    async def create(self, run: NewRun, deadline: Deadline) -> str:
        """See `RunLog.create`."""
        self._check()
        known = self._requests.setdefault((run.tenant, run.request_id), (run.run_id, run.task_digest))
        if known[1] != run.task_digest:
            raise RequestIdReused.of(run.request_id)
        if known[0] == run.run_id:
            self._runs.setdefault(run.tenant, []).append(run.run_id)
        return known[0]

    async def append(self, tenant: str, event: RunEvent, deadline: Deadline) -> None:
        """See `RunLog.append`."""
        self._check()
        events = self._events.setdefault((tenant, event.run_id), [])
        if event.sequence <= len(events) and events[event.sequence - 1] == event:
            return
        is_stale = bool(events) and event.host_epoch < events[-1].host_epoch
        if is_stale or event.sequence != len(events) + 1:
            raise RunConflict(f"Event {event.sequence} of run {event.run_id} was not written.")
        async with self._changed:
            events.append(event)
            self._changed.notify_all()

    async def read(self, tenant: str, run_id: str, from_sequence: int, deadline: Deadline) -> tuple[RunEvent, ...]:
        """See `RunLog.read`."""
        self._check()
        if (tenant, run_id) not in self._events:
            raise UnknownRun.of(run_id)
        return tuple(self._events[tenant, run_id][max(0, from_sequence - 1) :])

    async def follow(
        self, tenant: str, run_id: str, from_sequence: int, deadline: Deadline
    ) -> AsyncGenerator[RunEvent]:
        """See `RunLog.follow`."""
        position = max(0, from_sequence - 1)
        while not deadline.is_expired:
            events = await self.read(tenant, run_id, position + 1, deadline)
            for event in events:
                position = event.sequence
                yield event
            if not events:
                await self._wait(tenant, run_id, position, deadline)

    async def list_runs(self, tenant: str, limit: int, before: str, deadline: Deadline) -> tuple[str, ...]:
        """See `RunLog.list_runs`."""
        self._check()
        newest_first = self._runs.get(tenant, [])[::-1]
        start = newest_first.index(before) + 1 if before in newest_first else 0
        return tuple(newest_first[start : start + limit])

    async def is_ready(self) -> bool:
        """See `RunLog.is_ready`."""
        return not self.is_down

    async def _wait(self, tenant: str, run_id: str, position: int, deadline: Deadline) -> None:
        try:
            async with asyncio.timeout(deadline.remaining_seconds()), self._changed:
                await self._changed.wait_for(lambda: len(self._events[tenant, run_id]) > position)
        except TimeoutError:
            return

    def _check(self) -> None:
        if self.is_down:
            raise BackendUnavailable("The run log is away.", metadata={"backend": "memory"})
