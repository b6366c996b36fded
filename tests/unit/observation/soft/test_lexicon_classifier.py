"""The lexicon is right when it is sure, on texts that it was not made from, and never takes long."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.observation.soft.lexicon_classifier import LexiconClassifier
from taoloop.observation.soft.measuring import LabelledText, measure
from taoloop.observation.soft.ports import MIN_CERTAINTY, SoftLabel

TEXTS = [
    LabelledText.parse(line)
    for line in Path(__file__).with_name("error_texts.tsv").read_text(encoding="utf-8").splitlines()
]
HELD_OUT = [labelled for labelled in TEXTS if labelled.is_held_out]
CLASSIFIER = LexiconClassifier()


def test_the_set_is_large_enough_and_about_half_of_each_label_is_held_out() -> None:
    assert len(TEXTS) >= 400
    assert len({labelled.text for labelled in TEXTS}) == len(TEXTS)
    for label in SoftLabel:
        of = [labelled for labelled in TEXTS if labelled.label is label]
        assert 0.4 <= sum(labelled.is_held_out for labelled in of) / len(of) <= 0.6


@pytest.mark.parametrize("label", [label for label in SoftLabel if label is not SoftLabel.NONE])
def test_a_sure_label_is_right_on_the_held_out_half(label: SoftLabel) -> None:
    figures = {each.label: each for each in measure(CLASSIFIER, HELD_OUT, MIN_CERTAINTY)}

    assert figures[label].precision >= 0.95
    assert figures[label].recall >= 0.75


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("Connection refused", SoftLabel.NETWORK_ISSUE),
        ("ＣＯＮＮＥＣＴＩＯＮ　ＲＥＦＵＳＥＤ", SoftLabel.NETWORK_ISSUE),
        ("签名错误", SoftLabel.AUTH_FAILED),
        ("Connection refused earlier, now restored", SoftLabel.NONE),
        ("签名验证通过", SoftLabel.NONE),
        ("", SoftLabel.NONE),
    ],
)
def test_width_and_case_mean_nothing_and_relief_means_no_failure(text: str, label: SoftLabel) -> None:
    assert CLASSIFIER.classify(text).label is label


def test_one_likely_word_is_not_sure_and_two_of_them_are() -> None:
    assert CLASSIFIER.classify("timed out").certainty < MIN_CERTAINTY
    assert CLASSIFIER.classify("the request timed out: gateway timeout").certainty >= MIN_CERTAINTY


def test_words_for_two_labels_make_neither_sure() -> None:
    assert CLASSIFIER.classify("connection refused: unauthorized").certainty < MIN_CERTAINTY


@given(st.text(max_size=400))
def test_any_text_has_one_label_and_a_certainty_and_the_same_ones_again(text: str) -> None:
    said = CLASSIFIER.classify(text)

    assert 0.0 <= said.certainty <= 1.0
    assert CLASSIFIER.classify(text) == said


@pytest.mark.parametrize("text", ["a " * 10**6, "网" * 10**6, "connection " * 10**5, "\ufdfa" * 10**6])
def test_no_text_takes_long(text: str) -> None:
    began = time.process_time()
    CLASSIFIER.classify(text)
    assert time.process_time() - began < 0.2


@pytest.mark.parametrize("line", ["", "none", "none\t", "smell\tx"])
def test_a_line_that_is_no_label_and_text_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        LabelledText.parse(line)
