"""What the thought service needs of the world: a queue between its front and its workers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from taoloop.core.deadlines import Deadline
from taoloop.plan.task import Priority
from taoloop.thought.model import Lease, LeaseEnd, QueueState, ThinkFailure, ThinkJob, ThinkReply


class JobQueue(Protocol):
    """The front's side: every accepted job is answered once, or its caller is told that it was not."""

    async def ask(self, job: ThinkJob, deadline: Deadline) -> ThinkReply:
        """Put the job in the queue and wait for its reply. A job that was answered before is not done again.

        A caller that is cancelled, or whose time is up, takes its job back: one that waits leaves the queue, and the
        worker of one that is in work is told.

        Raises:
            QueueFull: Waiting and leased jobs together are as many as the queue may hold, of all or of this priority.
            TenantQueueFull: They are as many as the tenant may have.
            DeadlineExceeded: No reply came in time.
            BackendUnavailable: The queue does not take the job in time. Once it has taken it, an outage is waited out.
        """
        ...

    async def is_ready(self) -> bool:
        """Return whether the queue takes jobs."""
        ...


class JobSource(Protocol):
    """The worker's side: a job is leased, done, and answered; a lease that lapses goes to somebody else."""

    async def take(self, count: int, wait_seconds: float) -> Sequence[Lease]:
        """Return up to `count` jobs; none when nothing came in `wait_seconds`.

        Interactive jobs come before those of the background, which get a share of their own while both wait. Lapsed
        leases of others are looked for now and then, and come first.

        Raises:
            BackendUnavailable: The queue does not answer.
        """
        ...

    async def renew(self, leases: Sequence[Lease]) -> Mapping[tuple[Priority, str], LeaseEnd]:
        """Begin the time of these leases anew; return, by `Lease.key`, those that are to be given up.

        Raises:
            BackendUnavailable: The queue does not answer; the leases run on.
        """
        ...

    async def answer(self, lease: Lease, reply: ThinkReply | None) -> bool:
        """Store the reply, end the lease and tell who waits, in one step. A second answer changes nothing.

        Args:
            lease: The job.
            reply: None ends the lease of a job that nobody waits for.

        Returns:
            False when another worker has the lease: then nothing was changed.

        Raises:
            BackendUnavailable: The queue does not answer.
        """
        ...

    async def set_aside(self, lease: Lease, cause: str, failure: ThinkFailure) -> None:
        """Move an entry to the dead letters, end the lease and tell who waits, in one step.

        Args:
            lease: The entry.
            cause: Why, for the operator.
            failure: What the caller is told; an entry that could not be read has no caller that is known.

        Raises:
            BackendUnavailable: The queue does not answer; the entry stays leased.
        """
        ...

    async def leave(self, leases: Sequence[Lease]) -> None:
        """Give these leases back, for others to take at once, and take no more.

        Raises:
            BackendUnavailable: The queue does not answer; the leases lapse.
        """
        ...

    async def state(self) -> QueueState:
        """Return how much is in the queue.

        Raises:
            BackendUnavailable: The queue does not answer.
        """
        ...

    async def is_ready(self) -> bool:
        """Return whether the queue answers."""
        ...
