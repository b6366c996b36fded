"""Building the steps of one call: objects, producers of producers, and the bounds of the search."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from taoloop.plan.model import StepOutput, ThoughtPlan
from taoloop.plan.task import ProvidedInput
from taoloop.plan.thinking import NeedInput, ThinkRequest
from taoloop.thought.planners.graph import GraphPlanner
from taoloop.thought.planners.graph.chain import MAX_STEPS
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.signature import ToolSignature

Ask = Callable[..., ThinkRequest]


def _code(letter: str) -> dict[str, Any]:
    return {"type": "string", "pattern": f"^{letter}[0-9]{{4}}$"}


def _tool(name: str, description: str, takes: dict[str, Any], gives: dict[str, Any] | None = None) -> ToolSignature:
    return ToolSignature(
        name=name,
        description=description,
        parameters={"type": "object", "required": list(takes), "properties": takes},
        returns=None if gives is None else {"type": "object", "properties": gives},
    )


def _planner(*tools: ToolSignature) -> GraphPlanner:
    return GraphPlanner(Catalogue.from_signatures(tools))


PARCEL = _tool("parcel_position", "Position of a parcel", {"parcel_id": _code("P")})
BOX = _tool("box_content", "Content of a box", {"box_id": _code("B")}, {"parcel_id": _code("P")})
SHELF = _tool("shelf_content", "Content of a shelf", {"shelf_id": _code("S")}, {"box_id": _code("B")})


def test_a_producer_may_need_a_producer(ask: Ask) -> None:
    outcome = _planner(PARCEL, BOX, SHELF).plan(ask("position of the parcel from S1234")).outcome
    assert isinstance(outcome, ThoughtPlan)
    assert [step.tool for step in outcome.steps] == ["shelf_content", "box_content", "parcel_position"]
    assert [step.depends_on for step in outcome.steps] == [(), ("1.t1",), ("1.t2",)]


def test_the_shorter_chain_is_taken(ask: Ask) -> None:
    direct = _tool("parcel_of_shelf", "Parcel of a shelf", {"shelf_id": _code("S")}, {"parcel_id": _code("P")})
    outcome = _planner(PARCEL, BOX, SHELF, direct).plan(ask("position of the parcel from S1234")).outcome
    assert isinstance(outcome, ThoughtPlan)
    assert [step.tool for step in outcome.steps] == ["parcel_of_shelf", "parcel_position"]


def test_a_field_of_another_form_is_no_source(ask: Ask) -> None:
    other = _tool("box_content", "Content of a box", {"box_id": _code("B")}, {"parcel_id": _code("Q")})
    assert isinstance(_planner(PARCEL, other).plan(ask("position of the parcel in B1234")).outcome, NeedInput)


def test_a_producer_that_knows_nothing_of_the_request_is_no_source(ask: Ask) -> None:
    random = _tool("any_parcel", "Some parcel", {}, {"parcel_id": _code("P")})
    outcome = _planner(PARCEL, random).plan(ask("position of the parcel")).outcome
    assert isinstance(outcome, NeedInput)
    assert outcome.fields[0].pointer == "/parcel_id"


def test_tools_that_feed_one_another_end_in_a_question(ask: Ask) -> None:
    one = _tool("one_report", "Report one", {"a_id": _code("A")}, {"b_id": _code("B")})
    two = _tool("two_report", "Report two", {"b_id": _code("B")}, {"a_id": _code("A")})
    assert isinstance(_planner(one, two).plan(ask("report one")).outcome, NeedInput)


def test_many_tools_that_feed_one_another_do_not_stop_the_planner(ask: Ask) -> None:
    codes = {f"{letter}_id": _code(letter.upper()) for letter in "abc"}
    tools = (_tool(f"thing_{number}", f"Report of thing {number}", codes, codes) for number in range(100))
    assert isinstance(_planner(*tools).plan(ask("report of the thing")).outcome, NeedInput)


def test_a_plan_never_has_more_steps_than_are_allowed(ask: Ask) -> None:
    listed = " and ".join(f"P{number}" for number in range(1000, 1000 + MAX_STEPS + 3))
    outcome = _planner(PARCEL).plan(ask(f"position of the parcels {listed}")).outcome
    assert not isinstance(outcome, ThoughtPlan)


ADDRESS = {
    "type": "object",
    "required": ["zip"],
    "properties": {"zip": {"type": "string", "pattern": "^[0-9]{5}$"}, "floor": {"type": "integer"}},
}
NOTES = {"type": "object", "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}}}


def test_members_of_an_object_are_bound_one_by_one(ask: Ask) -> None:
    outcome = (
        _planner(_tool("tariff", "Tariff for an address", {"address": ADDRESS})).plan(ask("tariff for 10115")).outcome
    )
    assert isinstance(outcome, ThoughtPlan)
    assert [binding.pointer for binding in outcome.steps[0].bindings] == ["/address/zip"]


NESTED = {"type": "object", "required": ["inner"], "properties": {"inner": NOTES}}


@pytest.mark.parametrize("schema", [ADDRESS, NOTES, NESTED])
def test_an_object_of_which_nothing_is_known_is_asked_for_as_a_whole(ask: Ask, schema: dict[str, Any]) -> None:
    outcome = _planner(_tool("tariff", "Tariff for an address", {"address": schema})).plan(ask("tariff")).outcome
    assert isinstance(outcome, NeedInput)
    assert outcome.fields[0].pointer == "/address"


def test_an_answer_may_give_the_object_or_one_member(ask: Ask) -> None:
    planner = _planner(_tool("tariff", "Tariff for an address", {"address": ADDRESS}))
    for values, pointer in (({"address": {"zip": "10115"}}, "/address"), ({"/address/zip": "10115"}, "/address/zip")):
        given = ProvidedInput(input_id="q", values=values)  # type: ignore[arg-type]  # a dict of JSON values
        outcome = planner.plan(ask("tariff", inputs=(given,))).outcome
        assert isinstance(outcome, ThoughtPlan)
        assert [binding.pointer for binding in outcome.steps[0].bindings] == [pointer]


def test_a_quantity_of_an_earlier_result_is_taken_by_its_name(ask: Ask) -> None:
    weigh = _tool("weigh_parcel", "Weigh a parcel", {"parcel_id": _code("P")}, {"weight": {"type": "number"}})
    price = _tool("postage_price", "Price of the postage", {"weight": {"type": "number"}})
    planner = _planner(weigh, price)
    spoken = planner.plan(ask("weigh the parcel P1234, then find the postage price of that weight")).outcome
    assert isinstance(spoken, ThoughtPlan)
    assert spoken.steps[1].bindings[0].source == StepOutput(step_id="1.t1", pointer="/weight")
    silent = planner.plan(ask("weigh the parcel P1234, then find the postage price")).outcome
    assert isinstance(silent, ThoughtPlan)
    assert silent.steps[1].bindings[0].source == StepOutput(step_id="1.t1", pointer="/weight")


def test_a_quantity_that_everything_has_is_taken_only_when_it_is_spoken_of(ask: Ask) -> None:
    weigh = _tool("weigh_parcel", "Weigh a parcel", {"parcel_id": _code("P")}, {"amount": {"type": "number"}})
    price = _tool("postage_price", "Price of the postage", {"amount": {"type": "number"}})
    silent = _planner(weigh, price).plan(ask("weigh the parcel P1234, then find the postage price")).outcome
    assert isinstance(silent, NeedInput)
