"""Clean text, with and without HTML."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.values.cleaning.html_text import MAX_CHARACTERS, strip_html
from taoloop.values.cleaning.texts import clean_text
from taoloop.values.refusals import RefusalCode, ValueRefused


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("  a\tb\r\n\u2028c\u3000 ", "a b c"), ("cafe\u0301", "caf\u00e9"), ("\u212b", "\u00c5"),
        ("a\u200bb\ufeff", "ab"),
        ("safe\u202etxt.exe\u202c", "safetxt.exe"), ("\u2066x\u2069\u200e\u200f", "x"),
        ("\x00a\x07b\x1b[0m", "ab[0m"),
        ("\ud800x", "x"), ("a\u00adb", "ab"), ("pay\u200dpal", "paypal"), ("订\u200d单", "订单"),
        ("\U000e0061a", "a"),
        ("Ａ１ ﬁ", "Ａ１ ﬁ"), ("", ""), ("ab\u200c", "ab"),
    ],
)  # fmt: skip
def test_what_is_not_seen_goes_and_white_space_is_one_space(text: str, clean: str) -> None:
    assert clean_text(text) == clean


@pytest.mark.parametrize(
    "text", ["👨\u200d👩\u200d👧", "❤\ufe0f\u200d🔥", "می\u200cخواهم", "क्\u200dष", "🏳\ufe0f\u200d🌈"]
)
def test_joiner_that_shapes_letters_or_emoji_stays(text: str) -> None:
    assert clean_text(text) == unicodedata.normalize("NFC", text)


def test_pile_of_marks_is_cut_where_no_writing_has_so_many() -> None:
    assert clean_text("a" + "\u0323" * 30) == unicodedata.normalize("NFC", "a" + "\u0323" * 30)
    assert len(clean_text("x" + "\u0301" * 500_000 + "\u0323" * 500_000)) == 31


@given(st.text(st.characters(), max_size=40))
def test_cleaning_twice_changes_nothing_and_the_result_can_be_encoded(text: str) -> None:
    clean = clean_text(text)
    assert clean_text(clean) == clean
    clean.encode()
    assert unicodedata.is_normalized("NFC", clean)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>Tom &amp; <b>Ann</b></p>", "Tom & Ann"), ("<td>a</td><td>b</td>", "a b"), ("a<br/>b", "a b"),
        ("<script>steal()</script>x<style>p{}</style>", "x"), ("a &lt;b&gt; c", "a <b> c"),
        ("1 &lt; 2 <i>!</i>", "1 < 2 !"),
        ("<!-- hidden -->x", "x"), ("<a href='javascript:x()'>go</a>", "go"), ("no tags", "no tags"),
        ("\ud800<b>x</b>", "x"),
        ("&#x4e2d;&nbsp;<b>文</b>", "中 文"),
    ],
)  # fmt: skip
def test_text_between_the_tags_stays(html: str, text: str) -> None:
    assert clean_text(strip_html(html)) == text


def test_html_that_would_take_long_is_refused() -> None:
    with pytest.raises(ValueRefused) as caught:
        strip_html("<b>" + "x" * MAX_CHARACTERS)
    assert caught.value.code is RefusalCode.OUT_OF_RANGE


@given(st.text(st.sampled_from("<>/abp!-&;#'\" =\u00a5\ud800"), max_size=60))
def test_any_text_is_stripped_without_an_error(text: str) -> None:
    clean_text(strip_html(text)).encode()
