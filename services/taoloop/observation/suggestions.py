"""What the next thought might do after a result that is not valid: one small table, a hint and never an order."""

from __future__ import annotations

from typing import Final

from taoloop.core.faults import FaultCode

WAIT: Final = "wait"
ASK_FOR_APPROVAL: Final = "ask_for_approval"

_REVIEW: Final = "switch_to_manual_review"
_PLAN_AGAIN: Final = "plan_again"

_BY_CODE: Final[dict[str, str]] = {
    FaultCode.OUTCOME_UNKNOWN: _REVIEW,
    FaultCode.DECISION_BY_PERSON_NEEDED: _REVIEW,
    FaultCode.CREDENTIAL_MISSING: _REVIEW,
    FaultCode.REPEATED_WRITE: "use_earlier_result",
    FaultCode.TOOL_TIMEOUT: "try_again_later",
    FaultCode.TOOL_UNREACHABLE: "try_again_later",
    FaultCode.RATE_LIMITED: "try_again_later",
    FaultCode.UPSTREAM_UNAVAILABLE: "try_again_later",
    FaultCode.RESPONSE_INCOMPLETE: "try_again_later",
    FaultCode.INVALID_PARAMETER: "correct_the_input",
    FaultCode.NOT_FOUND: "correct_the_input",
    FaultCode.UPSTREAM_REFUSED: "correct_the_input",
    FaultCode.RESPONSE_TOO_LARGE: "ask_for_less",
    FaultCode.EMPTY_RESULT: "report_nothing_found",
    FaultCode.SCHEMA_VIOLATION: "use_another_tool",
    FaultCode.RESPONSE_MALFORMED: "use_another_tool",
    FaultCode.NORMALISATION_REFUSED: "use_another_tool",
    FaultCode.TOOL_PROTOCOL_FAULT: "use_another_tool",
    FaultCode.RULE_FAILED: "cross_check",
    FaultCode.RULE_INDETERMINATE: "cross_check",
    FaultCode.CONSISTENCY_BROKEN: "cross_check",
}


def suggestion(code: str, *, may_have_effect: bool = False) -> str:
    """Return the hint for a fault code; a code that the table does not know asks for another plan.

    Args:
        code: The fault's code.
        may_have_effect: Whether a write may have happened: then no hint asks for anything like a second one.
    """
    return _REVIEW if may_have_effect else _BY_CODE.get(code, _PLAN_AGAIN)
