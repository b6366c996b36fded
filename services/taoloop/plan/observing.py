"""What is judged and what the verdict says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from taoloop.core.exact_json import ABSENT, Json
from taoloop.core.faults import Fault
from taoloop.core.records import quickly_made
from taoloop.plan.acting import ActionResult
from taoloop.tools.signature import Trust


class CheckVerdict(StrEnum):
    """What a check said."""

    FAIL = "fail"
    """The result breaks the check."""
    INDETERMINATE = "indeterminate"
    """The check needs a value that is missing; it does not pass."""
    ERROR = "error"
    """The check itself failed; it does not pass."""


class Consistency(StrEnum):
    """Whether the result is what the plan and the contract expect."""

    OK = "ok"
    """As expected."""
    BROKEN = "broken"
    """Not as expected: the result is not valid, and its data is kept."""


class ConfidenceLevel(StrEnum):
    """How far a result can be relied on, by the two thresholds of the service."""

    LOW = "low"
    """Below the lower threshold, 0.5 by default: when all results are so, a person decides."""
    MEDIUM = "medium"
    """Between the two."""
    HIGH = "high"
    """Above the upper threshold, 0.7 by default: preferred where results differ."""


class DriftKind(StrEnum):
    """What an answer has that was never seen before."""

    NEW_FIELD = "new_field"
    """A member of an object."""
    NEW_TYPE = "new_type"
    """A JSON type at a known place."""
    NEW_ENUM_VALUE = "new_enum_value"
    """A value at a place that has had a small closed set of them."""


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class ObserveRequest:
    """One result to judge."""

    result: ActionResult | None = None
    """What the action service returned."""
    arguments: Json = ABSENT
    """The arguments of the call; rules may read them."""
    expect: Json = ABSENT
    """Object from pointer to list of values: what the plan expects of the result."""
    output_schema: Json = ABSENT
    """JSON Schema that the normalised result must fit besides the contract's; absent for none."""
    catalogue_digest: str = ""
    """Digest of the catalogue that the run is pinned to."""
    reference_time: datetime | None = None
    """The run's reference time."""
    projection: str = ""
    """Name of one of the contract's projections: the goal that the result is shown for; empty shows all it may."""
    state_snapshot: Json = ABSENT
    """Object: the entries of the plan's state snapshot that the step names in `uses_snapshot`. One that the arguments
    do not carry is a broken consistency; absent checks nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserveResponse:
    """The reply to Observe."""

    result: ObservationResult | None = None
    """The verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserveBatchRequest:
    """Several results to judge."""

    items: tuple[ObserveRequest, ...] = ()
    """The results, at most 256."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserveBatchResponse:
    """The reply to ObserveBatch."""

    results: tuple[ObservationResult, ...] = ()
    """The verdicts, in the order of the items."""


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationResult:
    """What is true of a result."""

    step_id: str
    """The step's id."""
    tool: str = ""
    """The tool's name."""
    valid: bool
    """Whether every hard check passed and the consistency holds."""
    data: Json = ABSENT
    """The normalised result; absent when the body could not be read, broke its schema, or could not be normalised."""
    exposed: Json = ABSENT
    """The part that prompts and answers may see."""
    confidence: float = 0.0
    """0 to 1: the stages' weighted score times the source's weight; 0 after a failed hard check."""
    stages: tuple[StageScore, ...] = ()
    """What entered the confidence."""
    audit_trail: tuple[str, ...] = ()
    """Short ids of what passed, in order, for example `status_2xx`, `schema_valid`."""
    failures: tuple[CheckFailure, ...] = ()
    """Every check that did not pass."""
    consistency: Consistency | None = None
    """Whether it is what was expected."""
    omitted: tuple[str, ...] = ()
    """Pointers of what was left out of `exposed_json`."""
    fault: Fault | None = None
    """The first failure as a fault; unset when valid."""
    suggested_next: str = ""
    """What the next thought might do, for example `switch_to_manual_review`; a hint, never an order."""
    execution_permitted: bool = False
    """Whether the result may be used to carry out an effect. Permission is never widened by a failure."""
    trust: Trust = Trust.UNTRUSTED
    """Whose words the result holds."""
    drift: tuple[Drift, ...] = ()
    """What the answer has that was never seen of this tool: a warning, which changes nothing else."""
    confidence_level: ConfidenceLevel | None = None
    """The confidence by the service's thresholds; None for a result that is pending."""
    source_weight: float = 0.0
    """How much the source counts, 0 to 1: the factor between the stages' score and `confidence`."""
    source_detail: str = ""
    """Why the source counts so much, for example `a fallback tool answered: 1 of the contract x 0.8`."""
    omitted_count: int = 0
    """How many places were left out of `exposed` or cut short in it; `omitted` lists at most 100 of them."""
    redacted: tuple[str, ...] = ()
    """Pointers of what is masked in `exposed`, at most 100."""
    exposed_is_cut: bool = False
    """Whether `exposed` was cut because it would have been too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """Something that was never seen of a tool before."""

    kind: DriftKind
    """What is new."""
    pointer: str = ""
    """Where: a JSON pointer in which `*` stands for every item, and for a member name that is none of a field."""
    value: Json = ABSENT
    """The new value, or the name of the new JSON type; redacted, cut to 200 characters."""
    in_data: bool = False
    """Whether the pointer is one into the normalised data; else it is one into the body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StageScore:
    """One stage of the confidence."""

    name: str
    """hard, soft or consistency."""
    ran: bool
    """Whether it ran; a stage that did not has no weight."""
    weight: float = 0.0
    """Its weight after renormalising, 0 to 1."""
    score: float = 0.0
    """Its score, 0 to 1."""
    detail: str = ""
    """What the score is made of, for example `3 of 4 passed; failed: cheap`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFailure:
    """One check that did not pass."""

    stage: str
    """status, parse, success, empty, schema, relevance, normalise, rule, latency, soft or consistency."""
    rule_id: str = ""
    """The contract's id of the rule, or the schema keyword."""
    pointer: str = ""
    """Where in the body or the data."""
    verdict: CheckVerdict
    """What the check said."""
    expected: Json = ABSENT
    """What was expected there."""
    actual: Json = ABSENT
    """What was found there, cut to 200 characters."""
    message: str = ""
    """What it means, for a person."""
    hard: bool = False
    """Whether it makes the result invalid; a soft failure only lowers the confidence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListDriftRequest:
    """Asks what changed upstream."""

    tool: str = ""
    """Only that of one tool; empty for all tools of the catalogue."""
    since: datetime | None = None
    """Only what was seen at this time or later; None for all that is kept."""
    page_size: int = 0
    """At most this many; 0 takes 100, more than 1000 are refused."""
    page_token: str = ""
    """Where the page before ended; empty for the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListDriftResponse:
    """One page of drift."""

    records: tuple[DriftRecord, ...] = ()
    """The records, by tool, place, kind and value."""
    next_page_token: str = ""
    """Where the next page starts; empty on the last."""
    is_local: bool = False
    """Whether the records are of this replica alone, and gone when it stops."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DriftRecord:
    """Since when, and how often, one thing was seen that was never seen before."""

    tool: str = ""
    """The tool's name."""
    drift: Drift | None = None
    """What is new."""
    first_seen: datetime | None = None
    """When it was first seen."""
    last_seen: datetime | None = None
    """When it was last seen."""
    count: int = 0
    """In how many results."""
