"""A server's message is its text and its calls; its reasoning is kept and never used."""

from __future__ import annotations

from typing import Any

import pytest

from taoloop.thought.parsing import ChatMessageText, ReplyFault, ReplyRefused, TextCall, read_message

CALLS: tuple[Any, ...] = ({"id": "x", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}},)


def fault_of(message: ChatMessageText) -> ReplyFault:
    with pytest.raises(ReplyRefused) as caught:
        read_message(message)
    return caught.value.fault


def test_a_plan_in_the_reasoning_alone_is_not_used() -> None:
    assert fault_of(ChatMessageText(content=None, reasoning='{"steps": [1]}')) is ReplyFault.EMPTY_CONTENT


def test_reasoning_of_the_server_is_kept_before_that_of_the_text() -> None:
    reply = read_message(ChatMessageText(content='<think>b</think>{"a": 1}', reasoning="a"))

    assert (reply.value, reply.reasoning) == ({"a": 1}, ("a", "b"))


def test_calls_that_the_server_read_are_taken_with_prose_beside_them() -> None:
    for content in (None, "", "I look it up.", '<tool_call>{"name": "f", "arguments": {"a": 1}}</tool_call>'):
        assert read_message(ChatMessageText(content=content, tool_calls=CALLS)).calls == (TextCall("f", {"a": 1}),)


def test_calls_and_a_value_beside_them_have_two_readings() -> None:
    for content in ('{"steps": []}', '<tool_call>{"name": "g"}</tool_call>'):
        assert fault_of(ChatMessageText(content=content, tool_calls=CALLS)) is ReplyFault.AMBIGUOUS_JSON


def test_calls_of_a_message_that_was_cut_off_are_refused() -> None:
    assert fault_of(ChatMessageText(content="", tool_calls=CALLS, finish_reason="length")) is ReplyFault.TRUNCATED


def test_a_call_without_a_name_is_refused() -> None:
    assert fault_of(ChatMessageText(content="", tool_calls=({"function": {}},))) is ReplyFault.UNPARSED_TOOL_CALL
