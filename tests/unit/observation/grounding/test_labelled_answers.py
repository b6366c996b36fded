"""The check agrees with labels that were written by hand, on the half that was looked at and on the held-out half."""

from dataclasses import replace
from random import Random

import pytest

from taoloop.observation.grounding.checking import check_answer
from tests.unit.observation.grounding.labelled_answers import Figures, LabelledAnswer, measured, read_answers

ANSWERS = tuple(read_answers())
DIGITS = "0123456789"


@pytest.fixture(scope="module", params=[False, True], ids=["looked-at", "held-out"])
def figures(request: pytest.FixtureRequest) -> Figures:
    return measured(answer for answer in ANSWERS if answer.is_held_out is request.param)


def test_there_are_enough_answers_in_both_languages_and_halves() -> None:
    def count(language: str, *, is_held_out: bool) -> int:
        return sum(one.is_held_out is is_held_out and one.request.locale.startswith(language) for one in ANSWERS)

    assert len(ANSWERS) >= 150
    assert min(count(language, is_held_out=half) for language in ("zh", "en") for half in (False, True)) >= 35


def test_nothing_is_called_supported_that_is_not(figures: Figures) -> None:
    assert figures.precision >= 0.99, figures.disagreements


def test_most_of_what_is_supported_is_called_so(figures: Figures) -> None:
    assert figures.recall >= 0.95, figures.disagreements


def test_what_is_not_supported_is_caught(figures: Figures) -> None:
    assert (figures.false_supported, figures.unseen_unsupported) == (0, 0), figures.disagreements


def test_there_are_hardly_any_false_alarms(figures: Figures) -> None:
    assert figures.unlabelled_unsupported <= 1, figures.disagreements


def test_another_digit_is_support_only_where_the_evidence_has_that_value_too() -> None:
    """Every digit of every supported value is exchanged once; a few of them give another value that is there."""
    random = Random(7)
    supported: list[str] = []
    changed = 0
    for answer in ANSWERS:
        text = answer.request.text
        for claim in check_answer(answer.request).claims:
            for place in range(claim.start, claim.end if claim.supported else claim.start):
                if text[place] not in DIGITS:
                    continue
                changed += 1
                other = random.choice(DIGITS.replace(text[place], ""))
                request = replace(answer.request, text=text[:place] + other + text[place + 1 :])
                claims = [one for one in check_answer(request).claims if one.start <= place < one.end]
                if all(one.supported for one in claims):
                    supported.append(f"{answer.name}: {request.text[claim.start : claim.end]}")
    assert changed > 800
    assert len(supported) <= changed / 100, supported


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.name)
def test_every_label_stands_in_its_text(answer: LabelledAnswer) -> None:
    assert all(0 <= one.start < one.end <= len(answer.request.text) for one in answer.labels)
