"""The rules of one contract, judged only until one does not surely pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from taoloop.core.exact_json import ABSENT, JsonEncodeError, JsonValue
from taoloop.observation.quick.rule_source import written_rules
from taoloop.plan.acting import ActionResult
from taoloop.plan.observing import ObserveRequest
from taoloop.tools.rules import CompiledRule, RuleScope, RuleSet, Verdict

_IN_SUCCESS: Final = frozenset({"status_code", "response_time_seconds", "body", "arguments"})


class Rules:
    """The rules of one contract with its success rule: those of plain forms as one function, the others beside it.

    Attributes:
        surely_pass: Tells of the plain forms whether all of them surely pass.
        has_others: Whether there are others.
    """

    def __init__(self, success: CompiledRule | None, rules: Sequence[CompiledRule]) -> None:
        # The success rule reads no data: where it asks for some, only the engine knows that it is missing.
        is_with_others = success is not None and success.roots is not None and success.roots <= _IN_SUCCESS
        together = [success, *rules] if success is not None and is_with_others else list(rules)
        surely_pass, told = written_rules([rule.rule for rule in together])
        self.surely_pass: Final = surely_pass
        others = [rule for index, rule in enumerate(together) if index not in told]
        self._success: Final = None if is_with_others else success
        self._others: Final = RuleSet(others) if others else None
        self.has_others: Final = self._success is not None or self._others is not None

    def others_pass(self, request: ObserveRequest, result: ActionResult, body: JsonValue, data: JsonValue) -> bool:
        """Tell of the rules that the engine has to judge whether all of them pass."""
        arguments = None if request.arguments is ABSENT else request.arguments
        expect = None if request.expect is ABSENT else request.expect
        code, time = result.status_code, result.response_time_seconds
        scope = RuleScope({"status_code": code, "response_time_seconds": time, "body": body, "arguments": arguments})
        try:
            return self._success_passes(scope) and self._others_pass(scope, data, expect)
        except JsonEncodeError:
            return False

    def _success_passes(self, scope: RuleScope) -> bool:
        if self._success is None:
            return True
        return self._success.verdict(scope.data(self._success.roots)).verdict is Verdict.PASS

    def _others_pass(self, scope: RuleScope, data: JsonValue, expect: JsonValue) -> bool:
        if self._others is None:
            return True
        scope.add("data", data)
        scope.add("expect", expect)
        return self._others.verdicts(scope.data(self._others.roots)) is self._others.all_passed
