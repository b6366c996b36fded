"""JsonLogic rules: the raw result, and what the product makes of it."""

from __future__ import annotations

from taoloop.evaluation.cases.adapters.refusing import rejected
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said
from taoloop.tools.rules import CompiledRule, RuleData, RuleRefused


def _rule(case_input: CaseInput) -> Said:
    try:
        rule = CompiledRule.compile(case_input["rule"])
    except RuleRefused as refused:
        return rejected("INVALID_RULE", path=refused.pointer, message=str(refused))
    data = RuleData(case_input.get("data"))
    outcome = rule.verdict(data)
    said: Said = {"verdict": outcome.verdict.value, "missing_vars": list(outcome.missing)}
    try:
        said["result"] = rule.result(data)
    except ArithmeticError as exc:
        said["message"] = str(exc)
    return said


JSONLOGIC = Adapter(feed=_rule, required=("rule",), optional=("data",))
