"""A set of rules says of each rule what the rule says alone, whatever parts of the data it is given."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from taoloop.tools.rules import CompiledRule, RuleData, RuleRefused, RuleScope, RuleSet, Verdict
from tests.unit.tools.rules import values


def _compiled(rules: list[Any]) -> list[CompiledRule]:
    found = []
    for rule in rules:
        try:
            found.append(CompiledRule.compile(rule))
        except RuleRefused:
            continue
    return found


@given(st.lists(values.rules, max_size=6), values.data)
@settings(max_examples=80, deadline=None)
def test_a_set_is_its_rules_one_by_one(rules: list[Any], data: Any) -> None:
    compiled, made = _compiled(rules), RuleData(data)
    assert RuleSet(compiled).verdicts(made) == tuple(rule.verdict(made) for rule in compiled)


@given(st.lists(values.rules, max_size=3), st.dictionaries(st.sampled_from(["a", "b", "x", "current"]), values.data))
@settings(max_examples=80, deadline=None)
def test_the_parts_that_are_read_are_enough_for_the_verdict(rules: list[Any], data: dict[str, Any]) -> None:
    judged = RuleSet(_compiled(rules))
    assert judged.verdicts(RuleScope(data).data(judged.roots)) == judged.verdicts(RuleData(data))


def test_a_rule_that_spends_its_budget_leaves_the_others_theirs() -> None:
    costly = CompiledRule.compile({"all": [{"var": "xs"}, {"===": [{"var": ""}, 1]}]})
    cheap = CompiledRule.compile({"===": [{"var": "n"}, 1]})
    said = RuleSet([costly, cheap, costly]).verdicts(RuleData({"xs": [1] * 300_000, "n": 1}))
    assert [outcome.verdict for outcome in said] == [Verdict.ERROR, Verdict.PASS, Verdict.ERROR]


def test_an_empty_set_says_nothing() -> None:
    assert RuleSet([]).verdicts(RuleData({})) == ()


def test_a_rule_says_the_same_alone_and_beside_others_where_a_number_is_beyond_the_range() -> None:
    either = CompiledRule.compile({"or": [{"===": [{"var": "s"}, "ok"]}, {">": [{"var": "n"}, 5]}]})
    other = CompiledRule.compile({">": [{"+": [{"var": "k"}, 0]}, 0]})
    for text, verdict in (("ok", Verdict.PASS), ("no", Verdict.ERROR)):
        data = RuleData({"s": text, "n": 2**70, "k": 1})

        assert either.verdict(data).verdict is verdict
        assert [said.verdict for said in RuleSet([either, other]).verdicts(data)] == [verdict, Verdict.PASS]
