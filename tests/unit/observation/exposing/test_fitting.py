"""A value is made to fit: it stays JSON, numbers stay whole, characters stay whole, what is cut is counted."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.core.exact_json import dumps, loads
from taoloop.observation.exposing.fitting import Cut, fit, size_bytes

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=80),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=8), inner, max_size=8),
    max_leaves=60,
)


@given(JSON, st.integers(min_value=64, max_value=2000))
def test_anything_fits_and_is_json(value: Any, max_bytes: int) -> None:
    cut = Cut()
    before = dumps(value)

    fitted = fit(value, max_bytes, cut)

    assert size_bytes(fitted) <= max_bytes
    assert loads(dumps(fitted)) == fitted
    assert dumps(value) == before
    assert (fitted == value) == (not cut.places)


@pytest.mark.parametrize(
    ("text", "max_bytes", "kept"),
    [
        ("abcdefghijkl", 12, "abcdefg…"),
        ("文文文文文文", 12, "文文…"),
        ("a" + "e\u0301" * 9, 12, "ae\u0301e\u0301…"),  # a letter and its accent stay together
        ("👩\u200d🚀👩\u200d🚀", 18, "👩\u200d🚀…"),
        ("👩\u200d🚀👩\u200d🚀", 14, "…"),  # four bytes, three, four: a part of the sign would be another one
        ('"""""""""', 12, '"""…'),  # two bytes each
    ],
)
def test_text_is_cut_between_characters(text: str, max_bytes: int, kept: str) -> None:
    fitted = fit(text, max_bytes, Cut())

    assert fitted == kept
    assert size_bytes(fitted) <= max_bytes


def test_numbers_are_left_out_and_never_cut() -> None:
    cut = Cut()

    assert fit([1, 10**40, 2], 24, cut) == [1]
    assert (cut.places, cut.count) == ([(1,)], 2)


def test_small_members_are_served_before_long_ones() -> None:
    fitted: Any = fit({"log": "x" * 500, "status": "failed", "code": 17}, 100, Cut())

    assert (fitted["status"], fitted["code"]) == ("failed", 17)
    assert list(fitted) == ["log", "status", "code"]


def test_long_members_share_what_is_left() -> None:
    fitted: Any = fit({"a": "x" * 500, "b": "y" * 500}, 200, Cut())

    assert abs(len(fitted["a"]) - len(fitted["b"])) <= 1


def test_a_deep_value_is_cut_inside() -> None:
    cut = Cut()

    assert fit({"a": {"b": {"c": "x" * 300}}}, 64, cut) == {"a": {"b": {"c": "x" * 41 + "…"}}}
    assert cut.places == [("a", "b", "c")]
