"""Argument texts of a model are mended by the list for replies, coerced as the schema asks, or refused."""

from __future__ import annotations

from typing import Any

import pytest

from taoloop.thought.parsing import CallArgumentsRefused, ReplyFault, read_call_arguments
from taoloop.tools.arguments import ArgumentsRefused
from taoloop.tools.schemas import CompiledSchema

SCHEMA = CompiledSchema.compile({"type": "object", "properties": {"n": {"type": "integer"}, "s": {"type": "string"}}})
NEEDS = CompiledSchema.compile({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})


@pytest.mark.parametrize("text", ["", " \n", "null", "None"])
def test_nothing_is_an_empty_object_where_the_schema_takes_one(text: str) -> None:
    assert read_call_arguments(SCHEMA, text).value == {}
    with pytest.raises(ArgumentsRefused):
        read_call_arguments(NEEDS, text)


@pytest.mark.parametrize(
    ("text", "value", "coerced", "is_repaired"),
    [
        ('{"n": 1}', {"n": 1}, (), False),
        ('json\n{"n": "1",}', {"n": 1}, ("/n",), True),
        ("{'s': 'it\\'s'}", {"s": "it's"}, (), True),
        ('"{\\"n\\": 2}"', {"n": 2}, ("",), False),
        ('{"n": null}', {}, ("/n",), False),
    ],
)
def test_arguments_are_mended_then_coerced(text: str, value: Any, coerced: Any, is_repaired: bool) -> None:
    read = read_call_arguments(SCHEMA, text)

    assert (read.value, read.coerced, read.is_repaired) == (value, coerced, is_repaired)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"n": x}', ReplyFault.MALFORMED_JSON),
        ('{"n": 1', ReplyFault.TRUNCATED),
        ('{"n": 1}{"n": 2}', ReplyFault.AMBIGUOUS_JSON),
        ('{"n": Infinity}', ReplyFault.NON_FINITE_NUMBER),
        ("no arguments", ReplyFault.NO_PLAN),
        ('<tool_call>{"name": "f"}</tool_call>', ReplyFault.AMBIGUOUS_JSON),
    ],
)
def test_what_cannot_be_read_is_never_an_empty_object(text: str, fault: ReplyFault) -> None:
    with pytest.raises(CallArgumentsRefused) as caught:
        read_call_arguments(SCHEMA, text)

    assert caught.value.fault is fault
    assert caught.value.schema == SCHEMA.schema
    assert caught.value.syntax is not None
    assert caught.value.syntax.line == 1
