"""Every fault says what is wrong, where, what was expected and found, and what to do about it."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from taoloop.core.exact_json import ABSENT
from taoloop.core.faults import FaultCode
from taoloop.plan.acting import Body
from taoloop.tools.contract import (
    MinScore,
    NormaliseRule,
    Observe,
    ObserveRule,
    PersonalData,
    RedactField,
    RuleSeverity,
)
from tests.unit.observation.contracts import bare, observed

POSITIVE: Any = {">": [{"var": "data.n"}, 0]}
OK: Any = {"===": [{"var": "body.ok"}, True]}


def hard(when: Any) -> Observe:
    return Observe(rules=(ObserveRule(id="mine", severity=RuleSeverity.HARD, when=when),))


@pytest.mark.parametrize(
    ("body", "contract", "code", "field", "expected", "actual"),
    [
        ({"ok": False, "msg": "no"}, bare(success=OK), FaultCode.SUCCESS_RULE_FAILED, "/msg", OK, "no"),
        (None, bare(), FaultCode.EMPTY_RESULT, "", ABSENT, None),
        (
            {"n": "x"},
            bare(response={"properties": {"n": {"type": "integer"}}}),
            FaultCode.SCHEMA_VIOLATION,
            "/n",
            "integer",
            "x",
        ),
        ({"n": -1}, bare(observe=hard(POSITIVE)), FaultCode.RULE_FAILED, "/n", POSITIVE, -1),
        ({}, bare(observe=hard(POSITIVE)), FaultCode.RULE_INDETERMINATE, "/n", POSITIVE, ABSENT),
        (
            {"n": 1, "m": 2},
            bare(observe=hard({"===": [{"var": "data.n"}, {"var": "data.m"}]})),
            FaultCode.RULE_FAILED,
            "",
            {"===": [{"var": "data.n"}, {"var": "data.m"}]},
            ABSENT,
        ),
        ({"n": 3}, bare(observe=Observe(known={"/n": (1, 2)})), FaultCode.CONSISTENCY_BROKEN, "/n", [1, 2], 3),
        (
            {"s": "zz"},
            bare(observe=Observe(normalise=(NormaliseRule(field="/s", to="/s", enum={"a": "A"}),))),
            FaultCode.NORMALISATION_REFUSED,
            "/s",
            "enum",
            "zz",
        ),
        (
            [{"s": 0}],
            bare(observe=Observe(min_score=MinScore(field="/*/s", min=Decimal("0.6")))),
            FaultCode.LOW_RELEVANCE,
            "/*/s",
            Decimal("0.6"),
            0,
        ),
    ],
)
def test_a_fault_has_its_place_and_its_values_and_says_what_to_do(
    body: Any, contract: Any, code: FaultCode, field: str, expected: Any, actual: Any
) -> None:
    verdict = observed(body, contract)

    assert verdict.fault is not None
    assert verdict.fault.code == code
    assert (verdict.fault.field, verdict.fault.expected, verdict.fault.actual) == (field, expected, actual)
    assert verdict.fault.message.endswith(".")
    assert verdict.fault.suggestion == code.remedy
    assert verdict.suggested_next
    assert not verdict.fault.retriable


def test_a_body_that_was_cut_off_says_so() -> None:
    verdict = observed(ABSENT, bare(), raw=b"{", body=Body(size_bytes=9, truncated=True))

    assert verdict.fault is not None
    assert verdict.fault.code == FaultCode.RESPONSE_INCOMPLETE
    assert verdict.suggested_next == "try_again_later"


@pytest.mark.parametrize("redaction", [RedactField(field="/phone"), PersonalData.PHONE])
def test_what_the_contract_redacts_is_in_no_fault(redaction: Any) -> None:
    rule = ObserveRule(id="mine", severity=RuleSeverity.HARD, when={"===": [{"var": "data.phone"}, ""]})

    verdict = observed({"phone": "13800138000"}, bare(observe=Observe(rules=(rule,), redact=(redaction,))))

    assert verdict.fault is not None
    assert verdict.fault.field == "/phone"
    assert "13800138000" not in repr((verdict.fault, verdict.failures))
