"""What docs/observation.md shows is what an observation says."""

import re

import pytest

from taoloop.observation.confidence import confidence, stage_scores
from tests.packaging import observed_examples

TEXT = observed_examples.PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("example", list(observed_examples.examples(TEXT)), ids=lambda example: example.reply[:60])
def test_example_says_what_the_page_says(example: observed_examples.Example) -> None:
    assert observed_examples.said_of(example) == example.said, (
        "write it anew: python -m tests.packaging.observed_examples"
    )


def test_the_page_has_every_case_that_it_speaks_of() -> None:
    said = " ".join(example.said for example in observed_examples.examples(TEXT))
    for words in ("missing_unit", "LOW_RELEVANCE", "EMPTY_RESULT", "CONSISTENCY_BROKEN", "new_enum_value", "timed out"):
        assert words in said


def test_the_worked_sum_is_right() -> None:
    stages = stage_scores(hard=True, soft=(1.5, 4), is_consistent=None)
    assert f"= {confidence(stages, 1.0):.2f}." in re.sub(r"\s+", " ", TEXT)
