"""Classes of errors can be told apart, whichever words are used."""

from __future__ import annotations

from taoloop.core.faults import FaultCode
from taoloop.evaluation.cases.vocabulary import CASE_WORDS, case_word


def test_no_two_codes_have_one_word() -> None:
    words = [case_word(code) for code in FaultCode]

    assert len(set(words)) == len(words)


def test_only_codes_of_the_product_have_another_word() -> None:
    assert set(CASE_WORDS) <= {code.value for code in FaultCode}
