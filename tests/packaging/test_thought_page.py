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
from taoloop.thought.pipeline.routing import RouteReason, Thresholds
from taoloop.thought.pipeline.stalling import INPUT_NOT_READ, RESULTS_NOT_READ, STATE_LOST, WORDS_NOT_READ, Stall
from taoloop.thought.pipeline.urgency import URGENT_WORDS
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


def test_every_reason_of_a_route_is_told_once() -> None:
    table = PAGE.partition("| reason | planner |")[2].partition("\n\n")[0]
    told = [word for line in table.splitlines()[1:] for word in re.findall(r"`(\w+)`", line.split("|")[1])]
    assert sorted(told) == sorted(reason.value for reason in RouteReason)


def test_every_stall_and_every_likely_cause_is_told() -> None:
    assert rows("stall") == [stall.value for stall in Stall]
    causes = re.findall(r"`(\w+)`", PAGE.partition("| likely cause |")[2].partition("\n\n")[0])
    assert {INPUT_NOT_READ, STATE_LOST, RESULTS_NOT_READ, WORDS_NOT_READ} <= set(causes)


def test_built_in_urgent_words_are_told() -> None:
    told = PAGE.partition("**Urgent words**")[2].partition("\n\n")[0].replace("\n", " ")
    simplified = [word for word in URGENT_WORDS["zh"] if not set(word) & set("馬趕緊盡儘點別")]
    assert [word for word in simplified if word not in told] == []
    english = {word.replace("do not", "don't").removesuffix(" up") for word in URGENT_WORDS["en"]} - {"a.s.a.p."}
    assert [word for word in english if f"*{word}*" not in told] == []


def test_thresholds_that_are_told_are_the_defaults() -> None:
    table = PAGE.partition("| reply, number |")[2].partition("\n\n")[0]
    default = Thresholds()
    assert re.findall(r"\*\*(?:up to )?([0-9.]+)\*\*", table) == [str(default.arguments), str(default.none)]
    assert f"MIN_MISSING={default.missing:g}" in PAGE


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
