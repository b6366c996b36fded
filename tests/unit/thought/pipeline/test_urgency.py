"""Urgent words: what counts, what only looks like it, and that no text takes long."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.thought.pipeline.urgency import NEGATIONS, URGENT_WORDS, UrgentWords

URGENT = UrgentWords()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("马上帮我查订单", "马上"),
        ("请立刻处理", "立刻"),
        ("别想太多，直接查", "别想太多"),
        ("能不能马上帮我查", "马上"),
        ("要不要退都行，马上", "马上"),
        ("這個訂單趕快處理", "趕快"),
        ("asap 帮我查", "asap"),
        ("请asap处理", "asap"),
        ("Do it right now.", "right now"),
        ("Can you do it RIGHT  NOW?", "RIGHT  NOW"),
        ("Cancel order 5 ASAP!", "ASAP"),
        ("don’t overthink it", "don’t overthink"),
        ("Hurry up, book the room", "Hurry up"),
    ],
)
def test_urgent_word_is_found_as_it_is_written(text: str, word: str) -> None:
    assert URGENT.find(text) == word


@pytest.mark.parametrize(
    "text",
    [
        "不用马上",
        "不要立刻退款",
        "别马上下单",
        "不用现在马上处理",
        "not right now",
        "I don't need it right now",
        "no hurry",
        "There is no need to do this right now",
    ],
)
def test_negated_word_is_no_urgency(text: str) -> None:
    assert URGENT.find(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        "我要订宝马，马上",
        "特别急，马上",
        "I can't wait, do it immediately",
        "Not done? Do it right now",
        "要不要马上办",
    ],
)
def test_negation_of_another_clause_or_within_another_word_takes_nothing_away(text: str) -> None:
    assert URGENT.find(text)


@pytest.mark.parametrize(
    "text",
    [
        'Send a mail that says "call me asap"',
        "发邮件，内容是“马上回电”",
        "「立刻出发」这首歌是谁唱的",
        "rename it to 'right now'",
        "run `asap` once",
    ],
)
def test_quoted_word_is_no_urgency(text: str) -> None:
    assert URGENT.find(text) == ""


@pytest.mark.parametrize(
    "text",
    ["asapx", "mail asap@shop.example", "open www.asap.example", "look up ASAP-7", "ASAP_REPORT", "the Hurryville bus"],
)
def test_part_of_a_longer_word_is_no_urgency(text: str) -> None:
    assert URGENT.find(text) == ""


@pytest.mark.parametrize(
    "text", ["宝马上海店几点开门", "骑马上山要多久", "帮我快点单", "the job failed immediately after it"]
)
def test_word_across_the_border_of_two_others_is_no_urgency(text: str) -> None:
    assert URGENT.find(text) == ""


@pytest.mark.parametrize("text", ["Which rooms are free right now?", "what is the price right now"])
def test_question_about_the_present_is_no_urgency(text: str) -> None:
    assert URGENT.find(text) == ""


def test_words_of_a_further_language_are_found_with_its_own_negations() -> None:
    german = UrgentWords({**URGENT_WORDS, "de": ("sofort",)}, {**NEGATIONS, "de": ("nicht",)})
    assert german.find("Bitte sofort stornieren") == "sofort"
    assert german.find("Bitte nicht sofort stornieren") == ""
    assert german.find("请立刻处理") == "立刻"


def test_language_without_words_has_no_urgency() -> None:
    assert UrgentWords({**URGENT_WORDS, "zh": ()}).find("马上") == ""
    assert UrgentWords({}).find("right now 马上") == ""


def test_urgency_at_the_end_of_a_long_text_is_found() -> None:
    assert URGENT.find("a word " * 200_000 + ", asap") == "asap"


@pytest.mark.parametrize("mark", ["“", '"', "'", "'a ", "right ", "not right now ", "马上不用", " ", "don't "])
def test_a_megabyte_of_anything_is_read_like_a_page(mark: str) -> None:
    began = time.process_time()
    URGENT.find(mark * (1_000_000 // len(mark)))
    assert time.process_time() - began < 2.0  # milliseconds on an idle core


@given(st.text())
def test_what_is_found_stands_in_the_text(text: str) -> None:
    assert URGENT.find(text) in text


@given(st.text(alphabet="abc 马上不用asp\"“”'", max_size=80))
def test_a_text_within_quotes_is_never_urgent(text: str) -> None:
    plain = "".join(character for character in text if character not in "“”")
    assert URGENT.find(f"说“{plain}”") == ""
