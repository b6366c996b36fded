"""Texts that a tool or a user sends to make a parser fail or hang."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.core.exact_json import ABSENT, dumps
from taoloop.values.conversions import CONVERSIONS, ConversionContext, convert
from taoloop.values.refusals import ValueRefused

CONTEXT: Final = ConversionContext(reference_time=datetime(2026, 3, 11, 4, tzinfo=UTC), time_zone="Asia/Shanghai")
OPTIONS: Final[dict[str, Any]] = {"enum": {"values": ["a"]}, "unit": {"to_unit": "K"}, "text": {"html": "strip"}}
MOST_SECONDS: Final = 2.0  # a pattern that backtracks takes minutes at these lengths

PIECES: Final = [
    "9", "1,", "1.", "1 ", "1'", "一", "点", "零", "百", "万", "-", "e", "°", " ", "~", "–", "to ", "from 1 to ",
    "到", "a", "a@",
    "a.", "P", "1:", "1h", "1h and ", "半", "1小时", "年月", "2024-", "05.08.", "$", "€1", "百分之", "%",
    "\u0301\u0323",
    "\u200d", "\ud800", "\x00", "<", "<b>", "&", "at ", "q", "\n", "K", "^", " per ", "\u00a5",
]  # fmt: skip

WORDS: Final = [
    *"0123456789.,:-+/~eE%°$€¥PTHMS年月日时分秒点个半百千万零一二三负 \t\u200b\u0301", "at ", "to ", "km", "°C",
    "元", "USD", "tomorrow",
    "上个", "周", "days ago", "百分之", "1:30", "２", "²", "½", "٣", "\ud800", "\U0010ffff", "NaN", "1e999",
]  # fmt: skip


def read(to: str, value: Any) -> None:
    with suppress(ValueRefused):
        result = convert(to, value, CONTEXT, OPTIONS.get(to, ABSENT))
        if to != "string":  # it leaves texts as they are, half a surrogate pair too
            dumps(result)


@pytest.mark.parametrize("to", sorted(CONVERSIONS))
def test_long_text_is_read_or_refused_in_bounded_time(to: str) -> None:
    for piece in PIECES:
        for text in ((piece * 100_000)[:100_000], "1" + (piece * 199)[:198] + "x", (piece * 1000)[:1000]):
            started = time.process_time()
            read(to, text)
            assert time.process_time() - started < MOST_SECONDS, (piece, len(text))


@pytest.mark.parametrize("to", sorted(CONVERSIONS))
def test_text_of_a_megabyte_and_numbers_of_four_hundred_digits_are_bounded(to: str) -> None:
    for value in ("7" * 1_000_000, "７a" * 500_000, int("9" * 400), "9" * 400, f"{'9' * 400}.{'9' * 400} km", 10**5000):
        started = time.process_time()
        read(to, value)
        assert time.process_time() - started < MOST_SECONDS


@given(st.sampled_from(sorted(CONVERSIONS)), st.text(st.characters(), max_size=30))
def test_any_text_of_any_plane_is_read_or_refused(to: str, text: str) -> None:
    read(to, text)


@given(st.sampled_from(sorted(CONVERSIONS)), st.lists(st.sampled_from(WORDS), max_size=12))
def test_any_mixture_of_known_words_is_read_or_refused(to: str, words: list[str]) -> None:
    read(to, "".join(words))
