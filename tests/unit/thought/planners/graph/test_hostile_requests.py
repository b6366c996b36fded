"""Any text gets a reply, in bounded time, and no plan leaves that its own words do not carry."""

import time
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from taoloop.plan.check import CheckContext, check_plan
from taoloop.plan.model import ThoughtPlan
from taoloop.plan.task import Permissions, Role, Turn
from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.planners.graph import GraphPlanner
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.signature import Effect, ToolSignature

RECORD = {
    "type": "object",
    "required": ["name", "count"],
    "properties": {"name": {"type": "string"}, "count": {"type": "integer"}, "fragile": {"type": "boolean"}},
}
TOOLS = (
    ToolSignature(
        name="ship_boxes",
        description="Ship boxes to a city on a day; 寄送箱子到城市",
        effect=Effect.WRITE,
        parameters={
            "type": "object",
            "required": ["city", "boxes", "labels"],
            "properties": {
                "city": {"type": "string", "description": "city, 城市"},
                "day": {"type": "string", "format": "date", "description": "day, 日期"},
                "speed": {"type": "string", "enum": ["slow", "fast", "紧急"]},
                "boxes": {"type": "array", "items": RECORD, "description": "boxes, 箱子"},
                "labels": {"type": "array", "items": {"type": "string"}, "description": "labels, 标签"},
                "insured": {"type": "boolean", "description": "whether insured, 是否保险"},
            },
        },
        returns={"type": "object", "properties": {"shipment_id": {"type": "string"}}},
    ),
    ToolSignature(
        name="find_shipment",
        description="Find a shipment by its number; 查询货运",
        parameters={
            "type": "object",
            "required": ["shipment_id"],
            "properties": {"shipment_id": {"type": "string", "description": "number of the shipment, 货运编号"}},
        },
    ),
)
PLANNER = GraphPlanner(Catalogue.from_signatures(TOOLS))
_MEGABYTE_OF = ("a, ", "寄送箱子、", "名称是", "Oslo and ", "1,", "“", "x: ", "🙂", "Ship a box. ", "-1-", "A B ")
PIECES = st.sampled_from(
    [
        "ship", "boxes", "to", "Oslo", "and", "，", "寄送", "箱子", "北京", "。", "“", "3 kg", "2026-13-45", "明天",
        "a@@b", "12,3", "it", "名称是", "：", "、", "10-box", "🙂", "\u202e", "\u2028", "e\u0301", "ﬁ", "İ",
        "\ud800", "{", '"', "\\",
    ]
)  # fmt: skip


def _request(text: str) -> ThinkRequest:
    return ThinkRequest(
        run_id="0" * 32,
        iteration=1,
        turns=(Turn(role=Role.USER, text=text),),
        permissions=Permissions(max_effect=Effect.WRITE),
    )


def _plan_is_valid(text: str) -> bool:
    request = _request(text)
    outcome = PLANNER.plan(request).outcome
    if not isinstance(outcome, ThoughtPlan):
        return True
    context = CheckContext(
        tools={tool.name: tool for tool in TOOLS},
        catalogue_digest=outcome.catalogue_digest,
        permissions=Permissions(max_effect=Effect.WRITE),
        turns=request.turns,
    )
    return check_plan(replace(outcome, thought_id="0" * 32), context).is_valid


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(st.text(max_size=400), st.lists(PIECES, max_size=40).map(" ".join), st.lists(PIECES).map("".join)))
def test_any_text_gets_a_reply_and_every_plan_passes_the_check(text: str) -> None:
    assert _plan_is_valid(text)


WHOLE = (
    "Ship boxes to Oslo tomorrow: name: lamps, count 3, labels red, blue and green, insured, then find the shipment."
)


@pytest.mark.parametrize("length", range(0, len(WHOLE) + 1, 3))
def test_a_request_cut_anywhere_gets_a_reply(length: int) -> None:
    assert _plan_is_valid(WHOLE[:length])


@pytest.mark.parametrize("piece", _MEGABYTE_OF)
def test_a_megabyte_of_anything_is_read_in_bounded_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece.encode()))
    began = time.process_time()
    assert _plan_is_valid(text)
    assert time.process_time() - began < 5.0
