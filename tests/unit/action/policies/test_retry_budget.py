"""Rules of the retry budget."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from taoloop.action.policies.retry_budget import REPEATS_PER_SECOND, RESERVE, RetryBudget


def test_a_burst_may_use_the_reserve_and_no_more() -> None:
    budget = RetryBudget(0.2, 0.0)
    assert [budget.take(0.0) for _ in range(12)] == [True] * 10 + [False] * 2
    assert repr(budget) == "RetryBudget(0.0 of 10 repeats, 0.2 for each success)"


def test_successes_and_time_fill_it_up_to_the_reserve() -> None:
    budget = RetryBudget(0.2, 0.0)
    while budget.take(0.0):
        pass
    for _ in range(5):
        budget.succeeded()
    assert [budget.take(0.0), budget.take(0.0), budget.take(0.5), budget.take(1.0)] == [True, False, False, True]
    for _ in range(1000):
        budget.succeeded()
    assert [budget.take(2000.0) for _ in range(11)].count(True) == 10


def test_a_clock_that_stands_still_gives_nothing() -> None:
    budget = RetryBudget(0.0, 5.0)
    while budget.take(5.0):
        pass
    budget.succeeded()
    assert not budget.take(4.0)


@given(st.floats(0, 1), st.lists(st.tuples(st.booleans(), st.floats(0, 3)), max_size=200))
def test_repeats_never_exceed_reserve_and_rate_and_share(ratio: float, steps: list[tuple[bool, float]]) -> None:
    budget, now, successes, repeats = RetryBudget(ratio, 0.0), 0.0, 0, 0
    for is_success, pause in steps:
        now += pause
        if is_success:
            budget.succeeded()
            successes += 1
        else:
            repeats += budget.take(now)
    assert repeats <= RESERVE + now * REPEATS_PER_SECOND + successes * ratio + 1e-6
