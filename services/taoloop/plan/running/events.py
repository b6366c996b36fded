"""What happens in a run, as events."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TypeAlias

from taoloop.core.exact_json import ABSENT, Json
from taoloop.core.faults import Fault
from taoloop.plan.acting import ActionResult, Provenance
from taoloop.plan.effects import ApprovalDecision
from taoloop.plan.observing import ObservationResult
from taoloop.plan.task import InputField, Outcome, ProvidedInput, Task, Usage
from taoloop.plan.thinking import Answer, ThinkResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """One event of a run. Events are written before they are sent, so that a run survives its host."""

    run_id: str
    """The run's id."""
    sequence: int
    """Number of the event in the run, from 1 without gaps."""
    time: datetime
    """When it was written."""
    host_epoch: int = 0
    """Number of the host that wrote it; grows when another host takes the run over."""
    body: EventBody | None = None
    """What happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    """The run began."""

    task: Task | None = None
    """What it is asked to do, with every default filled in."""
    catalogue_digest: str = ""
    """Digest of the catalogue that it is pinned to."""
    traceparent: str = ""
    """W3C `traceparent` of the trace in which it began; the traces of later hosts and of answers link to it."""
    deadline: datetime | None = None
    """Until when its caller waits, for a run that its caller's deadline bounds; absent for one that was submitted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThoughtMade:
    """A thought was made."""

    response: ThinkResponse | None = None
    """The thought."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepStarted:
    """A step began."""

    step_id: str
    """The step's id."""
    tool: str
    """The tool's name."""
    arguments: Json = ABSENT
    """The resolved arguments."""
    provenance: tuple[Provenance, ...] = ()
    """Where each argument came from."""
    attempt: int = 0
    """Number of the start, from 1; more than 1 after a correction that tries again."""
    item_of: str = ""
    """The planned step of which this is one item; empty for a step that does not fan out."""
    item: int = 0
    """Number of the item in its list, from 0."""
    same_as: str = ""
    """The step that made the same call, whose result serves this one too; empty when this step calls by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSkipped:
    """A step was not run."""

    step_id: str
    """The step's id."""
    tool: str
    """The tool's name."""
    fault: Fault | None = None
    """Why: the fault of the step that it depends on, or its own that kept it from being called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionReturned:
    """A tool call came to an end."""

    result: ActionResult | None = None
    """The result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultObserved:
    """A result was judged."""

    result: ObservationResult | None = None
    """The verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemsGathered:
    """The results of a step that ran once per item were put together.

    The step's result is the list of the items' results, in the order of the items. Where items failed, the step failed,
    unless it is optional and some succeeded: then it is the list of those.
    """

    step_id: str
    """The planned step."""
    tool: str
    """The tool's name."""
    items: int = 0
    """How many items the list had."""
    failed: tuple[str, ...] = ()
    """Ids of the items' steps that brought no result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionMade:
    """A failure was reacted to."""

    fault: Fault | None = None
    """The failure."""
    reaction: str
    """What is done: retry, fix_input, fallback, cross_check, prefer, reprompt, replan, approve, ask, hand_over, fail or
    leave_out."""
    is_transient: bool = False
    """Whether the failure is expected to pass by itself."""
    is_told_to_user: bool = False
    """Whether the user is told."""
    message: str = ""
    """Why this reaction, for a person."""
    step_id: str = ""
    """The step that failed; empty when it was no step."""
    tool: str = ""
    """The tool that failed; empty when it was none."""
    state: str = ""
    """Where the correction of the failure stood before this reaction, for example `fresh` or `retried`."""
    is_retry_useful: bool = False
    """Whether the same again may help; if not, something else is done."""
    user_message: str = ""
    """What the user is told, in the user's language; empty when nothing."""
    attempt: int = 0
    """Number of the reaction to this failure, from 1."""
    fault_class: str = ""
    """The kind of failure, for example TOOL_TIMEOUT."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingBegan:
    """The run waits."""

    reason: str
    """queue, job, backend or person."""
    until: datetime | None = None
    """When it gives up."""
    step_id: str = ""
    """The step that waits; empty when it is the whole run."""
    tool: str = ""
    """Its tool."""
    job_handle: Json = ABSENT
    """Handle of the job that is waited for, by which another host goes on waiting; absent when it is no job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitReached:
    """A limit was reached."""

    limit: str
    """The limit's name, for example `max_iterations`."""
    value: float = 0.0
    """Its value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequired:
    """A step waits for leave."""

    approval_id: str = ""
    """Names the approval."""
    expires_at: datetime | None = None
    """When it lapses."""
    step_id: str = ""
    """The step."""
    tool: str = ""
    """The tool."""
    arguments: Json = ABSENT
    """What it would be called with."""
    reason: str = ""
    """Why leave is needed, for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalExpiring:
    """An approval that nobody has decided lapses soon."""

    approval_id: str = ""
    """The approval."""
    expires_at: datetime | None = None
    """When it lapses."""
    step_id: str = ""
    """The step."""
    tool: str = ""
    """The tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoverRequired:
    """A person has to take something over. The run rests; `DecideHandover` continues or ends it."""

    handover_id: str = ""
    """Names the handover."""
    step_id: str = ""
    """The step that it is about; empty when it is the whole run."""
    reason: str = ""
    """Why, for a person."""
    fault: Fault | None = None
    """The failure that led to it."""


class HandoverDecision(StrEnum):
    """What a person made of a handover."""

    ANSWERED = "answered"
    """The person answered in the run's place."""
    RESUMED = "resumed"
    """What was in the way is out of it: the run thinks again."""
    CLOSED = "closed"
    """Nothing more is done: the run failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoverOutcome:
    """What became of a handover."""

    handover_id: str
    """The handover."""
    decision: HandoverDecision
    """What holds."""
    decided_by: str = ""
    """Who decided."""
    comment: str = ""
    """Why, for the record and for the next thought."""
    answer_text: str = ""
    """The answer's text, for ANSWERED."""
    request_id: str = ""
    """The decision's own id, by which a repeat of it is known; empty where it had none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputRequired:
    """Values are asked for."""

    input_id: str
    """Names the question."""
    fields: tuple[InputField, ...] = ()
    """The values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResumed:
    """The run went on."""

    reason: str
    """input, approval, handover, take_over (its host was gone) or catalogue (its catalogue was replaced)."""
    input: ProvidedInput | None = None
    """The input that was given, when that is the reason."""
    approval: ApprovalOutcome | None = None
    """The approval that was decided, when that is the reason."""
    handover: HandoverOutcome | None = None
    """The handover that was decided, when that is the reason."""
    catalogue_digest: str = ""
    """Digest of the catalogue that it is pinned to from now on, when that is the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalOutcome:
    """What became of an approval."""

    approval_id: str
    """The approval."""
    decision: ApprovalDecision
    """What holds."""
    decided_by: str = ""
    """Who decided."""
    is_asked_again: bool = False
    """Whether the run thinks again after it lapsed, so that the call is asked about anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished:
    """The run ended, or rests."""

    outcome: Outcome | None = None
    """How."""
    fault: Fault | None = None
    """Why, when it did not answer."""
    usage: Usage | None = None
    """What it consumed."""
    duration_seconds: float | None = None
    """How long it took, without the time spent waiting for people."""


EventBody: TypeAlias = (
    RunStarted
    | ThoughtMade
    | StepStarted
    | ActionReturned
    | ResultObserved
    | CorrectionMade
    | WaitingBegan
    | LimitReached
    | ApprovalRequired
    | InputRequired
    | Answer
    | RunResumed
    | RunFinished
    | StepSkipped
    | ApprovalExpiring
    | HandoverRequired
    | ItemsGathered
)
"""What can happen in a run."""
