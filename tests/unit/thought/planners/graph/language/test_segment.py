"""Cutting a request into clauses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.thought.planners.graph.language.segment import MAX_CLAUSES, segment


def _texts(text: str) -> list[str]:
    return [clause.text.strip() for clause in segment(text)]


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("查读者，然后查他的借阅", ["查读者", "然后查他的借阅"]),
        ("查读者。查借阅！", ["查读者", "查借阅"]),
        ("find the reader, then list the loans", ["find the reader", "then list the loans"]),
        ("find the reader and list the loans", ["find the reader", "and list the loans"]),
        ("find the reader. List the loans", ["find the reader", "List the loans"]),
        ("find the reader then list the loans", ["find the reader", "then list the loans"]),
    ],
)
def test_sentences_connectives_and_further_verbs_cut(text: str, clauses: list[str]) -> None:
    assert _texts(text) == clauses


@pytest.mark.parametrize("text", ["预约 C100200，明天，三周", "bread, butter and jam", "the price is 3.50 today"])
def test_a_mere_comma_an_and_between_nouns_and_a_decimal_point_do_not_cut(text: str) -> None:
    assert len(_texts(text)) == 1


def test_no_cut_falls_into_a_protected_span() -> None:
    text = "say “a. b” now"
    assert len(segment(text, ((5, 9),))) == 1
    assert len(segment(text)) == 2


def test_the_number_of_clauses_is_bounded() -> None:
    assert len(segment("a. " * 500)) == MAX_CLAUSES


@given(st.text(max_size=300))
def test_clauses_are_disjoint_pieces_of_the_text_in_order(text: str) -> None:
    end = 0
    for clause in segment(text):
        assert clause.start >= end
        assert text[clause.start : clause.end] == clause.text
        end = clause.end
