"""The argument text of one call, as a model wrote it, read against the tool's schema."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from taoloop.core.exact_json import JsonSyntaxError, JsonValue
from taoloop.thought.parsing.refusals import ReplyFault, ReplyRefused
from taoloop.thought.parsing.reply import read_reply, strict_value
from taoloop.tools.arguments import ArgumentsRead, ArgumentsRefused, check_arguments
from taoloop.tools.schemas import CompiledSchema

_NOTHING: Final = frozenset({"", "null", "None"})


class CallArgumentsRefused(ArgumentsRefused):
    """The text is no valid set of arguments.

    Attributes:
        fault: Why the text is not read; None when it was read and breaks the schema.
    """

    def __init__(self, refused: ReplyRefused, schema: JsonValue) -> None:
        syntax = refused.syntax or JsonSyntaxError("no object stands in the text", 1, 1, "")
        super().__init__(f"the arguments are not read: {syntax}", schema=schema, syntax=syntax)
        self.fault = refused.fault


def read_call_arguments(schema: CompiledSchema, text: str) -> ArgumentsRead:
    """Read the raw argument text of one call, mended by the same list as whole replies.

    Empty text and null count as `{}` if the schema accepts that; what cannot be read never does. Then the schema's
    coercions are made, each with its path.

    Raises:
        CallArgumentsRefused: The text has no single reading.
        ArgumentsRefused: The value breaks the schema.
    """
    word = text.strip()
    if word in _NOTHING:
        return check_arguments(schema, {})
    try:
        value, is_repaired = _value(text)
    except ReplyRefused as refused:
        raise CallArgumentsRefused(refused, schema.schema) from refused
    return replace(check_arguments(schema, value), is_repaired=is_repaired)


def _value(text: str) -> tuple[JsonValue, bool]:
    value = strict_value(text)
    if value is not None:
        return value, False
    reply = read_reply(text)
    if reply.calls:
        raise ReplyRefused(ReplyFault.AMBIGUOUS_JSON, "The arguments hold whole calls.")
    return reply.value, reply.is_repaired
