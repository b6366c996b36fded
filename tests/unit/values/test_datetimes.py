"""Moments and times of day."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.values.calendars import Calendar, zone_of
from taoloop.values.datetimes import (
    epoch_in,
    format_datetime,
    has_offset,
    local_moment,
    normal_datetime,
    normal_epoch,
    parse_datetime,
    parse_epoch,
    parse_rfc3339,
    quick_datetime,
)
from taoloop.values.refusals import RefusalCode, ValueRefused
from taoloop.values.times import parse_time

WEDNESDAY = Calendar(date(2026, 3, 11))


def code_of(text: str, calendar: Calendar | None = WEDNESDAY, zone: str = "Asia/Shanghai") -> RefusalCode:
    with pytest.raises(ValueRefused) as caught:
        parse_datetime(text, calendar, zone)
    return caught.value.code


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2024-05-20T14:30:00Z", "2024-05-20T14:30:00Z"), ("2024-05-20t14:30:00+08:00", "2024-05-20T06:30:00Z"),
        ("2024-05-20 14:30:00.120-05:30", "2024-05-20T20:00:00.12Z"),
        ("2024-05-20T14:30:00-00:00", "2024-05-20T14:30:00Z"),
        ("2024-05-20T14:30:00.123456000Z", "2024-05-20T14:30:00.123456Z"),
    ],
)  # fmt: skip
def test_rfc3339_with_any_offset_becomes_utc(text: str, utc: str) -> None:
    assert format_datetime(parse_rfc3339(text)) == utc


@pytest.mark.parametrize(
    "text",
    ["2024-05-20T14:30:00", "2024-05-20T14:30Z", "2024-05-20", "2024-13-20T14:30:00Z", "2024-05-20T24:00:00Z",
     "2016-12-31T23:59:60Z", "2024-05-20T14:30:00+24:00", "2024-05-20T14:30:00.1234567Z", "0001-01-01T00:00:00+01:00",
     "２024-05-20T14:30:00Z", ""],
)  # fmt: skip
def test_text_that_is_no_exact_moment_is_refused(text: str) -> None:
    with pytest.raises(ValueRefused):
        parse_rfc3339(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("15:30", time(15, 30)), ("03:30", time(3, 30)), ("15:30:20", time(15, 30, 20)), ("0:10", time(0, 10)),
        ("3pm", time(15)), ("3:30 p.m.", time(15, 30)), ("12am", time(0)), ("12 PM", time(12)), ("at 9am", time(9)),
        ("noon", time(12)), ("下午三点", time(15)), ("下午3点半", time(15, 30)), ("上午10点一刻", time(10, 15)),
        ("晚上8点20分", time(20, 20)), ("凌晨两点", time(2)), ("15点", time(15)), ("中午12点", time(12)),
        ("上午10:30", time(10, 30)),
    ],
)  # fmt: skip
def test_time_of_day_with_one_reading(text: str, expected: time) -> None:
    assert parse_time(text) == expected


@pytest.mark.parametrize("text", ["3:30", "三点", "12点半", "8点"])
def test_time_of_either_half_of_the_day_is_refused_with_both(text: str) -> None:
    with pytest.raises(ValueRefused) as caught:
        parse_time(text)
    assert caught.value.code is RefusalCode.AMBIGUOUS
    assert len(caught.value.candidates) == 2


@pytest.mark.parametrize(
    "text", ["25:00", "13pm", "0am", "15:60", "下午九十点", "上午3点", "midnight", "3", "soon", ""]
)
def test_text_that_is_no_time_of_day_is_refused(text: str) -> None:
    with pytest.raises(ValueRefused):
        parse_time(text)


@pytest.mark.parametrize(
    "text",
    ["tomorrow at 3pm", "3pm tomorrow", "明天下午三点", "明天 15:00", "tomorrow, 15:00", "2026-03-12 15:00",
    "3月12日下午3点",
     "March 12 at 3:00 pm", "2026-03-12T15:00:00"],
)  # fmt: skip
def test_day_and_time_in_words_are_local(text: str) -> None:
    # Case C025-6.
    assert parse_datetime(text, WEDNESDAY, "Asia/Shanghai") == datetime(2026, 3, 12, 7, tzinfo=UTC)


def test_moments_that_are_not_whole_are_refused() -> None:
    # Case C025-5.
    assert code_of("3pm", None) is RefusalCode.NO_REFERENCE
    assert code_of("tomorrow at 3pm", None) is RefusalCode.NO_REFERENCE
    assert code_of("3pm") is RefusalCode.AMBIGUOUS
    assert code_of("tomorrow") is RefusalCode.UNREADABLE
    assert code_of("明天三点") is RefusalCode.AMBIGUOUS
    assert code_of("next week at 3pm") is RefusalCode.AMBIGUOUS


def test_local_time_that_does_not_exist_or_exists_twice_is_refused() -> None:
    assert code_of("2026-03-29 02:30", zone="Europe/Berlin") is RefusalCode.OUT_OF_RANGE
    with pytest.raises(ValueRefused) as caught:
        parse_datetime("2026-10-25 02:30", WEDNESDAY, "Europe/Berlin")
    assert caught.value.candidates == ("2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00")


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        # Cases C026-1 to C026-6.
        (1700000123, None, "2023-11-14T22:15:23Z"), (1700000123456, None, "2023-11-14T22:15:23.456Z"),
        (1700000123456789012, None, "2023-11-14T22:15:23.456789Z"), (812345678901, "ms", "1995-09-29T03:34:38.901Z"),
        (-1, "s", "1969-12-31T23:59:59Z"),
    ],
)  # fmt: skip
def test_epoch_is_read_by_its_length_or_its_unit(value: int, unit: str | None, text: str) -> None:
    assert format_datetime(parse_epoch(value, unit)) == text  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [812345678901, -1, 0, 10**20])
def test_epoch_of_another_length_is_refused(value: int) -> None:
    with pytest.raises(ValueRefused) as caught:
        parse_epoch(value)
    assert caught.value.code is RefusalCode.AMBIGUOUS


def test_epoch_outside_of_the_calendar_is_refused() -> None:
    with pytest.raises(ValueRefused) as caught:
        parse_epoch(10**15, "s")
    assert caught.value.code is RefusalCode.OUT_OF_RANGE


offsets = st.integers(-23 * 60, 23 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(st.integers(-62_000_000_000, 253_000_000_000), st.integers(0, 999_999), offsets)
def test_every_moment_reads_back(seconds: int, microseconds: int, offset: timezone) -> None:
    moment = datetime.fromtimestamp(seconds, offset) + timedelta(microseconds=microseconds)
    assert parse_rfc3339(moment.isoformat()) == moment
    assert parse_rfc3339(format_datetime(moment)) == moment


@given(st.text("0123456789:TZ+- .明天下午三点pmat", max_size=14))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(ValueRefused):
        assert parse_datetime(text, WEDNESDAY, "Europe/Berlin").tzinfo is UTC


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("2024-05-20T22:30:00+0800", "2024-05-20T14:30:00Z"), ("2024-05-20T22:30Z", "2024-05-20T22:30:00Z"),
        ("2024-05-20 22:30:00 UTC", "2024-05-20T22:30:00Z"), ("2024-05-20T22:30:00.5-03", "2024-05-21T01:30:00.5Z"),
        ("2024-05-20 22:30:00,125", "2024-05-20T14:30:00.125Z"), ("20240520223000", "2024-05-20T14:30:00Z"),
        ("2024-05-20T22:30:00.123456789Z", "2024-05-20T22:30:00.123456789Z"),
        ("2024-05-20 22:30:00.1234567", "2024-05-20T14:30:00.1234567Z"),
        ("2024-05-20T22:30:00.000000000+08:00", "2024-05-20T14:30:00Z"),
    ],
)  # fmt: skip
def test_forms_of_iso_8601_that_tools_write(text: str, utc: str) -> None:
    assert normal_datetime(text, None, "Asia/Shanghai") == utc


@pytest.mark.parametrize(
    ("text", "expected"),
    [("2024-05-20T22:30:00+0800", True), ("2024-05-20T22:30Z", True), ("2024-05-20T22:30:00.1234567Z", True),
     ("2024-05-20 22:30", False), ("20240520223000", False), ("tomorrow at 3pm", False), ("Z" * 10_000, False)],
)  # fmt: skip
def test_written_offset_is_seen(text: str, expected: bool) -> None:
    assert has_offset(text) is expected


@given(
    st.datetimes(),
    st.sampled_from(["Z", "+00:00", "-00:00", "+08:00", "-23:59", "+24:00", "+05:60", ""]),
    st.sampled_from(["seconds", "milliseconds", "microseconds"]),
    st.sampled_from("T "),
)
def test_short_cut_for_rfc3339_reads_what_the_rules_read(
    moment: datetime, offset: str, timespec: str, between: str
) -> None:
    def read(spelling: str) -> str:
        try:
            return normal_datetime(spelling, None, "America/New_York")
        except ValueRefused as refused:
            return refused.code

    text = moment.isoformat(between, timespec) + offset
    assert read(text) == read(f"{text} ")  # the short cut takes no white space


@given(st.integers(10**9, 10**10 - 1), st.integers(0, 10**9 - 1))
def test_epoch_of_nineteen_digits_keeps_every_nanosecond(seconds: int, nanoseconds: int) -> None:
    text = normal_epoch(seconds * 10**9 + nanoseconds)
    whole, _, fraction = text.removesuffix("Z").partition(".")
    assert whole + "Z" == normal_epoch(seconds)
    assert int(fraction.ljust(9, "0")) == nanoseconds


def test_epoch_with_a_fraction_is_exact_and_no_finer_than_a_nanosecond() -> None:
    assert normal_epoch(Decimal("1700000123.456")) == "2023-11-14T22:15:23.456Z"
    assert normal_epoch(Decimal("-0.5"), "s") == "1969-12-31T23:59:59.5Z"
    for count in (Decimal("1700000123.0000000001"), 10**50, Decimal("1E+400")):
        with pytest.raises(ValueRefused) as caught:
            normal_epoch(count)
        assert caught.value.code is RefusalCode.OUT_OF_RANGE


@pytest.mark.parametrize(
    ("text", "has_unit", "expected"),
    [("1700000123", False, 1700000123), ("1700000123.5", False, Decimal("1700000123.5")), ("-1", True, -1),
     ("20240520", False, None), ("20240520223000", False, None), ("tomorrow", True, None),
     ("812345678901", False, 812345678901)],
)  # fmt: skip
def test_digits_are_an_epoch_only_where_nothing_else_is_meant(text: str, has_unit: bool, expected: object) -> None:
    assert epoch_in(text, has_unit=has_unit) == expected


def test_ten_digits_that_are_also_a_day_and_an_hour_are_refused_with_both() -> None:
    with pytest.raises(ValueRefused) as caught:
        epoch_in("2024052022", has_unit=False)
    assert caught.value.candidates == ("2034-02-20T12:40:22Z", "2024-05-20T22:00")


@pytest.mark.parametrize(
    ("zone", "day", "clock", "utc"),
    [
        ("America/New_York", date(2026, 3, 8), time(2, 30), "2026-03-08T07:30:00Z"),
        ("Australia/Lord_Howe", date(2026, 10, 4), time(2, 15), "2026-10-03T15:45:00Z"),  # a gap of half an hour
        ("Pacific/Apia", date(2011, 12, 30), time(10), "2011-12-30T20:00:00Z"),  # a gap of a whole day
    ],
)
def test_skipped_time_moves_by_the_length_of_the_gap_where_stated(zone: str, day: date, clock: time, utc: str) -> None:
    assert format_datetime(local_moment(day, clock, zone_of(zone), "forward")) == utc
    with pytest.raises(ValueRefused) as caught:
        local_moment(day, clock, zone_of(zone))
    assert caught.value.code is RefusalCode.OUT_OF_RANGE


def test_local_time_at_the_end_of_time_is_refused() -> None:
    for day, zone in ((date.min, "Asia/Shanghai"), (date.max, "America/New_York")):
        with pytest.raises(ValueRefused) as caught:
            local_moment(day, time.max if day == date.max else time.min, zone_of(zone))
        assert caught.value.code is RefusalCode.OUT_OF_RANGE


@given(
    st.from_regex(
        r"[0-9]{4}-[01][0-9]-[0-3][0-9][T ][0-2][0-9]:[0-6][0-9]:[0-6][0-9](\.[0-9]{3}|\.[0-9]{6})?"
        r"(Z|[+-][0-2][0-9]:[0-6][0-9])",
        fullmatch=True,
    )
)
def test_a_moment_that_is_read_at_once_is_the_one_of_the_rules_for_all(text: str) -> None:
    try:
        expected = format_datetime(parse_rfc3339(text))
    except ValueRefused:
        expected = None

    assert quick_datetime(text) == expected
