"""A scope is written part by part, once, and only what is read."""

from typing import Any

import pytest

from taoloop.core.exact_json import JsonEncodeError
from taoloop.tools.rules import CompiledRule, RuleScope, Verdict


def test_a_value_that_no_rule_reads_is_not_written() -> None:
    scope = RuleScope({"body": object(), "n": 1})  # type: ignore[dict-item]  # it has no JSON form
    rule = CompiledRule.compile({"===": [{"var": "n"}, 1]})
    assert rule.roots == frozenset({"n"})
    assert rule.verdict(scope.data(rule.roots)).verdict is Verdict.PASS


def test_a_rule_that_may_read_anything_gets_everything() -> None:
    rule = CompiledRule.compile({"!!": {"var": {"var": "which"}}})
    assert rule.roots is None
    assert rule.verdict(RuleScope({"which": "n", "n": 1}).data(rule.roots)).verdict is Verdict.PASS


def test_a_text_at_hand_is_used_for_every_name_of_its_value() -> None:
    body: Any = {"price": 1}
    scope = RuleScope({"body": body}, texts={"body": '{"price":2}'})
    scope.add("data", body)
    for name in ("body", "data"):
        rule = CompiledRule.compile({"===": [{"var": f"{name}.price"}, 2]})
        assert rule.verdict(scope.data(rule.roots)).verdict is Verdict.PASS


def test_a_value_that_nests_too_deep_is_told() -> None:
    body: Any = 1
    for _ in range(65):
        body = [body]
    with pytest.raises(JsonEncodeError, match="nesting"):
        RuleScope({"body": body}).data(None)
