"""The checks of a body and of its data against the contract: success, empty, schema, rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Json, JsonEncodeError, JsonValue
from taoloop.core.faults import FaultCode
from taoloop.core.pointers import PointerNotFound
from taoloop.observation.stages.model import Flaw, Outcome, Stage, flaw
from taoloop.plan.observing import CheckVerdict
from taoloop.tools.contract import RuleSeverity
from taoloop.tools.rules import CompiledRule, RuleData, RuleOutcome, RuleScope, RuleSet, Verdict
from taoloop.tools.schemas import CompiledSchema

MAX_VIOLATIONS: Final = 20
"""Most violations of one schema that a verdict lists."""

_SUCCESS: Final = Outcome(passed=("success_rule",))
_NOT_EMPTY: Final = Outcome(passed=("not_empty",))
_EMPTY_ACCEPTED: Final = Outcome(passed=("empty_accepted",))
_SCHEMA_VALID: Final = Outcome(passed=("schema_valid",))
_NOTHING: Final = Outcome()

_RESULT_ROOTS: Final = frozenset({"body", "data"})
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


class RuleChecks:
    """The rules of one contract, ready to be checked together.

    Attributes:
        rules: In the contract's order.
        judged: The same for the engine.
        all_passed: What they say when every one passes, made once.
    """

    def __init__(self, rules: Iterable[CheckRule]) -> None:
        self.rules: Final = tuple(rules)
        self.judged: Final = RuleSet(check.rule for check in self.rules)
        soft = sum(check.severity is RuleSeverity.SOFT for check in self.rules)
        self.all_passed: Final = RulesOutcome(Outcome(tuple(check.passed_id for check in self.rules)), soft, soft)


def check_success(rule: CompiledRule | None, scope: RuleScope) -> Outcome:
    """Check the contract's success rule over {status_code, response_time_seconds, body, arguments}."""
    if rule is None:
        return _NOTHING
    if rule.plain is not None and rule.plain(scope.values):
        return _SUCCESS
    data = _rule_data(scope, rule.roots)
    said = _TOO_DEEP if data is None else rule.verdict(data)
    if said.verdict is Verdict.PASS:
        return _SUCCESS
    verdict = CheckVerdict(said.verdict.value)
    message = f"The contract's success rule {_explained(verdict, said)}."
    found = flaw(
        Stage.SUCCESS,
        FaultCode.SUCCESS_RULE_FAILED,
        message,
        rule_id="success_rule",
        expected=rule.rule,
        verdict=verdict,
    )
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
    if schema.is_valid(body):
        return _SCHEMA_VALID
    return Outcome(flaws=schema_flaws(schema, body, Stage.SCHEMA, FaultCode.SCHEMA_VIOLATION))


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


def check_rules(checks: RuleChecks, scope: RuleScope) -> RulesOutcome:
    """Check every rule over {status_code, response_time_seconds, body, data, arguments, expect}."""
    if checks.judged.surely_pass(scope.values):
        return checks.all_passed
    data = _rule_data(scope, checks.judged.roots)
    verdicts = (_TOO_DEEP,) * len(checks.rules) if data is None else checks.judged.verdicts(data)
    if verdicts is checks.judged.all_passed:
        return checks.all_passed
    passed: list[str] = []
    flaws: list[Flaw] = []
    soft_passed = 0
    for check, said in zip(checks.rules, verdicts, strict=True):
        if said.verdict is Verdict.PASS:
            passed.append(check.passed_id)
            soft_passed += check.severity is RuleSeverity.SOFT
        else:
            flaws.append(_rule_flaw(check, said, scope.values))
    return RulesOutcome(Outcome(tuple(passed), tuple(flaws)), soft_passed, checks.all_passed.soft_total)


def _rule_flaw(check: CheckRule, said: RuleOutcome, scope: Mapping[str, JsonValue]) -> Flaw:
    verdict = CheckVerdict(said.verdict.value)
    pointer, actual = _read_place(check.rule.paths, scope)
    return flaw(
        Stage.RULE,
        _RULE_CODES[verdict],
        f"Rule {check.rule_id} {_explained(verdict, said)}.",
        pointer=pointer,
        rule_id=check.rule_id,
        expected=check.rule.rule,
        actual=actual,
        verdict=verdict,
        is_hard=check.severity is RuleSeverity.HARD,
    )


def _read_place(paths: frozenset[str] | None, scope: Mapping[str, JsonValue]) -> tuple[str, Json]:
    """Return the one place of the result that a rule reads, and what stands there; of several places it is none."""
    places = [path for path in paths or () if path.partition(".")[0] in _RESULT_ROOTS]
    if len(places) != 1:
        return "", ABSENT
    root, *tokens = places[0].split(".")
    pointer = pointers.join(*tokens)
    try:
        return pointer, pointers.lookup(scope.get(root), pointer)
    except PointerNotFound:
        return pointer, ABSENT


def _explained(verdict: CheckVerdict, said: RuleOutcome) -> str:
    """Say what the verdict means; paths and causes come from the rule, never from the data."""
    detail = said.cause or ", ".join(said.missing)
    return f"{_RULE_MESSAGES[verdict]}: {detail}" if detail else _RULE_MESSAGES[verdict]


_TOO_DEEP: Final = RuleOutcome(Verdict.ERROR, cause="the data nests too deep")


def _rule_data(scope: RuleScope, roots: frozenset[str] | None) -> RuleData | None:
    """Make ready what the rules read; None when it nests deeper than any body that was parsed."""
    try:
        return scope.data(roots)
    except JsonEncodeError:
        return None
