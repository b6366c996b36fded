"""A verdict never hangs on a number that the engine reads as another."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from taoloop.core import exact_json
from taoloop.tools.rules import CompiledRule, RuleData
from taoloop.tools.rules.exactness import inexact_paths, is_exact, is_suspect

_BIG = 12345678901234567890123

numbers = st.one_of(
    st.integers(-(10**30), 10**30),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.decimals(min_value=-1000, max_value=1000, places=4),
    st.floats(allow_nan=False, allow_infinity=False),
)


@given(numbers)
def test_the_engine_gives_back_every_exact_number(number: Any) -> None:
    text = exact_json.dumps(number)
    read = exact_json.loads(text)
    assert isinstance(read, int | Decimal)
    if is_exact(read):
        assert exact_json.equal(CompiledRule.compile({"var": ""}).result(RuleData(read)), read)


@given(st.recursive(numbers, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=5), inner), max_leaves=5))
@settings(max_examples=60, deadline=None)
def test_text_that_is_not_suspect_holds_exact_numbers_alone(value: Any) -> None:
    text = exact_json.dumps(value)
    assert is_suspect(text) or inexact_paths(exact_json.loads(text)) == ()


@pytest.mark.parametrize(
    ("rule", "verdict"),
    [
        ({"===": [{"var": "body.id"}, {"var": "asked"}]}, "error"),
        ({">": [{"var": "body.id"}, 0]}, "error"),
        ({"!": [{"var": "body.id"}]}, "error"),
        ({"===": [{"var": "body.n"}, 1]}, "pass"),
        ({"!!": [{"var": "body"}]}, "pass"),
        ({"!==": [{"var": "body"}, None]}, "pass"),
        ({"!": {"missing": ["body.n", "body.items"]}}, "pass"),
        ({"!": {"missing": ["body.id"]}}, "error"),
        ({"some": [{"var": "body.items"}, {"===": [{"var": "n"}, 1]}]}, "pass"),
        ({"some": [{"var": "body.items"}, {"===": [{"var": "id"}, 1]}]}, "error"),
        ({"some": [{"filter": [{"var": "body.items"}, {"var": "id"}]}, {"var": "n"}]}, "error"),
        (
            {">": [{"reduce": [{"var": "body.items"}, {"+": [{"var": "current.n"}, {"var": "accumulator"}]}, 0]}, 0]},
            "pass",
        ),
        ({">": [{"reduce": [{"var": "body.items"}, {"max": [{"var": "current.id"}, 1]}, 0]}, 0]}, "error"),
        ({"in": [1, {"map": [{"var": "body.items"}, {"var": "n"}]}]}, "pass"),
        ({"in": [1, {"map": [{"var": "body.items"}, {"var": "id"}]}]}, "error"),
        ({"===": [{"var": {"cat": ["body", ".n"]}}, 1]}, "error"),
    ],
)
def test_only_a_rule_that_reads_such_a_number_is_an_error(rule: Any, verdict: str) -> None:
    body: Any = {"id": _BIG, "n": 1, "items": [{"id": _BIG, "n": 1}]}
    outcome = CompiledRule.compile(rule).verdict(RuleData({"body": body, "asked": _BIG}))
    assert outcome.verdict.value == verdict
    assert outcome.cause == ("number beyond exact range" if verdict == "error" else "")
