"""The page about thoughts names what the code has: marks, repairs, refusals, and an example that works."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from enum import StrEnum

import pytest

from taoloop.plan.model import ThoughtPlan
from taoloop.plan.task import Permissions, Role, Turn
from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.parsing import Repair, ReplyFault
from taoloop.thought.planners.model.expansion import expand
from taoloop.thought.planners.model.offer import Offer, OfferedTool
from taoloop.thought.planners.model.signatures import tool_lines
from taoloop.tools.signature import Effect, ToolSignature, Trust
from taoloop.values.cleaning.requests import MarkKind
from tests.packaging import checkout

PAGE = (checkout.ROOT / "docs" / "thought.md").read_text(encoding="utf-8")
TEXT = "A double bed for 555-0199 from next Monday, with breakfast"
TOOLS = (
    ToolSignature(
        name="find_guest",
        description="Finds a guest by phone.",
        avoid_when="rooms or bills",
        trust=Trust.TRUSTED,
        parameters={"properties": {"phone": {"type": "string"}}, "required": ["phone"]},
        returns={"type": "object", "properties": {"id": {"type": "string"}, "name": {"type": "string"}}},
    ),
    ToolSignature(
        name="book_room",
        description="Books a room.",
        effect=Effect.WRITE,
        trust=Trust.TRUSTED,
        parameters={
            "required": ["guest", "arrival"],
            "properties": {
                "guest": {"type": "string", "description": "Id of the guest"},
                "arrival": {"type": "string", "format": "date"},
                "kind": {"enum": ["single", "double bed"], "default": "single"},
                "breakfast": {"type": "boolean"},
            },
        },
        returns={"type": "object", "properties": {"booking": {"type": "string"}}},
    ),
)


def rows(heading: str) -> list[str]:
    """Return the code words in the first column of the table under this heading of the table."""
    table = PAGE.partition(f"| {heading} |")[2].partition("\n\n")[0]
    return re.findall(r"^\| `([^`]+)`", table, re.MULTILINE)


@pytest.mark.parametrize(("heading", "kinds"), [("kind", MarkKind), ("repair", Repair), ("refused as", ReplyFault)])
def test_tables_list_what_there_is(heading: str, kinds: type[StrEnum]) -> None:
    assert rows(heading) == [kind.value for kind in kinds]


def test_the_example_is_what_the_code_makes() -> None:
    tools = [OfferedTool.of(signature) for signature in TOOLS]
    skeleton = re.search(r"```json\n(.+?)\n```", PAGE, re.DOTALL)
    assert skeleton is not None
    request = ThinkRequest(
        run_id="0" * 32,
        iteration=1,
        turns=(Turn(role=Role.USER, text=TEXT),),
        permissions=Permissions(max_effect=Effect.WRITE),
        reference_time=datetime(2026, 11, 30, tzinfo=UTC),
    )

    assert tool_lines(tools) in PAGE
    assert TEXT in PAGE
    assert isinstance(expand(json.loads(skeleton[1]), Offer.of(tools, request), request).outcome, ThoughtPlan)
