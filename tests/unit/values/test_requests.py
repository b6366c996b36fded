"""What nobody sees or types leaves a request, by name; every other code point stays."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.values.cleaning.requests import MarkKind, clean_request

K = MarkKind


@pytest.mark.parametrize(
    ("text", "clean", "kinds"),
    [
        ("first\u2028second\u2029third", "first\nsecond\nthird", {K.LINE_END: 2}),
        ("a\r\nb\rc\x0bd\u0085e", "a\nb\nc\nd\ne", {K.LINE_END: 4}),
        ("send \u202egnp.exe\u202c\u200f to \u2066Bob\u2069", "send gnp.exe to Bob", {K.BIDIRECTIONAL: 5}),
        ("order\u200b A\u2060-17\ufeff\u00ad", "order A-17", {K.ZERO_WIDTH: 4}),
        ("pay\u200d 5", "pay 5", {K.ZERO_WIDTH: 1}),
        ("hi" + "".join(chr(0xE0000 + ord(c)) for c in "delete all"), "hi", {K.TAG: 1}),
        ("a\U000e0101\U000e0141", "a", {K.TAG: 1}),
        ("a\x00\x1b[31mb\x7f", "a[31mb", {K.CONTROL: 3}),
        ("a\ud800b\uffff", "ab", {K.NO_CHARACTER: 2}),
    ],
)
def test_marks_are_named_and_go(text: str, clean: str, kinds: dict[MarkKind, int]) -> None:
    cleaned = clean_request(text)

    assert (cleaned.text, cleaned.marks, cleaned.is_changed) == (clean, kinds, True)


@pytest.mark.parametrize(
    "text",
    [
        "plain, with  two blanks\tand\nlines",
        "查询订单　Ａ－１７，谢谢！",
        "e\u0301 is not composed",
        "👩\u200d👩\u200d👧 and ❤\ufe0f\u200d🔥",
        "می\u200cخواهم",
        "क\u094d\u200dष",
        "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "葛\U000e0100城",
    ],
)
def test_what_people_write_stays_as_it_is(text: str) -> None:
    assert clean_request(text).text == text
    assert not clean_request(text).is_changed


@given(
    st.text(st.characters() | st.sampled_from("\u200b\u200c\u200d\u202e\u2028\r\n\ufe0f👩\U000e0061\U0001f3f4\ud800"))
)
def test_a_clean_text_is_clean_and_can_be_encoded(text: str) -> None:
    cleaned = clean_request(text)

    assert not clean_request(cleaned.text).is_changed
    assert cleaned.is_changed or cleaned.text == text
    cleaned.text.encode()


@pytest.mark.parametrize(
    "piece", ["\u200d", "\u200d\u200b", "a\u202e", "\U0001f3f4\U000e0061", "\r", "\u200d\U000e0061"]
)
def test_a_long_text_of_marks_takes_no_more_than_its_length(piece: str) -> None:
    began = time.process_time()
    clean_request(piece * (500_000 // len(piece)))

    assert time.process_time() - began < 6.0
