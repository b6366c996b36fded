"""All rules of a contract over one data, judged by one call of the engine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import datalogic_py

from taoloop.core.exact_json import JsonValue
from taoloop.tools.rules import plain
from taoloop.tools.rules.coercion import TOO_MUCH_TEXT
from taoloop.tools.rules.compiled import (
    FAILED,
    PASSED,
    CompiledRule,
    RuleData,
    RuleOutcome,
    engine,
    failed_with,
    meter,
)


class RuleSet:
    """Rules that are judged together; safe to share between tasks and threads.

    The outcome of each rule is the one of `CompiledRule.verdict`. One call evaluates what would make the rules pass;
    only where some do not, a second one tells failures from verdicts that hang on missing operands.

    Attributes:
        rules: In their order.
        roots: The members of the data that the verdicts hang on; None where it may be any.
        all_passed: What `verdicts` returns when every rule passes, always this very object.
    """

    def __init__(self, rules: Iterable[CompiledRule]) -> None:
        self.rules: Final = tuple(rules)
        each_roots = [rule.roots for rule in self.rules]
        known = [roots for roots in each_roots if roots is not None]
        self.roots: Final = frozenset[str]().union(*known) if len(known) == len(each_roots) else None
        self.all_passed: Final = (PASSED,) * len(self.rules)
        self._surely: Final = [rule.surely for rule in self.rules]
        self._plain: Final = plain.all_of([rule.plain for rule in self.rules])
        self._all_true: Final = [_TRUE] * len(self.rules)

    def surely_pass(self, scope: Mapping[str, JsonValue]) -> bool:
        """Tell at once of most data whether every rule passes; False where that is not sure.

        Args:
            scope: The data by the names that the rules read.
        """
        return self._plain is not None and self._plain(scope) is True

    def verdicts(self, data: RuleData) -> tuple[RuleOutcome, ...]:
        """Judge the data by every rule, in order; never raises."""
        meter().start()
        # A session belongs to the thread that made it, and costs next to nothing.
        session = engine().session()
        said = session.evaluate_many(self._surely, data.handle)
        if said == self._all_true and not data.inexact:
            return self.all_passed
        outcomes = [PASSED if each == _TRUE else _not_passed(each) for each in said]
        open_at = [at for at, each in enumerate(said) if each == _FALSE and not self.rules[at].is_exact]
        if open_at:
            said = session.evaluate_many([self.rules[at].possibly for at in open_at], data.handle)
            for at, each in zip(open_at, said, strict=True):
                outcomes[at] = self.rules[at].hanging(data) if each == _TRUE else _not_passed(each)
        if any(outcome.cause == TOO_MUCH_TEXT for outcome in outcomes):
            outcomes = [rule.verdict(data) for rule in self.rules]  # to each the budget that it has alone
        return self._in_range(outcomes, data)

    def _in_range(self, outcomes: Sequence[RuleOutcome], data: RuleData) -> tuple[RuleOutcome, ...]:
        if not data.inexact:
            return tuple(outcomes)
        return tuple(
            outcome if outcome is PASSED and not rule.reads_beyond_range(data) else rule.verdict(data)
            for rule, outcome in zip(self.rules, outcomes, strict=True)
        )

    def __len__(self) -> int:
        return len(self.rules)

    def __repr__(self) -> str:
        return f"RuleSet({len(self.rules)} rules)"


_TRUE: Final = "true"
_FALSE: Final = "false"


def _not_passed(said: str | datalogic_py.BatchItemError) -> RuleOutcome:
    return FAILED if isinstance(said, str) else failed_with(said.tag, said.message, said.operator)
