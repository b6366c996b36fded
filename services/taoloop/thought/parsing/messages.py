"""A whole message of a chat server: its text, its reasoning apart, its calls, and why it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from taoloop.core.exact_json import JsonValue
from taoloop.thought.parsing.calls import call_of
from taoloop.thought.parsing.refusals import ReplyFault, ReplyRefused
from taoloop.thought.parsing.reply import CUT_OFF_REASONS, Reply, read_reply


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessageText:
    """What a server said.

    Attributes:
        content: The text; None where there is none.
        reasoning: The reasoning that the server took out itself.
        tool_calls: Calls that the server read itself, in the form of the OpenAI API.
        finish_reason: Why the model stopped; empty when it is not said.
    """

    content: str | None
    reasoning: str = ""
    tool_calls: Sequence[JsonValue] = ()
    finish_reason: str = ""


def read_message(message: ChatMessageText) -> Reply:
    """Read what a server said; what stands in its reasoning alone is never used.

    Raises:
        ReplyRefused: As for `read_reply`; AMBIGUOUS_JSON when it has calls and a value beside them.
    """
    reply = _called(message) if message.tool_calls else read_reply(message.content or "", message.finish_reason)
    if not message.reasoning:
        return reply
    return replace(reply, reasoning=(message.reasoning, *reply.reasoning))


def _called(message: ChatMessageText) -> Reply:
    if message.finish_reason.lower() in CUT_OFF_REASONS:
        return read_reply("", message.finish_reason)
    calls = tuple(call_of(call, "", 0) for call in message.tool_calls)
    try:
        beside = read_reply(message.content or "")
    except ReplyRefused as refused:
        if refused.fault in {ReplyFault.EMPTY_CONTENT, ReplyFault.NO_PLAN}:
            return Reply(calls=calls)
        raise
    if beside.calls and [*beside.calls] == [*calls]:
        return replace(beside, calls=calls)
    raise ReplyRefused(ReplyFault.AMBIGUOUS_JSON, "The reply holds calls, and a value in its text.")
