"""Comparable words of English and Chinese."""

import pytest

from taoloop.thought.planners.graph.language.text import keys, name_keys, stem, words


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("order", "orders"),
        ("delivery", "deliveries"),
        ("book", "booking"),
        ("plan", "planned"),
        ("box", "boxes"),
        ("email", "E-mails"),
    ],
)
def test_forms_of_one_english_word_have_one_stem(first: str, second: str) -> None:
    assert stem(first) == stem(second)


@pytest.mark.parametrize("word", ["status", "address", "news", "bus", "need", "red"])
def test_a_short_or_double_s_is_no_ending(word: str) -> None:
    assert stem(word) in {word, "new"}


def test_stop_words_and_long_numbers_are_no_words() -> None:
    assert keys("What is the invoice of 20260308000012345?") == ("invoice",)


def test_chinese_is_compared_by_pairs_without_function_characters() -> None:
    assert keys("我的快递") == ("快递",)
    assert "的快" not in keys("我的快递到了")


def test_a_name_splits_at_underscores_and_humps_and_keeps_its_prepositions() -> None:
    assert name_keys("from_currency") == ("from", "currency")
    assert name_keys("checkInDate") == ("check", "in", "date")


def test_places_count_code_points_from_the_offset() -> None:
    word = words("😀 快递", 10)[0]
    assert (word.start, word.end) == (12, 14)
