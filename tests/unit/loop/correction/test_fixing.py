"""Words become the value that a vocabulary has for them, and nothing else changes."""

from __future__ import annotations

import pytest

from taoloop.core.exact_json import JsonValue
from taoloop.loop.correction.fixing import Reading, fixed, is_fixable, reading_at, readings

CITIES: JsonValue = {
    "CN-Shanghai": ["shanghai", "上海", "沪"],
    "CN-Beijing": ["beijing", "北京"],
    "CN-Suzhou-AH": ["宿州", "suzhou"],
    "XX": ["Suzhou"],
}
CITY: JsonValue = {"type": "string", "x-taoloop-vocabulary": CITIES}
SCHEMA: JsonValue = {
    "type": "object",
    "properties": {
        "city": CITY,
        "stops": {"type": "array", "items": CITY},
        "from": {"type": "object", "properties": {"city": CITY}},
        "note": {"type": "string"},
    },
}


@pytest.mark.parametrize(
    "word", ["shanghai", "Shanghai", "ＳＨＡＮＧＨＡＩ", " shanghai ", "上海", "cn-shanghai", "沪"]
)
def test_a_word_with_one_reading_becomes_the_value(word: str) -> None:
    assert is_fixable(readings({"city": word}, SCHEMA))
    assert fixed({"city": word, "note": word}, SCHEMA) == {"city": "CN-Shanghai", "note": word}


@pytest.mark.parametrize("word", ["火星", "shanghaii", "shang hai", "", "CN-Shanghai "[:-1] + "X"])
def test_a_word_that_the_vocabulary_does_not_have_is_not_guessed(word: str) -> None:
    (found,) = readings({"city": word}, SCHEMA)

    assert found.matches == ()
    assert not is_fixable((found,))
    assert fixed({"city": word}, SCHEMA) == {"city": word}


def test_a_word_with_two_readings_is_not_decided() -> None:
    (found,) = readings({"city": "suzhou"}, SCHEMA)

    assert found.matches == ("CN-Suzhou-AH", "XX")
    assert not is_fixable((found,))
    assert fixed({"city": "suzhou"}, SCHEMA) == {"city": "suzhou"}


def test_a_value_that_is_right_is_no_reason_to_call_again() -> None:
    assert not is_fixable(readings({"city": "CN-Beijing"}, SCHEMA))
    assert not is_fixable(readings({"note": "shanghai"}, SCHEMA))
    assert not is_fixable(())


def test_one_unknown_word_keeps_the_others_from_being_tried() -> None:
    assert not is_fixable(readings({"city": "shanghai", "stops": ["火星"]}, SCHEMA))


def test_words_inside_of_lists_and_objects_are_found_at_their_places() -> None:
    arguments: dict[str, JsonValue] = {"stops": ["CN-Beijing", "上海"], "from": {"city": "北京"}}

    assert [(found.pointer, found.is_right) for found in readings(arguments, SCHEMA)] == [
        ("/stops/0", True),
        ("/stops/1", False),
        ("/from/city", False),
    ]
    assert fixed(arguments, SCHEMA) == {"stops": ["CN-Beijing", "CN-Shanghai"], "from": {"city": "CN-Beijing"}}
    assert arguments == {"stops": ["CN-Beijing", "上海"], "from": {"city": "北京"}}


def test_a_value_is_read_at_its_place_without_a_call() -> None:
    found = reading_at(SCHEMA, "/from/city", "北京")

    assert isinstance(found, Reading)
    assert found.matches == ("CN-Beijing",)
    assert reading_at(SCHEMA, "/note", "北京") is None
    assert reading_at(SCHEMA, "/city", 7) is None
    assert reading_at(True, "/city", "北京") is None


@pytest.mark.parametrize("schema", [True, {}, {"properties": 7}, {"type": "object", "properties": {"city": True}}])
def test_a_schema_without_vocabularies_says_nothing(schema: JsonValue) -> None:
    assert readings({"city": "shanghai"}, schema) == ()
