"""What goes into a thought and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from taoloop.core.exact_json import ABSENT, Json
from taoloop.core.faults import Fault
from taoloop.plan.model import Decision, ThoughtPlan
from taoloop.plan.task import InputField, Permissions, Priority, ProvidedInput, ToolAvailability, Turn, Usage
from taoloop.tools.signature import Trust


class RefusalReason(StrEnum):
    """Why nothing was planned."""

    NO_TOOL = "no_tool"
    """No offered tool serves the request."""
    NOT_ALLOWED = "not_allowed"
    """A tool would serve it, and the permissions forbid the tool or its effect."""
    MISSING_USER_QUERY = "missing_user_query"
    """The request holds no words of the user."""
    INSUFFICIENT_CONTEXT = "insufficient_context"
    """The request does not say enough, and no single value can be asked for."""
    PLAN_FAILED = "plan_failed"
    """The planner could not make a plan that passes the check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkRequest:
    """One thought wanted."""

    run_id: str
    """The run that the thought belongs to."""
    iteration: int
    """Number of the thought in the run, from 1. Run and iteration together name the job."""
    turns: tuple[Turn, ...] = ()
    """The conversation, oldest first; the last turn of the user is the request."""
    state: Json = ABSENT
    """Object with the session's state; bindings may point into it."""
    reference_time: datetime | None = None
    """The moment to which relative dates refer."""
    time_zone: str = ""
    """IANA name of the user's time zone, for example `Asia/Shanghai`."""
    locale: str = ""
    """BCP 47 tag of the user's language, for example `zh-CN`."""
    permissions: Permissions | None = None
    """What the plan may do."""
    priority: Priority = Priority.INTERACTIVE
    """Which queue the request waits in."""
    catalogue_digest: str = ""
    """Digest of the catalogue that the run is pinned to; another one here is CATALOGUE_MISMATCH."""
    availability: tuple[ToolAvailability, ...] = ()
    """Tools that the executor cannot reach at present; a tool not named here is available."""
    completed: tuple[CompletedStep, ...] = ()
    """The steps of earlier iterations, in order."""
    inputs: tuple[ProvidedInput, ...] = ()
    """Answers that the caller gave to earlier questions."""
    output_schema: Json = ABSENT
    """JSON Schema that the final answer's data must fit; absent when free."""
    seed: int = 0
    """Seed for sampling; unset draws one, which the reply names."""
    tainted_context: bool = False
    """Whether untrusted text has entered the run."""
    previous_thought_sha256: str = ""
    """Fingerprint of the run's thought before this one, by which the same one again is refused as THOUGHT_STALLED."""
    memory: MemoryContext | None = None
    """What is remembered of the session and the user, distilled; None when nothing is."""
    strict: bool = False
    """Whether the thought before was malformed: a language model is held to a stricter form."""
    step_count: int = 0
    """Calls of tools that the run has made; prompts say so, and beyond a bound the planner answers from what it has."""
    notes: tuple[str, ...] = ()
    """What persons said who let the run go on after it was handed over to them, oldest first; no source of values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryContext:
    """What a thought is told of earlier turns, runs and failures: at most 300 tokens together."""

    summary: str = ""
    """Summary of the latest turns, for the system prompt."""
    knowledge: tuple[MemoryItem, ...] = ()
    """Pieces of knowledge, best first, for the place before the user's words."""
    last_error: ErrorTrace | None = None
    """The latest failure, as the last instruction; None when there is none."""
    tokens: int = 0
    """Estimated tokens of all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryItem:
    """One piece of knowledge."""

    text: str
    """Its text, redacted."""
    score: float = 0.0
    """How well it fits the request, 0 to 1."""
    kind: str = ""
    """What it is of: preference, policy, state, snapshot or run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorTrace:
    """What failed last."""

    code: str
    """The fault's code."""
    tool: str = ""
    """The tool that failed; empty when none did."""
    arguments_sha256: str = ""
    """SHA-256 of the canonical arguments."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletedStep:
    """What an earlier step came to."""

    step_id: str
    """The step's id in the run."""
    tool: str
    """The tool that was called."""
    arguments: Json = ABSENT
    """The arguments it was called with."""
    exposed: Json = ABSENT
    """What prompts and answers may see of the result."""
    confidence: float = 0.0
    """Confidence of the observation, 0 to 1."""
    trust: Trust = Trust.UNTRUSTED
    """Whose words the result holds."""
    fault: Fault | None = None
    """Why it failed; unset when it succeeded."""
    is_gathered: bool = False
    """Whether the step ran once per item: its result is the list of their results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkResponse:
    """One thought."""

    outcome: ThoughtPlan | Answer | NeedInput | Refusal | Escalation | None = None
    """What to do next."""
    thought_id: str = ""
    """The thought's own id; it is the `X-Request-ID` of the calls that follow from it."""
    run_id: str = ""
    """The run that the thought belongs to."""
    iteration: int = 0
    """Number of the thought in the run."""
    usage: Usage | None = None
    """What the thought consumed."""
    planner: str = ""
    """Name and version of the planner, for example `graph/1`."""
    decision: Decision | None = None
    """How sure the planner is."""
    content_ref: str = ""
    """Reference to the recorded prompt and reply; empty when none is kept."""
    seed: int = 0
    """Seed that a language model sampled with, drawn or given; unset when none was asked, or it takes no seed."""


