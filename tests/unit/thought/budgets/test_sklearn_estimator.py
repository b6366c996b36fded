"""Trees learn what a mean cannot: which requests have long replies."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from taoloop.thought.budgets.estimating import RunningMean
from taoloop.thought.budgets.model import TokenFeatures
from taoloop.thought.budgets.ports import TokenEstimator
from taoloop.thought.budgets.sklearn_estimator import BoostedEstimator


@pytest.fixture
def boosted() -> Iterator[BoostedEstimator]:
    with BoostedEstimator() as estimator:
        yield estimator


def traffic(count: int, seed: int) -> list[tuple[TokenFeatures, int]]:
    """Return requests whose replies have ten tokens for each tool that is offered, and some noise."""
    draw = random.Random(seed)
    made = []
    for _ in range(count):
        tools = draw.randint(1, 12)
        features = TokenFeatures(prompt_tokens=400 + 60 * tools, tools=tools)
        made.append((features, 10 * tools + draw.randint(-3, 3)))
    return made


def mean_error(estimator: TokenEstimator, asked: list[tuple[TokenFeatures, int]]) -> float:
    return sum(abs(estimator.estimate(features) - tokens) for features, tokens in asked) / len(asked)


def test_before_there_are_enough_replies_it_is_the_running_mean(boosted: BoostedEstimator) -> None:
    mean = RunningMean()
    for features, tokens in traffic(99, seed=1):
        boosted.learn(features, tokens)
        mean.learn(features, tokens)
    for features, _ in traffic(10, seed=2):
        assert boosted.estimate(features) == mean.estimate(features)


def test_where_replies_hang_on_the_request_it_misses_by_far_less_than_the_mean(boosted: BoostedEstimator) -> None:
    mean = RunningMean()
    for features, tokens in traffic(400, seed=3):
        boosted.learn(features, tokens)
        mean.learn(features, tokens)
    boosted.settled()
    asked = traffic(100, seed=4)
    assert mean_error(boosted, asked) < 0.4 * mean_error(mean, asked)


def test_it_is_fitted_anew_when_the_replies_change(boosted: BoostedEstimator) -> None:
    for features, tokens in traffic(150, seed=5):
        boosted.learn(features, tokens)
    boosted.settled()
    for number, (features, tokens) in enumerate(traffic(2000, seed=6)):
        boosted.learn(features, tokens * 3)
        if number >= 1900:  # the fits before are not waited for: what counts is the last, of what is kept by then
            boosted.settled()
    asked = [(features, tokens * 3) for features, tokens in traffic(100, seed=7)]
    assert mean_error(boosted, asked) < 20


def test_an_estimate_lies_between_one_token_and_the_longest_reply(boosted: BoostedEstimator) -> None:
    for features, _ in traffic(120, seed=8):
        boosted.learn(features, 900)
    boosted.settled()
    assert boosted.estimate(TokenFeatures(prompt_tokens=500, max_tokens=40)) == 40
