"""What goes into a tool call and the one envelope that comes out of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from taoloop.core.exact_json import ABSENT, Json
from taoloop.core.faults import Fault
from taoloop.plan.task import Permissions, ToolAvailability
from taoloop.tools.signature import Effect, Reach, Trust


class ActionStatus(StrEnum):
    """What came of one call."""

    SUCCEEDED = "succeeded"
    """The tool answered; whether the answer is good is for Observation to say."""
    FAILED = "failed"
    """The tool or the way to it failed; the fault says how."""
    TIMED_OUT = "timed_out"
    """The time limit passed. For a write that may have left, the status is OUTCOME_UNKNOWN instead."""
    REJECTED = "rejected"
    """The call was not made: the arguments, a policy or a limit forbid it."""
    PENDING = "pending"
    """The tool works on it; call again with the handle."""
    OUTCOME_UNKNOWN = "outcome_unknown"
    """The call may or may not have taken effect. It is never made again by itself."""
    APPROVAL_REQUIRED = "approval_required"
    """The call waits for leave."""


class ServedBy(StrEnum):
    """What produced the result."""

    PRIMARY = "primary"
    """The tool itself."""
    FALLBACK = "fallback"
    """The contract's fallback tool."""
    CACHE = "cache"
    """An earlier answer that is still fresh."""
    DUPLICATE = "duplicate"
    """The recorded result of the same call, made before."""


class BreakerState(StrEnum):
    """Where a breaker stands."""

    CLOSED = "closed"
    """Calls pass."""
    OPEN = "open"
    """Calls are refused until `retry_at`."""
    HALF_OPEN = "half_open"
    """One probe may pass."""


class EffectState(StrEnum):
    """Where a recorded effect stands."""

    PLANNED = "planned"
    """Intended, and nothing has left."""
    STARTED = "started"
    """The call may have left."""
    SUCCEEDED = "succeeded"
    """The tool confirmed it."""
    FAILED = "failed"
    """The tool refused it, or it surely never left."""
    UNKNOWN = "unknown"
    """Nobody knows."""
    RECONCILED = "reconciled"
    """It was unknown, and a person or a look-up settled it."""


class ApprovalDecision(StrEnum):
    """What a person decided about a call."""

    APPROVED = "approved"
    """The call may be made, once."""
    REJECTED = "rejected"
    """The call may not be made."""
    CANCELLED = "cancelled"
    """Nobody wants the call any more, for example because its run was cancelled."""
    EXPIRED = "expired"
    """Nobody decided in time. Only in replies: nobody can decide it."""


