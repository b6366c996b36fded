"""What a run is asked to do and the small records that every stage shares."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from taoloop.core.exact_json import ABSENT, Json
from taoloop.tools.signature import Effect


class Priority(StrEnum):
    """Which of the two queues of the thought service a request waits in."""

    INTERACTIVE = "interactive"
    """Somebody waits for the answer."""
    BACKGROUND = "background"
    """Nobody waits: served when no interactive request does."""


class Role(StrEnum):
    """Who speaks in a turn."""

    USER = "user"
    """The person whom the product serves."""
    ASSISTANT = "assistant"
    """An earlier answer of the product."""


class Outcome(StrEnum):
    """How a run ended."""

    ANSWERED = "answered"
    """The run answered the request."""
    NEEDS_INPUT = "needs_input"
    """A value is missing that only the caller can give: `ProvideInput` continues the run."""
    NEEDS_APPROVAL = "needs_approval"
    """A step waits for leave: `DecideApproval` continues the run."""
    NEEDS_HUMAN = "needs_human"
    """A person has to take over."""
    NO_TOOL = "no_tool"
    """No offered tool serves the request."""
    FAILED = "failed"
    """The run could not be completed; the fault says why."""
    CANCELLED = "cancelled"
    """The caller cancelled the run."""
    LIMIT_REACHED = "limit_reached"
    """A limit ended the run; the fault names it."""


class InputReason(StrEnum):
    """Why an input is asked for."""

    MISSING = "missing"
    """The request does not contain the value."""
    INVALID = "invalid"
    """The value that the request contains breaks the parameter's schema."""
    AMBIGUOUS = "ambiguous"
    """Several values of the request fit; `candidates` lists them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One turn of the conversation."""

    role: Role
    """Who speaks."""
    text: str
    """What was said, as the service stored it after hygiene; spans count code points of this text."""


class TaintedEffects(StrEnum):
    """What becomes of a step that writes or reaches outside when untrusted text steers or feeds it."""

    ASK = "ask"
    """It waits for a person's leave."""
    REFUSE = "refuse"
    """It is refused as TAINTED_SOURCE."""
    ALLOW = "allow"
    """It is made: the caller answers for what the text may have brought about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Permissions:
    """What a run may do."""

    max_effect: Effect = Effect.READ
    """The strongest effect that a step may have. Default READ."""
    allowed_tools: tuple[str, ...] = ()
    """Names of the tools that the run may use; empty means every tool of the catalogue."""
    tainted_effects: TaintedEffects | None = None
    """What becomes of a step that writes or reaches outside when untrusted text steers or feeds it; None asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Hard limits of one run; zero takes the service's default, a larger value is cut to the service's maximum."""

    max_iterations: int = 0
    """Thoughts from the start, and again from each answer or handover with which a person lets the run go on. Default
    5."""
    max_wall_time_seconds: float | None = None
    """Time for the same, without the time spent waiting for people. Default 30 s."""
    max_tokens: int = 0
    """Tokens that models may read and write. Default 80 000."""
    max_calls_per_tool: int = 0
    """Calls of one tool. Default 10."""
    max_result_bytes: int = 0
    """Bytes of all tool responses together. Default 16 MiB."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What a thought or a run consumed."""

    input_tokens: int = 0
    """Tokens that models read."""
    output_tokens: int = 0
    """Tokens that models wrote."""
    model_calls: int = 0
    """Calls of a language model."""
    tool_calls: int = 0
    """Calls of tools."""
    iterations: int = 0
    """Thoughts."""
    cached_input_tokens: int = 0
    """Of the tokens that models read, those that their servers had read before; 0 where a server does not say."""
    model_time_seconds: float | None = None
    """Time spent in calls of a language model; None when none was made."""

    def plus(self, other: Usage) -> Usage:
        """Return what both consumed together."""
        times = [one.model_time_seconds for one in (self, other) if one.model_time_seconds is not None]
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            model_calls=self.model_calls + other.model_calls,
            tool_calls=self.tool_calls + other.tool_calls,
            iterations=self.iterations + other.iterations,
            cached_input_tokens=self.cached_input_tokens + other.cached_input_tokens,
            model_time_seconds=sum(times) if times else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAvailability:
    """Whether a tool can be called at present; advisory."""

    tool: str
    """The tool's name."""
    available: bool
    """False while the tool must not be planned with."""
    reason: str = ""
    """Why it is not available: breaker_open, switched_off, or failed_in_run."""
    retry_at: datetime | None = None
    """When it is worth another try; only when not available."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputField:
    """One value that a plan or a run asks the caller for."""

    pointer: str
    """Pointer of the parameter in the tool's arguments."""
    tool: str
    """The tool that needs the value."""
    schema: Json = ABSENT
    """JSON Schema that the value must fit."""
    reason: InputReason = InputReason.MISSING
    """Why it is asked for."""
    candidates: tuple[str, ...] = ()
    """Values that would be accepted, when they are known."""
    question: str = ""
    """The question as put to a person, in the request's language."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProvidedInput:
    """Values given in answer to an input request."""

    input_id: str
    """The `input_id` of the request that is answered."""
    values: Json = ABSENT
    """Object of values. Its keys are parameter names, or pointers where one name stands for several fields."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What a run is asked to do."""

    request_id: str = ""
    """Unique per tenant, 1 to 128 printable ASCII characters, chosen by the caller. The same id with the same task
    attaches to the run; with another task it is REQUEST_ID_REUSED. Empty: the service draws one, and a repeat is a new
    run."""
    session_id: str = ""
    """The conversation that the task belongs to, at most 128 characters; empty for none."""
    turns: tuple[Turn, ...] = ()
    """The conversation, oldest first; the last turn must be the user's."""
    state: Json = ABSENT
    """Object with the session's state."""
    reference_time: datetime | None = None
    """The moment to which relative dates refer; unset takes the time of arrival."""
    time_zone: str = ""
    """IANA name of the user's time zone; empty takes `UTC`."""
    locale: str = ""
    """BCP 47 tag of the user's language; empty lets the request's own script decide."""
    permissions: Permissions | None = None
    """What the run may do; unset allows reads with every tool."""
    limits: Limits | None = None
    """Hard limits."""
    priority: Priority = Priority.INTERACTIVE
    """Which queue its thoughts wait in."""
    output_schema: Json = ABSENT
    """JSON Schema that the answer's data must fit; absent for none."""
    seed: int = 0
    """Seed for sampling; unset draws one."""
    business_line: str = ""
    """The line of business that the task belongs to, 1 to 64 characters of a-z, 0-9, `_` and `-`; what is remembered of
    one line is never read by another. Empty takes `default`."""
    user_id: str = ""
    """Whose preferences are remembered across sessions, as the tenant names its users, at most 128 characters; empty
    remembers none."""
    tainted_context: bool = False
    """Whether other people's text stands in the turns or the state, for example in an earlier answer about a web page:
    the run is tainted from its start."""
