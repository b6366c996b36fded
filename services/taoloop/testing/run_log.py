"""A run log and leases in memory."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from copy import copy

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, InvalidRequest, RequestIdReused, RunConflict, UnknownRun
from taoloop.loop.ports import NewRun, RunKey, RunPosition, RunsPage, RunsWanted
from taoloop.loop.state import RunState
from taoloop.plan.running import RunEvent, RunSummary


class InMemoryRunLog:
    """A `RunLog` that lives as long as the process. `is_down` makes every call fail, as an outage does.

    One object is one writer, as a process is; `beside` gives another one on the same runs.
    """

    def __init__(self) -> None:
        self.is_down = False
        self._writers: dict[tuple[str, str], InMemoryRunLog] = {}
        """Who wrote last, by run."""
        self._events: dict[tuple[str, str], list[RunEvent]] = {}
        self._requests: dict[tuple[str, str], tuple[str, str]] = {}
        self._runs: dict[str, dict[str, NewRun]] = {}
        self._changed = asyncio.Condition()

    def __repr__(self) -> str:
        return f"<InMemoryRunLog [{len(self._events)} runs]>"

    def beside(self) -> InMemoryRunLog:
        """Return the same log for another writer, which has an outage of its own."""
        other = copy(self)
        other.is_down = False
        return other

    async def create(self, run: NewRun, deadline: Deadline) -> str:
        """See `RunLog.create`."""
        self._check()
        known = self._requests.setdefault((run.tenant, run.request_id), (run.run_id, run.task_digest))
        if known[1] != run.task_digest:
            raise RequestIdReused.of(run.request_id)
        if known[0] == run.run_id:
            self._runs.setdefault(run.tenant, {}).setdefault(run.run_id, run)
        return known[0]

    async def append(self, tenant: str, events: Sequence[RunEvent], deadline: Deadline) -> None:
        """See `RunLog.append`."""
        self._check()
        first, run_id = events[0].sequence, events[0].run_id
        known = self._events.setdefault((tenant, run_id), [])
        is_there = first <= len(known) and known[first - 1 : first - 1 + len(events)] == list(events)
        if is_there and self._writers.get((tenant, run_id)) is self:
            return
        is_stale = bool(known) and events[0].host_epoch < known[-1].host_epoch
        if is_stale or first != len(known) + 1:
            cause = "stale" if is_stale else "conflict"
            raise RunConflict(
                f"Event {first} of run {run_id} was not written: {cause}.",
                metadata={"run_id": run_id, "sequence": str(first), "cause": cause},
            )
        async with self._changed:
            known += events
            self._writers[tenant, run_id] = self
            self._changed.notify_all()

    async def position(self, tenant: str, run_id: str, deadline: Deadline) -> RunPosition:
        """See `RunLog.position`."""
        last = (await self.read(tenant, run_id, 1, deadline))[-1]
        return RunPosition(last.sequence, last.host_epoch)

    async def read(self, tenant: str, run_id: str, from_sequence: int, deadline: Deadline) -> tuple[RunEvent, ...]:
        """See `RunLog.read`."""
        self._check()
        if not self._events.get((tenant, run_id)):
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

    async def note(self, tenant: str, summary: RunSummary, deadline: Deadline) -> None:
        """See `RunLog.note`; the list is made anew from the events each time that it is asked for."""
        self._check()

    async def list_runs(self, tenant: str, wanted: RunsWanted, deadline: Deadline) -> RunsPage:
        """See `RunLog.list_runs`."""
        self._check()
        newest_first = sorted(self._runs.get(tenant, {}).values(), key=lambda run: run.created_at, reverse=True)
        begun = [(run.run_id, self._events[run.tenant, run.run_id]) for run in newest_first if self._has_begun(run)]
        summaries = [RunState.from_events(run_id, events).summary() for run_id, events in begun]
        listed = [each for each in summaries if wanted.outcome in (None, each.outcome)]
        ids = [each.run_id for each in listed]
        if wanted.page_token and wanted.page_token not in ids:
            raise InvalidRequest("The page token is none that this list gave out.")
        start = ids.index(wanted.page_token) + 1 if wanted.page_token else 0
        page = tuple(listed[start : start + wanted.most])
        return RunsPage(page, page[-1].run_id if len(page) == wanted.most else "")

    def _has_begun(self, run: NewRun) -> bool:
        return bool(self._events.get((run.tenant, run.run_id)))

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


class LeaseTable:
    """The leases that several hosts share; each has its own `InMemoryRunLeases` on it.

    Args:
        clock: Whose `monotonic` leases lapse by.
    """

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.held: dict[RunKey, tuple[str, float]] = {}
        """Host, and when the lease lapses, by run."""

    def let_lapse(self) -> None:
        """Let every lease lapse, as if the hosts had died a while ago."""
        self.held = {run: (host, self.clock.monotonic()) for run, (host, _) in self.held.items()}


class InMemoryRunLeases:
    """`RunLeases` of one host on a table. `is_down` makes every call fail, as an outage does."""

    def __init__(self, table: LeaseTable, host: str = "one", lease_seconds: float = 10.0) -> None:
        self.is_down = False
        self._table = table
        self._host = host
        self._lease_seconds = lease_seconds

    def __repr__(self) -> str:
        return f"<InMemoryRunLeases of {self._host} [{len(self._table.held)} held by all]>"

    async def hold(self, run: RunKey, deadline: Deadline) -> None:
        """See `RunLeases.hold`."""
        self._check()
        self._set(run, self._lease_seconds)

    async def renew(self, runs: Sequence[RunKey], deadline: Deadline) -> tuple[RunKey, ...]:
        """See `RunLeases.renew`."""
        self._check()
        for run in runs:
            if self._has(run):
                self._set(run, self._lease_seconds)
        return tuple(run for run in runs if not self._has(run))

    async def release(self, run: RunKey, deadline: Deadline) -> None:
        """See `RunLeases.release`."""
        self._check()
        if self._has(run):
            del self._table.held[run]

    async def hand_back(self, runs: Sequence[RunKey], deadline: Deadline) -> None:
        """See `RunLeases.hand_back`."""
        self._check()
        for run in runs:
            if self._has(run):
                self._set(run, 0.0)

    async def claim(self, most: int, deadline: Deadline) -> tuple[RunKey, ...]:
        """See `RunLeases.claim`."""
        self._check()
        claimed = self._lapsed()[:most]
        for run in claimed:
            self._set(run, self._lease_seconds)
        return tuple(claimed)

    async def lapsed(self, deadline: Deadline) -> int:
        """See `RunLeases.lapsed`."""
        self._check()
        return len(self._lapsed())

    def _lapsed(self) -> list[RunKey]:
        now = self._table.clock.monotonic()
        moments = sorted((lapses, run.run_id, run) for run, (_, lapses) in self._table.held.items() if lapses <= now)
        return [run for _, _, run in moments]

    def _has(self, run: RunKey) -> bool:
        return run in self._table.held and self._table.held[run][0] == self._host

    def _set(self, run: RunKey, seconds: float) -> None:
        self._table.held[run] = (self._host, self._table.clock.monotonic() + seconds)

    def _check(self) -> None:
        if self.is_down:
            raise BackendUnavailable("The leases are away.", metadata={"backend": "memory"})
