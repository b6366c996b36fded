"""The page of verdicts names every stage, label and level, and only codes that there are; its example is right."""

import re

import pytest

from taoloop.core.faults import FaultCode
from taoloop.observation.confidence import ConfidenceLevels, SourceWeights, confidence, source_weight, stage_scores
from taoloop.observation.soft.ports import MIN_CERTAINTY, SoftLabel
from taoloop.observation.stages.model import Stage
from taoloop.observation.suggestions import HINTS
from taoloop.plan.acting import ServedBy
from taoloop.plan.observing import ConfidenceLevel
from tests.packaging import checkout, pages
from tests.packaging.test_reference_pages import quoted

PAGE = checkout.ROOT / "docs" / "verdicts.md"


def first_column(heading: str) -> list[str]:
    return [quoted(row[0])[0] for row in pages.table_rows(PAGE, heading) if quoted(row[0])]


def test_stages_labels_and_levels_are_all_there() -> None:
    assert first_column("The order") == [stage.value for stage in Stage]
    assert first_column("The soft check") == [label.value for label in SoftLabel]
    assert {level.value for level in ConfidenceLevel} <= set(first_column("Confidence"))


def test_codes_that_are_named_are_codes() -> None:
    named = set(re.findall(r"`([A-Z]+(?:_[A-Z]+)+)`", PAGE.read_text(encoding="utf-8")))
    assert {name for name in named if not name.startswith("TAOLOOP_")} - set(FaultCode) == set()
    assert "switch_to_manual_review" in HINTS


def test_the_worked_example_is_right() -> None:
    stages = stage_scores(hard=True, soft=(4, 5), is_consistent=True)
    cached = source_weight(SourceWeights(), stated=1.0, served_by=ServedBy.CACHE)
    assert confidence(stages, 1.0) == pytest.approx(0.94)
    assert confidence(stages, cached) == pytest.approx(0.564)


def test_defaults_that_are_named_are_the_defaults() -> None:
    text = PAGE.read_text(encoding="utf-8")
    weights, levels = SourceWeights(), ConfidenceLevels()
    for name, value in (
        ("WEIGHTS__UNTRUSTED", weights.untrusted),
        ("WEIGHTS__FALLBACK", weights.fallback),
        ("WEIGHTS__CACHE", weights.cache),
        ("CONFIDENCE__PREFERRED", levels.preferred),
        ("CONFIDENCE__DOUBTFUL", levels.doubtful),
        ("MIN_CERTAINTY", MIN_CERTAINTY),
    ):
        assert f"`TAOLOOP_OBSERVATION_{name}` ({value})" in text
