"""What the next thought might do after a result that is not valid: one table, a hint and never an order."""

from __future__ import annotations

from typing import Final

from taoloop.core.faults import FaultCode
from taoloop.observation.soft.ports import SoftLabel

WAIT: Final = "wait"
ASK_FOR_APPROVAL: Final = "ask_for_approval"

_REVIEW: Final = "switch_to_manual_review"
_PLAN_AGAIN: Final = "plan_again"
_LATER: Final = "try_again_later"
_CORRECT: Final = "correct_the_input"
_LESS: Final = "ask_for_less"
_OTHER_TOOL: Final = "use_another_tool"
_CROSS_CHECK: Final = "cross_check"
_ASK_USER: Final = "ask_the_user"

HINTS: Final[dict[str, tuple[FaultCode, ...]]] = {
    _REVIEW: (
        FaultCode.OUTCOME_UNKNOWN,
        FaultCode.DECISION_BY_PERSON_NEEDED,
        FaultCode.CREDENTIAL_MISSING,
        FaultCode.CREDENTIAL_REFUSED,
        FaultCode.EGRESS_FORBIDDEN,
        FaultCode.REDIRECT_FORBIDDEN,
        FaultCode.FALLBACK_FAILED,
        FaultCode.JOB_TIMEOUT,
        FaultCode.JOB_HANDLE_REFUSED,
        FaultCode.JOB_PROTOCOL_FAULT,
        FaultCode.TAINTED_SOURCE,
        FaultCode.APPROVAL_EXPIRED,
        FaultCode.NOT_YET_SUPPORTED,
        FaultCode.RULE_ERROR,
        FaultCode.SOURCES_DISAGREE,
    ),
    ASK_FOR_APPROVAL: (FaultCode.APPROVAL_REQUIRED, FaultCode.APPROVAL_CANCELLED, FaultCode.APPROVAL_UNUSABLE),
    "use_earlier_result": (FaultCode.REPEATED_WRITE, FaultCode.LOOP_DETECTED),
    _LATER: (
        FaultCode.TOOL_TIMEOUT,
        FaultCode.TOOL_UNREACHABLE,
        FaultCode.RATE_LIMITED,
        FaultCode.UPSTREAM_UNAVAILABLE,
        FaultCode.RESPONSE_INCOMPLETE,
        FaultCode.POOL_EXHAUSTED,
        FaultCode.LIMITER_SHED,
        FaultCode.RETRY_BUDGET_EXHAUSTED,
        FaultCode.SERVICE_UNAVAILABLE,
        FaultCode.DEADLINE_EXCEEDED,
        FaultCode.LATENCY_EXCEEDED,
    ),
    _CORRECT: (
        FaultCode.INVALID_PARAMETER,
        FaultCode.CONVERSION_REFUSED,
        FaultCode.VALUE_MISMATCH,
        FaultCode.NOT_FOUND,
        FaultCode.UPSTREAM_REFUSED,
        FaultCode.LOW_RELEVANCE,
    ),
    _ASK_USER: (
        FaultCode.UNRESOLVED_REFERENCE,
        FaultCode.MISSING_PARAMETER,
        FaultCode.MISSING_USER_QUERY,
        FaultCode.INSUFFICIENT_CONTEXT,
        FaultCode.AMBIGUOUS_TOOL,
    ),
    _LESS: (
        FaultCode.RESPONSE_TOO_LARGE,
        FaultCode.PLAN_TOO_LARGE,
        FaultCode.LIMIT_REACHED,
        FaultCode.ANSWER_TOO_LARGE,
        FaultCode.EVIDENCE_TOO_LARGE,
    ),
    "report_nothing_found": (FaultCode.EMPTY_RESULT,),
    _OTHER_TOOL: (
        FaultCode.SCHEMA_VIOLATION,
        FaultCode.RESPONSE_MALFORMED,
        FaultCode.NORMALISATION_REFUSED,
        FaultCode.TOOL_PROTOCOL_FAULT,
        FaultCode.TOOL_SWITCHED_OFF,
        FaultCode.TOOL_UNAVAILABLE,
        FaultCode.BREAKER_OPEN,
        FaultCode.UNKNOWN_TOOL,
    ),
    _CROSS_CHECK: (
        FaultCode.RULE_FAILED,
        FaultCode.RULE_INDETERMINATE,
        FaultCode.CONSISTENCY_BROKEN,
        FaultCode.ERROR_TEXT_FOUND,
        FaultCode.RESULT_DOUBTFUL,
    ),
    _PLAN_AGAIN: (
        FaultCode.TOOL_ERROR,
        FaultCode.STATUS_FAILED,
        FaultCode.SUCCESS_RULE_FAILED,
        FaultCode.JOB_FAILED,
        FaultCode.JOB_CANCELLED,
        FaultCode.APPROVAL_REJECTED,
        FaultCode.TOOL_NOT_ALLOWED,
        FaultCode.MODE_NOT_ALLOWED,
        FaultCode.EFFECT_NOT_ALLOWED,
        FaultCode.SOURCE_NOT_ALLOWED,
        FaultCode.CATALOGUE_MISMATCH,
        FaultCode.UPSTREAM_STEP_FAILED,
        FaultCode.CONDITION_NOT_MET,
        FaultCode.CONDITION_UNDECIDED,
        FaultCode.TOO_MANY_ITEMS,
        FaultCode.AMBIGUOUS_RESULT,
        FaultCode.CANCELLED,
        FaultCode.NO_TOOL,
        FaultCode.PARSE_FAILED,
        FaultCode.EMPTY_PLAN,
        FaultCode.THOUGHT_STALLED,
        FaultCode.INVALID_PLAN,
        FaultCode.INVALID_STEP_ID,
        FaultCode.DUPLICATE_STEP_ID,
        FaultCode.UNKNOWN_DEPENDENCY,
        FaultCode.DEPENDENCY_CYCLE,
        FaultCode.UNDECLARED_DEPENDENCY,
        FaultCode.UNKNOWN_REFERENCE,
        FaultCode.TYPE_MISMATCH,
        FaultCode.UNKNOWN_PARAMETER,
        FaultCode.ANSWER_UNGROUNDED,
    ),
}
"""Every code of ours stands under one hint: a code that is added without a decision breaks a test."""

_BY_CODE: Final[dict[str, str]] = {code: hint for hint, codes in HINTS.items() for code in codes}

# Codes that say only that the tool failed: there a sure label of its words says more.
_UNEXPLAINED: Final = frozenset(
    {FaultCode.TOOL_ERROR, FaultCode.STATUS_FAILED, FaultCode.SUCCESS_RULE_FAILED, FaultCode.UPSTREAM_REFUSED}
)
_BY_LABEL: Final = {
    SoftLabel.NETWORK_ISSUE: _LATER,
    SoftLabel.RATE_LIMITED: _LATER,
    SoftLabel.AUTH_FAILED: _REVIEW,
    SoftLabel.DATA_CORRUPTED: _OTHER_TOOL,
}


def suggestion(code: str, *, may_have_effect: bool = False, label: SoftLabel | None = None) -> str:
    """Return the hint for a fault code; a code of a contract's own asks for another plan.

    Args:
        code: The fault's code.
        may_have_effect: Whether a write may have happened: then no hint asks for anything like a second one.
        label: What the tool's words surely tell of; it speaks where the code says only that the tool failed.
    """
    if may_have_effect:
        return _REVIEW
    if label is not None and code in _UNEXPLAINED:
        return _BY_LABEL.get(label, _PLAN_AGAIN)
    return _BY_CODE.get(code, _PLAN_AGAIN)
