"""Reads the text that a model wrote: strict JSON first, then a fixed list of repairs, else a refusal."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from taoloop.core.exact_json import JsonSyntaxError, JsonValue, equal, loads
from taoloop.thought.parsing.calls import TextCall, value_of
from taoloop.thought.parsing.refusals import Repair, ReplyFault, ReplyRefused, refused_at
from taoloop.thought.parsing.scanning import is_beyond_doubles
from taoloop.thought.parsing.segments import Segments, segments_of

CUT_OFF_REASONS: Final = frozenset({"length", "max_tokens", "max_length", "model_length", "content_filter", "abort"})
"""Finish reasons of a reply that is not whole; a content filter stops one in its middle as the token limit does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A reply that was read.

    Attributes:
        value: The object or list that it holds, with exact numbers; None where it holds calls.
        calls: Calls in a model's own format; empty where it holds a value.
        reasoning: Blocks of reasoning, taken out; for the trace, and never executed.
        repairs: What was mended; empty when the text was strict JSON.
    """

    value: JsonValue = None
    calls: tuple[TextCall, ...] = ()
    reasoning: tuple[str, ...] = ()
    repairs: frozenset[Repair] = field(default_factory=frozenset)

    @property
    def is_repaired(self) -> bool:
        """Whether anything was mended."""
        return bool(self.repairs)


def read_reply(text: str, finish_reason: str = "") -> Reply:
    """Read a whole reply.

    What parses as strict JSON is not touched. A reply that was cut off is refused even where what is there would
    parse, and is never closed by guesswork. Takes time linear in the text.

    Args:
        text: As the model wrote it, without the reasoning that a server returns apart from it.
        finish_reason: Why the model stopped, in the words of OpenAI-compatible servers; empty when it is not said.

    Raises:
        ReplyRefused: There is no value with exactly one reading, or the reply is not whole.
    """
    if finish_reason.lower() in CUT_OFF_REASONS:
        raise ReplyRefused(ReplyFault.TRUNCATED, f"The reply was cut off: finish reason {finish_reason.lower()}.")
    if not text.strip():
        raise ReplyRefused(ReplyFault.EMPTY_CONTENT, "The reply is empty.")
    _refuse_halves(text)
    value = strict_value(text)
    if isinstance(value, dict | list):
        return Reply(value=value)
    if value is not None:
        raise ReplyRefused(ReplyFault.NO_PLAN, "The reply is neither an object nor a list.")
    return _of(segments_of(text), text)


def _refuse_halves(text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as exc:
        raise refused_at(
            ReplyFault.INVALID_UNICODE, "half of a surrogate pair stands in the text", text, exc.start
        ) from exc


def strict_value(text: str) -> JsonValue:
    """Return the value of strict JSON; None for null, for what is not JSON, and for numbers that are not finite."""
    try:
        value = loads(text)
    except JsonSyntaxError:
        return None
    return None if _holds_beyond_doubles(value) else value


def _holds_beyond_doubles(value: JsonValue) -> bool:
    pending = [value]
    for each in pending:  # grows while it is walked
        if isinstance(each, dict):
            pending.extend(each.values())
        elif isinstance(each, list):
            pending.extend(each)
        elif not isinstance(each, str | bool | None) and is_beyond_doubles(str(each)):
            return True
    return False


def _of(segments: Segments, text: str) -> Reply:
    if segments.has_call:
        if segments.values:
            raise ReplyRefused(ReplyFault.AMBIGUOUS_JSON, "The reply holds a call and a value beside it.")
        if not segments.calls:
            raise ReplyRefused(ReplyFault.UNPARSED_TOOL_CALL, "The reply holds the marks of calls and no call.")
        return Reply(
            calls=tuple(segments.calls), reasoning=tuple(segments.reasoning), repairs=frozenset(segments.repairs)
        )
    if not segments.values:
        raise _nothing(segments)
    return Reply(
        value=_one_value(segments, text), reasoning=tuple(segments.reasoning), repairs=frozenset(segments.repairs)
    )


def _nothing(segments: Segments) -> ReplyRefused:
    if Repair.REASONING in segments.repairs and Repair.PROSE not in segments.repairs:
        return ReplyRefused(ReplyFault.EMPTY_CONTENT, "The reply holds nothing but reasoning.")
    return ReplyRefused(ReplyFault.NO_PLAN, "The reply holds neither an object nor a list.")


def _one_value(segments: Segments, text: str) -> JsonValue:
    first, *others = segments.values
    value = value_of(first, text)
    if not others:
        return value
    if len(others) > 1 or not equal(value, value_of(others[0], text)):
        message = "several values stand in the text, and they differ"
        raise refused_at(ReplyFault.AMBIGUOUS_JSON, message, text, others[0].start)
    segments.repairs.add(Repair.SAME_TWICE)
    return value
