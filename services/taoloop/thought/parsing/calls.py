"""Calls in the formats that models were trained on: tags around an object, and DeepSeek's tokens."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from taoloop.core.exact_json import JsonSyntaxError, JsonValue, loads
from taoloop.thought.parsing.markers import CALL_END, CALL_SEPARATOR, TAG_END
from taoloop.thought.parsing.refusals import Repair, ReplyFault, ReplyRefused, refused_at
from taoloop.thought.parsing.scanning import OPENERS, ScanFailed, Scanned, scan_value, skip_blank

_NAME = re.compile(r"[A-Za-z0-9_.\-/:]{1,200}")
_FENCE = re.compile(r"\s*```[a-z]{0,10}[ \t]*(?=[\s{\[｛［])")
_FENCE_END = re.compile(r"\s*```")
_ARGUMENT_KEYS: Final = ("arguments", "parameters", "args")


@dataclass(frozen=True, slots=True)
class TextCall:
    """One call that stood in the text of a reply.

    Attributes:
        name: The tool's name, as written.
        args: Its arguments, not checked against anything.
    """

    name: str
    args: dict[str, JsonValue]


@dataclass(frozen=True, slots=True)
class ReadCalls:
    """Calls that were read.

    Attributes:
        calls: The calls, in order.
        end: The first code point after them.
        repairs: What was mended in their arguments.
    """

    calls: tuple[TextCall, ...]
    end: int
    repairs: frozenset[Repair]


def read_tagged(text: str, start: int) -> ReadCalls:
    """Read the object between `<tool_call>`, which ends at `start`, and its closing tag.

    Raises:
        ReplyRefused: TRUNCATED when it does not end, UNPARSED_TOOL_CALL when it is another format.
    """
    if TAG_END.search(text, start) is None:
        raise refused_at(ReplyFault.TRUNCATED, "a tool call does not end", text, start)
    scanned = _object_at(text, start)
    end, _ = skip_blank(text, scanned.end)
    closing = TAG_END.match(text, end)
    if closing is None:
        raise _unparsed(text, end)
    return ReadCalls((call_of(value_of(scanned, text), text, start),), closing.end(), scanned.repairs)


def read_listed(text: str, start: int) -> ReadCalls:
    """Read the list of calls that follows `[TOOL_CALLS]`, which ends at `start`.

    Raises:
        ReplyRefused: As for `read_tagged`.
    """
    scanned = _object_at(text, start)
    value = value_of(scanned, text)
    if not isinstance(value, list):
        raise _unparsed(text, start)
    return ReadCalls(tuple(call_of(item, text, start) for item in value), scanned.end, scanned.repairs)


def read_token_call(text: str, start: int) -> ReadCalls:
    """Read one call of DeepSeek's, whose opening token ends at `start`, up to its closing token.

    Both layouts are read: `function`, the separator, the name, a fenced object; and the name, the separator, the
    object.

    Raises:
        ReplyRefused: As for `read_tagged`.
    """
    if CALL_END.search(text, start) is None:
        raise refused_at(ReplyFault.TRUNCATED, "a tool call does not end", text, start)
    separator = CALL_SEPARATOR.search(text, start)
    if separator is None:
        raise _unparsed(text, start)
    name, at = text[start : separator.start()].strip(), separator.end()
    if name == "function" and (found := _NAME.match(text, at)):
        name, at = found[0], found.end()
    if not _NAME.fullmatch(name):
        raise _unparsed(text, start)
    fence = _FENCE.match(text, at)
    scanned = _object_at(text, at if fence is None else fence.end())
    after = scanned.end
    if fence is not None:
        closing = _FENCE_END.match(text, after)
        if closing is None:
            raise _unparsed(text, after)
        after = closing.end()
    after, _ = skip_blank(text, after)
    end = CALL_END.match(text, after)
    if end is None:
        raise _unparsed(text, after)
    value = value_of(scanned, text)
    if not isinstance(value, dict):
        raise _unparsed(text, scanned.start)
    return ReadCalls((TextCall(name, value),), end.end(), scanned.repairs)


def call_of(value: JsonValue, text: str, position: int) -> TextCall:
    """Return the call that an object with a name and arguments describes; arguments may be a text with an object.

    Raises:
        ReplyRefused: UNPARSED_TOOL_CALL.
    """
    members = value if isinstance(value, dict) else {}
    inner = members.get("function")
    if isinstance(inner, dict):
        members = inner
    name = members.get("name")
    given = [key for key in _ARGUMENT_KEYS if key in members]
    if not isinstance(name, str) or not _NAME.fullmatch(name) or len(given) > 1:
        raise _unparsed(text, position)
    args: JsonValue = members[given[0]] if given else {}
    if isinstance(args, str):
        try:
            args = loads(args) if args.strip() else {}
        except JsonSyntaxError as exc:
            raise _unparsed(text, position) from exc
    if args is None:
        args = {}
    if not isinstance(args, dict):
        raise _unparsed(text, position)
    return TextCall(name, args)


def value_of(scanned: Scanned, text: str) -> JsonValue:
    """Return the value that was scanned.

    Raises:
        ReplyRefused: DUPLICATE_KEY, or MALFORMED_JSON for an exponent that no number has.
    """
    try:
        return loads(scanned.json)
    except JsonSyntaxError as exc:
        is_repeated = exc.message == "a key is repeated in one object"
        fault = ReplyFault.DUPLICATE_KEY if is_repeated else ReplyFault.MALFORMED_JSON
        raise refused_at(fault, exc.message, text, scanned.start) from exc


def _object_at(text: str, start: int) -> Scanned:
    at, _ = skip_blank(text, start)
    if text[at : at + 1] not in OPENERS:
        raise _unparsed(text, at)
    try:
        return scan_value(text, at)
    except ScanFailed as failed:
        raise refused_at(failed.fault, failed.message, text, failed.position) from failed


def _unparsed(text: str, position: int) -> ReplyRefused:
    return refused_at(ReplyFault.UNPARSED_TOOL_CALL, "a tool call in the text is not understood", text, position)
