"""What the loop needs of the world: three services and a log that outlives its host."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol

from taoloop.core.calls import CallContext
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import FieldViolation, InvalidRequest
from taoloop.loop.state import RunState
from taoloop.plan.acting import ActionResult, ExecuteRequest, ToolSummary
from taoloop.plan.answering import CheckAnswerRequest, CheckAnswerResponse
from taoloop.plan.effects import DecideApprovalRequest, DecideApprovalResponse
from taoloop.plan.observing import ObservationResult, ObserveRequest
from taoloop.plan.running import RunEvent, RunSummary
from taoloop.plan.task import Outcome, Task
from taoloop.plan.thinking import MemoryContext, ThinkRequest, ThinkResponse

DEFAULT_PAGE_SIZE: Final = 50
MAX_PAGE_SIZE: Final = 200


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

    async def check_answer(self, request: CheckAnswerRequest, call: CallContext) -> CheckAnswerResponse:
        """Say which claims of an answer the observations support.

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


@dataclass(frozen=True, slots=True)
class RunKey:
    """Names a run among those of all tenants."""

    tenant: str
    run_id: str


@dataclass(frozen=True, slots=True)
class RunPosition:
    """How far a run's log reaches, and whose it is."""

    sequence: int
    """Number of the last event."""
    host_epoch: int
    """Epoch in which it was written; events of an earlier one are refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsWanted:
    """Which runs are listed."""

    most: int
    """At least 1; a page may have fewer, since what is past its retention is left out."""
    outcome: Outcome | None = None
    """Those that stand so; None for all, those that go on included."""
    page_token: str = ""
    """Where the page before ended; empty for the first."""

    @classmethod
    def on_page(cls, page_size: int, page_token: str, outcome: Outcome | None = None) -> RunsWanted:
        """Return what a caller's page shows: as many runs as it wants, 50 for 0, at most 200.

        Raises:
            InvalidRequest: The size is negative.
        """
        if page_size < 0:
            violation = FieldViolation("page_size", "must not be negative")
            raise InvalidRequest("The page size is negative.", violations=(violation,))
        return cls(most=min(page_size or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE), outcome=outcome, page_token=page_token)


@dataclass(frozen=True, slots=True)
class RunsPage:
    """One page of runs.

    Attributes:
        runs: Where each stands. Of one that goes on, usage and `updated_at` are those of its start or last rest.
        next_page_token: Where the next page starts; empty on the last.
    """

    runs: tuple[RunSummary, ...]
    next_page_token: str


class RunLog(Protocol):
    """The append-only log of runs. Every call may be repeated without a second effect."""

    async def create(self, run: NewRun, deadline: Deadline) -> str:
        """Enter a run and return its id, or the id of the run that has the same request id and task.

        Raises:
            RequestIdReused: The request id stands for another task.
            BackendUnavailable: The log does not answer in time.
        """
        ...

    async def append(self, tenant: str, events: Sequence[RunEvent], deadline: Deadline) -> None:
        """Write events that follow each other in one run: all of them or none; durable when this returns.

        The same events twice are written once.

        Args:
            tenant: Whose run it is.
            events: At least one, of one run and one epoch, with consecutive numbers.
            deadline: When to give up.

        Raises:
            RunConflict: A number is taken by another event or would leave a gap, or a newer host owns the run.
            EventTooLarge: An event is larger than the log takes; nothing was written.
            BackendUnavailable: The log does not answer in time.
        """
        ...

    async def position(self, tenant: str, run_id: str, deadline: Deadline) -> RunPosition:
        """Return how far a run's log reaches, and whose it is.

        Raises:
            UnknownRun: No such run for this tenant.
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

    async def note(self, tenant: str, summary: RunSummary, deadline: Deadline) -> None:
        """Enter where a run stands in the list of its tenant's runs; to be called after each event that changes that.

        Raises:
            BackendUnavailable: The log does not answer in time.
        """
        ...

    async def list_runs(self, tenant: str, wanted: RunsWanted, deadline: Deadline) -> RunsPage:
        """Return runs, newest first, without reading their events.

        Raises:
            InvalidRequest: The page token is none of this list.
            BackendUnavailable: The log does not answer in time.
        """
        ...

    async def is_ready(self) -> bool:
        """Return whether the log can be written."""
        ...


class RunLeases(Protocol):
    """Who drives which open run. Every call may be repeated without a second effect.

    A lease says who looks after a run, by the time of the store alone. It does not say who may write: that the run's
    log decides by its epoch, so that a lease which is lost, or held twice, never harms a run.
    """

    async def hold(self, run: RunKey, deadline: Deadline) -> None:
        """Take the lease of a run for this host, whoever held it before.

        Raises:
            BackendUnavailable: The store does not answer in time.
        """
        ...

    async def renew(self, runs: Sequence[RunKey], deadline: Deadline) -> tuple[RunKey, ...]:
        """Renew leases and return those that this host does not hold any more.

        Raises:
            BackendUnavailable: The store does not answer in time.
        """
        ...

    async def release(self, run: RunKey, deadline: Deadline) -> None:
        """Give up the lease of a run that is at rest; nobody looks after it from now on.

        Raises:
            BackendUnavailable: The store does not answer in time.
        """
        ...

    async def hand_back(self, runs: Sequence[RunKey], deadline: Deadline) -> None:
        """Let leases that this host holds lapse at once, so that another host takes the runs over.

        Raises:
            BackendUnavailable: The store does not answer in time.
        """
        ...

    async def claim(self, most: int, deadline: Deadline) -> tuple[RunKey, ...]:
        """Take over the lapsed leases of others, those first that lapsed first.

        Args:
            most: How many at most, at least 1.
            deadline: When to give up.

        Raises:
            BackendUnavailable: The store does not answer in time.
        """
        ...

    async def lapsed(self, deadline: Deadline) -> int:
        """Return how many runs have a lapsed lease, and nobody has taken them over yet.

        Raises:
            BackendUnavailable: The store does not answer in time.
        """
        ...
