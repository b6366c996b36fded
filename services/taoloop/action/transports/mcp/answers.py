"""What a server's JSON-RPC answer to `tools/call` means: a body, a failure in the tool's own words, or a refusal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from mcp_types import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    PARSE_ERROR,
    UNSUPPORTED_PROTOCOL_VERSION,
)

from taoloop.action.ports import Reply, TransportFault
from taoloop.core import exact_json
from taoloop.core.exact_json import JsonSyntaxError, JsonValue
from taoloop.core.faults import FaultCode

SAID_IT_FAILED: Final = "The tool answered that it failed; the body says why."

_REFUSALS: Final = frozenset(
    {
        PARSE_ERROR,
        INVALID_REQUEST,
        METHOD_NOT_FOUND,
        INVALID_PARAMS,
        HEADER_MISMATCH,
        MISSING_REQUIRED_CLIENT_CAPABILITY,
        UNSUPPORTED_PROTOCOL_VERSION,
    }
)
"""Codes with which a server says that it did not call the tool."""

_LINE_ENDS: Final = re.compile(r"\r\n|\n|\r")
_JSON: Final = "application/json"


def read_message(content_type: str, body: bytes) -> dict[str, JsonValue] | None:
    """Return the JSON-RPC response in an HTTP body, with its numbers as they were; None when it holds none.

    Args:
        content_type: Of JSON, or of an event stream, of which the first event with a response counts.
        body: The decoded body.

    Raises:
        JsonSyntaxError: The body, or an event, is not JSON.
    """
    if content_type == _JSON:
        return _as_response(exact_json.loads(body))
    if content_type != "text/event-stream":
        return None
    events = (exact_json.loads(data) for data in _events(body) if data)
    return next((found for found in map(_as_response, events) if found is not None), None)


def reply_of(result: JsonValue) -> Reply:
    """Return the result of `tools/call` as a reply whose body is JSON.

    The body is `structuredContent`; without it the text, as JSON if it is JSON, else as `{"text": …}`.

    Raises:
        TransportFault: TOOL_PROTOCOL_FAULT, the result is not of the protocol; UPSTREAM_REFUSED, the tool asks for
            more than a call.
    """
    if not isinstance(result, dict):
        raise _malformed()
    if result.get("resultType", "complete") != "complete":
        message = "The tool wants a dialogue: it asks for input that no contract can give."
        raise TransportFault(FaultCode.UPSTREAM_REFUSED, message, may_have_left=True)
    is_error = result.get("isError", False)
    structured, content = result.get("structuredContent"), result.get("content", [])
    if not isinstance(is_error, bool) or not isinstance(content, list):
        raise _malformed()
    body = structured if structured is not None else _text_body(content)
    return json_reply(200, body, failure=SAID_IT_FAILED if is_error else "")


def reply_of_error(error: JsonValue) -> Reply:
    """Return a JSON-RPC error as a reply: 400 for a refusal, 500 for a broken server, else the tool's own failure.

    Raises:
        TransportFault: TOOL_PROTOCOL_FAULT, it is no JSON-RPC error.
    """
    code = error.get("code") if isinstance(error, dict) else None
    if not isinstance(code, int) or isinstance(code, bool):
        raise _malformed()
    if code in _REFUSALS:
        return json_reply(400, error)
    if code == INTERNAL_ERROR:
        return json_reply(500, error)
    return json_reply(200, error, failure=SAID_IT_FAILED)


def json_reply(status_code: int, body: JsonValue, *, failure: str = "") -> Reply:
    """Return a reply with a JSON body."""
    encoded = exact_json.dumps(body).encode()
    return Reply(status_code=status_code, content_type=_JSON, body=encoded, failure=failure)


def sendable(value: JsonValue, name: str = "") -> JsonValue:
    """Return arguments in a form that the protocol's library writes as they are: decimals as binary floats.

    Args:
        value: Arguments, or one of them.
        name: Of the argument; empty for the object of all.

    Raises:
        TransportFault: INVALID_PARAMETER, a decimal has more digits than a binary float keeps.
    """
    if isinstance(value, dict):
        return {key: sendable(item, name or key) for key, item in value.items()}
    if isinstance(value, list):
        return [sendable(item, name) for item in value]
    if not isinstance(value, Decimal):
        return value
    number = float(value)
    if Decimal(repr(number)) != value:
        message = f"The number in {name} has more digits than the protocol can carry."
        raise TransportFault(FaultCode.INVALID_PARAMETER, message, may_have_left=False, pointer=f"/{name}")
    return number


def malformed_answer(received: Reply | None = None) -> TransportFault:
    """Return the fault of an answer that is not JSON-RPC."""
    message = "The server's answer is not a message of the protocol."
    return TransportFault(FaultCode.RESPONSE_MALFORMED, message, may_have_left=True, received=received)


def _malformed() -> TransportFault:
    message = "The result of the call is not of the form that the protocol gives it."
    return TransportFault(FaultCode.TOOL_PROTOCOL_FAULT, message, may_have_left=True)


def _text_body(content: list[JsonValue]) -> JsonValue:
    text = "\n".join(_texts(content))
    try:
        return exact_json.loads(text)
    except JsonSyntaxError:
        return {"text": text}


def _texts(content: list[JsonValue]) -> Iterator[str]:
    for block in content:
        if not isinstance(block, dict):
            raise _malformed()
        holder = block.get("resource") if block.get("type") == "resource" else block
        text = holder.get("text") if isinstance(holder, dict) else None
        if isinstance(text, str):
            yield text


def _as_response(message: JsonValue) -> dict[str, JsonValue] | None:
    is_response = isinstance(message, dict) and ("result" in message or "error" in message)
    return message if isinstance(message, dict) and is_response else None


def _events(body: bytes) -> Iterator[str]:
    """Yield the data of the events of a stream.

    Source: the HTML standard, server-sent events: fields end a line, an empty line ends an event, one space after
    the colon is no part of the value.
    """
    data: list[str] = []
    for line in _LINE_ENDS.split(body.decode("utf-8", "replace")):
        if not line:
            yield "\n".join(data)
            data = []
        elif line.startswith("data:"):
            data.append(line.removeprefix("data:").removeprefix(" "))
    yield "\n".join(data)
