"""The checks of a body and of its data against the contract: success, empty, schema, rules, latency."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from taoloop.core.exact_json import JsonEncodeError, JsonValue
from taoloop.core.faults import FaultCode
from taoloop.observation.stages.model import Flaw, Outcome, Stage, flaw
from taoloop.plan.observing import CheckVerdict
from taoloop.tools.contract import RuleSeverity
from taoloop.tools.rules import CompiledRule, RuleData, RuleOutcome, Verdict
from taoloop.tools.schemas import CompiledSchema

MAX_VIOLATIONS: Final = 20
"""Most violations of one schema that a verdict lists."""

_SUCCESS: Final = Outcome(passed=("success_rule",))
_NOT_EMPTY: Final = Outcome(passed=("not_empty",))
_EMPTY_ACCEPTED: Final = Outcome(passed=("empty_accepted",))
_SCHEMA_VALID: Final = Outcome(passed=("schema_valid",))
_LATENCY: Final = Outcome(passed=("latency_ok",))
_NOTHING: Final = Outcome()

_RULE_CODES: Final = {
    CheckVerdict.FAIL: FaultCode.RULE_FAILED,
    CheckVerdict.INDETERMINATE: FaultCode.RULE_INDETERMINATE,
    CheckVerdict.ERROR: FaultCode.RULE_ERROR,
}
_RULE_MESSAGES: Final = {
    CheckVerdict.FAIL: "does not hold",
    CheckVerdict.INDETERMINATE: "compares a value that is missing or null",
    CheckVerdict.ERROR: "could not be evaluated",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRule:
    """One rule of the contract.

    Attributes:
        rule_id: The contract's id of it.
        severity: What a failure does.
        rule: The compiled JsonLogic.
        passed_id: Its id in the audit trail, made once: `rule_` and the rule's id.
    """

    rule_id: str
    severity: RuleSeverity
    rule: CompiledRule
    passed_id: str


@dataclass(frozen=True, slots=True)
class RulesOutcome:
    """What the rules said.

    Attributes:
        outcome: The ids that passed and the flaws, hard and soft, in the contract's order.
        soft_passed: How many soft rules passed.
        soft_total: How many soft rules there are.
    """

    outcome: Outcome
    soft_passed: int = 0
    soft_total: int = 0


def check_success(rule: CompiledRule | None, scope: dict[str, JsonValue]) -> Outcome:
    """Check the contract's success rule over {status_code, response_time_seconds, body, arguments}."""
    if rule is None:
        return _NOTHING
    said = _said(rule, _rule_data(scope))
    if said.verdict is Verdict.PASS:
        return _SUCCESS
    verdict = CheckVerdict(said.verdict.value)
    message = f"The contract's success rule {_explained(verdict, said)}."
    found = flaw(Stage.SUCCESS, FaultCode.SUCCESS_RULE_FAILED, message, rule_id="success_rule", verdict=verdict)
    return Outcome(flaws=(found,))


def check_empty(body: JsonValue, *, accepts_empty: bool, allows_null: bool) -> Outcome:
    """Check a null body against the contract's `empty`; a body that is there passes.

    Args:
        body: The body; None for JSON null and for none.
        accepts_empty: Whether the contract accepts success with null data.
        allows_null: Whether the contract's response schema names null as a right answer.
    """
    if body is not None:
        return _NOT_EMPTY
    if accepts_empty or allows_null:
        return _EMPTY_ACCEPTED
    message = "The tool succeeded and returned nothing."
    return Outcome(flaws=(flaw(Stage.EMPTY, FaultCode.EMPTY_RESULT, message, rule_id="empty", actual=None),))


def check_schema(schema: CompiledSchema, body: JsonValue) -> Outcome:
    """Check the body against the contract's response schema; every violation up to `MAX_VIOLATIONS` is listed."""
    flaws = schema_flaws(schema, body, Stage.SCHEMA, FaultCode.SCHEMA_VIOLATION)
    return Outcome(flaws=flaws) if flaws else _SCHEMA_VALID


def schema_flaws(schema: CompiledSchema, value: JsonValue, stage: Stage, code: FaultCode) -> tuple[Flaw, ...]:
    """Return what breaks the schema, in its validator's order."""
    return tuple(
        flaw(
            stage,
            code,
            f"The value breaks the schema's {violation.keyword}.",
            pointer=violation.pointer,
            rule_id=violation.keyword,
            expected=violation.expected,
            actual=violation.actual,
        )
        for violation in schema.violations(value)[:MAX_VIOLATIONS]
    )


def check_rules(rules: Sequence[CheckRule], scope: dict[str, JsonValue]) -> RulesOutcome:
    """Check every rule over {status_code, response_time_seconds, body, data, arguments, expect}."""
    if not rules:
        return RulesOutcome(_NOTHING)
    passed: list[str] = []
    flaws: list[Flaw] = []
    soft_passed = soft_total = 0
    data = _rule_data(scope)
    for check in rules:
        said = _said(check.rule, data)
        soft_total += check.severity is RuleSeverity.SOFT
        if said.verdict is Verdict.PASS:
            passed.append(check.passed_id)
            soft_passed += check.severity is RuleSeverity.SOFT
        else:
            flaws.append(_rule_flaw(check, said))
    return RulesOutcome(Outcome(tuple(passed), tuple(flaws)), soft_passed, soft_total)


def check_latency(max_latency_seconds: float, response_time_seconds: float | None) -> Outcome:
    """Check the last attempt's time against the contract's `max_latency`: a soft check, the data may be right.

    A time that is unknown does not pass.
    """
    if response_time_seconds is not None and response_time_seconds <= max_latency_seconds:
        return _LATENCY
    is_unknown = response_time_seconds is None
    found = flaw(
        Stage.LATENCY,
        FaultCode.LATENCY_EXCEEDED,
        "The response time is unknown." if is_unknown else "The tool answered later than max_latency.",
        rule_id="max_latency",
        expected=max_latency_seconds,
        actual=response_time_seconds,
        verdict=CheckVerdict.INDETERMINATE if is_unknown else CheckVerdict.FAIL,
        is_hard=False,
    )
    return Outcome(flaws=(found,))


def _rule_flaw(check: CheckRule, said: RuleOutcome) -> Flaw:
    verdict = CheckVerdict(said.verdict.value)
    return flaw(
        Stage.RULE,
        _RULE_CODES[verdict],
        f"Rule {check.rule_id} {_explained(verdict, said)}.",
        rule_id=check.rule_id,
        verdict=verdict,
        is_hard=check.severity is RuleSeverity.HARD,
    )


def _explained(verdict: CheckVerdict, said: RuleOutcome) -> str:
    """Say what the verdict means; paths and causes come from the rule, never from the data."""
    detail = said.cause or ", ".join(said.missing)
    return f"{_RULE_MESSAGES[verdict]}: {detail}" if detail else _RULE_MESSAGES[verdict]


def _rule_data(scope: dict[str, JsonValue]) -> RuleData | None:
    """Make the scope ready for all rules; None when it nests deeper than rules may read, being one level deeper."""
    try:
        return RuleData(scope)
    except JsonEncodeError:
        return None


def _said(rule: CompiledRule, data: RuleData | None) -> RuleOutcome:
    return RuleOutcome(Verdict.ERROR, cause="the data nests too deep") if data is None else rule.verdict(data)
