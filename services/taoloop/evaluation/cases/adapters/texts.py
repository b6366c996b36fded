"""Texts that models write: whole replies and the arguments of one call; and records that are written as lines."""

from __future__ import annotations

from taoloop.core import exact_json
from taoloop.core.exact_json import JsonEncodeError
from taoloop.evaluation.cases.adapters.refusing import rejected
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said, Unsupported
from taoloop.thought.parsing import ReplyRefused, read_reply
from taoloop.tools.arguments import ArgumentsRefused, read_arguments
from taoloop.tools.schemas import CompiledSchema, SchemaRefused


def _reply(case_input: CaseInput) -> Said:
    if "text" not in case_input:
        raise Unsupported("how text_gen builds a text is not described")
    try:
        value = read_reply(case_input["text"] or "", case_input.get("finish_reason") or "")
    except ReplyRefused as refused:
        return rejected(refused.fault, message=str(refused))
    return {"outcome": "parsed", "value": value, "repaired": False}


def _arguments(case_input: CaseInput) -> Said:
    try:
        read = read_arguments(CompiledSchema.compile(case_input["schema"]), case_input["args_text"] or "")
    except SchemaRefused as refused:
        return rejected(refused.faults[0].code)
    except ArgumentsRefused as refused:
        return _refused_arguments(refused)
    return {"outcome": "accepted", "args": read.value, "coerced": list(read.coerced), "repaired": read.is_repaired}


def _refused_arguments(refused: ArgumentsRefused) -> Said:
    includes = ["schema"] if refused.schema is not None else []
    if refused.syntax is not None:
        includes += ["position"] if refused.syntax.line and refused.syntax.column else []
        return rejected("MALFORMED_ARGUMENTS", includes=includes, message=str(refused))
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


LLM_OUTPUT = Adapter(feed=_reply, required=("text|text_gen",), optional=("finish_reason",))
TOOL_ARGS = Adapter(feed=_arguments, required=("schema", "args_text"))
JSONL_ROUNDTRIP = Adapter(feed=_line, required=("value",))
