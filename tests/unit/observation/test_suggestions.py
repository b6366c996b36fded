"""The hint to the next thought is one of a few words, and never asks for a second write."""

import pytest

from taoloop.core.faults import FaultCode
from taoloop.observation.soft.ports import SoftLabel
from taoloop.observation.suggestions import HINTS, suggestion


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        (FaultCode.OUTCOME_UNKNOWN, "switch_to_manual_review"),
        (FaultCode.TOOL_TIMEOUT, "try_again_later"),
        (FaultCode.NOT_FOUND, "correct_the_input"),
        (FaultCode.SCHEMA_VIOLATION, "use_another_tool"),
        (FaultCode.CONSISTENCY_BROKEN, "cross_check"),
        ("CODE_OF_A_CONTRACT", "plan_again"),
    ],
)
def test_known_class_of_failure_has_its_hint(code: str, hint: str) -> None:
    assert suggestion(code) == hint


def test_every_code_has_one_hint_that_somebody_decided() -> None:
    decided = [code for codes in HINTS.values() for code in codes]

    assert sorted(decided) == sorted(FaultCode)


@pytest.mark.parametrize("label", list(SoftLabel))
def test_a_label_speaks_only_where_the_code_does_not(label: SoftLabel) -> None:
    assert suggestion(FaultCode.NOT_FOUND, label=label) == suggestion(FaultCode.NOT_FOUND)
    assert suggestion(FaultCode.TOOL_ERROR, may_have_effect=True, label=label) == "switch_to_manual_review"


@pytest.mark.parametrize("code", [*FaultCode, "CODE_OF_A_CONTRACT"])
def test_write_that_may_have_happened_goes_to_a_person_whatever_the_code(code: str) -> None:
    assert suggestion(code, may_have_effect=True) == "switch_to_manual_review"