class AnswerOrigin(StrEnum):
    """Who worded an answer."""

    TEMPLATE = "template"
    """A tool's own template."""
    FACTS = "facts"
    """Nobody: the exposed facts, listed."""
    MODEL = "model"
    """A language model; every value in it occurs in the observations."""
    PERSON = "person"
    """A person who took the run over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer in words and data."""

    text: str
    """The text, in the user's language."""
    data: Json = ABSENT
    """The same as data; fits `output_schema_json` where the request has one."""
    grounding: tuple[Grounding, ...] = ()
    """Where the answer's values come from."""
    origin: AnswerOrigin | None = None
    """Who worded it."""
    replaced: Fault | None = None
    """Why a text was replaced by the facts; None when it was not."""
    usage: Usage | None = None
    """What the language model that worded it consumed, or one whose text was replaced; None when none was asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grounding:
    """What supports one value of an answer."""

    text: str
    """The value as it stands in the text; empty where a planner names a result as a whole."""
    step_id: str
    """The step that it comes from."""
    pointer: str
    """Pointer into that step's data; empty for all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedInput:
    """Values without which no plan can be made."""

    input_id: str
    """Names the question; the answer repeats it."""
    fields: tuple[InputField, ...] = ()
    """The values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Nothing can be done."""

    reason: RefusalReason
    """Why."""
    message: str = ""
    """Why, for a person."""
    required_fields: tuple[str, ...] = ()
    """Names of the values that would be needed."""
    faults: tuple[Fault, ...] = ()
    """The faults of the last plan that was tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    """A person has to decide."""

    message: str = ""
    """Why, for a person."""
    faults: tuple[Fault, ...] = ()
    """What was tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckPlanRequest:
    """A plan to check."""

    plan: ThoughtPlan | None = None
    """As a record."""
    plan_text: str | None = None
    """As JSON text in the plan's JSON form (docs/plans.md)."""
    catalogue_digest: str = ""
    """Digest of the catalogue to check against; empty takes the service's own."""
    permissions: Permissions | None = None
    """What the plan may do."""
    turns: tuple[Turn, ...] = ()
    """The conversation that spans point into."""
    state: Json = ABSENT
    """The session's state."""
    completed: tuple[CompletedStep, ...] = ()
    """The steps of earlier iterations."""
    inputs: tuple[ProvidedInput, ...] = ()
    """Answers that the caller gave."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckPlanResponse:
    """The verdict on a plan."""

    valid: bool = False
    """Whether the plan may run."""
    faults: tuple[Fault, ...] = ()
    """Every fault found, in the order of the plan's fields."""
    order: tuple[str, ...] = ()
    """Step ids in an order that respects the dependencies; empty when the plan is not valid."""
