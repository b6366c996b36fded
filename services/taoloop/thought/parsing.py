"""Reads the text that a model wrote: strict JSON or a refusal; nothing is repaired in this version."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from taoloop.core.exact_json import JsonSyntaxError, JsonValue, loads

# A content filter stops a reply in its middle as the token limit does.
_CUT_OFF: Final = frozenset({"length", "max_tokens", "content_filter"})
_OPENING: Final = frozenset("[{")
_CLOSING: Final = frozenset("]}")


class ReplyFault(StrEnum):
    """Why a reply is not read."""

    TRUNCATED = "TRUNCATED"
    """The reply was cut off: its finish reason says so, or something is left open."""
    EMPTY_CONTENT = "EMPTY_CONTENT"
    """The reply has no text."""
    MALFORMED_JSON = "MALFORMED_JSON"
    """The text is not JSON, or JSON that two readers could take differently."""


class ReplyRefused(ValueError):
    """The reply is not used, and no tool is called for it.

    Attributes:
        fault: Why.
        syntax: Where the text is not JSON; None when it was refused for another cause.
    """

    def __init__(self, fault: ReplyFault, message: str, syntax: JsonSyntaxError | None = None) -> None:
        super().__init__(message)
        self.fault = fault
        self.syntax = syntax


def read_reply(text: str, finish_reason: str = "") -> JsonValue:
    """Return the JSON value that is the whole reply, with exact numbers.

    A reply that was cut off is refused even where what is there would parse, and is never closed by guesswork.

    Args:
        text: As the model wrote it, without the reasoning that a server returns apart from it.
        finish_reason: Why the model stopped, in the words of OpenAI-compatible servers; empty when it is not said.

    Raises:
        ReplyRefused: TRUNCATED, EMPTY_CONTENT or MALFORMED_JSON.
    """
    if finish_reason.lower() in _CUT_OFF:
        raise ReplyRefused(ReplyFault.TRUNCATED, f"The reply was cut off: finish reason {finish_reason}.")
    if not text.strip():
        raise ReplyRefused(ReplyFault.EMPTY_CONTENT, "The reply is empty.")
    try:
        return loads(text)
    except JsonSyntaxError as exc:
        if is_unfinished(text):
            raise ReplyRefused(ReplyFault.TRUNCATED, "The reply ends before its JSON does.", exc) from exc
        raise ReplyRefused(ReplyFault.MALFORMED_JSON, f"The reply is not JSON: {exc}.", exc) from exc


def is_unfinished(text: str) -> bool:
    """Tell whether a text that starts as a JSON container or string ends inside of it.

    >>> [is_unfinished(text) for text in ('{"a": [1', '["b', '{"a": "}"}', "no JSON {")]
    [True, True, False, False]
    """
    body = text.lstrip()
    if body[:1] not in {"{", "[", '"'}:
        return False
    depth, is_string, is_escaped = 0, False, False
    for character in body:
        if is_string:
            is_string = is_escaped or character != '"'
            is_escaped = not is_escaped and character == "\\"
        elif character == '"':
            is_string = True
        else:
            depth += (character in _OPENING) - (character in _CLOSING)
    return is_string or depth > 0
