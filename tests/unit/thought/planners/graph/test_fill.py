"""Assigning mentions to slots: each once, the whole as good as it gets, never a guess."""

from collections.abc import Callable
from typing import Any

import pytest

from taoloop.plan.task import InputReason
from taoloop.thought.planners.graph.fill import Filling, fill
from taoloop.thought.planners.graph.index import PlannerIndex
from taoloop.thought.planners.graph.view import read_request
from taoloop.tools.signature import ToolSignature

Fill = Callable[..., Filling]


@pytest.fixture
def fill_in(ask: Any) -> Fill:
    def run(text: str, required: str = "", **properties: Any) -> Filling:
        parameters = {"type": "object", "required": required.split(), "properties": properties}
        index = PlannerIndex([ToolSignature(name="tool", description="d", parameters=parameters)])
        view = read_request(ask(text))
        assert view is not None
        return fill(index.tools[0], view, (0, len(text)))

    return run


def _values(filling: Filling) -> dict[str, Any]:
    return {pointer: item.reading.value for pointer, item in filling.taken.items()}


CITY = {"type": "string", "enum": ["Oslo", "Rome"]}
COUNT = {"type": "integer", "minimum": 1}


@pytest.mark.parametrize("text", ["from Oslo to Rome", "to Rome from Oslo", "从 Oslo 到 Rome", "Oslo, Rome"])
def test_prepositions_and_else_the_order_tell_two_slots_of_one_kind_apart(fill_in: Fill, text: str) -> None:
    filling = fill_in(text, "from_city to_city", from_city=CITY, to_city=CITY)
    assert _values(filling) == {"/from_city": "Oslo", "/to_city": "Rome"}


def test_a_cue_word_beside_a_number_says_whose_it_is(fill_in: Fill) -> None:
    slots = {"rooms": COUNT, "guests": COUNT}
    assert _values(fill_in("guests 4, rooms 2", "rooms guests", **slots)) == {"/rooms": 2, "/guests": 4}


def test_a_unit_says_whose_a_number_is(fill_in: Fill) -> None:
    slots = {"seats": COUNT | {"description": "number of people"}, "length": COUNT | {"description": "in minutes"}}
    assert _values(fill_in("for 60 minutes and 5 people", "seats length", **slots)) == {"/seats": 5, "/length": 60}


def test_one_mention_fills_one_slot(fill_in: Fill) -> None:
    filling = fill_in("Oslo", "from_city to_city", from_city=CITY, to_city=CITY)
    assert len(filling.taken) == 1


def test_an_optional_number_without_a_cue_stays_empty(fill_in: Fill) -> None:
    assert _values(fill_in("the report 7", "", pages=COUNT)) == {}
    assert _values(fill_in("the report with pages 7", "", pages=COUNT)) == {"/pages": 7}


def test_free_text_is_taken_from_quotes_and_never_guessed(fill_in: Fill) -> None:
    text = {"type": "string"}
    assert _values(fill_in('say "good morning" to all', "message", message=text)) == {"/message": "good morning"}
    assert _values(fill_in("say good morning to all", "message", message=text)) == {}


def test_a_person_is_taken_where_one_is_named(fill_in: Fill) -> None:
    name = {"type": "string", "description": "员工姓名"}
    assert _values(fill_in("查员工王芳的邮箱", "name", name=name)) == {"/name": "王芳"}
    assert _values(fill_in("查一下邮箱", "name", name=name)) == {}


def test_a_place_is_taken_after_its_preposition(fill_in: Fill) -> None:
    assert _values(fill_in("the weather in New York today", "city", city={"type": "string"})) == {"/city": "New York"}


def test_a_pattern_is_matched_verbatim(fill_in: Fill) -> None:
    clock = {"type": "string", "pattern": "^[0-9]{2}:[0-9]{2}$", "description": "start"}
    assert _values(fill_in("start 15:00", "start", start=clock)) == {"/start": "15:00"}
    assert fill_in("start 3pm", "start", start=clock).refused["/start"].reason is InputReason.INVALID


def test_a_date_with_two_readings_is_asked_for_with_both(fill_in: Fill) -> None:
    refused = fill_in("on Monday", "day", day={"type": "string", "format": "date"}).refused["/day"]
    assert refused.reason is InputReason.AMBIGUOUS
    assert len(refused.candidates) > 1


def test_a_malformed_address_is_invalid_not_missing(fill_in: Fill) -> None:
    refused = fill_in("send it to a@b@c", "email", email={"type": "string", "format": "email"}).refused["/email"]
    assert refused.reason is InputReason.INVALID


def test_a_place_outside_of_the_listed_ones_is_invalid(fill_in: Fill) -> None:
    refused = fill_in("the weather in Paris", "city", city=CITY).refused["/city"]
    assert refused.reason is InputReason.INVALID


def test_two_values_without_a_list_are_ambiguous_and_a_list_is_not(fill_in: Fill) -> None:
    sku = {"type": "string", "pattern": "^[A-Z]{2}[0-9]{2}$"}
    assert fill_in("AB12 instead of CD34", "sku", sku=sku).refused["/sku"].candidates == ("AB12", "CD34")
    listed = fill_in("AB12 and CD34", "sku", sku=sku)
    assert _values(listed) == {"/sku": "AB12"}
    assert [item.mention.text for item in listed.spare] == ["CD34"]


def test_a_day_and_a_time_beside_it_make_a_moment(fill_in: Fill) -> None:
    filling = fill_in("start tomorrow at 15:00", "start", start={"type": "string", "format": "date-time"})
    assert _values(filling) == {"/start": "2026-03-11T07:00:00Z"}
    assert filling.taken["/start"].mention.text == "tomorrow at 15:00"


def test_a_slot_that_is_closed_to_the_request_takes_no_words(fill_in: Fill) -> None:
    assert _values(fill_in("Oslo", "city", city=CITY | {"x-taoloop-source": ["state"]})) == {}
