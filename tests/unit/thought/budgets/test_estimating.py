"""Estimates follow what happened, and forget what was assumed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.thought.budgets.estimating import Mean, Pace, RunningMean
from taoloop.thought.budgets.model import TokenFeatures

FIRST = TokenFeatures(prompt_tokens=900)
REPAIR = TokenFeatures(prompt_tokens=1100, attempt=2)


def test_the_first_value_replaces_what_was_assumed() -> None:
    mean = Mean(60)
    mean.learn(20)
    assert mean.value == 20


def test_a_mean_follows_a_lasting_change_within_some_twenty_values() -> None:
    mean = Mean(0)
    for _ in range(200):
        mean.learn(100)
    for _ in range(25):
        mean.learn(20)
    assert mean.value < 27


@given(st.lists(st.floats(min_value=0, max_value=1e6), min_size=1))
def test_a_mean_stays_between_the_values_it_has_seen(values: list[float]) -> None:
    mean = Mean(-1)
    for value in values:
        mean.learn(value)
    assert min(values) - 1e-6 <= mean.value <= max(values) + 1e-6


def test_repairs_are_estimated_apart() -> None:
    estimator = RunningMean()
    for _ in range(30):
        estimator.learn(FIRST, 25)
        estimator.learn(REPAIR, 90)
    assert (estimator.estimate(FIRST), estimator.estimate(REPAIR)) == (25, 90)


@pytest.mark.parametrize(("learned", "expected"), [(500, 40), (0, 1)])
def test_an_estimate_lies_between_one_token_and_the_longest_reply(learned: int, expected: int) -> None:
    estimator = RunningMean()
    estimator.learn(FIRST, learned)
    assert estimator.estimate(TokenFeatures(prompt_tokens=900, max_tokens=40)) == expected


def test_a_pace_is_learned_from_streamed_replies() -> None:
    pace = Pace()
    for _ in range(50):
        pace.learn(101, seconds=2.5, first_token_seconds=0.5)
    assert pace.seconds(200) == pytest.approx(0.5 + 200 * 0.02, rel=0.01)


def test_a_reply_that_came_whole_still_tells_how_long_replies_take() -> None:
    pace = Pace(first_token_seconds=0.2, seconds_per_token=0.001)
    for _ in range(50):
        pace.learn(81, seconds=1.0, first_token_seconds=None)
    assert pace.seconds(80) == pytest.approx(1.0, rel=0.02)


def test_a_reply_of_one_token_says_nothing_about_the_others() -> None:
    pace = Pace(first_token_seconds=0.2, seconds_per_token=0.01)
    pace.learn(1, seconds=0.4, first_token_seconds=0.4)
    assert pace.seconds(100) == pytest.approx(1.4)
