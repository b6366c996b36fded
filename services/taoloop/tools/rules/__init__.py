"""JsonLogic rules: compiled once, judged many times, with a verdict for operands that are missing."""

from taoloop.tools.rules.compiled import (
    OPERATION_BUDGET,
    CompiledRule,
    RuleData,
    RuleOutcome,
    RuleRefused,
    Verdict,
)

__all__ = ["OPERATION_BUDGET", "CompiledRule", "RuleData", "RuleOutcome", "RuleRefused", "Verdict"]
