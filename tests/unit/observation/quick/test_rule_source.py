"""Rules that surely pass as a function pass by the engine, and the usual forms need no engine."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taoloop.observation.quick.rule_source import PARAMETERS, written_rules
from taoloop.tools.rules import CompiledRule, RuleData, RuleRefused, Verdict
from tests.unit.tools.rules import values

SCOPE: dict[str, Any] = {
    "body": {"state": "new", "paid": True, "fee": Decimal("12.50"), "inner": {"level": 3}, "lines": [1], "none": None},
    "data": {"state": "new", "long": "x" * 2000, "huge": 10**30, "fine": Decimal("0.12345678901234567")},
    "arguments": {"state": "new"},
    "expect": None,
    "status_code": 200,
    "response_time_seconds": 0.5,
}


def surely(rule: Any, scope: dict[str, Any]) -> bool | None:
    """Return what the function says of one rule; None where it leaves the rule to the engine."""
    function, told = written_rules([rule])
    return function(*(scope[name] for name in PARAMETERS)) if told else None


def read(path: str) -> dict[str, Any]:
    return {"var": path}


leaves = st.sampled_from(
    [*(read(f"body.{name}") for name in SCOPE["body"]), read("data.state"), read("body.inner.level"), read("expect")]
)
constants = values.data | st.sampled_from(["new", "x", 200, 3, Decimal("12.5"), True, False, None])
plain_rules: st.SearchStrategy[Any] = st.recursive(
    st.builds(
        lambda name, left, right: {name: [left, right]},
        st.sampled_from(["==", "!=", "===", "!==", "<", "<=", ">", ">="]),
        leaves,
        leaves | constants,
    )
    | st.builds(lambda leaf, where: {"in": [leaf, where]}, leaves, st.lists(constants, max_size=3))
    | leaves,
    lambda inner: (
        st.builds(lambda name, rule: {name: [rule]}, st.sampled_from(["!", "!!"]), inner)
        | st.builds(
            lambda name, parts: {name: parts}, st.sampled_from(["and", "or"]), st.lists(inner, min_size=1, max_size=4)
        )
    ),
    max_leaves=8,
)
bodies = st.fixed_dictionaries({}, optional=dict.fromkeys(SCOPE["body"], values.data | constants))


@given(values.rules | plain_rules, bodies | values.data, st.sampled_from(["new", None, 3, True]))
@settings(max_examples=600, deadline=None)
def test_what_surely_passes_passes_by_the_engine(rule: Any, body: Any, state: Any) -> None:
    scope = {**SCOPE, "body": body, "data": {"state": state}}
    try:
        compiled = CompiledRule.compile(rule)
    except RuleRefused:
        return

    if surely(rule, scope):
        assert compiled.verdict(RuleData(scope)).verdict is Verdict.PASS


@pytest.mark.parametrize(
    "rule",
    [
        {"==": [read("body.state"), "new"]},
        {"==": [read("body.paid"), True]},
        {"!=": [read("body.paid"), False]},
        {"!==": [read("body.state"), "lost"]},
        {"===": [read("body.state"), read("arguments.state")]},
        {"in": [read("body.state"), ["new", "lost"]]},
        {"<": [0, read("body.inner.level"), 9]},
        {"<=": [12, read("body.fee")]},
        {">": [read("body.fee"), Decimal("12.4")]},
        {"!!": [read("body.lines")]},
        {"!": [{"==": [read("body.state"), "lost"]}]},
        {"or": [{"==": [read("body.state"), "lost"]}, {">": [read("body.fee"), 1]}]},
        {"and": [{"==": [read("status_code"), 200]}, {"!": [{"<": [read("body.fee"), 1]}]}]},
    ],
)
def test_the_usual_forms_need_no_engine(rule: Any) -> None:
    assert surely(rule, SCOPE) is True


@pytest.mark.parametrize(
    "rule",
    [
        {"==": [read("body.state"), "lost"]},
        {"==": [read("body.none"), "x"]},
        {"!=": [read("body.none"), "x"]},
        {"!": [read("body.missing")]},
        {"==": [read("body.paid"), 1]},
        {"<": [read("body.state"), 1]},
        {"!=": [read("data.long"), "x"]},
        {">": [read("data.huge"), 1]},
        {">": [read("data.fine"), 0]},
        {"or": [{"==": [read("body.missing"), "x"]}, {"==": [read("body.state"), "new"]}]},
    ],
)
def test_what_fails_or_is_missing_or_not_surely_exact_does_not_surely_pass(rule: Any) -> None:
    assert surely(rule, SCOPE) is False


@pytest.mark.parametrize(
    "rule",
    [
        {"==": [{"+": [read("body.fee"), 1]}, 2]},
        {"==": [read("lines.0"), 1]},
        {"in": ["n", read("body.state")]},
        {"<": [read("body.paid"), True]},
        {"or": [{"==": [read(f"body.f{number}"), "x" * 100]} for number in range(400)]},
    ],
)
def test_other_forms_and_long_rules_are_left_to_the_engine(rule: Any) -> None:
    assert surely(rule, SCOPE) is None


def test_many_alternatives_within_alternatives_are_left_to_the_engine() -> None:
    rule: Any = {"==": [read("body.state"), "new"]}
    for _ in range(8):
        rule = {"or": [{"and": [rule, read("body.paid")]}, {"==": [read("body.state"), "lost"]}]}

    CompiledRule.compile(rule)
    assert surely(rule, SCOPE) is None


def test_names_and_texts_of_a_contract_stay_names_and_texts() -> None:
    odd = "'); raise SystemExit(\"\n\\"
    scope = {**SCOPE, "body": {f"a{odd}": odd}}

    assert surely({"==": [read(f"body.a{odd}"), odd]}, scope) is True
