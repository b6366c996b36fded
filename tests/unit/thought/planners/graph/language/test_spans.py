"""Finding typed mentions with their places."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.thought.planners.graph.language.mentions import MentionKind
from taoloop.thought.planners.graph.language.spans import MAX_MENTIONS, find_mentions


def _found(text: str) -> list[tuple[str, str]]:
    return [(mention.kind.value, mention.text) for mention in find_mentions(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("mail ann.lee@example.org now", [("email", "ann.lee@example.org")]),
        ("see https://example.org/a?b=1.", [("url", "https://example.org/a?b=1")]),
        ("write to a@b@c please", [("malformed", "a@b@c")]),
        ("search “开放时间” today", [("quoted", "开放时间"), ("date", "today")]),
        ("the reader's card", []),
        ("copy C100200 of 9787506365437", [("id", "C100200"), ("id", "9787506365437")]),
        ("at 15:00 or 3pm, 下午3点半", [("time", "15:00"), ("time", "3pm"), ("time", "下午3点半")]),
        ("keep it 3 weeks for $1,234.50", [("number", "3"), ("number", "1,234.50")]),
        ("订三个人的票", [("number", "三")]),
        ("借一个月", []),
        ("上个月和2026-03-01到2026-03-05", [("date", "上个月"), ("date", "2026-03-01到2026-03-05")]),
        ("from March 1, 2026 to March 5, 2026", [("date", "from March 1, 2026 to March 5, 2026")]),
        ("weather in New York", [("place", "New York")]),
        ("查员工王芳的工号", [("person", "王芳")]),
        ("周五北京", [("date", "周五"), ("place", "北京")]),
        ("rate of USD", [("code", "USD")]),
    ],
)
def test_each_kind_is_found_with_its_text(text: str, found: list[tuple[str, str]]) -> None:
    assert _found(text) == found


def test_quotes_around_the_whole_request_quote_nothing() -> None:
    assert ("quoted", "find the book") not in _found("“find the book”")


def test_a_unit_is_noted_beside_its_number() -> None:
    assert [mention.unit for mention in find_mentions("60 分钟 for 5 people")] == ["minute", "person"]


def test_a_name_of_a_weekday_is_no_name() -> None:
    assert MentionKind.NAME not in {mention.kind for mention in find_mentions("Show Monday and Tuesday")}


@given(st.text(max_size=400))
def test_mentions_are_disjoint_pieces_of_the_text_in_order(text: str) -> None:
    end = 0
    for mention in find_mentions(text):
        assert mention.start >= end
        assert mention.end > mention.start
        assert text[mention.start : mention.end] == mention.text
        end = mention.end


@pytest.mark.parametrize("piece", ["1 ", "a@", "A1-", "from ", "“", "10年", "Aa ", "张"])
def test_the_number_of_mentions_is_bounded_for_long_texts(piece: str) -> None:
    assert len(find_mentions((piece * 10_000)[:10_000])) <= MAX_MENTIONS
