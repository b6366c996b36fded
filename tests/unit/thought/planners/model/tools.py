"""Tools and a request that the tests of the language-model planner share."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

from taoloop.plan.task import Permissions, Role, Turn
from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.planners.model.offer import ALL_MODES, Mode, Offer, OfferedTool
from taoloop.tools.signature import Effect, ToolSignature, Trust

FIND: Final = ToolSignature(
    name="find_guest",
    description="Finds a guest by phone.",
    avoid_when="rooms or bills",
    parameters={"type": "object", "required": ["phone"], "properties": {"phone": {"type": "string"}}},
    returns={
        "type": "object",
        "required": ["id"],
        "properties": {
            "id": {"type": "string"},
            "name": {"type": "string"},
            "stays": {"type": "array", "items": {"type": "object", "properties": {"room": {"type": "string"}}}},
        },
    },
    trust=Trust.TRUSTED,
)
BOOK: Final = ToolSignature(
    name="book_room",
    description="Books a room.",
    effect=Effect.WRITE,
    parameters={
        "type": "object",
        "required": ["guest", "arrival"],
        "properties": {
            "kind": {"$ref": "#/$defs/kind"},
            "guest": {"type": "string", "description": "Id of the guest. Not the name."},
            "arrival": {"type": "string", "format": "date"},
            "nights": {"type": "integer", "minimum": 1},
            "breakfast": {"anyOf": [{"type": "boolean"}, {"type": "null"}]},
            "address": {
                "type": "object",
                "required": ["city"],
                "properties": {"city": {"type": "string"}, "zip": {"type": "string"}},
            },
            "extras": {"type": "array", "items": {"type": "string"}},
            "made_at": {"type": "string", "format": "date-time"},
            "note": {"type": "string", "x-taoloop-source": ["generated"]},
            "secret": {"type": "string", "x-taoloop-source": ["state"]},
            "map": {"type": "object"},
        },
        "$defs": {"kind": {"enum": ["single", "double bed"], "default": "single"}},
    },
    returns={"type": "object", "properties": {"booking": {"type": "string"}}},
    trust=Trust.TRUSTED,
)
FOREIGN: Final = ToolSignature(name="echo", description="", parameters={"type": "object", "properties": {"x": {}}})
TOOLS: Final = tuple(OfferedTool.of(signature) for signature in (FIND, BOOK, FOREIGN))
TEXT: Final = (
    "Book a Double Bed for 555-0199 from next Monday, 3 nights, with breakfast, in Osaka: cot, towels. 555-0199!"
)


def request_of(text: str = TEXT, **more: Any) -> ThinkRequest:
    """Return a request that may write."""
    given: dict[str, Any] = {
        "run_id": "0" * 32,
        "iteration": 2,
        "turns": (Turn(role=Role.USER, text=text),),
        "state": {"user": {"token": "t-1", "age": 30}},
        "reference_time": datetime(2026, 11, 30, 9, tzinfo=UTC),
        "time_zone": "UTC",
        "locale": "en",
        "permissions": Permissions(max_effect=Effect.WRITE),
    }
    return ThinkRequest(**(given | more))


def offer_of(request: ThinkRequest, modes: frozenset[Mode] = ALL_MODES) -> Offer:
    """Return the offer of all tools."""
    return Offer.of(TOOLS, request, modes)
