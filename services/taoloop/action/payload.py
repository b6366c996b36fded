"""A tool's body read strictly: exact JSON, or the first bytes of what was none."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Final

from taoloop.action.ports import Reply
from taoloop.core import exact_json
from taoloop.core.exact_json import ABSENT, Json, JsonSyntaxError
from taoloop.plan.acting import Body

RAW_PREFIX_BYTES: Final = 4096
"""How much of a body that is not JSON travels with the result."""

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


@dataclass(slots=True, kw_only=True)
class Payload:
    """What a body was found to be."""

    parsed: Json = ABSENT
    """The JSON value; absent when the body is empty or no JSON."""
    text: bytes | None = None
    """The parsed value as it was written, in UTF-8; None when nothing was parsed."""
    raw: bytes | None = None
    """The first bytes of a body that is no JSON; None when it is, or when it is empty."""
    body: Body
    fault_message: str = ""
    """Why the body is not what it should be, without any of it; empty when it is."""


def read_payload(reply: Reply, *, expects_json: bool, is_truncated: bool = False) -> Payload:
    """Read a body as JSON when it is announced or expected to be JSON; a byte-order mark is accepted.

    Args:
        reply: What arrived.
        expects_json: Whether the contract describes a JSON response.
        is_truncated: Whether bytes are missing; such a body is never parsed.
    """
    body = Body(
        content_type=reply.content_type,
        size_bytes=len(reply.body),
        sha256=hashlib.sha256(reply.body).hexdigest(),
        truncated=is_truncated,
    )
    if is_truncated or not (expects_json or is_json_type(reply.content_type)):
        return Payload(raw=_prefix(reply.body), body=body)
    if not reply.body:
        has_no_content = reply.status_code in {202, 204, 205}
        return Payload(body=body, fault_message="" if has_no_content else "The body is empty.")
    try:
        text = reply.body.removeprefix(_BYTE_ORDER_MARK)
        parsed = exact_json.loads(text)
    except JsonSyntaxError as exc:
        return Payload(raw=_prefix(reply.body), body=body, fault_message=_cause(exc, reply))
    return Payload(parsed=parsed, text=text, body=body)


def is_json_type(content_type: str) -> bool:
    """Tell whether a content type, lower case and without parameters, announces JSON."""
    return content_type in {"application/json", "text/json"} or content_type.endswith("+json")


def _cause(error: JsonSyntaxError, reply: Reply) -> str:
    if not reply.content_type or is_json_type(reply.content_type):
        return f"The body is not JSON: {error.message} at line {error.line}, column {error.column}."
    return f"The content type is {reply.content_type[:80]}, not JSON."


def _prefix(body: bytes) -> bytes | None:
    return body[:RAW_PREFIX_BYTES] or None
