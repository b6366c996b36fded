"""Tools of an MCP server as drafts of contracts; what the server says of itself is no proof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, Final

from taoloop.core.exact_json import JsonValue
from taoloop.tools.importing.choosing import chosen
from taoloop.tools.importing.decisions import open_decisions
from taoloop.tools.importing.findings import Decision, Draft, ImportReport, Notes, contract_document
from taoloop.tools.importing.foreign_schema import as_parameters, carried_schema
from taoloop.tools.importing.naming import one_line, shortened, snake_case, unique
from taoloop.tools.importing.openapi.schemas import Direction
from taoloop.tools.signature import Effect, Reach

_HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def draft_mcp(
    tools: Sequence[Mapping[str, Any]],
    server: Mapping[str, JsonValue],
    include: Sequence[str],
    *,
    max_tools: int,
    bases: Mapping[str, str],
) -> ImportReport:
    """Draft a contract for each tool that a pattern names.

    The tools' annotations are hints of somebody who is not trusted: they give the effect and the reach a default,
    which a person must confirm. Output is taken as other people's text.

    Args:
        tools: As `tools/list` gives them: `{"name": …, "description": …, "inputSchema": {…}, "annotations": {…}}`.
        server: The contract's `transport.mcp.server`.
        include: Shell patterns for names.
        max_tools: Most tools that may be chosen.
        bases: Base name to URL that the server's address needs.

    Raises:
        ImportRefused: A pattern names nothing, or too many tools are chosen.
    """
    by_name = {str(tool.get("name")): tool for tool in tools}
    drafts: dict[str, Draft] = {}
    for written in chosen(tuple(by_name), include, fnmatchcase, max_tools, "tool"):
        name = unique(snake_case(written, otherwise="tool"), drafts)
        drafts[name] = _draft(name, by_name[written], server)
    return ImportReport(drafts=tuple(drafts.values()), bases=bases)


def _draft(name: str, tool: Mapping[str, Any], server: Mapping[str, JsonValue]) -> Draft:
    notes = Notes()
    annotations = tool.get("annotations") or {}
    effect, reach = _effect(annotations), _reach(annotations)
    written = str(tool["name"])
    output = tool.get("outputSchema")
    if output is None:
        cause = f"the tool {written!r} declares no outputSchema"
        notes.warn(
            "RESPONSE", "/outputSchema", cause, "Write the response schema: plans can only refer to what it declares."
        )
    spec: dict[str, Any] = {
        "description": _description(tool, written, notes),
        "effect": effect.value,
        "reach": reach.value,
        "trust": "untrusted",
        "parameters": as_parameters(carried_schema(tool.get("inputSchema", {}), notes, Direction.REQUEST), notes),
        "response": True if output is None else carried_schema(output, notes, Direction.RESPONSE),
        "transport": {"mcp": {"server": dict(server), "tool": written}},
        "timeout": "10s",
    }
    said = ", ".join(f"{hint}={annotations[hint]}" for hint in _HINTS if hint in annotations) or "no annotations"
    decisions = (_untrusted(each) for each in open_decisions(effect, f"the server's hints, no proof: {said}", reach))
    return Draft(
        name=name,
        source=f"the MCP tool {written}",
        document=contract_document(name, spec, imported_from=f"mcp:{written}", imported=dict(tool)),
        decisions=tuple(decisions),
        findings=notes.findings,
    )


def _untrusted(decision: Decision) -> Decision:
    return replace(decision, guess="untrusted") if decision.field == "/spec/trust" else decision


def _effect(annotations: Mapping[str, Any]) -> Effect:
    if annotations.get("readOnlyHint") is True:
        return Effect.READ
    return Effect.IDEMPOTENT_WRITE if annotations.get("idempotentHint") is True else Effect.WRITE


def _reach(annotations: Mapping[str, Any]) -> Reach:
    """Return outward unless the server says that its world is closed; the protocol's default is open."""
    return Reach.INTERNAL if annotations.get("openWorldHint") is False else Reach.OUTWARD


def _description(tool: Mapping[str, Any], written: str, notes: Notes) -> str:
    line = one_line(str(tool.get("description") or tool.get("title") or ""))
    short = shortened(line) or written
    if short.endswith("…") or len(short) < len(line):
        cause = f"the description is cut from {len(line)} characters: {line[:300]!r}"
        notes.warn("DESCRIPTION", "/description", cause, "Say in one line what the tool answers or does.")
    return short
