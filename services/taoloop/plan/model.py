"""A plan: steps that are tool calls, and bindings that say where each argument comes from."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from taoloop.core.exact_json import ABSENT, Json
from taoloop.plan.task import Usage


class DecisionKind(StrEnum):
    """What the planner chose to do."""

    PLAN = "plan"
    """Call tools."""
    ASK = "ask"
    """Ask the caller for a value."""
    NONE = "none"
    """Nothing that is offered fits."""
    ANSWER = "answer"
    """Everything needed is known: answer."""


class ContractValueKind(StrEnum):
    """Which value of a parameter's own schema a binding points at."""

    DEFAULT = "default"
    """The schema's `default`."""
    ENUM = "enum"
    """One member of the schema's `enum`."""
    CONST = "const"
    """The schema's `const`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """How a planner decided."""

    kind: DecisionKind
    """What it chose."""
    fit: float = 0.0
    """How well the best tool fits the request, 0 to 1."""
    margin: float = 0.0
    """Distance to the second choice, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reasoning:
    """The auditable part of a thought."""

    known: tuple[str, ...] = ()
    """What is known."""
    gap: tuple[str, ...] = ()
    """What is missing."""
    tool: str = ""
    """The tool chosen first."""
    why: str = ""
    """Why that tool."""
    expected: str = ""
    """What is expected from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThoughtPlan:
    """Steps to take, each a tool call whose arguments point at their sources."""

    version: str = ""
    """Version of the plan form, `1.0`."""
    thought_id: str = ""
    """The thought's id."""
    run_id: str = ""
    """The run's id."""
    iteration: int = 0
    """Number of the thought in the run."""
    created_at: datetime | None = None
    """When it was made."""
    catalogue_digest: str = ""
    """Digest of the catalogue that it was made for."""
    planner: str = ""
    """Name and version of the planner."""
    reasoning: Reasoning | None = None
    """The auditable part."""
    steps: tuple[PlanStep, ...] = ()
    """1 to 7 steps; order follows `depends_on`, not the list."""
    state_snapshot: Json = ABSENT
    """Object: what the thought holds to be true of the session, for example a date range."""
    final_output_schema: Json = ABSENT
    """JSON Schema of what the plan delivers in the end."""
    tainted_context: bool = False
    """Whether untrusted text could have shaped the plan."""
    decision: Decision | None = None
    """How sure the planner is."""
    model: str = ""
    """Name of the language model; empty when none took part."""
    usage: Usage | None = None
    """What the thought consumed."""
    content_ref: str = ""
    """Reference to the recorded prompt and reply; empty when none is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanStep:
    """One tool call of a plan."""

    step_id: str
    """Unique in the run: the iteration, a dot, and a name of letters, digits and `_`, for example `2.t1`."""
    description: str = ""
    """What the step is for, for a person."""
    tool: str
    """The tool's name."""
    bindings: tuple[Binding, ...] = ()
    """Where each argument comes from."""
    depends_on: tuple[str, ...] = ()
    """Ids of the steps that must have succeeded before this one starts."""
    input_sources: tuple[str, ...] = ()
    """What the step may see: `user_query`, `session_state`, `inputs`, ids of earlier steps; empty does not say."""
    output_schema: Json = ABSENT
    """JSON Schema that the step's normalised result must fit; absent takes the contract's."""
    expect: Json = ABSENT
    """Object from pointer to list of values: what the planner expects of the result."""
    when: Json = ABSENT
    """JsonLogic over the earlier steps' data (`steps.<id>.<path>`), the session's state (`state.<path>`) and the
    caller's answers (`inputs.<id>.<path>`); the step runs when it is true. Absent runs always."""
    for_each: ForEach | None = None
    """Runs the step once per item of an earlier step's list; its result is the list of the items' results."""
    optional: bool = False
    """Whether the plan goes on when this step fails."""
    timeout_seconds: float | None = None
    """Upper bound for the step; unset takes the contract's."""
    projection: str = ""
    """Name of one of the contract's projections: the goal that the result is shown for; empty shows all it may."""
    uses_snapshot: tuple[str, ...] = ()
    """Names of entries of the plan's state snapshot that the step's arguments must carry; observation verifies it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForEach:
    """Fan-out over a list."""

    items: StepOutput | None = None
    """The list."""
    max_items: int = 0
    """Upper bound of items; more is a fault before any call. 0 takes the service's own bound, which holds besides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """Where one argument comes from. Code fetches, converts and checks the value."""

    pointer: str
    """Pointer of the parameter in the tool's arguments."""
    source: (
        QuerySpan
        | StatePath
        | StepOutput
        | ContractValue
        | InputValue
        | RequestClock
        | Template
        | Generated
        | ItemValue
        | None
    ) = None
    """The source."""
    convert: Convert | None = None
    """How the fetched value becomes the argument; unset takes it as it is."""
    value: Json = ABSENT
    """What the planner expects the argument to be; the resolver must come to the same value or fault. Without a source
    it is a literal, which gets its source before the plan is checked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuerySpan:
    """A piece of one turn's text, in code points of the stored text."""

    turn: int = 0
    """Index of the turn, from 0."""
    start: int
    """First code point."""
    end: int
    """One past the last code point."""
    text: str
    """The text between, as the planner read it; it must equal the stored text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatePath:
    """A place in the session's state."""

    pointer: str
    """Pointer into `state_json`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepOutput:
    """A place in an earlier step's normalised result."""

    step_id: str
    """The earlier step."""
    pointer: str
    """Pointer into its `data_json`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContractValue:
    """A value of the parameter's own schema."""

    kind: ContractValueKind
    """Which keyword holds it."""
    pointer: str
    """Pointer into the tool's parameter schema, for example `/properties/status/enum/1`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemValue:
    """A place in the item of `for_each` that a call is for."""

    pointer: str
    """Pointer into the item; empty for all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputValue:
    """A place in a provided input."""

    input_id: str
    """The input request that was answered."""
    pointer: str
    """Pointer into its `values_json`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestClock:
    """The request's reference time as an RFC 3339 text in the request's time zone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """Texts joined in order."""

    parts: tuple[TemplatePart, ...] = ()
    """The parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplatePart:
    """One part of a template."""

    source: Literal | QuerySpan | StatePath | StepOutput | InputValue | ItemValue | None = None
    """The source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal:
    """Fixed text of a template."""

    text: str
    """The text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """Text written by a model."""

    text: str
    """The text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Convert:
    """A conversion by code."""

    to: str
    """What the value becomes: a name of `taoloop.values.conversions`, for example `date`, `money`, `unit`."""
    options: Json = ABSENT
    """Object of the converter's options."""
