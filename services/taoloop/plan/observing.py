"""What is judged and what the verdict says."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from taoloop.core.exact_json import ABSENT, Json
from taoloop.core.faults import Fault
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckFailure:
    """One check that did not pass."""

    stage: str
    """status, success, empty, schema, normalise, rule, latency or consistency."""
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
class CheckAnswerRequest:
    """An answer to check."""

    text: str = ""
    """The answer's text."""
    evidence: tuple[Evidence, ...] = ()
    """The observations that it may rest on."""
    locale: str = ""
    """BCP 47 tag of the text's language."""
    time_zone: str = ""
    """IANA name of the user's time zone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One observation that an answer may rest on."""

    step_id: str = ""
    """The step's id."""
    exposed: Json = ABSENT
    """What the answer may see of its result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckAnswerResponse:
    """The verdict on an answer."""

    grounded: bool = False
    """Whether every claim is supported."""
    claims: tuple[Claim, ...] = ()
    """Every number, id, date and name of the text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One checkable value in an answer."""

    text: str = ""
    """The value as it stands in the text."""
    start: int = 0
    """First code point in the text."""
    end: int = 0
    """One past the last code point."""
    supported: bool = False
    """Whether an observation supports it."""
    step_id: str = ""
    """The step that supports it."""
    pointer: str = ""
    """Pointer into that step's exposed data."""
