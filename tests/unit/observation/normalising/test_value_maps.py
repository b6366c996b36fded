"""Words of tools become ours; what no map knows is refused, or left to the known values."""

from typing import Any

import pytest

from taoloop.observation.normalising.value_maps import value_map
from taoloop.values.refusals import ValueRefused

BOOKING: Any = {"confirmed": ("booked", "confirmed", "sent"), "cancelled": ("void", 0, False)}


@pytest.mark.parametrize("value", ["in_transit", "IN_TRANSIT", " in_transit ", "ｉｎ_transit", "shipped", "Shipped"])
def test_letter_case_space_and_width_are_folded(value: str) -> None:
    assert value_map({"in_transit": "shipped"}, None, ["shipped", "delivered"])(value) == "shipped"


def test_unknown_value_is_left_to_the_known_values_where_there_are_some() -> None:
    assert value_map({"in_transit": "shipped"}, None, ["shipped"])("lost") == "lost"


@pytest.mark.parametrize("value", ["lost", "in-transit", "in_transit2", 5, True, ["in_transit"], {}])
def test_unknown_value_is_refused_with_candidates_where_nothing_else_judges_it(value: Any) -> None:
    with pytest.raises(ValueRefused) as refused:
        value_map({"in_transit": "shipped"}, None, None)(value)

    assert refused.value.candidates == ("shipped",)


@pytest.mark.parametrize(
    ("word", "ours"),
    [
        ("confirmed", "confirmed"),
        ("Booked", "confirmed"),
        ("sent", "confirmed"),
        (0, "cancelled"),
        (False, "cancelled"),
    ],
)
def test_three_systems_have_one_word(word: Any, ours: str) -> None:
    assert value_map(None, BOOKING, None)(word) == ours


def test_own_words_of_a_tool_come_before_the_vocabulary() -> None:
    words = value_map({"sent": "pending", "posted": "confirmed"}, BOOKING, None)

    assert [words(word) for word in ("sent", "posted", "booked")] == ["pending", "confirmed", "confirmed"]


def test_numbers_are_looked_up_by_their_spelling() -> None:
    words = value_map({"1": "shipped", "2": "delivered"}, None, None)

    assert [words(1), words("1"), words(2)] == ["shipped", "shipped", "delivered"]


def test_words_that_differ_in_case_alone_are_told_apart_or_refused() -> None:
    words = value_map({"M": "month", "m": "minute"}, None, None)

    assert [words("M"), words("m")] == ["month", "minute"]
    with pytest.raises(ValueRefused):
        words("ｍ")
