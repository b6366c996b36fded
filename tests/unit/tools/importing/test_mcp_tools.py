"""Rules of contracts made of MCP tools."""

from __future__ import annotations

from typing import Any

import pytest

from taoloop.tools.importing.checking import check_draft
from taoloop.tools.importing.findings import Draft, ImportRefused
from taoloop.tools.importing.mcp_tools import draft_mcp

SERVER: dict[str, Any] = {"command": ["search-server"]}


def tool(**more: Any) -> dict[str, Any]:
    """Return a tool as a server lists it."""
    schema = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "title": "Text"}}}
    return {"name": "search-docs", "description": "Search documents.", "inputSchema": schema, **more}


def draft(**more: Any) -> Draft:
    """Return the draft of a tool."""
    return draft_mcp([tool(**more)], SERVER, ["*"], max_tools=5, bases={}).drafts[0]


@pytest.mark.parametrize(
    ("annotations", "effect", "reach"),
    [
        (None, "write", "outward"),
        ({"readOnlyHint": True}, "read", "outward"),
        ({"idempotentHint": True, "openWorldHint": False}, "idempotent_write", "internal"),
        ({"readOnlyHint": "yes"}, "write", "outward"),
        ({"destructiveHint": False}, "write", "outward"),
    ],
)
def test_hints_give_a_default_that_a_person_must_confirm(annotations: Any, effect: str, reach: str) -> None:
    made = draft(annotations=annotations)
    assert (made.document["spec"]["effect"], made.document["spec"]["reach"]) == (effect, reach)
    (decision,) = [each for each in made.decisions if each.field == "/spec/effect"]
    assert "no proof" in decision.why


def test_output_is_other_peoples_text_whatever_the_server_says() -> None:
    assert draft(annotations={"readOnlyHint": True}).document["spec"]["trust"] == "untrusted"


def test_the_contract_calls_the_tool_by_its_own_name_and_has_a_closed_schema() -> None:
    made = draft(outputSchema={"type": "object", "properties": {"hits": {"type": "integer"}}})
    spec = made.document["spec"]
    assert made.name == "search_docs"
    assert spec["transport"] == {"mcp": {"server": SERVER, "tool": "search-docs"}}
    assert spec["parameters"]["additionalProperties"] is False
    assert spec["response"] == {"type": "object", "properties": {"hits": {"type": "integer"}}}
    assert [each.code for each in check_draft(made, []).blocks if each.code != "NOT_YET_SUPPORTED"] == []


def test_a_tool_without_an_output_schema_is_told() -> None:
    made = draft()
    assert made.document["spec"]["response"] is True
    assert [each.code for each in made.findings] == ["RESPONSE"]


def test_a_changed_tool_has_another_digest() -> None:
    first, second = draft(), draft(description="Search documents well.")
    digests = {each.document["metadata"]["labels"]["imported_digest"] for each in (first, second)}
    assert len(digests) == 2


def test_a_pattern_that_names_nothing_is_refused() -> None:
    with pytest.raises(ImportRefused, match="no tool is called 'x'"):
        draft_mcp([tool()], SERVER, ["x"], max_tools=5, bases={})
