"""One tool several times: only where values are coordinated and nothing else takes them."""

from collections.abc import Callable
from typing import Any

import pytest

from taoloop.plan.model import ThoughtPlan
from taoloop.thought.planners.graph import GraphPlanner
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.signature import ToolSignature

Calls = Callable[[str], list[dict[str, Any]]]
AREA = ToolSignature(
    name="garden_area",
    description="Area of a garden with a length and a width",
    parameters={
        "type": "object",
        "required": ["length", "width"],
        "properties": {"length": {"type": "integer"}, "width": {"type": "integer"}},
    },
)
TIDE = ToolSignature(
    name="tide_table",
    description="Tide table of a harbour",
    parameters={"type": "object", "required": ["harbour"], "properties": {"harbour": {"type": "string"}}},
)


@pytest.fixture
def calls(ask: Any) -> Calls:
    planner = GraphPlanner(Catalogue.from_signatures((AREA, TIDE), name="shore"))

    def run(text: str) -> list[dict[str, Any]]:
        outcome = planner.plan(ask(text)).outcome
        assert isinstance(outcome, ThoughtPlan)
        return [{item.pointer[1:]: item.value for item in step.bindings} for step in outcome.steps]

    return run


def test_each_member_of_a_list_is_a_call_in_the_order_of_the_words(calls: Calls) -> None:
    assert calls("tide table of Porto, Bergen and Cork") == [{"harbour": name} for name in ("Porto", "Bergen", "Cork")]


def test_parameters_repeat_together(calls: Calls) -> None:
    text = "garden area with a length of 7 and a width of 4, and of one with a length of 12 and a width of 9"
    assert calls(text) == [{"length": 7, "width": 4}, {"length": 12, "width": 9}]


def test_one_value_of_several_stays_the_same_in_every_call(calls: Calls) -> None:
    text = "garden area with a length of 4 and widths of 5, 6 and 7"
    assert calls(text) == [{"length": 4, "width": width} for width in (5, 6, 7)]


def test_a_place_and_its_country_are_one_call(calls: Calls) -> None:
    assert calls("tide table of Bergen, Norway") == [{"harbour": "Bergen, Norway"}]
