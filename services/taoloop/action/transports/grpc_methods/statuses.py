"""The one table from gRPC statuses to what the rest of the service understands: HTTP statuses, or faults."""

from __future__ import annotations

from typing import Final

from taoloop.action.ports import Reply
from taoloop.core import exact_json
from taoloop.core.redaction import redact_text
from taoloop.wire.foreign.channel import ForeignStatus

HTTP_STATUS: Final = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "OUT_OF_RANGE": 400,
    "UNAUTHENTICATED": 401,
    "PERMISSION_DENIED": 403,
    "NOT_FOUND": 404,
    "ALREADY_EXISTS": 409,
    "ABORTED": 409,
    "RESOURCE_EXHAUSTED": 429,
    "CANCELLED": 500,
    "UNKNOWN": 500,
    "INTERNAL": 500,
    "DATA_LOSS": 500,
    "UNIMPLEMENTED": 501,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}
"""Name of a gRPC status to the HTTP status of the same meaning.

Source: google.rpc.Code, but for CANCELLED: 499 would say that the request was refused, and a server that gave up in
the middle has not said so. The 4xx are those after which a write surely had no effect.
"""

OTHER_STATUS: Final = 500
_MESSAGE_CHARACTERS: Final = 500


def status_reply(status: ForeignStatus) -> Reply:
    """Return the answer that stands for a status that is not OK.

    Its body, for the contract's `errors`, has the parts of google.rpc.Status that are there:
    `{"error": {"code": "NOT_FOUND", "message": "…", "reason": "ORDER_UNKNOWN", "domain": "…", "metadata": {}}}`.
    """
    error: dict[str, exact_json.JsonValue] = {
        "code": status.code,
        "message": redact_text(status.message)[:_MESSAGE_CHARACTERS],
    }
    if status.reason:
        error |= {"reason": status.reason, "domain": status.domain, "metadata": dict(status.metadata)}
    seconds = status.retry_after_seconds
    return Reply(
        status_code=HTTP_STATUS.get(status.code, OTHER_STATUS),
        content_type="application/json",
        body=exact_json.dumps({"error": error}).encode(),
        retry_after="" if seconds is None else str(max(0, round(seconds))),
    )
