"""Each check says pass, fail, indeterminate or error, and counts what it is told to."""

from typing import Any

import pytest

from taoloop.core.faults import FaultCode
from taoloop.observation.stages.checks import (
    MAX_VIOLATIONS,
    CheckRule,
    RuleChecks,
    check_empty,
    check_rules,
    check_schema,
    check_success,
)
from taoloop.plan.observing import CheckVerdict
from taoloop.tools.contract import RuleSeverity
from taoloop.tools.rules import CompiledRule, RuleScope
from taoloop.tools.schemas import CompiledSchema


def rule_of(rule_id: str, when: Any, severity: RuleSeverity = RuleSeverity.HARD) -> CheckRule:
    return CheckRule(rule_id=rule_id, severity=severity, rule=CompiledRule.compile(when), passed_id=f"rule_{rule_id}")


def test_contract_without_success_rule_leaves_it_to_the_status() -> None:
    outcome = check_success(None, RuleScope({"body": {"error": "x"}}))

    assert (outcome.passed, outcome.flaws) == ((), ())


def test_indeterminate_success_rule_does_not_pass_and_names_what_is_missing() -> None:
    outcome = check_success(CompiledRule.compile({">": [{"var": "body.count"}, 0]}), RuleScope({"body": {}}))

    assert outcome.flaws[0].code is FaultCode.SUCCESS_RULE_FAILED
    assert outcome.flaws[0].failure.verdict is CheckVerdict.INDETERMINATE
    assert "body.count" in outcome.flaws[0].failure.message


@pytest.mark.parametrize("body", [0, False, "", [], {}])
def test_only_null_is_empty(body: Any) -> None:
    assert check_empty(body, accepts_empty=False, allows_null=False).passed == ("not_empty",)


def test_soft_rules_are_counted_and_hard_ones_are_not() -> None:
    rules = (
        rule_of("a", True),
        rule_of("b", True, RuleSeverity.SOFT),
        rule_of("c", {"===": [1, 2]}, RuleSeverity.SOFT),
        rule_of("d", {"<": [{"var": "data.n"}, 2]}, RuleSeverity.SOFT),
    )

    said = check_rules(RuleChecks(rules), RuleScope({"data": {}}))

    assert (said.soft_passed, said.soft_total) == (1, 3)
    assert said.outcome.passed == ("rule_a", "rule_b")
    assert [found.failure.hard for found in said.outcome.flaws] == [False, False]


def test_violations_are_listed_up_to_the_bound_and_without_the_value_in_the_message() -> None:
    schema = CompiledSchema.compile({"type": "array", "items": {"type": "string"}})

    flaws = check_schema(schema, [19_770_525] * (MAX_VIOLATIONS + 5)).flaws

    assert len(flaws) == MAX_VIOLATIONS
    assert all("19770525" not in found.failure.message for found in flaws)
