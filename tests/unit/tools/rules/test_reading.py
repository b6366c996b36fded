"""What a rule reads is known from the rule alone."""

from typing import Any

import pytest

from taoloop.tools.rules.javascript import rewritten
from taoloop.tools.rules.reading import Read, reads, roots


@pytest.mark.parametrize(
    ("rule", "found"),
    [
        (True, set()),
        ({"!!": {"var": "a.b"}}, {("a.b", False)}),
        ({"===": [{"var": "a"}, None]}, {("a", False)}),
        ({"===": [{"var": "a"}, {"var": "b"}]}, {("a", True), ("b", True)}),
        ({"in": [{"var": "a"}, ["x"]]}, {("a", False)}),
        ({"in": ["x", {"var": "a"}]}, {("a", True)}),
        ({"all": [{"var": "a"}, {">": [{"var": "p"}, 0]}]}, {("a", False), ("a.*.p", True)}),
        (
            {"some": [{"filter": [{"var": "a"}, {"var": "q"}]}, {"var": "p"}]},
            {("a", False), ("a.*.q", False), ("a.*.p", False)},
        ),
        (
            {"reduce": [{"var": "a"}, {"+": [{"var": "current.p"}, {"var": "accumulator"}]}, {"var": "b"}]},
            {("a", False), ("a.*.p", True), ("b", True)},
        ),
        ({"var": {"cat": ["a", {"var": "b"}]}}, {("", True), ("b", True)}),
        ({"all": [{"merge": [{"var": "a"}]}, {"var": "p"}]}, {("a", True)}),
        ({"missing": ["a.b"]}, {("a.b", False)}),
    ],
    ids=lambda value: str(sorted(value)) if isinstance(value, set) else str(value),
)
def test_the_places_that_a_rule_reads(rule: Any, found: set[tuple[str, bool]]) -> None:
    said = {(".".join(read.tokens), read.is_deep) for read in reads(rewritten(rule))}
    assert said == found


def test_a_shallow_read_is_of_the_value_and_a_deep_one_of_all_below() -> None:
    shallow, deep = (Read(("a", "*"), is_deep=depth) for depth in (False, True))
    assert [shallow.covers(path) for path in (("a",), ("a", "0"), ("a", "0", "x"), ("b", "0"))] == [
        False,
        True,
        False,
        False,
    ]
    assert [deep.covers(path) for path in (("a",), ("a", "0"), ("a", "0", "x"), ("b", "0"))] == [
        False,
        True,
        True,
        False,
    ]


def test_roots_are_the_members_that_are_read_or_all() -> None:
    assert roots(reads(rewritten({"and": [{"var": "a.b"}, {"var": "c"}]}))) == frozenset({"a", "c"})
    assert roots(reads(rewritten({"!!": {"var": ""}}))) is None
