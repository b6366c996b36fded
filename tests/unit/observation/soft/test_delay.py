"""A response time is judged only against what the contract sets, in three classes."""

from __future__ import annotations

import pytest

from taoloop.observation.soft.delay import check_delay
from taoloop.plan.observing import CheckVerdict


@pytest.mark.parametrize(
    ("seconds", "credit", "verdict"),
    [
        (0.0, 1.0, None),
        (2.0, 1.0, None),
        (2.001, 0.5, CheckVerdict.FAIL),
        (3.0, 0.5, CheckVerdict.FAIL),
        (3.001, 0.0, CheckVerdict.FAIL),
        (None, 0.0, CheckVerdict.INDETERMINATE),
    ],
)
def test_the_limit_passes_half_beyond_it_counts_half_and_an_unknown_time_does_not_pass(
    seconds: float | None, credit: float, verdict: CheckVerdict | None
) -> None:
    delay = check_delay(2.0, seconds)

    assert delay.credit == credit
    assert [found.failure.verdict for found in delay.outcome.flaws] == ([] if verdict is None else [verdict])
    assert not any(found.failure.hard for found in delay.outcome.flaws)
