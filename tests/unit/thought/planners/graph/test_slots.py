"""Compiling parameter schemas into slots."""

from typing import Any

import pytest

from taoloop.thought.planners.graph.language.described import SlotClass
from taoloop.thought.planners.graph.slots import compile_slots


def _slot(name: str = "value", **schema: Any) -> Any:
    return compile_slots({"type": "object", "required": [name], "properties": {name: schema}})[0]


@pytest.mark.parametrize(
    ("name", "schema", "slot_class"),
    [
        ("x", {"type": "string", "enum": ["a"]}, SlotClass.ENUM),
        ("x", {"type": "string", "format": "date-range"}, SlotClass.DATE_RANGE),
        ("x", {"type": "string", "pattern": "^a$"}, SlotClass.PATTERN),
        ("x", {"type": ["integer", "null"]}, SlotClass.INTEGER),
        ("recipient_email", {"type": "string"}, SlotClass.EMAIL),
        ("ticket_id", {"type": "string"}, SlotClass.ID),
        ("city", {"type": "string"}, SlotClass.PLACE),
        ("who", {"type": "string", "description": "员工姓名"}, SlotClass.PERSON),
        ("query", {"type": "string"}, SlotClass.TEXT),
        ("x", {"type": "array"}, SlotClass.LIST),
        ("x", {"type": "string", "description": "the day, YYYY-MM-DD"}, SlotClass.DATE),
        ("x", {"type": "string", "description": "when it starts, HH:MM"}, SlotClass.TIME),
        ("x", {"type": "string", "format": "time"}, SlotClass.TIME),
        ("owner", {"type": "string", "description": "full name of the contact of the station"}, SlotClass.PERSON),
    ],
)
def test_a_slot_takes_what_its_schema_and_its_words_say(name: str, schema: Any, slot_class: SlotClass) -> None:
    assert _slot(name, **schema).slot_class is slot_class


def test_examples_are_what_the_description_quotes_and_are_no_cue_words() -> None:
    slot = _slot(type="string", description="Shelf, e.g. 'North wing', 'Cellar'")
    assert slot.examples == ("North wing", "Cellar")
    assert "cellar" not in slot.words


def test_objects_are_followed_and_what_an_optional_one_needs_is_not_required() -> None:
    leaf = {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}
    slots = compile_slots({"required": ["needed"], "properties": {"needed": leaf, "other": leaf}})
    assert [(slot.pointer, slot.is_required, slot.group) for slot in slots] == [
        ("/needed/a", True, ""),
        ("/other/a", False, "/other"),
    ]
    assert [slot.schema_pointer for slot in slots] == [
        "/properties/needed/properties/a",
        "/properties/other/properties/a",
    ]


def test_the_objects_of_a_list_are_followed_at_its_first_place() -> None:
    record = {"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}
    slots = compile_slots({"required": ["rows"], "properties": {"rows": {"type": "array", "items": record}}})
    assert [(slot.pointer, slot.schema_pointer) for slot in slots] == [
        ("/rows/0/a", "/properties/rows/items/properties/a")
    ]


def test_a_longer_unit_hides_a_shorter_one_in_it() -> None:
    (slot,) = compile_slots({"properties": {"size": {"type": "number", "description": "in square meters"}}})
    assert slot.units == {"area"}


def test_a_word_that_all_siblings_share_weighs_less() -> None:
    slots = compile_slots({"properties": {"start_date": {"type": "string"}, "end_date": {"type": "string"}}})
    assert slots[0].words["start"] > slots[0].words["date"]


def test_a_schema_that_cannot_be_compiled_alone_accepts_nothing() -> None:
    slots = compile_slots({"properties": {"a": {"type": "string"}, "b": {"$ref": "#/properties/a"}}})
    assert slots[0].accepts("x")
    assert not slots[1].accepts("x")


def test_local_definitions_are_compiled_in() -> None:
    slots = compile_slots({"$defs": {"t": {"enum": ["a"]}}, "properties": {"x": {"$ref": "#/$defs/t"}}})
    assert slots[0].accepts("a")
    assert not slots[0].accepts("b")


def test_sources_are_those_that_the_contract_lists() -> None:
    listed: dict[str, Any] = {"x-taoloop-source": ["query"]}
    assert _slot(type="string", **listed).sources == {"query"}
    assert _slot(type="string").sources == {"query", "state", "step", "input"}
