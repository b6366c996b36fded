"""Rules of faults and their codes."""

import re

import pytest

from taoloop.core.exact_json import ABSENT
from taoloop.core.faults import Fault, FaultCode, FaultStage


@pytest.mark.parametrize("code", list(FaultCode))
def test_every_code_is_stable_text_with_a_meaning_and_a_remedy(code: FaultCode) -> None:
    assert code == code.value == code.name
    assert re.fullmatch(r"[A-Z][A-Z_]*", code)
    for sentence in (code.meaning, code.remedy):
        assert re.fullmatch(r"[A-Z].*\.", sentence)


def test_a_code_is_found_by_its_text() -> None:
    assert FaultCode("TOOL_TIMEOUT") is FaultCode.TOOL_TIMEOUT
    assert f"{FaultCode.TOOL_TIMEOUT}" == "TOOL_TIMEOUT"


def test_stages_are_the_words_of_the_wire() -> None:
    assert [str(stage) for stage in FaultStage] == [
        "plan",
        "resolve",
        "policy",
        "action",
        "observation",
        "answer",
        "loop",
    ]


def test_a_fault_needs_a_code_a_stage_and_a_message_only() -> None:
    fault = Fault(FaultCode.NO_TOOL, FaultStage.PLAN, "No tool fits.")
    assert (fault.expected, fault.actual, fault.retriable, fault.candidates) == (ABSENT, ABSENT, False, ())


def test_a_contract_may_give_a_code_of_its_own() -> None:
    assert Fault("ORDER_LOCKED", FaultStage.ACTION, "Locked.").code == "ORDER_LOCKED"
