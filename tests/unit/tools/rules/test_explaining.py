"""A trace shows each operand with its value, what was missing, and what was not come to."""

from typing import Any

import pytest

from taoloop.core.exact_json import ABSENT
from taoloop.tools.rules import CompiledRule, RuleData, RuleTrace, TraceNode, TraceState, Verdict, explain


def _trace(rule: Any, data: Any) -> RuleTrace:
    return explain(CompiledRule.compile(rule), RuleData(data))


def _states(node: TraceNode) -> list[tuple[str, str]]:
    return [(node.pointer, node.state.value), *(each for operand in node.operands for each in _states(operand))]


def test_each_operand_has_its_place_and_value() -> None:
    trace = _trace({">": [{"var": "total"}, 100]}, {"total": 250})
    left, right = trace.root.operands
    assert (trace.verdict, trace.root.operator, trace.root.value) == (Verdict.PASS, ">", True)
    assert (left.pointer, left.written, left.value) == ("/>/0", '{"var":"total"}', 250)
    assert (right.pointer, right.operator, right.value) == ("/>/1", "", 100)


def test_what_is_not_come_to_is_not_evaluated() -> None:
    trace = _trace({"and": [{"===": [{"var": "a"}, 1]}, {"===": [{"var": "b"}, 1]}]}, {"a": 2, "b": 1})
    assert _states(trace.root) == [
        ("", "evaluated"),
        ("/and/0", "evaluated"),
        ("/and/0/===/0", "evaluated"),
        ("/and/0/===/1", "evaluated"),
        ("/and/1", "not_evaluated"),
    ]
    assert trace.root.operands[1].value is ABSENT


@pytest.mark.parametrize(
    ("rule", "state"),
    [
        ({"or": [{"<": [{"var": "x"}, 1]}, False]}, "unknown"),
        ({"if": [True, 1, {"var": "x"}]}, "evaluated"),
        ({"<": [{"var": "s"}, 1]}, "error"),
        ({"var": "x"}, "missing"),
    ],
)
def test_a_part_says_how_far_it_got(rule: Any, state: str) -> None:
    assert _trace(rule, {"s": "abc"}).root.state.value == state


def test_a_branch_that_is_not_taken_is_not_evaluated() -> None:
    trace = _trace({"if": [{"var": "a"}, "yes", {"var": "b"}, "maybe", "no"]}, {"b": 1})
    assert [operand.state.value for operand in trace.root.operands] == [
        "missing",
        "not_evaluated",
        "evaluated",
        "evaluated",
        "not_evaluated",
    ]


def test_a_missing_operand_makes_the_verdict_hang_and_is_named() -> None:
    trace = _trace({"and": [True, {"<": [{"var": "price"}, 5]}]}, {})
    assert (trace.verdict, trace.missing) == (Verdict.INDETERMINATE, ("price",))
    assert trace.root.operands[1].operands[0].state is TraceState.MISSING


def test_a_loop_shows_the_first_items_and_the_one_that_decided() -> None:
    trace = _trace({"all": [{"var": "xs"}, {">": [{"var": ""}, 0]}]}, {"xs": [1] * 50 + [-1, 1]})
    _, *items = trace.root.operands
    assert [(node.item, node.value) for node in items] == [(0, True), (1, True), (2, True), (3, True), (50, False)]


def test_a_reduce_shows_the_accumulator_of_each_step() -> None:
    trace = _trace({"reduce": [{"var": "xs"}, {"+": [{"var": "accumulator"}, {"var": "current"}]}, 10]}, {"xs": [1, 2]})
    steps = [node for node in trace.root.operands if node.item is not None]
    assert [(node.operands[0].value, node.value) for node in steps] == [(10, 11), (11, 13)]


def test_values_are_cut_and_free_of_secrets() -> None:
    trace = _trace({"cat": [{"var": "token"}, {"var": "long"}]}, {"token": "Bearer abc.def", "long": "x" * 500})
    token, long = trace.root.operands
    assert "abc.def" not in str(trace)
    assert token.value == "Bearer ***"
    assert isinstance(long.value, str)
    assert len(long.value) == 120


def test_items_beside_a_number_beyond_the_exact_range_are_shown() -> None:
    items = [{"id": 10**30, "price": 1}, {"id": 10**30, "price": -1}]
    trace = _trace({"all": [{"var": "items"}, {">": [{"var": "price"}, 0]}]}, {"items": items})
    assert trace.verdict is Verdict.FAIL
    assert [node.value for node in trace.root.operands[1:]] == [True, False]


def test_who_asks_may_hide_more() -> None:
    rule = CompiledRule.compile({"===": [{"var": "name"}, "x"]})
    trace = explain(rule, RuleData({"name": "Li Na"}), mask=lambda text: text.replace("Li Na", "[name]"))
    assert trace.root.operands[0].value == "[name]"


def test_a_path_that_is_written_out_is_named() -> None:
    trace = _trace({"===": [{"var": ["a.b", 1]}, {"var": {"cat": ["a", ".b"]}}]}, {})
    assert [operand.path for operand in trace.root.operands] == ["a.b", None]


def test_an_error_names_its_part() -> None:
    trace = _trace({"and": [{"===": [1, 1]}, {">": [{"/": [1, {"var": "n"}]}, 0]}]}, {"n": 0})
    assert trace.verdict is Verdict.ERROR
    assert trace.root.operands[1].operands[0].state is TraceState.ERROR