class ApprovalState(StrEnum):
    """Where an approval stands."""

    OPEN = "open"
    """A person is asked."""
    APPROVED = "approved"
    """The call may be made, once; `effect_id` tells whether it was."""
    REJECTED = "rejected"
    """The call may not be made."""
    EXPIRED = "expired"
    """Nobody decided in time, or the leave was not used in time."""
    CANCELLED = "cancelled"
    """Nobody wants the call any more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecuteRequest:
    """One tool call wanted."""

    request_id: str = ""
    """Unique for the call: the same id with the same body returns the first result."""
    run_id: str
    """The run's id."""
    thought_id: str = ""
    """The thought that planned the call; sent to the tool as `X-Request-ID`."""
    iteration: int = 0
    """Number of the thought in the run."""
    step_id: str
    """The step's id in the run."""
    tool: str
    """The tool's name."""
    arguments: Json = ABSENT
    """Object of arguments, resolved."""
    provenance: tuple[Provenance, ...] = ()
    """Where each argument came from; policies read it."""
    catalogue_digest: str = ""
    """Digest of the catalogue that the run is pinned to; another one here is CATALOGUE_MISMATCH."""
    permissions: Permissions | None = None
    """What the run may do."""
    approval_id: str = ""
    """The approval that allows the call; empty when none is needed."""
    job_handle: Json = ABSENT
    """Handle of a pending job to ask about; absent for a new call."""
    timeout_seconds: float | None = None
    """Upper bound for the call; the smaller of this, the contract's and the deadline counts."""
    tainted_context: bool = False
    """Whether untrusted text could have shaped the plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """Where one argument came from."""

    pointer: str
    """Pointer of the parameter in the arguments."""
    source: str
    """Kind of source: query_span, state_path, step_output, contract_value, input_value, request_clock, template or
    generated."""
    step_id: str = ""
    """The earlier step, for step_output."""
    trust: Trust = Trust.UNTRUSTED
    """Whose words the value holds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecuteResponse:
    """The reply to Execute."""

    result: ActionResult | None = None
    """What came of the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionResult:
    """One envelope for every tool and every way to fail."""

    run_id: str = ""
    """The run's id."""
    thought_id: str = ""
    """The thought that planned the call."""
    step_id: str
    """The step's id."""
    tool: str
    """The tool that the plan named."""
    contract_digest: str = ""
    """Digest of the contract that was applied."""
    arguments_hash: str = ""
    """SHA-256 of the canonical arguments, hexadecimal."""
    status: ActionStatus
    """What came of it."""
    parsed: Json = ABSENT
    """The body as JSON text, with its numbers as they were."""
    raw: bytes | None = None
    """The first bytes of a body that is not JSON, at most 4 096."""
    body: Body | None = None
    """What the body was."""
    status_code: int = 0
    """The transport's status code, for example 200; 0 when no answer came."""
    response_time_seconds: float | None = None
    """Duration of the last attempt."""
    total_time_seconds: float | None = None
    """Duration of everything, waits included."""
    attempts: tuple[Attempt, ...] = ()
    """Every attempt, in order."""
    served_by: ServedBy | None = None
    """What produced the result."""
    served_by_tool: str = ""
    """The tool that answered when it is not the one planned."""
    age_seconds: float | None = None
    """Age of a cached answer."""
    effect_id: str = ""
    """The ledger's entry, for calls that write."""
    breaker: Breaker | None = None
    """Where the breaker stands."""
    approval_id: str = ""
    """The approval that is asked for."""
    job_handle: Json = ABSENT
    """Handle of the pending job."""
    trust: Trust = Trust.UNTRUSTED
    """Whose words the body holds."""
    fault: Fault | None = None
    """Why it failed; unset when it did not."""
    approval_expires_at: datetime | None = None
    """When the approval that is asked for lapses."""
    sanitised: tuple[str, ...] = ()
    """Pointers of the arguments that were sent otherwise than they came, since their text was unsafe where the tool
    shows it. The hash is that of the arguments as they came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Body:
    """What a body was."""

    content_type: str = ""
    """Content type without parameters, lower case."""
    size_bytes: int = 0
    """Size after decoding."""
    sha256: str = ""
    """SHA-256 of the decoded bytes, hexadecimal."""
    truncated: bool = False
    """Whether bytes are missing from the payload."""
    content_ref: str = ""
    """Where the whole body is kept; empty when nowhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt of a call."""

    start: datetime
    """When it began."""
    duration_seconds: float | None = None
    """How long it took."""
    outcome: str
    """`answered`, or the fault's code."""
    code: int = 0
    """The transport's status code; 0 when no answer came."""
    reused_connection: bool = False
    """Whether the connection had been used before."""
    wait_before_seconds: float | None = None
    """The pause before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaker:
    """Where a breaker stands."""

    state: BreakerState | None = None
    """The state."""
    retry_at: datetime | None = None
    """When an open one lets a probe pass."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListToolsRequest:
    """Wants the tools."""

    page_size: int = 0
    """At most this many; 0 takes 100."""
    page_token: str = ""
    """Where the page before ended; empty for the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListToolsResponse:
    """One page of tools."""

    tools: tuple[ToolSummary, ...] = ()
    """The tools, by name."""
    catalogue_digest: str = ""
    """Digest of the catalogue."""
    next_page_token: str = ""
    """Where the next page starts; empty on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSummary:
    """What a planner needs to know of a tool."""

    name: str
    """The tool's name."""
    description: str = ""
    """What it does."""
    use_when: str = ""
    """When to use it."""
    avoid_when: str = ""
    """When not to."""
    effect: Effect = Effect.READ
    """What it does to the world."""
    reach: Reach = Reach.INTERNAL
    """Who sees what it sends."""
    trust: Trust = Trust.UNTRUSTED
    """Whose words its results hold."""
    parameters: Json = ABSENT
    """JSON Schema of the arguments."""
    output_schema: Json = ABSENT
    """JSON Schema of the normalised result."""
    contract_digest: str = ""
    """Digest of the contract."""
    availability: ToolAvailability | None = None
    """Whether it can be called at present."""
    timeout_seconds: float | None = None
    """The contract's time limit."""
    answer: Json = ABSENT
    """Object from language tag to answer template, for answers without a language model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GetToolRequest:
    """Wants one tool."""

    name: str = ""
    """The tool's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GetToolResponse:
    """One tool."""

    tool: ToolSummary | None = None
    """What a planner needs to know."""
    contract: Json = ABSENT
    """The whole contract; secrets are references, never values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecideApprovalRequest:
    """A person's decision about a call."""

    request_id: str = ""
    """Unique for the decision: a repeat returns the first reply."""
    approval_id: str = ""
    """The approval."""
    decision: ApprovalDecision
    """The decision."""
    decided_by: str = ""
    """Who decided."""
    comment: str = ""
    """Why, for the record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecideApprovalResponse:
    """The decision, recorded."""

    approval_id: str = ""
    """The approval."""
    decision: ApprovalDecision
    """What holds now; an earlier decision stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListApprovalsRequest:
    """Wants approvals."""

    run_id: str = ""
    """Only those of one run; empty for all of the tenant."""
    state: ApprovalState | None = None
    """Only those in one state; unspecified for all."""
    page_size: int = 0
    """At most this many; 0 takes 100."""
    page_token: str = ""
    """Where the page before ended; empty for the first."""
    approval_id: str = ""
    """Only the one with this id; empty for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListApprovalsResponse:
    """One page of approvals."""

    approvals: tuple[ApprovalRecord, ...] = ()
    """The approvals, newest first."""
    next_page_token: str = ""
    """Where the next page starts; empty on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRecord:
    """One approval that was asked for: bound to one run, step, tool and arguments, and good for one call."""

    approval_id: str
    """The approval's id."""
    run_id: str = ""
    """The run's id."""
    step_id: str = ""
    """The step's id."""
    tool: str = ""
    """The tool's name."""
    arguments_hash: str = ""
    """SHA-256 of the canonical arguments."""
    arguments: Json = ABSENT
    """What the tool would be called with."""
    state: ApprovalState
    """Where it stands."""
    requested_at: datetime | None = None
    """When it was asked for."""
    expires_at: datetime | None = None
    """When it lapses: undecided, or granted and not used."""
    decided_at: datetime | None = None
    """When it was decided."""
    decided_by: str = ""
    """Who decided."""
    comment: str = ""
    """Why, for the record."""
    effect_id: str = ""
    """The call that used it; empty while none did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListEffectsRequest:
    """Wants recorded effects."""

    run_id: str = ""
    """Only those of one run; empty for all of the tenant."""
    state: EffectState | None = None
    """Only those in one state; unspecified for all."""
    page_size: int = 0
    """At most this many; 0 takes 100."""
    page_token: str = ""
    """Where the page before ended; empty for the first."""
    effect_id: str = ""
    """Only the one with this id; empty for all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListEffectsResponse:
    """One page of effects."""

    effects: tuple[EffectRecord, ...] = ()
    """The effects, newest first."""
    next_page_token: str = ""
    """Where the next page starts; empty on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectRecord:
    """One recorded effect."""

    effect_id: str
    """The entry's id."""
    run_id: str = ""
    """The run's id."""
    step_id: str = ""
    """The step's id."""
    tool: str = ""
    """The tool's name."""
    arguments_hash: str = ""
    """SHA-256 of the canonical arguments."""
    state: EffectState
    """Where it stands."""
    planned_at: datetime | None = None
    """When the intent was recorded."""
    updated_at: datetime | None = None
    """When it last changed."""
    resolved_by: str = ""
    """Who settled it, for a reconciled one."""
    iteration: int = 0
    """The number of the thought that planned it."""
    took_place: bool | None = None
    """For a reconciled one: whether it took place."""
    comment: str = ""
    """How the one who settled it knows."""
    approval_id: str = ""
    """The approval that it used; empty when it needed none."""
    idempotency_key: str = ""
    """The idempotency key of its call; sent to the tool only where the contract declares a place for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveEffectRequest:
    """Settles an unknown effect."""

    request_id: str = ""
    """Unique for the decision: a repeat returns the first reply."""
    effect_id: str = ""
    """The entry."""
    took_place: bool = False
    """Whether it took place."""
    resolved_by: str = ""
    """Who says so."""
    comment: str = ""
    """How it is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolveEffectResponse:
    """The effect, settled."""

    effect: EffectRecord | None = None
    """The entry as it stands now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileEffectRequest:
    """Wants an unknown effect looked up."""

    effect_id: str = ""
    """The entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileEffectResponse:
    """What the look-up found."""

    effect: EffectRecord | None = None
    """The entry as it stands now; still UNKNOWN when the look-up did not tell."""
    finding: str = ""
    """What the look-up showed, for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchToolRequest:
    """Wants a tool switched."""

    tool: str
    """The tool's name."""
    off: bool = False
    """True switches it off: no attempt is made from then on, in other replicas within seconds. False: on again."""
    reason: str = ""
    """Why, for planners, callers and the record."""
    switched_by: str = ""
    """Who switches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchToolResponse:
    """The tool, switched."""

    availability: ToolAvailability | None = None
    """Whether it can be called now; what a process's own settings switch off stays off."""
