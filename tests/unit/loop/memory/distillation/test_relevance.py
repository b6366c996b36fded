"""Knowledge that fits a request scores above 0.6, and what only shares common words does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.loop.memory.distillation.relevance import relevance

KNOWN = (
    "会议超过1小时需要经理审批",
    "投影仪维修中，本周不可用",
    "差旅报销须在返程后30天内提交",
    "meeting rooms on floor 3 are closed this week",
    "expense claims above 500 EUR need a receipt",
    "prefers aisle seats on flights",
    "偏好：大会议室，靠窗",
    "refunds are paid within 14 days",
)


@pytest.mark.parametrize(
    ("request_text", "best"),
    [
        ("帮我订周五下午的会议室，要两小时，需要经理审批吗", 0),
        ("有投影仪的房间还有吗", 1),
        ("我想提交上个月的差旅报销", 2),
        ("Book a meeting room for Friday", 3),
        ("File an expense claim for the taxi", 4),
        ("Find me a flight to Berlin, window or aisle seat", 5),
        ("订一个大会议室", 6),
        ("How long does a refund take?", 7),
    ],
)
def test_what_fits_is_found(request_text: str, best: int) -> None:
    scores = relevance(request_text, KNOWN)
    assert scores[best] > 0.6
    assert scores[best] == max(scores)


@pytest.mark.parametrize(
    "request_text",
    ["你好", "今天天气怎么样", "what is the weather in Oslo", "请帮我看看这个", "tell me about it please", ""],
)
def test_what_fits_nothing_is_told_nothing(request_text: str) -> None:
    assert max(relevance(request_text, KNOWN)) <= 0.6


def test_one_piece_alone_is_judged_like_one_of_many() -> None:
    assert relevance("有投影仪的房间还有吗", KNOWN[1:2])[0] > 0.6
    assert relevance("今天天气怎么样", KNOWN[1:2])[0] == 0.0


def test_words_that_everything_has_tell_little() -> None:
    many = [f"order number {number}" for number in range(100)]
    assert max(relevance("where is my order", many)) < 0.6


@given(request_text=st.text(max_size=80), texts=st.lists(st.text(max_size=80), max_size=8))
def test_scores_are_between_zero_and_one(request_text: str, texts: list[str]) -> None:
    assert all(0.0 <= score < 1.0 for score in relevance(request_text, texts))
