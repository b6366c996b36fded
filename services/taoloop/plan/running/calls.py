"""What callers ask of runs, and what they are told."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from taoloop.core.faults import Fault
from taoloop.plan.effects import ApprovalDecision
from taoloop.plan.running.events import ApprovalRequired, HandoverRequired, InputRequired, RunEvent
from taoloop.plan.task import Outcome, ProvidedInput, Task, Usage
from taoloop.plan.thinking import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """Starts a run."""

    task: Task | None = None
    """The task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResponse:
    """One event of the run."""

    event: RunEvent | None = None
    """The event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitRequest:
    """Starts a run that goes on without the caller."""

    task: Task | None = None
    """The task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmitResponse:
    """The run that was started or attached to."""

    run_id: str = ""
    """Its id."""
    attached: bool = False
    """Whether the run existed before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchRequest:
    """Wants a run's events."""

    run_id: str = ""
    """The run."""
    from_sequence: int = 0
    """First sequence number wanted; 0 and 1 both start at the beginning."""
    through_waits: bool = False
    """Whether the stream goes on while the run waits for people, so that it shows warnings and decisions too, and ends
    with the run alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchResponse:
    """One event of the run."""

    event: RunEvent | None = None
    """The event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GetRunRequest:
    """Wants a run."""

    run_id: str = ""
    """The run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GetRunResponse:
    """Where a run stands."""

    run: RunSummary | None = None
    """The run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRunsRequest:
    """Wants runs."""

    outcome: Outcome | None = None
    """Only runs with one outcome; unspecified for all, running ones included."""
    page_size: int = 0
    """At most this many; 0 takes 50."""
    page_token: str = ""
    """Where the page before ended; empty for the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListRunsResponse:
    """One page of runs."""

    runs: tuple[RunSummary, ...] = ()
    """The runs, newest first; of one that goes on, usage and `updated_at` are those of its start or its last rest."""
    next_page_token: str = ""
    """Where the next page starts; empty on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """Where a run stands."""

    run_id: str
    """The run's id."""
    request_id: str = ""
    """The caller's id of the request."""
    outcome: Outcome | None = None
    """How it ended; unspecified while it has not."""
    started_at: datetime | None = None
    """When it started."""
    updated_at: datetime | None = None
    """When its last event was written."""
    last_sequence: int = 0
    """Sequence number of its last event."""
    answer: Answer | None = None
    """The answer, when there is one."""
    input_required: InputRequired | None = None
    """The question that it waits for, when it does."""
    fault: Fault | None = None
    """Why it failed, when it did."""
    usage: Usage | None = None
    """What it consumed."""
    approvals_required: tuple[ApprovalRequired, ...] = ()
    """The approvals that it waits for, when it does."""
    handovers_required: tuple[HandoverRequired, ...] = ()
    """What persons have to take over, when it waits for that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvideInputRequest:
    """Answers a question of a run."""

    request_id: str = ""
    """Unique for the answer: a repeat returns the first reply."""
    run_id: str = ""
    """The run."""
    input: ProvidedInput | None = None
    """The answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvideInputResponse:
    """The run goes on."""

    run_id: str = ""
    """The run."""
    next_sequence: int = 0
    """Sequence number of the next event, for `Watch`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopServiceDecideApprovalRequest:
    """A person's decision about a step of a run."""

    request_id: str = ""
    """Unique for the decision: a repeat returns the first reply."""
    run_id: str = ""
    """The run."""
    approval_id: str = ""
    """The approval."""
    decision: ApprovalDecision
    """The decision."""
    decided_by: str = ""
    """Who decided."""
    comment: str = ""
    """Why, for the record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopServiceDecideApprovalResponse:
    """The run goes on."""

    run_id: str = ""
    """The run."""
    next_sequence: int = 0
    """Sequence number of the next event, for `Watch`."""
    decision: ApprovalDecision | None = None
    """What holds now; an earlier decision stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelRunRequest:
    """Ends a run."""

    run_id: str = ""
    """The run."""
    reason: str = ""
    """Why, for the record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelRunResponse:
    """The run as it stands."""

    outcome: Outcome | None = None
    """How it ended."""
