"""A contract's own patterns are found as far as they reach, in time linear in the text."""

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.tools.personal_data.own_patterns import MAX_MATCHES, OwnPattern


def found(pattern: str, text: str) -> list[str]:
    return [text[start:end] for start, end in OwnPattern(pattern).find(text)]


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("ORD-[0-9]{8}", "see ORD-20240520 and ORD-20240521!", ["ORD-20240520", "ORD-20240521"]),
        ("[0-9]{6,}", "code 12345678 end", ["12345678"]),
        ("[0-9]+-[0-9]+", "tel 123-456.", ["123-456"]),
        ("^secret$", "secret", ["secret"]),
        ("EMP|EMPLOYEE", "EMPLOYEE 7", ["EMPLOYEE"]),
        ("[一-龥]{2,3}先生", "致王小明先生", ["致王小明先生"[1:]]),
        ("x", "none", []),
        ("[0-9]*", "no digit", []),
    ],
)
def test_match_is_as_long_as_the_pattern_takes(pattern: str, text: str, matches: list[str]) -> None:
    assert found(pattern, text) == matches


def test_nothing_that_matches_is_left_over() -> None:
    text = "A1 " * (3 * MAX_MATCHES)
    rest = list(text)
    for start, end in OwnPattern("A[0-9]").find(text):
        rest[start:end] = "_" * (end - start)

    assert "A1" not in "".join(rest)


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*b", "a*a*a*a*b", "([a-z]+)*!", "(.*a){20}"])
def test_pattern_that_ruins_a_backtracking_engine_takes_linear_time(pattern: str) -> None:
    start = time.process_time()

    found(pattern, "a" * 20_000)

    assert time.process_time() - start < 5


@given(st.text(alphabet="ab1-", max_size=60), st.sampled_from(["a+", "a[0-9]", "[ab]{2,3}1", "b-?1", "1+-1+"]))
def test_every_place_that_the_pattern_takes_is_found(text: str, pattern: str) -> None:
    rest = list(text)
    for start, end in OwnPattern(pattern).find(text):
        rest[start:end] = "_" * (end - start)

    assert re.search(pattern, "".join(rest)) is None
