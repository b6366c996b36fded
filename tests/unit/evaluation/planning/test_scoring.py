"""The strict score, against the verdicts of the score that the public cases come with."""

import json
from pathlib import Path
from typing import Any

import pytest

from taoloop.evaluation.planning.cases import case_of
from taoloop.evaluation.planning.scoring import score
from taoloop.evaluation.planning.values import is_equal, reference_of

VERDICTS = [json.loads(line) for line in (Path(__file__).parent / "verdicts.jsonl").read_text().splitlines()]
"""Generated cases, predictions that were made by changing the right one, and what the public score said of each."""


@pytest.mark.parametrize("row", VERDICTS, ids=lambda row: row["case"]["id"])
def test_every_verdict_is_that_of_the_public_score(row: dict[str, Any]) -> None:
    case = case_of(row["case"])
    assert [score(case, prediction).is_right for prediction, _ in row["predictions"]] == [
        verdict for _, verdict in row["predictions"]
    ]


def test_no_prediction_is_wrong() -> None:
    assert not score(case_of(VERDICTS[0]["case"]), None).is_right


@pytest.mark.parametrize(
    ("value", "expected", "match", "is_same"),
    [
        ("New York, NY", "new york ny", "exact", True),
        ("the red house", "red house", "exact", False),
        ("the red house", "red house", "contains", True),
        (1, 1.0, "exact", True),
        (True, 1, "exact", False),
        ([1, 2], [1, 2], "exact", True),
        ([1], [1, 2], "exact", False),
        ({"a": 1}, {"$fields": {"a": [1, 2], "b": [""]}}, "exact", True),
        ({"a": 1}, {"$fields": {"a": [1], "b": [2]}}, "exact", False),
        (None, None, "exact", True),
    ],
)
def test_values_are_compared_as_the_rules_say(value: Any, expected: Any, match: str, is_same: bool) -> None:
    assert is_equal(value, expected, match) is is_same


@pytest.mark.parametrize(
    ("value", "reference"),
    [
        ({"$ref": "s1.a.b"}, ("s1", "a.b")),
        ("$s2.x", ("s2", "x")),
        ("{{s1.y}}", ("s1", "y")),
        ("$5", ("5", "")),
        ("s1", None),
    ],
)
def test_a_reference_is_read_in_all_its_spellings(value: Any, reference: Any) -> None:
    assert reference_of(value) == reference
