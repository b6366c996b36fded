"""Summing up scores: shares by cell and half, the macro, the calibration error."""

import pytest

from taoloop.evaluation.planning.cases import PlanningCase
from taoloop.evaluation.planning.figures import Scored, calibration_error, figures
from taoloop.evaluation.planning.scoring import Score


def _row(position: int, category: str, *, is_right: bool) -> Scored:
    case = PlanningCase(
        id=str(position),
        category=category,
        lang="en",
        source="",
        context="",
        query="",
        tools=(),
        expected={"kind": "none"},
    )
    return Scored(position, case, Score(is_right, is_right, "" if is_right else "kind plan"))


def test_every_category_counts_the_same_in_the_macro_whatever_its_size() -> None:
    rows = [_row(0, "none", is_right=True), *(_row(number, "ask", is_right=False) for number in range(1, 10))]
    found = figures(rows)
    assert found.macro["all"] == 50.0
    assert found.cells["ask", "en"].n == 9
    assert found.reasons["kind plan"] == 9


def test_odd_and_even_positions_are_summed_apart() -> None:
    found = figures([_row(number, "none", is_right=number % 2 == 0) for number in range(10)])
    assert (found.macro["even"], found.macro["odd"]) == (100.0, 0.0)
    assert found.as_json()["macro"] == {"all": 50.0, "even": 100.0, "odd": 0.0}


@pytest.mark.parametrize(
    ("pairs", "error"),
    [
        ([(1.0, True), (0.0, False)], 0.0),
        ([(1.0, False)], 1.0),
        ([(0.75, True), (0.75, True), (0.75, True), (0.75, False)], 0.0),
        ([], 0.0),
    ],
)
def test_the_calibration_error_is_the_distance_of_what_is_said_from_what_is_so(
    pairs: list[tuple[float, bool]], error: float
) -> None:
    assert calibration_error(pairs) == pytest.approx(error)
