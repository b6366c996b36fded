"""JsonLogic rules: compiled once, judged many times, with a verdict for operands that are missing."""

from taoloop.tools.rules.compiled import (
    MAX_DATA_DEPTH,
    OPERATION_BUDGET,
    CompiledRule,
    RuleData,
    RuleOutcome,
    RuleRefused,
    Verdict,
)
from taoloop.tools.rules.explaining import RuleTrace, TraceNode, TraceState, explain
from taoloop.tools.rules.rule_set import RuleSet
from taoloop.tools.rules.scope import RuleScope

__all__ = [
    "MAX_DATA_DEPTH",
    "OPERATION_BUDGET",
    "CompiledRule",
    "RuleData",
    "RuleOutcome",
    "RuleRefused",
    "RuleScope",
    "RuleSet",
    "RuleTrace",
    "TraceNode",
    "TraceState",
    "Verdict",
    "explain",
]
