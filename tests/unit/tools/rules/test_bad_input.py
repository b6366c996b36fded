"""No rule and no data raises, hangs, or takes memory without bound."""

import contextlib
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings

from taoloop.tools.rules import CompiledRule, RuleData, RuleRefused, RuleSet, Verdict, explain
from tests.unit.tools.rules import values

_MANY: Any = {"xs": list(range(2_000))}
_X: Any = {"var": "xs"}
_BOTH: Any = [{"var": "accumulator"}, {"var": "accumulator"}]


@given(values.rules, values.data)
@settings(max_examples=150, deadline=None)
def test_any_rule_is_refused_or_has_one_of_four_verdicts(rule: Any, data: Any) -> None:
    try:
        compiled = CompiledRule.compile(rule)
    except RuleRefused:
        return
    outcome = compiled.verdict(RuleData(data))
    assert outcome.verdict in Verdict
    assert bool(outcome.cause) is (outcome.verdict is Verdict.ERROR)


@given(values.rules, values.data)
@settings(max_examples=60, deadline=None)
def test_any_accepted_rule_can_be_explained(rule: Any, data: Any) -> None:
    try:
        compiled = CompiledRule.compile(rule)
    except RuleRefused:
        return
    trace = explain(compiled, RuleData(data))
    assert trace.verdict is compiled.verdict(RuleData(data)).verdict


@pytest.mark.parametrize(
    "rule",
    [
        {"reduce": [_X, {"cat": _BOTH}, "xxxxxxxx"]},
        {"reduce": [_X, {"merge": _BOTH}, [1, 2, 3]]},
        {"reduce": [_X, {"merge": [{"var": "accumulator"}, {"map": [{"var": "accumulator"}, {"var": ""}]}]}, [1]]},
        {"reduce": [_X, {"+": _BOTH}, 1]},
        {"map": [_X, {"map": [list(range(500)), {"cat": ["x" * 60, "y"]}]}]},
        {"all": [_X, {"in": [{"var": ""}, list(range(2_000))]}]},
        {"reduce": [_X, {"if": [{"in": [{"var": "current"}, {"var": "accumulator"}]}, 1, 2]}, []]},
    ],
    ids=["cat", "merge", "map", "sum", "nested map", "nested in", "in"],
)
def test_what_grows_ends_in_the_operation_budget(rule: Any) -> None:
    data = RuleData(_MANY)
    compiled = CompiledRule.compile({"!!": [rule]})
    tracemalloc.start()
    started = time.process_time()
    outcome = compiled.verdict(data)
    seconds = time.process_time() - started
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert outcome.verdict in {Verdict.ERROR, Verdict.PASS}
    assert seconds < 2
    assert peak_bytes < 64 * 1024 * 1024


def test_a_budget_that_is_spent_is_named() -> None:
    outcome = CompiledRule.compile({"reduce": [_X, {"merge": _BOTH}, [1]]}).verdict(RuleData(_MANY))
    assert (outcome.verdict, "BudgetExceeded" in outcome.cause) == (Verdict.ERROR, True)


def test_text_for_custom_operators_has_a_budget_of_its_own() -> None:
    kept: Any = {"if": [{"==": [{"var": "accumulator"}, 1]}, 1, {"var": "accumulator"}]}
    compiled = CompiledRule.compile({"!!": {"reduce": [_X, kept, {"var": "large"}]}})
    cheap = CompiledRule.compile({"==": [{"var": "n"}, "1"]})
    data = RuleData({"xs": [1] * 2_000, "large": ["x" * 100] * 5_000, "n": 1})
    started = time.process_time()
    said = RuleSet([compiled, cheap]).verdicts(data)
    assert [outcome.verdict for outcome in said] == [Verdict.ERROR, Verdict.PASS]
    assert said[0].cause == "more text than the budget"
    assert time.process_time() - started < 2


def test_each_thread_has_the_whole_budget() -> None:
    rule = CompiledRule.compile({"none": [_X, {"==": [{"var": ""}, "y"]}]})
    data = RuleData({"xs": ["x" * 1_000] * 1_500})
    with ThreadPoolExecutor(4) as threads:
        said = list(threads.map(lambda _: rule.verdict(data).verdict, range(8)))
    assert said == [Verdict.PASS] * 8


def _nested(depth: int, operator: str) -> Any:
    rule: Any = {"<": [{"var": "a"}, 1]}
    for _ in range(depth):
        rule = {operator: [rule, 1, 2]} if operator == "if" else {operator: [rule, {"var": "b"}]}
    return rule


@pytest.mark.parametrize("operator", ["if", "and", "===", "+", "cat", "in", "map", "merge", "<"])
@pytest.mark.parametrize("depth", [18, 39, 5_000])
def test_nesting_is_compiled_or_refused_at_once(depth: int, operator: str) -> None:
    rule = _nested(depth, operator)
    started = time.process_time()
    with contextlib.suppress(RuleRefused):
        CompiledRule.compile(rule).verdict(RuleData({"a": 0, "b": 1}))
    assert time.process_time() - started < 2


def test_no_operator_takes_a_pattern() -> None:
    assert not {"match", "matches", "regex", "split", "replace"} & set(values.OPERATORS)
    for operator in ("split", "match", "type", "exists", "??", "switch", "taoloop_var"):
        with pytest.raises(RuleRefused, match="does not exist"):
            CompiledRule.compile({operator: ["a", "b"]})
