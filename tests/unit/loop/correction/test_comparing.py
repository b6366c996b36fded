"""Two sources are compared by the fields that both have."""

from __future__ import annotations

from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.loop.correction.comparing import MAX_DIFFERENCES, Comparison, Difference, compare


def test_shared_fields_are_compared_and_others_say_nothing() -> None:
    compared = compare({"status": "paid", "eta": "x", "only": 1}, {"status": "paid", "eta": "y", "other": 2})

    assert compared == Comparison(("/status",), (Difference("/eta", "x", "y"),))


def test_objects_are_entered_and_lists_are_one_value() -> None:
    compared = compare({"a": {"b": 1, "c": [1, 2]}}, {"a": {"b": 1.0, "c": [2, 1]}})

    assert compared == Comparison(("/a/b",), (Difference("/a/c", [1, 2], [2, 1]),))


def test_numbers_are_compared_by_value_and_exactly() -> None:
    assert compare({"n": 12345678901234567}, {"n": 12345678901234568}).different
    assert not compare({"n": 10}, {"n": 10.0}).different


def test_null_and_nothing_are_no_statement() -> None:
    assert compare({"a": None, "b": 1}, {"a": 7, "b": None}) == Comparison((), ())
    assert compare(ABSENT, {"a": 1}) == Comparison((), ())
    assert compare({"a": 1}, ABSENT) == Comparison((), ())


def test_results_that_are_no_objects_are_compared_as_a_whole() -> None:
    assert compare([1], [1]).same == ("",)
    assert compare("a", {"a": 1}).different == (Difference("", "a", {"a": 1}),)


def test_of_many_differences_the_first_are_told() -> None:
    one: JsonValue = {str(n): n for n in range(100)}
    two: JsonValue = {str(n): n + 1 for n in range(100)}

    assert len(compare(one, two).different) == MAX_DIFFERENCES
