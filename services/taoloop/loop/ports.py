"""What the loop needs of the world: three services and a log that outlives its host."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from taoloop.core.calls import CallContext
from taoloop.core.deadlines import Deadline
from taoloop.loop.state import RunState
from taoloop.plan.acting import ActionResult, ExecuteRequest, ToolSummary
from taoloop.plan.effects import DecideApprovalRequest, DecideApprovalResponse
from taoloop.plan.observing import ObservationResult, ObserveRequest
from taoloop.plan.running import RunEvent
from taoloop.plan.task import Task
from taoloop.plan.thinking import MemoryContext, ThinkRequest, ThinkResponse


class ThoughtPort(Protocol):
    """Makes thoughts."""

    async def think(self, request: ThinkRequest, call: CallContext) -> ThinkResponse:
        """Make one thought; the same run and iteration give the same thought.

        Raises:
            TaoError: The service could not think; `retry_after_seconds` says when it may.
        """
        ...


class ToolListing(Protocol):
    """The tools of one catalogue."""

    @property
    def tools(self) -> tuple[ToolSummary, ...]:
        """Return the tools, by name."""
        ...

    @property
    def catalogue_digest(self) -> str:
        """Return the catalogue's digest."""
        ...


class ActionPort(Protocol):
    """Calls tools."""

    async def execute(self, request: ExecuteRequest, call: CallContext) -> ActionResult:
        """Call one tool. A tool that fails is a result with a fault.

        Raises:
            TaoError: The service could not do its job.
        """
        ...

    async def decide_approval(self, request: DecideApprovalRequest, call: CallContext) -> DecideApprovalResponse:
        """Give, deny or withdraw leave for one call, and return what holds: the first decision stands.

        Raises:
            TaoError: The service could not do its job, or knows no such approval.
        """
        ...

    async def list_tools(self, call: CallContext) -> ToolListing:
        """List the tools with their availability."""
        ...


class ObservationPort(Protocol):
    """Judges results."""

    async def observe(self, request: ObserveRequest, call: CallContext) -> ObservationResult:
        """Judge one result. A bad result is a verdict with failures.

        Raises:
            TaoError: The service could not do its job.
        """
        ...


class RunMemory(Protocol):
    """What is remembered from turn to turn and from run to run, by tenant, line of business, session and user.

    A memory that is away makes a run forgetful, never fail: no method raises a `TaoError`.
    """

    async def restored(self, tenant: str, task: Task) -> Task:
        """Return the task with what its session is known to hold; what the caller gave stands."""
        ...

    async def recall(self, tenant: str, state: RunState, call: CallContext) -> MemoryContext | None:
        """Return what the next thought is told of earlier turns, runs and failures."""
        ...

    async def remember(self, tenant: str, state: RunState) -> None:
        """Keep what a run that came to rest leaves to later ones."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class NewRun:
    """A run to be entered in the log."""

    tenant: str
    run_id: str
    request_id: str
    """The caller's id, unique per tenant."""
    task_digest: str
    """Digest of the task as received; tells a repeat from another task under the same id."""
    created_at: datetime


class RunLog(Protocol):
    """The append-only log of runs. Every call may be repeated without a second effect."""

    async def create(self, run: NewRun, deadline: Deadline) -> str:
        """Enter a run and return its id, or the id of the run that has the same request id and task.

        Raises:
            RequestIdReused: The request id stands for another task.
            BackendUnavailable: The log does not answer in time.
        """
        ...

    async def append(self, tenant: str, event: RunEvent, deadline: Deadline) -> None:
        """Write an event; durable when this returns. The same event twice is written once.

        Raises:
            RunConflict: The sequence number is taken by another event, or a newer host owns the run.
            UnknownRun: No such run.
            BackendUnavailable: The log does not answer in time.
        """
        ...

    async def read(self, tenant: str, run_id: str, from_sequence: int, deadline: Deadline) -> tuple[RunEvent, ...]:
        """Return the events from a sequence number on, possibly none.

        Raises:
            UnknownRun: No such run for this tenant.
            BackendUnavailable: The log does not answer in time.
        """
        ...

    def follow(self, tenant: str, run_id: str, from_sequence: int, deadline: Deadline) -> AsyncGenerator[RunEvent]:
        """Yield the events from a sequence number on, and new ones as they are written, until the deadline.

        Raises:
            UnknownRun: No such run for this tenant.
            BackendUnavailable: The log does not answer in time.
        """
        ...

    async def list_runs(self, tenant: str, limit: int, before: str, deadline: Deadline) -> tuple[str, ...]:
        """Return run ids, newest first, that are older than `before` (empty: from the newest)."""
        ...

    async def is_ready(self) -> bool:
        """Return whether the log can be written."""
        ...
