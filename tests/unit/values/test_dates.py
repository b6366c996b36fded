"""Dates and date ranges, absolute and in words."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.values.calendars import Calendar, Period
from taoloop.values.dates import iso_day, parse_date, parse_period
from taoloop.values.refusals import RefusalCode, ValueRefused
from taoloop.values.written_dates import DateOrder, parse_written_date

WEDNESDAY = Calendar(date(2026, 3, 11))


@pytest.mark.parametrize(
    "text",
    ["2024-03-05", "2024/3/5", "2024.3.5", "2024 3 5", "20240305", "March 5, 2024", "Mar 5th 2024", "5 March 2024",
     "5th of March, 2024", "5-Mar-2024", "2024年3月5日", "2024年3月5号", "二〇二四年三月五日", "２０２４年３月５日",
     " MARCH 5, 2024 ",
    ],
)  # fmt: skip
def test_written_forms_of_a_day(text: str) -> None:
    assert parse_written_date(text) == date(2024, 3, 5)


def test_day_and_month_that_could_be_either_are_refused_with_both() -> None:
    # Cases C025-1 to C025-4.
    with pytest.raises(ValueRefused) as caught:
        parse_date("05.08.2023")
    assert (caught.value.code, caught.value.candidates) == (RefusalCode.AMBIGUOUS, ("2023-08-05", "2023-05-08"))
    assert parse_date("05.08.2023", order="DMY") == date(2023, 8, 5)
    assert parse_date("2011 10 26", order="DMY") == date(2011, 10, 26)
    with pytest.raises(ValueRefused) as caught:
        parse_date("25.08.2023", order="MDY")
    assert caught.value.code is RefusalCode.OUT_OF_RANGE
    assert parse_date("13/04/2025") == parse_date("04/13/2025") == date(2025, 4, 13)
    assert parse_date("04/04/2025") == date(2025, 4, 4)


@pytest.mark.parametrize("text", ["2024-02-30", "31.02.2024", "2024年13月1日", "February 30, 2024"])
def test_day_that_does_not_exist_is_out_of_range(text: str) -> None:
    with pytest.raises(ValueRefused) as caught:
        parse_date(text)
    assert caught.value.code is RefusalCode.OUT_OF_RANGE


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("today", "2026-03-11"), ("Tomorrow", "2026-03-12"), ("yesterday", "2026-03-10"),
        ("the day after tomorrow", "2026-03-13"),
        ("in 3 days", "2026-03-14"), ("three days ago", "2026-03-08"), ("2 weeks from now", "2026-03-25"),
        ("a month ago", "2026-02-11"), ("one year ago", "2025-03-11"),
        ("last Monday", "2026-03-09"), ("last Wednesday", "2026-03-04"), ("this Friday", "2026-03-13"),
        ("coming Friday", "2026-03-13"), ("next Monday", "2026-03-16"), ("Friday next week", "2026-03-20"),
        ("今天", "2026-03-11"), ("明天", "2026-03-12"), ("后天", "2026-03-13"), ("大后天", "2026-03-14"),
        ("昨天", "2026-03-10"),
        ("前天", "2026-03-09"), ("3天前", "2026-03-08"), ("两周后", "2026-03-25"), ("三个月前", "2025-12-11"),
        ("下周三", "2026-03-18"), ("上周日", "2026-03-08"), ("本周五", "2026-03-13"), ("下下周一", "2026-03-23"),
        ("这周天", "2026-03-15"),
        ("3月5日", "2026-03-05"), ("三月五号", "2026-03-05"), ("去年12月31日", "2025-12-31"), ("5号", "2026-03-05"),
        ("上个月5号", "2026-02-05"), ("March 5", "2026-03-05"), ("the 5th of March", "2026-03-05"),
    ],
)  # fmt: skip
def test_day_in_words_counts_from_today(text: str, day: str) -> None:
    assert parse_date(text, WEDNESDAY).isoformat() == day


@pytest.mark.parametrize(
    ("text", "candidates"),
    [
        ("next Friday", ("2026-03-13", "2026-03-20")),
        ("Friday", ("2026-03-06", "2026-03-13")),
        ("周一", ("2026-03-09", "2026-03-16")),
        ("last 7 days", ("2026-03-05~2026-03-11", "2026-03-04~2026-03-10")),
        ("最近7天", ("2026-03-05~2026-03-11", "2026-03-04~2026-03-10")),
    ],
)
def test_words_that_usage_divides_are_refused_with_the_readings(text: str, candidates: tuple[str, ...]) -> None:
    with pytest.raises(ValueRefused) as caught:
        parse_period(text, WEDNESDAY)
    assert (caught.value.code, caught.value.candidates) == (RefusalCode.AMBIGUOUS, candidates)


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("last week", "2026-03-02~2026-03-08"), ("this week", "2026-03-09~2026-03-15"),
        ("next week", "2026-03-16~2026-03-22"),
        ("上周", "2026-03-02~2026-03-08"), ("上上周", "2026-02-23~2026-03-01"), ("下个星期", "2026-03-16~2026-03-22"),
        ("last month", "2026-02-01~2026-02-28"), ("上个月", "2026-02-01~2026-02-28"),
        ("本月", "2026-03-01~2026-03-31"),
        ("下个月", "2026-04-01~2026-04-30"), ("this year", "2026-01-01~2026-12-31"),
        ("去年", "2025-01-01~2025-12-31"),
        ("last quarter", "2025-10-01~2025-12-31"), ("上个季度", "2025-10-01~2025-12-31"),
        ("第二季度", "2026-04-01~2026-06-30"),
        ("2024年4月", "2024-04-01~2024-04-30"), ("April 2024", "2024-04-01~2024-04-30"),
        ("2024-04", "2024-04-01~2024-04-30"),
        ("2024年2月份", "2024-02-01~2024-02-29"), ("2024", "2024-01-01~2024-12-31"),
        ("Q1 2024", "2024-01-01~2024-03-31"),
        ("2024 Q4", "2024-10-01~2024-12-31"), ("2024年第三季度", "2024-07-01~2024-09-30"),
        ("4月", "2026-04-01~2026-04-30"),
        ("去年3月", "2025-03-01~2025-03-31"), ("April last year", "2025-04-01~2025-04-30"),
        ("今天", "2026-03-11~2026-03-11"),
        ("2024-04-01~2024-04-30", "2024-04-01~2024-04-30"), ("2024-04-01 to 2024-04-30", "2024-04-01~2024-04-30"),
        ("from March 1 to March 5", "2026-03-01~2026-03-05"),
        ("between yesterday and tomorrow", "2026-03-10~2026-03-12"),
        ("2024年3月1日到5日", "2024-03-01~2024-03-05"), ("3月1日至3月5日", "2026-03-01~2026-03-05"),
        ("从1月到3月", "2026-01-01~2026-03-31"), ("2024年1月至3月", "2024-01-01~2024-03-31"),
        ("上周一到上周五", "2026-03-02~2026-03-06"),
        ("January to March 2024", "2024-01-01~2024-03-31"), ("March 1 to 5", "2026-03-01~2026-03-05"),
        ("March 1 to 5, 2024", "2024-03-01~2024-03-05"), ("March 1 to April 5, 2024", "2024-03-01~2024-04-05"),
        ("March 1, 2024 to 5", "2024-03-01~2024-03-05"), ("2024-04-01 - 2024-04-03", "2024-04-01~2024-04-03"),
    ],
)  # fmt: skip
def test_period_in_words(text: str, period: str) -> None:
    assert str(parse_period(text, WEDNESDAY)) == period


def test_range_that_ends_before_it_starts_is_refused() -> None:
    with pytest.raises(ValueRefused) as caught:
        parse_period("2024-04-02~2024-04-01")
    assert caught.value.code is RefusalCode.OUT_OF_RANGE


def test_week_starts_where_the_calendar_says() -> None:
    sunday_weeks = Calendar(date(2026, 3, 11), week_start=6)
    assert str(parse_period("last week", sunday_weeks)) == "2026-03-01~2026-03-07"
    assert parse_date("this Sunday", sunday_weeks) == date(2026, 3, 8)


def test_today_is_the_day_in_the_users_time_zone() -> None:
    evening = datetime(2026, 3, 11, 20, tzinfo=UTC)
    assert parse_date("今天", Calendar.at(evening, "Asia/Shanghai")) == date(2026, 3, 12)
    assert parse_date("today", Calendar.at(evening, "")) == date(2026, 3, 11)
    with pytest.raises(ValueRefused):
        Calendar.at(evening, "Mars/Olympus")


@pytest.mark.parametrize("text", ["today", "last week", "下周三", "3月5日", "Friday", "31 March"])
def test_relative_words_need_a_reference(text: str) -> None:
    with pytest.raises(ValueRefused) as caught:
        parse_period(text)
    assert caught.value.code is RefusalCode.NO_REFERENCE


@pytest.mark.parametrize(
    "text", ["", "soon", "12", "99/99/2024x", "3/4/25", "A100", "到", "~", "yesterday to", "上上上周"]
)
def test_text_that_is_no_date_is_refused(text: str) -> None:
    for calendar in (None, WEDNESDAY):
        with pytest.raises(ValueRefused):
            parse_period(text, calendar)


def test_period_is_no_day_and_is_named() -> None:
    with pytest.raises(ValueRefused) as caught:
        parse_date("last month", WEDNESDAY)
    assert caught.value.candidates == ("2026-02-01~2026-02-28",)


def test_same_day_of_a_shorter_month_does_not_exist() -> None:
    with pytest.raises(ValueRefused) as caught:
        parse_date("one month ago", Calendar(date(2026, 3, 31)))
    assert caught.value.code is RefusalCode.OUT_OF_RANGE


days = st.dates(min_value=date(1000, 1, 1))


@given(days)
def test_every_day_reads_back_from_each_written_form(day: date) -> None:
    english = f"{day:%B} {day.day}, {day.year}"
    chinese = f"{day.year}年{day.month}月{day.day}日"
    assert parse_date(day.isoformat()) == parse_date(english) == parse_date(chinese) == day


@given(days, st.sampled_from(["DMY", "MDY"]))
def test_stated_order_reads_every_day(day: date, order: DateOrder) -> None:
    first, second = (day.day, day.month) if order == "DMY" else (day.month, day.day)
    assert parse_date(f"{first:02d}/{second:02d}/{day.year}", order=order) == day


@given(days, days)
def test_every_range_reads_back(one: date, other: date) -> None:
    period = Period(min(one, other), max(one, other))
    assert parse_period(str(period)) == period


@given(st.dates(date(1900, 1, 1), date(2200, 1, 1)), st.integers(0, 6))
def test_weeks_have_seven_days_and_touch(today: date, week_start: int) -> None:
    calendar = Calendar(today, week_start)
    last, this = calendar.week(-1), calendar.week(0)
    assert this.start <= today <= this.end
    assert this.start.weekday() == week_start
    assert ((this.start - last.end).days, (this.end - this.start).days) == (1, 6)


@given(st.text(max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(ValueRefused):
        assert isinstance(parse_period(text, WEDNESDAY), Period)


def test_stated_order_is_never_swapped() -> None:
    assert parse_date("2023-08-05", order="YMD") == date(2023, 8, 5)
    for order, text in (("YMD", "05.08.2023"), ("MDY", "25.08.2023"), ("DMY", "08/25/2023"), ("YMD", "2023-25-08")):
        with pytest.raises(ValueRefused) as caught:
            parse_date(text, order=order)  # type: ignore[arg-type] # one of the three
        assert caught.value.code is RefusalCode.OUT_OF_RANGE


@pytest.mark.parametrize(
    ("text", "order", "readings"),
    [
        ("05.08.23", None, 6), ("25/08/23", None, 4), ("23-08-05", "YMD", 2), ("05.08.23", "DMY", 2),
        ("01/02/03", None, 6),
    ],
)  # fmt: skip
def test_year_of_two_digits_is_refused_with_every_day_that_it_may_be(
    text: str, order: DateOrder | None, readings: int
) -> None:
    with pytest.raises(ValueRefused) as caught:
        parse_date(text, order=order)
    assert caught.value.code is RefusalCode.AMBIGUOUS
    assert len(caught.value.candidates) == readings


@given(st.from_regex(r"[0-9]{4}-[0-9]{2}-[0-9]{2}\n?", fullmatch=True))
def test_an_iso_day_is_known_at_once_by_the_rules_for_all_days(text: str) -> None:
    try:
        day = parse_date(text).isoformat()
    except ValueRefused:
        day = ""

    assert iso_day(text) == (text if day == text else None)
