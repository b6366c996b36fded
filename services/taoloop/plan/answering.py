"""Records of checking an answer: the text with its evidence in, each claim with its support out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from taoloop.core.exact_json import ABSENT, Json
from taoloop.core.faults import Fault


class ClaimKind(StrEnum):
    """What a claim of an answer is."""

    NUMBER = "number"
    """A number without a unit, in digits, Chinese numerals or English words."""
    PERCENTAGE = "percentage"
    """A number with a percent sign or word."""
    MONEY = "money"
    """A number with a currency."""
    QUANTITY = "quantity"
    """A number with another unit."""
    IDENTIFIER = "identifier"
    """An order number, a tracking number, a UUID or another code."""
    EMAIL = "email"
    """An e-mail address."""
    URL = "url"
    """A web address."""
    PHONE = "phone"
    """A phone number."""
    DATE = "date"
    """A day, a month or a year; either end of a range is a claim of its own."""
    TIME = "time"
    """A time of day, or a day with one."""
    NAME = "name"
    """A name in capital letters."""
    QUOTE = "quote"
    """What stands in quotation or book-title marks."""


class ClaimReason(StrEnum):
    """Why a claim is supported, or not."""

    SAME_VALUE = "same_value"
    """Supported: an observation has the same value."""
    UNIT_NOT_STATED = "unit_not_stated"
    """Supported: an observation has the same number and does not say its unit, so that the unit is not checked."""
    ITEM_COUNT = "item_count"
    """Supported: a list of an observation has so many items."""
    WITHIN_PERIOD = "within_period"
    """Supported: an observation has a moment within the day, month, year or minute that the text names."""
    NOT_FOUND = "not_found"
    """Not supported: no observation has it."""
    OTHER_UNIT = "other_unit"
    """Not supported: the same number occurs with another unit only."""
    AMBIGUOUS = "ambiguous"
    """Not supported: the date can be read in two ways, and the locale does not decide."""


class ValidationOrigin(StrEnum):
    """Who said what `grounded` rests on."""

    DETERMINISTIC = "deterministic"
    """The comparison of values alone: no semantic validator is set up, or an unsupported claim had settled it."""
    LLM_SEMANTIC = "llm_semantic"
    """The comparison of values, and a semantic validator after it."""
    DETERMINISTIC_GROUNDED_FALLBACK = "deterministic_grounded_fallback"
    """The semantic validator gave no verdict that can be used; the comparison of values passed."""
    LLM_FAILED = "llm_failed"
    """The semantic validator gave no verdict that can be used, and the text has no value that could be compared."""


class RecoveryMode(StrEnum):
    """What must happen before the answer is relied on."""

    MANUAL_REVIEW = "manual_review"
    """A person looks at it."""


class SemanticStatus(StrEnum):
    """What a semantic validator says of an answer."""

    VALID = "valid"
    """The evidence carries the answer."""
    INVALID = "invalid"
    """The evidence contradicts the answer, or does not carry it."""
    INSUFFICIENT_EVIDENCE = "insufficient_evidence"
    """The evidence does not suffice to tell."""


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
    """IANA name of the user's time zone; empty compares times as they are written."""
    execution_permitted: bool = False
    """Whether the observations permit an effect; the reply never permits one that this does not."""


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
    """Whether every claim is supported, and no semantic validator objects."""
    claims: tuple[Claim, ...] = ()
    """Every number, id, date and name of the text."""
    fault: Fault | None = None
    """Why the answer could not be checked, for example ANSWER_TOO_LARGE; None when it was."""
    validation: Validation | None = None
    """Who said so, after how many attempts, and what went wrong in between."""
    execution_permitted: bool = False
    """Whether an effect may rest on the answer: never when the request did not permit it, when a claim is unsupported,
    or when a semantic validator that is set up gave no verdict."""


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
    kind: ClaimKind | None = None
    """What it is."""
    normalised: str = ""
    """The value in one form, for example `1234.5 USD`, `2026-05-20` or `--05-20`."""
    reason: ClaimReason | None = None
    """Why it is supported, or not."""
    candidate: str = ""
    """The nearest value that the observations have, for a claim that is not supported; empty when there is none."""
    candidate_step_id: str = ""
    """The step that has the candidate."""
    candidate_pointer: str = ""
    """Pointer to the candidate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """How an answer was validated, as an audit keeps it: codes and counts, no prompt and no reply of a model."""

    origin: ValidationOrigin | None = None
    """Who said what the verdict rests on."""
    semantic_validation_attempts: int = 0
    """How often the semantic validator was asked; an attempt that was skipped does not count."""
    validation_error_code: str = ""
    """Why the semantic validator gave no verdict that can be used; empty when it gave one, or none is set up."""
    attempts: tuple[ValidationAttempt, ...] = ()
    """Every attempt, in order, the failed ones too."""
    verdict: SemanticVerdict | None = None
    """The semantic validator's verdict; None when there is none."""
    recovery_mode: RecoveryMode | None = None
    """What must happen before the answer is relied on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationAttempt:
    """One attempt to get a verdict of the semantic validator."""

    number: int = 0
    """From 1."""
    error_code: str = ""
    """Why it gave no verdict that can be used, as `validation_error_code`; empty when it gave one."""
    duration_seconds: float | None = None
    """How long it took."""
    model: str = ""
    """The model that was asked, as the settings name it."""
    skipped: bool = False
    """Whether it was left out, since too little time remained."""
    field: str = ""
    """The field of the reply at fault, for example `/status`; empty for none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SemanticVerdict:
    """A semantic validator's verdict, after every check of its form."""

    status: SemanticStatus
    """The verdict."""
    reason_codes: tuple[str, ...] = ()
    """Why it is not valid, of a fixed list."""
    unsupported_claims: tuple[str, ...] = ()
    """Parts of the answer, word for word, that the evidence does not carry."""
    missing_evidence_ids: tuple[str, ...] = ()
    """Step ids of evidence that the answer would need and does not use."""
    summary: str = ""
    """One or two sentences for a person, at most 500 characters. Words of a model: shown, never acted on."""
