"""A thought queue in memory, both sides in one."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, DeadlineExceeded, QueueFull, TenantQueueFull
from taoloop.plan.task import Priority
from taoloop.thought.model import (
    Lease,
    LeaseEnd,
    QueueLimits,
    QueueState,
    StreamState,
    ThinkFailure,
    ThinkJob,
    ThinkReply,
)

ROOMY = QueueLimits(max_jobs=1000, max_background_jobs=1000, max_tenant_jobs=1000)


@dataclass(slots=True)
class _Entry:
    lease: Lease
    added: float
    waiters: int = 1
    owner: str = ""
    since: float = 0.0


class StoredJobs:
    """What several sides of one queue share. `is_down` makes every call fail, as an outage does.

    Args:
        clock: Measures leases.
        limits: How much it takes.
        lease_seconds: After this long a job that was neither answered nor renewed goes to somebody else.
    """

    def __init__(self, clock: Clock, limits: QueueLimits = ROOMY, lease_seconds: float = 30.0) -> None:
        self.clock = clock
        self.limits = limits
        self.lease_seconds = lease_seconds
        self.is_down = False
        self.dead: list[tuple[Lease, str]] = []
        self.entries: dict[str, _Entry] = {}
        self.ready: dict[Priority, deque[str]] = {priority: deque() for priority in Priority}
        self.replies: dict[str, ThinkReply] = {}
        self.changed = asyncio.Condition()
        self.added = 0


class InMemoryJobQueue:
    """A `JobQueue` and a `JobSource` that share one process.

    Args:
        clock: Measures leases.
        limits: How much it takes.
        lease_seconds: See `StoredJobs`.
        stored: What other sides of the same queue have; a queue of its own when left out.
        consumer: Tells this side's leases from those of the others.
        background_every: With both waiting, every so many-th job is one of the background.
    """

    def __init__(
        self,
        clock: Clock,
        limits: QueueLimits = ROOMY,
        lease_seconds: float = 30.0,
        stored: StoredJobs | None = None,
        consumer: str = "one",
        background_every: int = 5,
    ) -> None:
        self.stored = stored or StoredJobs(clock, limits, lease_seconds)
        self._consumer = consumer
        self._background_every = background_every
        self._since_background = 0

    def __repr__(self) -> str:
        leased = sum(bool(entry.owner) for entry in self.stored.entries.values())
        return f"<InMemoryJobQueue [{len(self.stored.entries) - leased} ready, {leased} leased]>"

    async def ask(self, job: ThinkJob, deadline: Deadline) -> ThinkReply:
        """See `JobQueue.ask`."""
        self._check()
        stored = self.stored
        if job.job_id not in stored.replies:
            await self._put(job, deadline)
        try:
            async with asyncio.timeout(deadline.remaining_seconds()), stored.changed:
                await stored.changed.wait_for(lambda: job.job_id in stored.replies)
        except TimeoutError as error:
            raise DeadlineExceeded(f"No worker answered job {job.job_id} in time.") from error
        finally:
            self._stop_waiting(job.job_id)
        return stored.replies[job.job_id]

    async def take(self, count: int, wait_seconds: float) -> Sequence[Lease]:
        """See `JobSource.take`."""
        self._check()
        self._reclaim()
        if not self._next_priority():
            try:
                async with asyncio.timeout(wait_seconds), self.stored.changed:
                    await self.stored.changed.wait_for(lambda: self._next_priority() is not None)
            except TimeoutError:
                return ()
        leases: list[Lease] = []
        while len(leases) < count and (priority := self._next_priority()) is not None:
            self._since_background = 0 if priority is Priority.BACKGROUND else self._since_background + 1
            leases.append(self._lease(self.stored.ready[priority].popleft()))
        return leases

    async def renew(self, leases: Sequence[Lease]) -> Mapping[tuple[Priority, str], LeaseEnd]:
        """See `JobSource.renew`."""
        self._check()
        ended: dict[tuple[Priority, str], LeaseEnd] = {}
        for lease in leases:
            entry = self.stored.entries.get(lease.entry_id)
            if entry is None or not entry.waiters:
                ended[lease.key] = LeaseEnd.ABANDONED
            elif entry.owner != self._consumer:
                ended[lease.key] = LeaseEnd.LOST
            else:
                entry.since = self.stored.clock.monotonic()
        return ended

    async def answer(self, lease: Lease, reply: ThinkReply | None) -> bool:
        """See `JobSource.answer`."""
        self._check()
        if lease.job is None:
            raise ValueError("an entry that cannot be read has no answer")
        entry = self.stored.entries.get(lease.entry_id)
        if entry is not None and entry.owner not in ("", self._consumer):
            return False
        self._remove(lease.entry_id)
        if reply is not None:
            async with self.stored.changed:
                self.stored.replies.setdefault(lease.job.job_id, reply)
                self.stored.changed.notify_all()
        return True

    async def set_aside(self, lease: Lease, cause: str, failure: ThinkFailure) -> None:
        """See `JobSource.set_aside`."""
        self._check()
        if lease.entry_id in self.stored.entries:
            self.stored.dead.append((lease, cause))
        if lease.job is not None:
            await self.answer(lease, ThinkReply(failure))
        self._remove(lease.entry_id)

    async def leave(self, leases: Sequence[Lease]) -> None:
        """See `JobSource.leave`."""
        self._check()
        for lease in leases:
            entry = self.stored.entries.get(lease.entry_id)
            if entry is not None and entry.owner == self._consumer:
                entry.lease = replace(entry.lease, deliveries=entry.lease.deliveries - 1)
                await self._make_ready(entry)

    async def state(self) -> QueueState:
        """See `JobSource.state`."""
        self._check()
        return QueueState(
            streams={priority: self._stream_state(priority) for priority in Priority}, dead=len(self.stored.dead)
        )

    async def is_ready(self) -> bool:
        """See `JobQueue.is_ready`."""
        return not self.stored.is_down

    def _stream_state(self, priority: Priority) -> StreamState:
        entries = [entry for entry in self.stored.entries.values() if entry.lease.priority is priority]
        leased = [entry for entry in entries if entry.owner]
        return StreamState(
            waiting=len(entries) - len(leased),
            leased=len(leased),
            oldest_seconds=max((self.stored.clock.monotonic() - entry.added for entry in entries), default=0.0),
            redelivered=sum(entry.lease.deliveries > 1 for entry in leased),
        )

    async def _put(self, job: ThinkJob, deadline: Deadline) -> None:
        known = next(
            (e for e in self.stored.entries.values() if e.lease.job and e.lease.job.job_id == job.job_id), None
        )
        if known is not None:
            known.waiters += 1
            return
        self._admit(job)
        self.stored.added += 1
        lease = Lease(
            entry_id=f"{self.stored.added}-0", priority=job.priority, job=job, deadline=deadline, deliveries=0
        )
        entry = self.stored.entries[lease.entry_id] = _Entry(lease, self.stored.clock.monotonic())
        await self._make_ready(entry)

    def _admit(self, job: ThinkJob) -> None:
        entries, limits = self.stored.entries.values(), self.stored.limits
        own = sum(entry.lease.priority is job.priority for entry in entries)
        if len(entries) >= limits.max_jobs or own >= limits.of(job.priority):
            raise QueueFull("The queue is full.", retry_after_seconds=1.0)
        tenant = sum(entry.lease.job is not None and entry.lease.job.tenant == job.tenant for entry in entries)
        if tenant >= limits.max_tenant_jobs:
            raise TenantQueueFull("The tenant's share is full.", retry_after_seconds=1.0)

    async def _make_ready(self, entry: _Entry) -> None:
        async with self.stored.changed:
            entry.owner = ""
            self.stored.ready[entry.lease.priority].append(entry.lease.entry_id)
            self.stored.changed.notify_all()

    def _next_priority(self) -> Priority | None:
        ready = self.stored.ready
        is_due = self._since_background >= self._background_every - 1
        order = (Priority.BACKGROUND, Priority.INTERACTIVE) if is_due else (Priority.INTERACTIVE, Priority.BACKGROUND)
        return next((priority for priority in order if ready[priority]), None)

    def _lease(self, entry_id: str) -> Lease:
        entry = self.stored.entries[entry_id]
        entry.owner, entry.since = self._consumer, self.stored.clock.monotonic()
        entry.lease = replace(entry.lease, deliveries=entry.lease.deliveries + 1)
        return entry.lease

    def _stop_waiting(self, job_id: str) -> None:
        for entry in list(self.stored.entries.values()):
            if entry.lease.job is not None and entry.lease.job.job_id == job_id:
                entry.waiters -= 1
                if not entry.waiters and not entry.owner:
                    self._remove(entry.lease.entry_id)

    def _remove(self, entry_id: str) -> None:
        entry = self.stored.entries.pop(entry_id, None)
        if entry is not None and entry_id in self.stored.ready[entry.lease.priority]:
            self.stored.ready[entry.lease.priority].remove(entry_id)

    def _reclaim(self) -> None:
        now = self.stored.clock.monotonic()
        for entry_id, entry in self.stored.entries.items():
            if entry.owner and now - entry.since > self.stored.lease_seconds:
                entry.owner = ""
                self.stored.ready[entry.lease.priority].appendleft(entry_id)

    def _check(self) -> None:
        if self.stored.is_down:
            raise BackendUnavailable("The queue is away.", metadata={"backend": "memory"})
