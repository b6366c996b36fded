"""Every fault code belongs to exactly one kind of failure."""

from __future__ import annotations

from collections import Counter

import pytest

from taoloop.core.faults import FaultCode
from taoloop.loop.correction.classes import CODES, FaultClass, class_of


def test_every_code_stands_under_exactly_one_class() -> None:
    counts = Counter(code for codes in CODES.values() for code in codes)

    assert {code for code, count in counts.items() if count > 1} == set()
    assert set(FaultCode) - set(counts) == set()
    assert set(CODES) == set(FaultClass)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("TOOL_TIMEOUT", FaultClass.TOOL_TIMEOUT),
        ("UPSTREAM_UNAVAILABLE", FaultClass.TOOL_UNAVAILABLE),
        ("BREAKER_OPEN", FaultClass.TOOL_UNAVAILABLE),
        ("UPSTREAM_REFUSED", FaultClass.TOOL_SCHEMA_VIOLATION),
        ("NOT_FOUND", FaultClass.TOOL_SCHEMA_VIOLATION),
        ("INVALID_PARAMETER", FaultClass.TOOL_SCHEMA_VIOLATION),
        ("SCHEMA_VIOLATION", FaultClass.RESPONSE_MALFORMED),
        ("CONSISTENCY_BROKEN", FaultClass.OBSERVATION_INCONSISTENT),
        ("PARSE_FAILED", FaultClass.LLM_OUTPUT_MALFORMED),
        ("UNKNOWN_TOOL", FaultClass.PLAN_OUTDATED),
        ("OUTCOME_UNKNOWN", FaultClass.EFFECT_UNKNOWN),
        ("FALLBACK_FAILED", FaultClass.PERSON_NEEDED),
        ("OUT_OF_STOCK", FaultClass.TOOL_FAILED),
        ("", FaultClass.TOOL_FAILED),
    ],
)
def test_a_code_says_what_kind_of_failure_it_is_and_a_contracts_own_that_the_tool_failed(
    code: str, kind: FaultClass
) -> None:
    assert class_of(code) is kind


def test_what_may_have_changed_something_is_that_and_nothing_else() -> None:
    assert {class_of(code, may_have_effect=True) for code in FaultCode} == {FaultClass.EFFECT_UNKNOWN}


def test_every_class_says_what_it_is() -> None:
    assert all(kind.meaning.endswith(".") for kind in FaultClass)
