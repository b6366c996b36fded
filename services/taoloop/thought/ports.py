"""What the thought service needs of the world: a queue between its front and its workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from taoloop.core.deadlines import Deadline
from taoloop.thought.model import Lease, ThinkFailure, ThinkJob, ThinkReply


class JobQueue(Protocol):
    """The front's side: every accepted job is answered once, or its caller is told that it was not."""

    async def ask(self, job: ThinkJob, deadline: Deadline) -> ThinkReply:
        """Put the job in the queue and wait for its reply. A job that was answered before is not done again.

        Raises:
            QueueFull: Waiting and leased jobs together are as many as the queue may hold.
            DeadlineExceeded: No reply came in time.
            BackendUnavailable: The queue does not take the job in time.
        """
        ...

    async def is_ready(self) -> bool:
        """Return whether the queue takes jobs."""
        ...


class JobSource(Protocol):
    """The worker's side: a job is leased, done, and answered; a lease that lapses goes to somebody else."""

    async def take(self, count: int, wait_seconds: float) -> Sequence[Lease]:
        """Return up to `count` jobs, lapsed ones of others first; none when nothing came in `wait_seconds`.

        Raises:
            BackendUnavailable: The queue does not answer.
        """
        ...

    async def answer(self, lease: Lease, reply: ThinkReply) -> None:
        """Store the reply, end the lease and tell who waits, in one step. A second answer changes nothing.

        Raises:
            BackendUnavailable: The queue does not answer; the lease lapses and the job is done again.
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

    async def length(self) -> int:
        """Return how many jobs wait or are leased."""
        ...

    async def is_ready(self) -> bool:
        """Return whether the queue answers."""
        ...
