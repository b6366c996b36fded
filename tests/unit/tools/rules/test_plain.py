"""What is judged at once is what the engine says, whatever the data is."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taoloop.tools.rules import CompiledRule, RuleData, RuleSet, Verdict
from taoloop.tools.rules.plain import MAX_CHARACTERS
from tests.unit.tools.rules import values

PATHS = st.sampled_from(["a", "b", "a.b", "b.a", "x", "a.b.x", "a.0", ""])
TEXTS = ["", "a", "b", "1", "1d", "24h", "2026-03-01T00:00:00Z", "2026-03-01", "é", "\U0001f600", "\uff5e"]
NUMBERS = [0, 1, -1, 7, 10**15, 2**63, Decimal("0.1"), Decimal("-0.0"), Decimal("1.50"), Decimal("1E+2"), 0.5]
CONSTANTS = [0, 1, 7, 10**15, Decimal("0.1"), Decimal("-0.0"), Decimal("1.50")]
READS = PATHS.map(lambda path: {"var": path})
OPERANDS = READS | st.sampled_from([*TEXTS, *CONSTANTS, True, None])
COMPARISONS = st.builds(
    lambda name, left, right: {name: [left, right]},
    st.sampled_from(["===", "!==", "==", "!=", "<", "<=", ">", ">="]),
    OPERANDS,
    OPERANDS,
)
MEMBERS = st.builds(
    lambda read, listed: {"in": [read, listed]}, READS, st.lists(st.sampled_from([*TEXTS, 1, None]), max_size=3)
)
RULES = st.recursive(
    COMPARISONS | MEMBERS | READS,
    lambda inner: (
        st.builds(
            lambda name, some: {name: some}, st.sampled_from(["and", "or"]), st.lists(inner, min_size=1, max_size=3)
        )
        | st.builds(lambda name, one: {name: [one]}, st.sampled_from(["!", "!!"]), inner)
    ),
    max_leaves=5,
)
LEAVES = st.sampled_from([*TEXTS, *NUMBERS, True, False, None, [], ["a"], {}])
DATA = st.dictionaries(
    st.sampled_from("abx"),
    LEAVES | st.dictionaries(st.sampled_from("abx"), LEAVES | st.dictionaries(st.sampled_from("ax"), LEAVES)),
)


@given(RULES, DATA | st.dictionaries(st.sampled_from("abx"), values.data))
@settings(max_examples=600, deadline=None)
def test_what_is_sure_is_what_the_engine_says(rule: Any, data: Any) -> None:
    compiled = CompiledRule.compile(rule)
    said = None if compiled.plain is None else compiled.plain(data)

    if said is not None:
        assert compiled.verdict(RuleData(data)).verdict is (Verdict.PASS if said else Verdict.FAIL)


@pytest.mark.parametrize(
    ("rule", "data", "said"),
    [
        ({"in": [{"var": "a.b"}, ["x", "y"]]}, {"a": {"b": "y"}}, True),
        ({"<=": [0, {"var": "n"}, 9]}, {"n": Decimal("9.5")}, False),
        ({">": [{"var": "late"}, {"var": "early"}]}, {"late": "2026-03-02", "early": "2026-03-01T09:00:00Z"}, True),
        ({"or": [{"!==": [{"var": "s"}, "f"]}, {">": [{"var": "n"}, 1]}]}, {"s": "f", "n": 2}, True),
        ({"!!": [{"var": "items"}]}, {"items": [2**70]}, True),
    ],
)
def test_plain_forms_need_no_engine(rule: Any, data: Any, *, said: bool) -> None:
    judge = CompiledRule.compile(rule).plain

    assert judge is not None
    assert judge(data) is said


@pytest.mark.parametrize(
    "data",
    [
        {},
        {"n": None},
        {"n": "7"},
        {"n": 0.5},
        {"n": True},
        {"n": 10**15},
        {"n": Decimal("1.0000000000000001")},
        {"n": []},
    ],
)
def test_what_is_missing_or_not_surely_exact_is_left_to_the_engine(data: Any) -> None:
    judge = CompiledRule.compile({">": [{"var": "n"}, 1]}).plain

    assert judge is not None
    assert judge(data) is None


def test_long_texts_are_left_to_the_engine_which_counts_them() -> None:
    judge = CompiledRule.compile({"===": [{"var": "a"}, {"var": "b"}]}).plain

    assert judge is not None
    assert judge({"a": "x" * MAX_CHARACTERS, "b": "x" * MAX_CHARACTERS}) is True
    assert judge({"a": "x" * (MAX_CHARACTERS + 1), "b": "x"}) is None


def test_a_set_surely_passes_only_where_every_rule_does() -> None:
    plain, other = CompiledRule.compile({"var": "a"}), CompiledRule.compile({"+": [{"var": "a"}, 1]})

    assert RuleSet([plain, plain]).surely_pass({"a": 1})
    assert not RuleSet([plain, plain]).surely_pass({"a": 0})
    assert not RuleSet([plain, other]).surely_pass({"a": 1})
    assert RuleSet([]).surely_pass({})
