"""What goes into a tool call and the one envelope that comes out of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from taoloop.core.exact_json import ABSENT, Json
from taoloop.core.faults import Fault
from taoloop.core.records import quickly_made
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


class JobCare(StrEnum):
    """What becomes of a job that is asked about."""

    KEEP = "keep"
    """It goes on when its caller goes away: another one asks for it, or cancels it."""
    CANCEL = "cancel"
    """It is cancelled instead of being asked about, where its contract says how. The reply is PENDING: whether it has
    stopped is not waited for."""


class BreakerState(StrEnum):
    """Where a breaker stands."""

    CLOSED = "closed"
    """Calls pass."""
    OPEN = "open"
    """Calls are refused until `retry_at`."""
    HALF_OPEN = "half_open"
    """One probe may pass."""


@quickly_made
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
    tainted_by: tuple[str, ...] = ()
    """Where that text came from, for a person: ids of steps; empty where the run began with it."""
    job_care: JobCare | None = None
    """What becomes of the job of the handle; unset cancels it, where its contract says how, when the caller goes away
    before its deadline."""


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


@quickly_made
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
    approval_reason: str = ""
    """Why leave is needed, for the person who decides; empty when it is not."""


@quickly_made
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


@quickly_made
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
    fallback_tool: str = ""
    """The tool that stands in for this one, which is another source of the same facts; empty when there is none."""


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
