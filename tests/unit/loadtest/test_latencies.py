"""The histogram keeps its promised error."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadtest.latencies import RELATIVE_ERROR, Latencies

PERCENTS = (50, 90, 99, 99.9, 100)


def filled(durations: list[float]) -> Latencies:
    latencies = Latencies()
    for seconds in durations:
        latencies.add(seconds)
    return latencies


@given(st.lists(st.floats(1e-6, 1e4), min_size=1, max_size=200), st.sampled_from(PERCENTS))
def test_percentile_is_within_the_promised_error_of_the_duration_at_its_rank(
    durations: list[float], percent: float
) -> None:
    exact = sorted(durations)[max(1, math.ceil(len(durations) * percent / 100)) - 1]

    assert filled(durations).percentile(percent) == pytest.approx(exact, rel=RELATIVE_ERROR * 1.001)


def test_mean_and_max_are_exact() -> None:
    found = filled([0.1, 0.2, 0.6]).percentiles()

    assert (found.count, found.max) == (3, 0.6)
    assert found.mean == pytest.approx(0.3)


def test_no_percentile_exceeds_the_longest_duration() -> None:
    assert filled([1.0]).percentile(99.9) <= 1.0


def test_empty_histogram_is_zero() -> None:
    found = Latencies().percentiles()

    assert (found.count, found.mean, found.p50, found.p99_9, found.max) == (0, 0.0, 0.0, 0.0, 0.0)


def test_duration_of_zero_counts_as_a_microsecond() -> None:
    assert filled([0.0]).count == 1
