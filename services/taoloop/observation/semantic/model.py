"""What a semantic validator is shown, and how an attempt to get its verdict ends."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from taoloop.plan.answering import Evidence, SemanticVerdict, ValidationAttempt


class ValidationErrorCode(StrEnum):
    """Why a semantic validator gave no verdict that can be used."""

    PROVIDER_ERROR = "provider_error"
    """The model could not be reached, refused, or broke off."""
    TIMEOUT = "timeout"
    """The model did not reply in time."""
    INVALID_JSON = "invalid_json"
    """The reply is not JSON."""
    INVALID_ENVELOPE = "invalid_envelope"
    """The reply is JSON and no object."""
    MISSING_FIELD = "missing_field"
    """A field of the contract is missing."""
    EXTRA_FIELD = "extra_field"
    """There is a field that the contract does not have."""
    INVALID_ENUM = "invalid_enum"
    """A word is none of those that the contract lists."""
    INVALID_CONTAINER = "invalid_container"
    """A list is no list of texts, holds one twice or too many, or a text is none or too long."""
    FOREIGN_EVIDENCE = "foreign_evidence"
    """An evidence id is none of those that were shown."""
    FOREIGN_CLAIM = "foreign_claim"
    """A claim does not stand in the answer word for word."""
    CONTRADICTORY = "contradictory"
    """The status says another thing than the lists beside it."""
    CORRECTION_EXHAUSTED = "correction_exhausted"
    """The reply was still out of form after every correction that is allowed."""
    RETRY_SKIPPED_INSUFFICIENT_DEADLINE = "retry_skipped_insufficient_deadline"
    """A correction was due, and too little time remained for it."""


class ReasonCode(StrEnum):
    """Why an answer is not valid."""

    UNSUPPORTED_CLAIM = "unsupported_claim"
    CONTRADICTS_EVIDENCE = "contradicts_evidence"
    MISSING_EVIDENCE = "missing_evidence"
    MISLEADING = "misleading"
    OUT_OF_SCOPE = "out_of_scope"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """An answer as a validator sees it.

    Attributes:
        text: The answer.
        evidence: The observations that it may rest on.
        locale: BCP 47 tag of its language.
    """

    text: str
    evidence: tuple[Evidence, ...]
    locale: str = ""

    @property
    def evidence_ids(self) -> frozenset[str]:
        """The step ids that a verdict may name."""
        return frozenset(one.step_id for one in self.evidence)


@dataclass(frozen=True, slots=True)
class Complaint:
    """What was wrong with a reply: its place and kind, never its text.

    Attributes:
        code: The kind.
        field: Pointer to the place; empty for the whole.
        expected: What would have been right.
    """

    code: ValidationErrorCode
    field: str = ""
    expected: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationRun:
    """All attempts to get one verdict.

    Attributes:
        verdict: The verdict; None when there is none that can be used.
        error_code: Why there is none; empty with a verdict.
        attempts: Every attempt, in order.
    """

    verdict: SemanticVerdict | None = None
    error_code: str = ""
    attempts: tuple[ValidationAttempt, ...] = ()


class VerdictRefused(Exception):
    """A reply breaks the contract.

    Attributes:
        complaint: Where and how.
    """

    def __init__(self, code: ValidationErrorCode, field: str = "", expected: str = "") -> None:
        super().__init__(f"{code.value} at {field or 'the whole'}")
        self.complaint = Complaint(code, field, expected)


class ValidatorUnavailable(Exception):
    """The validator gave no reply at all.

    Attributes:
        code: PROVIDER_ERROR or TIMEOUT.
    """

    def __init__(self, code: ValidationErrorCode) -> None:
        super().__init__(code.value)
        self.code = code
