"""Kleene logic: the third value passes through a rule until something decides without it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.tools.rules import CompiledRule, RuleData, Verdict

_UNKNOWN: Any = {"<": [{"var": "absent"}, 1]}


def _verdict(rule: Any, data: Any = None) -> Verdict:
    return CompiledRule.compile(rule).verdict(RuleData(data or {})).verdict


@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        (_UNKNOWN, "indeterminate"),
        ({"!": [_UNKNOWN]}, "indeterminate"),
        ({"!!": [_UNKNOWN]}, "indeterminate"),
        ({"and": [_UNKNOWN, False]}, "fail"),
        ({"and": [False, _UNKNOWN]}, "fail"),
        ({"and": [_UNKNOWN, True]}, "indeterminate"),
        ({"or": [_UNKNOWN, True]}, "pass"),
        ({"or": [True, _UNKNOWN]}, "pass"),
        ({"or": [_UNKNOWN, False]}, "indeterminate"),
        ({"if": [_UNKNOWN, True, False]}, "indeterminate"),
        ({"if": [_UNKNOWN, True, True]}, "pass"),
        ({"if": [_UNKNOWN, False, False]}, "fail"),
        ({"if": [True, True, _UNKNOWN]}, "pass"),
        ({"if": [False, _UNKNOWN, False]}, "fail"),
        ({"if": [False, True, _UNKNOWN]}, "indeterminate"),
        ({"===": [_UNKNOWN, True]}, "indeterminate"),
        ({"===": [{"+": [{"var": "absent"}, 1]}, 1]}, "indeterminate"),
        ({"===": [{"var": "absent"}, None]}, "pass"),
        ({"<": [{"or": [{"var": "absent"}, 3]}, 5]}, "pass"),
        ({"<": [{"if": [_UNKNOWN, 1, 2]}, 5]}, "indeterminate"),
        ({"in": [{"var": "absent"}, ["a"]]}, "fail"),
        ({"and": [False, {"<": ["text", 1]}]}, "fail"),
    ],
)
def test_an_unknown_comparison_follows_kleene(rule: Any, verdict: str) -> None:
    assert _verdict(rule) is Verdict(verdict)


_POSITIVE: Any = [{"var": "xs"}, {">": [{"var": ""}, 0]}]


@pytest.mark.parametrize(
    ("rule", "items", "verdict"),
    [
        ({"all": _POSITIVE}, [1, 2], "pass"),
        ({"all": _POSITIVE}, [1, None], "indeterminate"),
        ({"all": _POSITIVE}, [-1, None], "fail"),
        ({"some": _POSITIVE}, [1, None], "pass"),
        ({"some": _POSITIVE}, [-1, None], "indeterminate"),
        ({"none": _POSITIVE}, [1, None], "fail"),
        ({"none": _POSITIVE}, [-1, None], "indeterminate"),
        ({"===": [{"map": _POSITIVE}, [True]]}, [None], "indeterminate"),
        ({"===": [{"filter": _POSITIVE}, [1]]}, [1, None], "indeterminate"),
        ({"===": [{"filter": _POSITIVE}, [1]]}, [1, -1], "error"),
        ({"in": [1, {"filter": _POSITIVE}]}, [1, -1], "pass"),
    ],
)
def test_loops_look_at_each_item(rule: Any, items: Any, verdict: str) -> None:
    assert _verdict(rule, {"xs": items}) is Verdict(verdict)


@pytest.mark.parametrize(("items", "verdict"), [([{"q": 1}, {"q": 4}], "pass"), ([{"q": 1}, {}], "indeterminate")])
def test_a_sum_over_a_missing_member_is_unknown(items: Any, verdict: str) -> None:
    total = {"reduce": [{"var": "xs"}, {"+": [{"var": "current.q"}, {"var": "accumulator"}]}, 0]}
    assert _verdict({">": [total, 1]}, {"xs": items}) is Verdict(verdict)


_rules = st.recursive(
    st.sampled_from([True, False, {"var": "t"}, {"<": [{"var": "one"}, 2]}, {">": [{"var": "one"}, 2]}, _UNKNOWN]),
    lambda inner: st.one_of(
        st.builds(lambda rule: {"!": [rule]}, inner),
        st.builds(lambda parts: {"and": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: {"or": parts}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda parts: {"if": parts}, st.lists(inner, min_size=3, max_size=3)),
    ),
    max_leaves=8,
)


@given(_rules)
def test_a_definite_verdict_holds_whatever_the_missing_value_turns_out_to_be(rule: Any) -> None:
    compiled = CompiledRule.compile(rule)
    said = compiled.verdict(RuleData({"t": True, "one": 1})).verdict
    filled = {compiled.verdict(RuleData({"t": True, "one": 1, "absent": value})).verdict for value in (0, 5)}
    assert Verdict.INDETERMINATE not in filled
    if said is not Verdict.INDETERMINATE:
        assert filled == {said}


@pytest.mark.parametrize(
    ("rule", "paths"),
    [
        ({"===": [{"var": "status_code"}, 404]}, {"status_code"}),
        ({"and": [{"var": "a.b"}, {"!": [{"var": ["c", {"var": "d"}]}]}]}, {"a.b", "c", "d"}),
        (True, set()),
        ({"var": {"var": "a"}}, None),
        ({"missing": ["a"]}, {"a"}),
        ({"some": [{"var": "a"}, {"var": "b"}]}, None),
        ({"or": [{"var": "a"}, {"var": {"var": "b"}}]}, None),
    ],
)
def test_the_paths_that_a_rule_reads_are_known_when_they_are_written_out(rule: Any, paths: set[str] | None) -> None:
    assert CompiledRule.compile(rule).paths == paths
