"""Lengths of time."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.values.quantities.durations import parse_duration
from taoloop.values.refusals import ValueRefused


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("PT2H30M", "9000"), ("P1DT2H", "93600"), ("PT0.5S", "0.5"), ("PT1,5H", "5400"), ("P1W", "604800"),
        ("PT1M", "60"),
        ("P0Y1D", "86400"), ("-PT5M", "-300"), ("pt90s", "90"), ("90 s", "90"), ("90s", "90"), ("2h30m", "9000"),
        ("2h 30min", "9000"), ("1 hour 30 minutes", "5400"), ("1 hour and 30 minutes", "5400"),
        ("1 Hour, 30 Min", "5400"),
        ("1小时30分钟", "5400"), ("一小时三十分钟", "5400"), ("一个半小时", "5400"), ("半小时", "1800"),
        ("1小时零5分", "3900"),
        ("1.5h", "5400"), ("1,5 h", "5400"), ("1:30:00", "5400"), ("00:01:30.5", "90.5"), ("1:30 h", "5400"),
        ("1:30 min", "90"), ("1:30小时", "5400"), ("5 days", "432000"), ("2 weeks", "1209600"), ("100 ms", "0.1"),
        ("5µs", "0.000005"), ("5 μs", "0.000005"), ("1h30m15.5s", "5415.5"), ("-90 s", "-90"), ("三周", "1814400"),
    ],
)  # fmt: skip
def test_length_of_time_is_read_exactly(text: str, seconds: str) -> None:
    assert str(parse_duration(text)) == seconds


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("1:30", "AMBIGUOUS"), ("01:30", "AMBIGUOUS"), ("P1M", "AMBIGUOUS"), ("P1Y", "AMBIGUOUS"),
        ("2 months", "AMBIGUOUS"),
        ("1年", "AMBIGUOUS"), ("1,234 s", "AMBIGUOUS"), (90, "MISSING_UNIT"), ("90", "MISSING_UNIT"),
        ("3 fortnights", "UNKNOWN_UNIT"),
        ("P", "UNREADABLE"), ("PT", "UNREADABLE"), ("P1DT", "UNREADABLE"), ("P1", "UNREADABLE"),
        ("PT1.5H30M", "UNREADABLE"),
        ("30m2h", "UNREADABLE"), ("1h1h", "UNREADABLE"), ("1.5h30m", "UNREADABLE"), ("1h 30", "UNREADABLE"),
        ("1:60", "UNREADABLE"),
        ("1:30:00 min", "UNREADABLE"), ("--5s", "UNREADABLE"), ("h", "UNREADABLE"), ("", "UNREADABLE"),
        ("NaN", "NOT_A_NUMBER"),
        (None, "UNREADABLE"), (True, "UNREADABLE"), ("1h" * 200, "UNREADABLE"),
    ],
)  # fmt: skip
def test_length_of_time_without_one_reading_is_refused(value: Any, code: str) -> None:
    with pytest.raises(ValueRefused) as caught:
        parse_duration(value)
    assert caught.value.code == code


def test_stated_unit_is_that_of_a_bare_number_and_of_the_first_part() -> None:
    assert parse_duration(90, "min") == parse_duration("90", "min") == 5400
    assert parse_duration(Decimal("1.5"), "ms") == Decimal("0.0015")
    assert (parse_duration("1:30", "h"), parse_duration("1:30", "min")) == (5400, 90)
    assert parse_duration("2 h", "s") == 7200
    with pytest.raises(ValueRefused):
        parse_duration("1:30", "s")


@given(st.integers(0, 10**6), st.integers(0, 23), st.integers(0, 59), st.integers(0, 59), st.integers(0, 10**9 - 1))
def test_every_spelling_of_one_length_is_the_same_number(
    days: int, hours: int, minutes: int, seconds: int, nanoseconds: int
) -> None:
    last = f"{seconds}.{nanoseconds:09d}"
    expected = 86400 * days + 3600 * hours + 60 * minutes + Decimal(last)
    for text in (
        f"P{days}DT{hours}H{minutes}M{last}S",
        f"{days}d {hours}h {minutes}min {last}s",
        f"{days}天{hours}小时{minutes}分{last}秒",
    ):
        assert parse_duration(text, decimal_separator=".") == expected
