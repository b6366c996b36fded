"""Rules of what a breaker remembers."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from taoloop.action.policies.breaker_windows import CountWindow, FailureRow, Tally, TimeWindow

CALLS = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=50)


def counted(calls: Sequence[tuple[bool, bool]]) -> Tally:
    return Tally(len(calls), sum(failed for failed, _ in calls), sum(slow for _, slow in calls))


def test_rates_are_percentages_and_nothing_is_no_failure() -> None:
    assert (Tally(4, 1, 3).failure_rate, Tally(4, 1, 3).slow_rate) == (25.0, 75.0)
    assert (Tally(0, 0, 0).failure_rate, Tally(0, 0, 0).slow_rate) == (0.0, 0.0)


def test_a_success_ends_the_row() -> None:
    row = FailureRow()
    for has_failed in (True, True, False, True):
        row.add(0, has_failed=has_failed, is_slow=False)
    assert row.tally(0) == Tally(1, 1, 0)
    assert repr(row) == "row of 1"
    row.clear()
    assert row.tally(0).failures == 0


@given(CALLS, st.integers(1, 10))
def test_a_count_window_holds_the_last_calls(calls: list[tuple[bool, bool]], size: int) -> None:
    window = CountWindow(size)
    for has_failed, is_slow in calls:
        window.add(0, has_failed=has_failed, is_slow=is_slow)
    assert window.tally(0) == counted(calls[-size:])


@given(st.lists(st.tuples(st.floats(0, 5), st.booleans(), st.booleans()), max_size=50), st.integers(1, 10))
def test_a_time_window_holds_the_last_seconds(calls: list[tuple[float, bool, bool]], seconds: int) -> None:
    window, now, done = TimeWindow(seconds), 0.0, []
    for pause, has_failed, is_slow in calls:
        now += pause
        window.add(now, has_failed=has_failed, is_slow=is_slow)
        done.append((int(now), has_failed, is_slow))
    assert window.tally(now) == counted([call[1:] for call in done if call[0] > int(now) - seconds])
    assert window.tally(now + seconds + 1) == Tally(0, 0, 0)


def test_windows_show_what_they_hold_and_forget_it() -> None:
    count, time = CountWindow(10), TimeWindow(60)
    for window in (count, time):
        window.add(1.0, has_failed=True, is_slow=False)
        window.add(2.0, has_failed=False, is_slow=True)
    assert repr(count) == "1 of 2 failed, last 10 calls"
    assert repr(time) == "1 of 2 failed, last 60 s"
    for window in (count, time):
        window.clear()
        assert window.tally(2.0) == Tally(0, 0, 0)
