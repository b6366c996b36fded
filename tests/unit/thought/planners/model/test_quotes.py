"""A quote is found where the user said it, first whole and exact, or not at all."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.plan.task import Role, Turn
from taoloop.thought.planners.model.quotes import Quoted, find_quote


def found(quote: str, text: str) -> Quoted | None:
    return find_quote(quote, (Turn(role=Role.USER, text=text),))


@pytest.mark.parametrize(
    ("quote", "text", "said", "count"),
    [
        ("New York", "from new york to New York", "New York", 1),
        ("new  york", "from\nNew York", "New York", 1),
        ('"A-17"', "order A-17.", "A-17", 1),
        (" 5 ", "5 or 5, not 55", "5", 2),
        ("5", "5kg", "5", 1),
        ("三体", "帮我查《三体》", "三体", 1),
        ("1,200.50", "pay 1,200.50 now", "1,200.50", 1),
    ],
)
def test_what_was_said_is_found(quote: str, text: str, said: str, count: int) -> None:
    quoted = found(quote, text)

    assert quoted is not None
    assert (quoted.span.text, quoted.count) == (said, count)
    assert text[quoted.span.start : quoted.span.end] == said


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("", "x"),
        ('""', 'say ""'),
        ("5", "55 and 1.5 and 5,000"),
        ("200", "1,200"),
        ("Rome", "Paris"),
        ("x" * 2001, "x" * 3000),
    ],
)
def test_what_was_not_said_is_not_found(quote: str, text: str) -> None:
    assert found(quote, text) is None


def test_the_assistant_is_never_quoted() -> None:
    assert find_quote("Rome", (Turn(role=Role.ASSISTANT, text="Rome?"), Turn(role=Role.USER, text="yes"))) is None


@given(st.text("ab 12.é三\n", min_size=1, max_size=40), st.integers(0, 40), st.integers(1, 20))
def test_a_piece_of_the_request_leads_back_to_the_same_words(text: str, start: int, length: int) -> None:
    quote = text[start : start + length]
    quoted = found(quote, text)

    if quoted is not None:
        assert text[quoted.span.start : quoted.span.end] == quoted.span.text
        assert quoted.span.text.split() == quote.split()


@pytest.mark.parametrize(("quote", "piece"), [("a b c", "a" + " " * 50), ("ab", "a"), ("5", "5"), ("x y", "x \n")])
def test_a_megabyte_is_searched_in_time(quote: str, piece: str) -> None:
    began = time.process_time()
    found(quote, piece * (1_000_000 // len(piece)))

    assert time.process_time() - began < 6.0
