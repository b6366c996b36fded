"""Jobs, leases and replies of the thought queue, and what is known of the queue itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from taoloop.core.deadlines import Deadline
from taoloop.plan.task import Priority
from taoloop.plan.thinking import ThinkRequest, ThinkResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkJob:
    """One thought wanted, as it waits in the queue."""

    job_id: str
    """Run and iteration: the same thought asked for twice is one job."""
    tenant: str
    request: ThinkRequest
    trace: Mapping[str, str] = field(default_factory=dict)
    """W3C trace context of the caller: `traceparent`, `tracestate`."""

    @property
    def priority(self) -> Priority:
        """Return which jobs it waits among."""
        return self.request.priority


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkFailure:
    """Why a worker made no thought: the parts of a `TaoError` that travel."""

    reason: str
    message: str
    metadata: Mapping[str, str] = field(default_factory=dict)
    retry_after_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class ThinkReply:
    """What a worker answers: a thought, or why there is none."""

    outcome: ThinkResponse | ThinkFailure


@dataclass(frozen=True, slots=True, kw_only=True)
class Lease:
    """A job in a worker's hands."""

    entry_id: str
    """The queue's own name for the entry, unique among those of its priority."""
    priority: Priority = Priority.INTERACTIVE
    """Which jobs it waited among."""
    job: ThinkJob | None
    """None when the entry could not be read; it can only be set aside."""
    deadline: Deadline
    """When nobody waits any more; a job past it never reaches a planner."""
    waited_seconds: float = 0.0
    """How long the entry had waited when it was handed out."""
    deliveries: int = 1
    """How often the entry was handed out, this time included."""
    fault: str = ""
    """Why the entry could not be read."""

    @property
    def key(self) -> tuple[Priority, str]:
        """Return what tells it from every other lease."""
        return self.priority, self.entry_id


class LeaseEnd(StrEnum):
    """Why a worker has to give a lease up before it is done."""

    LOST = "lost"
    """It lapsed, and another worker has the job now."""
    ABANDONED = "abandoned"
    """Nobody waits for the reply any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueLimits:
    """How much the queue takes; waiting and leased jobs count alike.

    Attributes:
        max_jobs: Most jobs of all.
        max_background_jobs: Most jobs of the background, so that they leave room for the others.
        max_tenant_jobs: Most jobs of one tenant.
    """

    max_jobs: int
    max_background_jobs: int
    max_tenant_jobs: int

    def of(self, priority: Priority) -> int:
        """Return the most jobs of a priority."""
        return self.max_background_jobs if priority is Priority.BACKGROUND else self.max_jobs


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamState:
    """The jobs of one priority.

    Attributes:
        waiting: Jobs that no worker has: the group's lag.
        leased: Jobs in the hands of workers: the group's pending entries.
        oldest_seconds: Age of the oldest job that is not answered; 0.0 when there is none.
        redelivered: Leased jobs that were handed out more than once.
    """

    waiting: int = 0
    leased: int = 0
    oldest_seconds: float = 0.0
    redelivered: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueState:
    """The queue at one moment.

    Attributes:
        streams: The jobs by their priority; both are there.
        dead: How many entries were set aside and are kept.
    """

    streams: Mapping[Priority, StreamState]
    dead: int = 0

    @property
    def length(self) -> int:
        """Return how many jobs wait or are leased."""
        return sum(state.waiting + state.leased for state in self.streams.values())


def job_id_of(tenant: str, request: ThinkRequest) -> str:
    """Return the id under which a thought is asked for, once or many times."""
    return f"{tenant}:{request.run_id}:{request.iteration}"
