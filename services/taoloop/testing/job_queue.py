"""A thought queue in memory, both sides in one."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, DeadlineExceeded, QueueFull
from taoloop.thought.model import Lease, ThinkFailure, ThinkJob, ThinkReply


class InMemoryJobQueue:
    """A `JobQueue` and a `JobSource` that share one process. `is_down` makes every call fail, as an outage does.

    Args:
        clock: Measures leases.
        max_jobs: Most jobs that may wait or be leased.
        lease_seconds: After this long a job that was not answered goes to somebody else.
    """

    def __init__(self, clock: Clock, max_jobs: int = 1000, lease_seconds: float = 30.0) -> None:
        self.is_down = False
        self.dead: list[tuple[Lease, str]] = []
        self._clock = clock
        self._max_jobs = max_jobs
        self._lease_seconds = lease_seconds
        self._ready: deque[tuple[str, ThinkJob]] = deque()
        self._leased: dict[str, tuple[ThinkJob, float]] = {}
        self._deliveries: dict[str, int] = {}
        self._replies: dict[str, ThinkReply] = {}
        self._changed = asyncio.Condition()
        self._next_entry = 0

    def __repr__(self) -> str:
        return f"<InMemoryJobQueue [{len(self._ready)} ready, {len(self._leased)} leased of {self._max_jobs}]>"

    async def ask(self, job: ThinkJob, deadline: Deadline) -> ThinkReply:
        """See `JobQueue.ask`."""
        self._check()
        if job.job_id not in self._replies and not self._is_known(job.job_id):
            await self._put(job)
        try:
            async with asyncio.timeout(deadline.remaining_seconds()), self._changed:
                await self._changed.wait_for(lambda: job.job_id in self._replies)
        except TimeoutError as error:
            raise DeadlineExceeded(f"No worker answered job {job.job_id} in time.") from error
        return self._replies[job.job_id]

    async def take(self, count: int, wait_seconds: float) -> Sequence[Lease]:
        """See `JobSource.take`."""
        self._check()
        self._reclaim()
        if not self._ready:
            try:
                async with asyncio.timeout(wait_seconds), self._changed:
                    await self._changed.wait_for(lambda: bool(self._ready))
            except TimeoutError:
                return ()
        return tuple(self._lease() for _ in range(min(count, len(self._ready))))

    async def answer(self, lease: Lease, reply: ThinkReply) -> None:
        """See `JobSource.answer`."""
        self._check()
        if lease.job is None:
            raise ValueError("an entry that cannot be read has no answer")
        self._leased.pop(lease.entry_id, None)
        async with self._changed:
            self._replies.setdefault(lease.job.job_id, reply)
            self._changed.notify_all()

    async def set_aside(self, lease: Lease, cause: str, failure: ThinkFailure) -> None:
        """See `JobSource.set_aside`."""
        self._check()
        if self._leased.pop(lease.entry_id, None) is not None:
            self.dead.append((lease, cause))
        if lease.job is not None:
            await self.answer(lease, ThinkReply(failure))

    async def length(self) -> int:
        """See `JobSource.length`."""
        return len(self._ready) + len(self._leased)

    async def is_ready(self) -> bool:
        """See `JobQueue.is_ready`."""
        return not self.is_down

    def _is_known(self, job_id: str) -> bool:
        waiting = (job.job_id for _, job in self._ready)
        return job_id in waiting or any(job.job_id == job_id for job, _ in self._leased.values())

    async def _put(self, job: ThinkJob) -> None:
        if len(self._ready) + len(self._leased) >= self._max_jobs:
            raise QueueFull("The queue is full.", retry_after_seconds=1.0)
        async with self._changed:
            self._next_entry += 1
            self._ready.append((f"{self._next_entry}-0", job))
            self._changed.notify_all()

    def _lease(self) -> Lease:
        entry_id, job = self._ready.popleft()
        self._leased[entry_id] = (job, self._clock.monotonic())
        self._deliveries[entry_id] = self._deliveries.get(entry_id, 0) + 1
        return Lease(entry_id=entry_id, job=job, deliveries=self._deliveries[entry_id])

    def _reclaim(self) -> None:
        now = self._clock.monotonic()
        for entry_id, (job, since) in list(self._leased.items()):
            if now - since > self._lease_seconds:
                del self._leased[entry_id]
                self._ready.appendleft((entry_id, job))

    def _check(self) -> None:
        if self.is_down:
            raise BackendUnavailable("The queue is away.", metadata={"backend": "memory"})
