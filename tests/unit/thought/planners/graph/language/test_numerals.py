"""Numbers in words and with a multiplier."""

from decimal import Decimal

import pytest

from taoloop.thought.planners.graph.language.numerals import spoken_number
from taoloop.thought.planners.graph.language.spans import find_mentions


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("twenty-five", 25), ("three hundred", 300), ("2.5 million", 2_500_000), ("50k", 50_000), ("twice", 2),
        ("half a dozen", 6), ("1.25 thousand", 1250), ("five", 5),
    ],
)  # fmt: skip
def test_a_number_in_words_has_its_value(text: str, number: int | Decimal) -> None:
    assert spoken_number(text) == number


@pytest.mark.parametrize("text", ["5", "5 apples", "once", "", "dozen"])
def test_everything_else_has_none(text: str) -> None:
    assert spoken_number(text) is None


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("10V across 5ohm", ["10", "5"]),
        ("a picture of 640x480", ["640", "480"]),
        ("a field of 5.2e-3", ["5.2e-3"]),
        ("借80万元", ["80万"]),
        ("show one map", ["one"]),
        ("the one of them", []),
    ],
)
def test_numbers_are_found_beside_letters_and_signs(text: str, numbers: list[str]) -> None:
    assert [mention.text for mention in find_mentions(text) if mention.kind == "number"] == numbers
