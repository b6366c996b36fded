"""The first two stages: what the action's status and code say, and whether there is a body to judge."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from taoloop.core.exact_json import ABSENT, JsonSyntaxError, JsonValue, loads
from taoloop.core.faults import FaultCode
from taoloop.observation.stages.model import Flaw, Outcome, Stage, flaw
from taoloop.plan.acting import ActionResult, ActionStatus, ServedBy

_SUCCEEDED: Final = Outcome(passed=("status_2xx",))
_ANSWERED: Final = Outcome(passed=("status_answered",))
_PARSED: Final = Outcome(passed=("body_parsed",))

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_MAX_REREAD_BYTES: Final = 64 * 1024

# What a status means when the action service did not say why.
_CODES: Final = {
    ActionStatus.TIMED_OUT: (FaultCode.TOOL_TIMEOUT, "The tool did not answer in time."),
    ActionStatus.REJECTED: (FaultCode.STATUS_FAILED, "The call was not made."),
    ActionStatus.OUTCOME_UNKNOWN: (FaultCode.OUTCOME_UNKNOWN, "The call may or may not have taken effect."),
    ActionStatus.APPROVAL_REQUIRED: (FaultCode.DECISION_BY_PERSON_NEEDED, "The call waits for leave."),
    ActionStatus.FAILED: (FaultCode.STATUS_FAILED, "The action did not succeed."),
}


@dataclass(frozen=True, slots=True)
class Judgeable:
    """A body that the later stages judge.

    Attributes:
        value: The body; None both for JSON null and for no body at all.
        is_no_content: Whether the tool said by its status code that there is nothing.
    """

    value: JsonValue
    is_no_content: bool = False


def is_pending(result: ActionResult) -> bool:
    """Tell whether the tool still works on it: the action says so, or the code is 202, with or without a body."""
    if result.status is ActionStatus.PENDING:
        return True
    return result.status is ActionStatus.SUCCEEDED and result.status_code == 202


def check_status(result: ActionResult) -> Outcome:
    """Check the status class, before any byte of the body is looked at.

    A code of 0 is that of a transport without codes: there the action's own status stands alone.
    """
    if result.status is not ActionStatus.SUCCEEDED:
        return Outcome(flaws=(_failed(result),))
    if result.fault is not None:
        return Outcome(flaws=(_status_flaw(result, FaultCode.STATUS_FAILED, "The action names a fault."),))
    if result.status_code == 0:
        return _ANSWERED
    if 200 <= result.status_code < 300:
        return _SUCCEEDED
    message = f"Status code {result.status_code} is not that of a success."
    return Outcome(flaws=(_status_flaw(result, FaultCode.STATUS_FAILED, message),))


def read_body(result: ActionResult, max_body_bytes: int) -> tuple[Judgeable | None, Outcome]:
    """Return the body to judge, or None and the flaw that keeps it from being judged.

    Args:
        result: An action result whose status passed.
        max_body_bytes: Largest body that is judged; the check relies on the size that the result states.
    """
    size_bytes = result.body.size_bytes if result.body is not None else len(result.raw or b"")
    if size_bytes > max_body_bytes:
        return None, Outcome(flaws=(_too_large(size_bytes, max_body_bytes),))
    if result.body is not None and result.body.truncated:
        message = "Bytes are missing from the body."
        return None, Outcome(flaws=(flaw(Stage.PARSE, FaultCode.RESPONSE_INCOMPLETE, message),))
    if result.parsed is not ABSENT:
        return Judgeable(result.parsed), _PARSED
    if result.raw:
        return None, Outcome(flaws=(_not_json(result),))
    return Judgeable(None, is_no_content=True), Outcome(passed=("body_empty",))


def has_own_response_time(result: ActionResult) -> bool:
    """Tell whether the response time is that of this call: a cached or recorded answer has none."""
    return result.served_by is not ServedBy.CACHE and result.served_by is not ServedBy.DUPLICATE


def _failed(result: ActionResult) -> Flaw:
    code, message = _CODES.get(result.status, (FaultCode.STATUS_FAILED, "The action did not succeed."))
    return _status_flaw(result, code, message)


def _status_flaw(result: ActionResult, code: FaultCode, message: str) -> Flaw:
    if result.status is ActionStatus.SUCCEEDED and result.fault is None:
        return flaw(Stage.STATUS, code, message, rule_id="status_2xx", expected="2xx", actual=result.status_code)
    expected = ActionStatus.SUCCEEDED.value
    return flaw(Stage.STATUS, code, message, rule_id="status", expected=expected, actual=result.status.value)


def _too_large(size_bytes: int, limit_bytes: int) -> Flaw:
    message = f"The body has {size_bytes} bytes, more than the {limit_bytes} that are judged."
    return flaw(
        Stage.PARSE, FaultCode.RESPONSE_TOO_LARGE, message, rule_id="size", expected=limit_bytes, actual=size_bytes
    )


def _not_json(result: ActionResult) -> Flaw:
    """Name the content type, where reading failed, and nothing of the content: a sign-in page may hold tokens."""
    content_type = result.body.content_type if result.body is not None else ""
    message = f"The body is not JSON (content type {content_type or 'not given'}){_place_of_fault(result)}."
    return flaw(
        Stage.PARSE,
        FaultCode.RESPONSE_MALFORMED,
        message,
        rule_id="content_type",
        expected="application/json",
        actual=content_type or None,
    )


def _place_of_fault(result: ActionResult) -> str:
    """Return where the body stops to be JSON, if all of it is at hand; only a beginning would break off elsewhere."""
    raw = result.raw or b""
    if result.body is not None and result.body.size_bytes > len(raw):
        return ""
    try:
        loads(raw.removeprefix(_BYTE_ORDER_MARK), max_bytes=_MAX_REREAD_BYTES)
    except JsonSyntaxError as error:
        return f": {error.message} at line {error.line}, column {error.column}"
    return ""
