"""Jobs and replies of the thought queue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from taoloop.plan.thinking import ThinkRequest, ThinkResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkJob:
    """One thought wanted, as it waits in the queue."""

    job_id: str
    """Run and iteration: the same thought asked for twice is one job."""
    tenant: str
    request: ThinkRequest
    expires_at: datetime
    """When nobody waits any more; an expired job never reaches a planner."""
    trace: Mapping[str, str] = field(default_factory=dict)
    """W3C trace context of the caller: `traceparent`, `tracestate`."""


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
    """The queue's own name for the entry."""
    job: ThinkJob | None
    """None when the entry could not be read; it can only be set aside."""
    waited_seconds: float = 0.0
    """How long the entry had waited when it was handed out."""
    deliveries: int = 1
    """How often the entry was handed out, this time included."""
    fault: str = ""
    """Why the entry could not be read."""


def job_id_of(tenant: str, request: ThinkRequest) -> str:
    """Return the id under which a thought is asked for, once or many times."""
    return f"{tenant}:{request.run_id}:{request.iteration}"
