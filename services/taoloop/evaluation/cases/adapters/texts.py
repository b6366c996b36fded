"""Texts that models write: whole replies and the arguments of one call; and records that are written as lines."""

from __future__ import annotations

from typing import Any

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonEncodeError
from taoloop.evaluation.cases.adapters.refusing import listed, need, rejected
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said, Unsupported
from taoloop.thought.parsing import (
    CallArgumentsRefused,
    ChatMessageText,
    Reply,
    ReplyFault,
    ReplyRefused,
    read_call_arguments,
    read_message,
)
from taoloop.tools.arguments import ArgumentsRefused
from taoloop.tools.schemas import CompiledSchema, SchemaRefused


def _reply(case_input: CaseInput) -> Said:
    if "text" not in case_input:
        raise Unsupported("how text_gen builds a text is not described")
    return _message(ChatMessageText(content=case_input["text"], finish_reason=case_input.get("finish_reason") or ""))


def _chat(case_input: CaseInput) -> Said:
    """Feed in a message, or the whole answer of a server, of which the first choice counts."""
    message, reason = case_input, case_input.get("finish_reason")
    if "choices" in case_input:
        choice: Any = next(iter(listed(case_input["choices"], "choices")), None)
        message, reason = need(choice, "message", "a choice"), choice.get("finish_reason")
    content = message.get("content")
    if not isinstance(content, str | None):
        raise Unsupported("content is neither a text nor null")
    return _message(
        ChatMessageText(
            content=content,
            reasoning=message.get("reasoning_content") or message.get("reasoning") or "",
            tool_calls=listed(message.get("tool_calls") or [], "tool_calls"),
            finish_reason=reason or "",
        )
    )


def _message(message: ChatMessageText) -> Said:
    try:
        return _said(read_message(message))
    except ReplyRefused as refused:
        return rejected(refused.fault, message=str(refused))


def _said(reply: Reply) -> Said:
    what: Said = {"outcome": "parsed", "repaired": reply.is_repaired, "repairs": sorted(reply.repairs)}
    what |= {"reasoning": list(reply.reasoning)}
    if reply.calls:
        return what | {"calls": [{"name": call.name, "args": call.args} for call in reply.calls]}
    return what | {"value": reply.value}


def _arguments(case_input: CaseInput) -> Said:
    try:
        read = read_call_arguments(CompiledSchema.compile(case_input["schema"]), case_input["args_text"] or "")
    except SchemaRefused as refused:
        return rejected(refused.faults[0].code)
    except ArgumentsRefused as refused:
        return _refused_arguments(refused)
    return {"outcome": "accepted", "args": read.value, "coerced": list(read.coerced), "repaired": read.is_repaired}


def _refused_arguments(refused: ArgumentsRefused) -> Said:
    includes = ["schema"] if refused.schema is not None else []
    if refused.syntax is not None:
        includes += ["position"] if refused.syntax.line and refused.syntax.column else []
        fault = refused.fault if isinstance(refused, CallArgumentsRefused) else ReplyFault.MALFORMED_JSON
        code = fault if fault in _TELLING else "MALFORMED_ARGUMENTS"
        return rejected(code, includes=includes, message=str(refused))
    paths = [violation.pointer for violation in refused.violations]
    said = rejected("INVALID_ARGUMENTS", includes=includes, message=str(refused), paths=paths)
    return said | ({"path": paths[0]} if paths else {})


def _line(case_input: CaseInput) -> Said:
    value = case_input["value"]
    try:
        line = exact_json.dumps(value)
    except JsonEncodeError:
        return rejected("NOT_ENCODABLE")
    return {"lines": len(line.splitlines()), "equal": exact_json.equal(exact_json.loads(line), value)}


_TELLING = frozenset(
    {
        ReplyFault.NON_FINITE_NUMBER,
        ReplyFault.DUPLICATE_KEY,
        ReplyFault.NESTING_TOO_DEEP,
        ReplyFault.INVALID_UNICODE,
        ReplyFault.AMBIGUOUS_JSON,
    }
)
LLM_OUTPUT = Adapter(feed=_reply, required=("text|text_gen",), optional=("finish_reason",))
CHAT_RESPONSE = Adapter(
    feed=_chat,
    required=("content|choices",),
    optional=("reasoning_content", "reasoning", "finish_reason", "tool_calls", "role"),
)
TOOL_ARGS = Adapter(feed=_arguments, required=("schema", "args_text"))
JSONL_ROUNDTRIP = Adapter(feed=_line, required=("value",))
