"""Confidence is arithmetic over the stages that ran, times the source's weight."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.observation.confidence import SourceWeights, confidence, source_weight, stage_scores
from taoloop.plan.acting import ServedBy


@pytest.mark.parametrize(
    ("hard", "soft", "is_consistent", "expected"),
    [
        (True, (0, 0), None, 1.0),
        (True, (4, 5), True, 0.94),  # 0.6 + 0.3 * 0.8 + 0.1
        (True, (0, 2), None, 0.6 / 0.9),
        (True, (1, 1), False, 0.9),
        (True, (0, 0), False, 0.6 / 0.7),
        (False, (5, 5), True, 0.0),
        (None, (0, 0), None, 0.0),
    ],
)
def test_score_is_renormalised_over_the_stages_that_ran(
    hard: bool | None, soft: tuple[int, int], is_consistent: bool | None, expected: float
) -> None:
    stages = stage_scores(hard=hard, soft=soft, is_consistent=is_consistent)

    assert confidence(stages, 1.0) == pytest.approx(expected)
    ran = [stage.weight for stage in stages if stage.ran]
    assert sum(ran) == pytest.approx(1.0 if ran else 0.0)
    assert all(stage.weight == 0.0 for stage in stages if not stage.ran)


def test_stages_are_reported_by_name_whether_they_ran_or_not() -> None:
    stages = stage_scores(hard=True, soft=(0, 0), is_consistent=True)

    assert [(stage.name, stage.ran) for stage in stages] == [("hard", True), ("soft", False), ("consistency", True)]


@pytest.mark.parametrize(
    ("stated", "served_by", "expected"),
    [
        (1.0, ServedBy.PRIMARY, 1.0),
        (0.7, None, 0.7),
        (1.0, ServedBy.FALLBACK, 0.8),
        (1.0, ServedBy.CACHE, 0.6),
        (0.5, ServedBy.CACHE, 0.3),
        (1.0, ServedBy.DUPLICATE, 1.0),
    ],
)
def test_source_weight_is_the_contracts_times_how_it_was_served(
    stated: float, served_by: ServedBy | None, expected: float
) -> None:
    assert source_weight(SourceWeights(), stated=stated, served_by=served_by) == pytest.approx(expected)


@given(
    hard=st.sampled_from([True, False, None]),
    soft=st.integers(0, 9).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))),
    is_consistent=st.sampled_from([True, False, None]),
    weight=st.floats(0, 1),
)
def test_confidence_is_never_outside_zero_to_one(
    hard: bool | None, soft: tuple[int, int], is_consistent: bool | None, weight: float
) -> None:
    assert 0.0 <= confidence(stage_scores(hard=hard, soft=soft, is_consistent=is_consistent), weight) <= 1.0
