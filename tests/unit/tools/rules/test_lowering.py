"""The engine is led around where it is not JsonLogic, and left alone where it is."""

from typing import Any

import pytest

from taoloop.tools.rules.javascript import rewritten
from taoloop.tools.rules.lowering import lowered

_A: Any = {"var": ["a"]}
_B: Any = {"var": ["b"]}


@pytest.mark.parametrize(
    "rule",
    [
        {"===": [_A, 200]},
        {"===": [_A, "ok"]},
        {"!==": [_A, None]},
        {">": [_A, 0]},
        {"<=": [{"+": [1, 2]}, _A]},
        {"in": [_A, ["ok", "new", 3]]},
        {"in": ["ok", _A]},
        {"and": [{"===": [_A, 1]}, {"!": [{"===": [_B, 2]}]}]},
        {"var": ["a.0.b", 7]},
    ],
    ids=str,
)
def test_a_plain_rule_is_given_to_the_engine_as_it_is(rule: Any) -> None:
    assert lowered(rewritten(rule)) == rule


@pytest.mark.parametrize(
    ("rule", "custom"),
    [
        ({"===": [_A, _B]}, "taoloop_strictly_equal"),
        ({"===": [_A, "24h"]}, "taoloop_strictly_equal"),
        ({"<": [_A, "2026-03-01"]}, "taoloop_<"),
        ({"+": [_A, 1]}, "taoloop_leading_number"),
        ({"-": [_A, 1]}, "taoloop_number"),
        ({"in": [_A, _B]}, "taoloop_in"),
        ({"in": [_A, ["1d"]]}, "taoloop_in"),
        ({"cat": [_A, "x"]}, "taoloop_text"),
        ({"substr": [_A, 1]}, "taoloop_string"),
        ({"merge": [_A]}, "taoloop_refuse_null"),
        ({"var": [{"cat": [_A]}]}, "taoloop_var"),
        ({"var": ["a.01"]}, "taoloop_var"),
        ({"missing": [_A]}, "taoloop_missing"),
    ],
    ids=str,
)
def test_what_the_engine_takes_otherwise_goes_through_an_operator_of_ours(rule: Any, custom: str) -> None:
    assert f"'{custom}'" in str(lowered(rewritten(rule)))


def test_a_part_that_is_used_twice_is_lowered_once() -> None:
    part: Any = {"+": [{"var": ["a"]}, {"var": ["b"]}]}
    made: Any = lowered({"if": [{"===": [part, 1]}, part, part]})
    assert made["if"][1] is made["if"][2]
