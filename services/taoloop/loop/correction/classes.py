"""The kinds of failure that the correction tells apart, and to which of them each fault code belongs."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from taoloop.core.faults import FaultCode


class FaultClass(StrEnum):
    """A kind of failure that asks for reactions of its own; how it was found is a rule's business, never a model's."""

    TOOL_TIMEOUT = "TOOL_TIMEOUT"
    TOOL_UNAVAILABLE = "TOOL_UNAVAILABLE"
    TOOL_SCHEMA_VIOLATION = "TOOL_SCHEMA_VIOLATION"
    TOOL_FAILED = "TOOL_FAILED"
    RESPONSE_MALFORMED = "RESPONSE_MALFORMED"
    OBSERVATION_INCONSISTENT = "OBSERVATION_INCONSISTENT"
    LLM_OUTPUT_MALFORMED = "LLM_OUTPUT_MALFORMED"
    PLAN_OUTDATED = "PLAN_OUTDATED"
    EFFECT_UNKNOWN = "EFFECT_UNKNOWN"
    APPROVAL_UNUSED = "APPROVAL_UNUSED"
    NOT_PERMITTED = "NOT_PERMITTED"
    PERSON_NEEDED = "PERSON_NEEDED"
    REQUEST_UNSERVED = "REQUEST_UNSERVED"
    LIMIT_REACHED = "LIMIT_REACHED"

    @property
    def meaning(self) -> str:
        """Return what it is, in one sentence."""
        return _MEANINGS[self]


_MEANINGS: Final = {
    FaultClass.TOOL_TIMEOUT: "The tool did not answer in time, or not to the end.",
    FaultClass.TOOL_UNAVAILABLE: "The tool, or the way to it, does not serve at present.",
    FaultClass.TOOL_SCHEMA_VIOLATION: "The tool cannot be called with these values, or knows nothing for them.",
    FaultClass.TOOL_FAILED: "The tool said that it failed.",
    FaultClass.RESPONSE_MALFORMED: "What the tool answered does not have the form that its contract promises.",
    FaultClass.OBSERVATION_INCONSISTENT: "The result contradicts rules, the plan or itself, or is doubtful.",
    FaultClass.LLM_OUTPUT_MALFORMED: "What the planner wrote is no plan that may run.",
    FaultClass.PLAN_OUTDATED: "The plan was made for tools that are not those of now.",
    FaultClass.EFFECT_UNKNOWN: "A write may have taken effect, and nobody can tell.",
    FaultClass.APPROVAL_UNUSED: "The leave for a call could not be used.",
    FaultClass.NOT_PERMITTED: "The run, its caller or a person does not allow the call.",
    FaultClass.PERSON_NEEDED: "Only a person, an operator or the owner of a contract can do something about it.",
    FaultClass.REQUEST_UNSERVED: "The request cannot be served as it stands.",
    FaultClass.LIMIT_REACHED: "A limit of the run, or its time, is used up.",
}


CODES: Final[dict[FaultClass, tuple[FaultCode, ...]]] = {
    FaultClass.TOOL_TIMEOUT: (
        FaultCode.TOOL_TIMEOUT,
        FaultCode.RESPONSE_INCOMPLETE,
        FaultCode.DEADLINE_EXCEEDED,
        FaultCode.LATENCY_EXCEEDED,
    ),
    FaultClass.TOOL_UNAVAILABLE: (
        FaultCode.UPSTREAM_UNAVAILABLE,
        FaultCode.TOOL_UNREACHABLE,
        FaultCode.TOOL_UNAVAILABLE,
        FaultCode.BREAKER_OPEN,
        FaultCode.TOOL_SWITCHED_OFF,
        FaultCode.RATE_LIMITED,
        FaultCode.LIMITER_SHED,
        FaultCode.POOL_EXHAUSTED,
        FaultCode.RETRY_BUDGET_EXHAUSTED,
        FaultCode.SERVICE_UNAVAILABLE,
    ),
    FaultClass.TOOL_SCHEMA_VIOLATION: (
        FaultCode.INVALID_PARAMETER,
        FaultCode.MISSING_PARAMETER,
        FaultCode.CONVERSION_REFUSED,
        FaultCode.UNRESOLVED_REFERENCE,
        FaultCode.CONDITION_UNDECIDED,
        FaultCode.TOO_MANY_ITEMS,
        FaultCode.NOT_FOUND,
        FaultCode.UPSTREAM_REFUSED,
        FaultCode.EMPTY_RESULT,
        FaultCode.LOW_RELEVANCE,
    ),
    FaultClass.TOOL_FAILED: (
        FaultCode.TOOL_ERROR,
        FaultCode.STATUS_FAILED,
        FaultCode.SUCCESS_RULE_FAILED,
        FaultCode.JOB_FAILED,
        FaultCode.JOB_CANCELLED,
        FaultCode.UPSTREAM_STEP_FAILED,
        FaultCode.CONDITION_NOT_MET,
    ),
    FaultClass.RESPONSE_MALFORMED: (
        FaultCode.RESPONSE_MALFORMED,
        FaultCode.RESPONSE_TOO_LARGE,
        FaultCode.TOOL_PROTOCOL_FAULT,
        FaultCode.SCHEMA_VIOLATION,
        FaultCode.NORMALISATION_REFUSED,
    ),
    FaultClass.OBSERVATION_INCONSISTENT: (
        FaultCode.RULE_FAILED,
        FaultCode.RULE_INDETERMINATE,
        FaultCode.CONSISTENCY_BROKEN,
        FaultCode.ERROR_TEXT_FOUND,
        FaultCode.AMBIGUOUS_RESULT,
        FaultCode.RESULT_DOUBTFUL,
        FaultCode.SOURCES_DISAGREE,
    ),
    FaultClass.LLM_OUTPUT_MALFORMED: (
        FaultCode.PARSE_FAILED,
        FaultCode.EMPTY_PLAN,
        FaultCode.PLAN_TOO_LARGE,
        FaultCode.INVALID_PLAN,
        FaultCode.INVALID_STEP_ID,
        FaultCode.DUPLICATE_STEP_ID,
        FaultCode.UNKNOWN_DEPENDENCY,
        FaultCode.DEPENDENCY_CYCLE,
        FaultCode.UNDECLARED_DEPENDENCY,
        FaultCode.UNKNOWN_REFERENCE,
        FaultCode.UNKNOWN_PARAMETER,
        FaultCode.TYPE_MISMATCH,
        FaultCode.VALUE_MISMATCH,
        FaultCode.SOURCE_NOT_ALLOWED,
        FaultCode.THOUGHT_STALLED,
        FaultCode.ANSWER_UNGROUNDED,
    ),
    FaultClass.PLAN_OUTDATED: (FaultCode.UNKNOWN_TOOL, FaultCode.CATALOGUE_MISMATCH),
    FaultClass.EFFECT_UNKNOWN: (FaultCode.OUTCOME_UNKNOWN,),
    FaultClass.APPROVAL_UNUSED: (FaultCode.APPROVAL_REQUIRED, FaultCode.APPROVAL_UNUSABLE),
    FaultClass.NOT_PERMITTED: (
        FaultCode.EFFECT_NOT_ALLOWED,
        FaultCode.TOOL_NOT_ALLOWED,
        FaultCode.MODE_NOT_ALLOWED,
        FaultCode.TAINTED_SOURCE,
        FaultCode.APPROVAL_REJECTED,
        FaultCode.APPROVAL_EXPIRED,
        FaultCode.APPROVAL_CANCELLED,
    ),
    FaultClass.PERSON_NEEDED: (
        FaultCode.DECISION_BY_PERSON_NEEDED,
        FaultCode.REPEATED_WRITE,
        FaultCode.FALLBACK_FAILED,
        FaultCode.CREDENTIAL_MISSING,
        FaultCode.CREDENTIAL_REFUSED,
        FaultCode.EGRESS_FORBIDDEN,
        FaultCode.REDIRECT_FORBIDDEN,
        FaultCode.JOB_TIMEOUT,
        FaultCode.JOB_HANDLE_REFUSED,
        FaultCode.JOB_PROTOCOL_FAULT,
        FaultCode.NOT_YET_SUPPORTED,
        FaultCode.RULE_ERROR,
    ),
    FaultClass.REQUEST_UNSERVED: (
        FaultCode.NO_TOOL,
        FaultCode.MISSING_USER_QUERY,
        FaultCode.INSUFFICIENT_CONTEXT,
        FaultCode.AMBIGUOUS_TOOL,
    ),
    FaultClass.LIMIT_REACHED: (
        FaultCode.LIMIT_REACHED,
        FaultCode.LOOP_DETECTED,
        FaultCode.CANCELLED,
        FaultCode.ANSWER_TOO_LARGE,
        FaultCode.EVIDENCE_TOO_LARGE,
    ),
}
"""Every code of ours stands under one class: a code that is added without a decision breaks a test."""

_BY_CODE: Final[dict[str, FaultClass]] = {code: kind for kind, codes in CODES.items() for code in codes}


NOT_OF_VALUES: Final = (401, 402, 403, 405, 406, 407, 415, 426)
"""Answers of HTTP that speak of who calls and how; another value of the user's gets the same."""


def class_of(code: str, *, may_have_effect: bool = False, status_code: int = 0) -> FaultClass:
    """Return the class of a fault code; a code of a contract's own says that the tool failed.

    Args:
        code: The fault's code.
        may_have_effect: Whether the call may have changed something: then that counts, and the code does not.
        status_code: What the tool answered over HTTP: it may refuse whatever is asked for. 0 for nothing.
    """
    if may_have_effect:
        return FaultClass.EFFECT_UNKNOWN
    if code == FaultCode.UPSTREAM_REFUSED and status_code in NOT_OF_VALUES:
        return FaultClass.TOOL_FAILED
    return _BY_CODE.get(code, FaultClass.TOOL_FAILED)
