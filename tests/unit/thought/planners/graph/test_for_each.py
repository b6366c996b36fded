"""A call for every member of a list that an earlier call brings, where the words want it for each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from taoloop.core.exact_json import dumps
from taoloop.plan.check import CheckContext, check_plan
from taoloop.plan.model import ForEach, ItemValue, StepOutput, ThoughtPlan
from taoloop.plan.thinking import NeedInput, ThinkRequest
from taoloop.thought.planners.graph import GraphPlanner
from taoloop.thought.planners.graph.explaining import explain
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.signature import Effect, Reach, ToolSignature

Ask = Callable[..., ThinkRequest]


def _code(letter: str, words: str = "") -> dict[str, Any]:
    return {"type": "string", "pattern": f"^{letter}[0-9]{{4}}$", "description": words}


def _tool(name: str, description: str, takes: dict[str, Any], gives: dict[str, Any], **more: Any) -> ToolSignature:
    return ToolSignature(
        name=name,
        description=description,
        parameters={"type": "object", "required": list(takes), "properties": takes},
        returns={"type": "object", "properties": gives},
        **more,
    )


ITEM = {"type": "object", "properties": {"parcel_id": _code("P"), "weight": {"type": "number"}}}
BOX = _tool(
    "box_content",
    "Parcels in a box 箱内清单",
    {"box_id": _code("B", "Box, 箱子")},
    {"parcels": {"type": "array", "items": ITEM}},
)
PARCEL = _tool(
    "parcel_position", "Position of a parcel 包裹位置", {"parcel_id": _code("P")},
    {"place_id": _code("L"), "since": {"type": "string", "format": "date"}},
)  # fmt: skip
PLACE = _tool("place_name", "Name of a place 地点名称", {"place_id": _code("L")}, {"name": {"type": "string"}})
CODES = _tool(
    "box_content",
    "Parcels in a box",
    {"box_id": _code("B", "Box, 箱子")},
    {"parcel_ids": {"type": "array", "items": _code("P")}},
)


def planned(request: ThinkRequest, *tools: ToolSignature) -> ThoughtPlan:
    outcome = GraphPlanner(Catalogue.from_signatures(tools)).plan(request).outcome
    assert isinstance(outcome, ThoughtPlan)
    signatures = {tool.name: tool for tool in tools}
    assert check_plan(outcome, CheckContext(tools=signatures, turns=request.turns)).faults == ()
    return outcome


@pytest.mark.parametrize(
    "text",
    [
        "position of each parcel in box B1234",
        "position of all parcels in box B1234",
        "查箱子 B1234 每个包裹的包裹位置",
    ],
)
def test_each_member_of_a_list_gets_its_call(ask: Ask, text: str) -> None:
    plan = planned(ask(text), BOX, PARCEL)
    first, second = plan.steps
    assert (first.tool, second.tool, second.depends_on) == ("box_content", "parcel_position", ("1.t1",))
    assert second.for_each == ForEach(items=StepOutput(step_id="1.t1", pointer="/parcels"))
    (binding,) = second.bindings
    assert binding.source == ItemValue(pointer="/parcel_id")


def test_the_items_of_a_list_may_be_the_values_themselves(ask: Ask) -> None:
    plan = planned(ask("position of each parcel in box B1234"), CODES, PARCEL)
    assert plan.steps[1].for_each == ForEach(items=StepOutput(step_id="1.t1", pointer="/parcel_ids"))
    assert plan.steps[1].bindings[0].source == ItemValue(pointer="")


def test_what_a_call_for_each_brings_is_a_list_for_the_next_one(ask: Ask) -> None:
    text = "list the parcels in B1234, then the position of each parcel, then the name of each place"
    plan = planned(ask(text), BOX, PARCEL, PLACE)
    assert [step.tool for step in plan.steps] == ["box_content", "parcel_position", "place_name"]
    assert plan.steps[2].for_each == ForEach(items=StepOutput(step_id="1.t2", pointer=""))
    assert plan.steps[2].bindings[0].source == ItemValue(pointer="/place_id")


def test_without_such_a_word_the_user_is_asked_which_one_is_meant(ask: Ask) -> None:
    outcome = (
        GraphPlanner(Catalogue.from_signatures((BOX, PARCEL))).plan(ask("position of the parcel in B1234")).outcome
    )
    assert isinstance(outcome, NeedInput)


@pytest.mark.parametrize("more", [{"effect": Effect.WRITE}, {"reach": Reach.OUTWARD}])
def test_a_call_that_does_something_is_not_made_for_each_by_itself(ask: Ask, more: dict[str, Any]) -> None:
    move = _tool("move_parcel", "Move a parcel", {"parcel_id": _code("P")}, {"place_id": _code("L")}, **more)
    request = ask("move each parcel in box B1234")
    outcome = GraphPlanner(Catalogue.from_signatures((BOX, move))).plan(request).outcome
    assert not isinstance(outcome, ThoughtPlan) or all(step.for_each is None for step in outcome.steps)


@pytest.mark.parametrize(
    "text", ["position of the parcel P1234 every day", "position of parcel P1234 and of each other"]
)
def test_a_value_that_was_said_is_taken(ask: Ask, text: str) -> None:
    plan = planned(ask(text), BOX, PARCEL)
    assert [step.for_each for step in plan.steps] == [None]


def test_the_explanation_says_that_every_item_is_meant(ask: Ask) -> None:
    shown = explain(Catalogue.from_signatures((BOX, PARCEL)), ask("position of each parcel in box B1234"))
    assert "/parcels/*/parcel_id" in dumps(shown)
