"""Rules: raw results are those of the reference, verdicts are ours."""

from typing import Any

import pytest

from taoloop.tools.rules import CompiledRule, RuleData, RuleRefused, Verdict

_ALL: Any = [{"var": "xs"}, {">": [{"var": ""}, 0]}]


@pytest.mark.parametrize(
    ("case", "rule", "data", "result"),
    [
        ("C019-1", {"if": ["0", "t", "f"]}, {}, "t"),
        ("C019-2", {"if": [[], "t", "f"]}, {}, "f"),
        ("C019-3", {"!": [[]]}, {}, True),
        ("C019-4", {"!!": [""]}, {}, False),
        ("C019-5", {"all": _ALL}, {"xs": []}, False),
        ("C019-6", {"some": _ALL}, {"xs": []}, False),
        ("C019-7", {"none": _ALL}, {"xs": []}, True),
        ("C019-8", {"all": _ALL}, {}, False),
        ("C019-9", {"missing": ["a", "b", "c"]}, {"a": "", "b": 0}, ["a", "c"]),
        ("C019-10", {"missing_some": [1, ["a", "b", "c"]]}, {"a": "x"}, []),
        ("C019-11", {"missing_some": [2, ["a", "b", "c"]]}, {"a": "x"}, ["b", "c"]),
        ("C019-12", {"or": [0, "", []]}, {}, []),
        ("C020-1", {"<": [{"var": "temp"}, 15]}, {}, True),
        ("C020-2", {"<": [{"var": "temp"}, 15]}, {"temp": 9.5}, True),
        ("C020-3", {"<=": [0, {"var": "p"}, 1]}, {"p": None}, True),
        ("C020-4", {"<": [{"var": ["temp", 99]}, 15]}, {}, False),
        ("C020-5", {"==": [None, 0]}, {}, False),
        ("C020-6", {">=": [None, 0]}, {}, True),
        ("C020-7", {"!=": [{"var": "x"}, 0]}, {}, True),
        ("paths walk JSON only", {"var": "a.length"}, {"a": "text"}, None),
        ("an index", {"var": "a.0"}, {"a": ["x"]}, "x"),
        ("exact integers", {"===": [{"var": "a"}, 20260308000012345]}, {"a": 20260308000012346}, False),
    ],
)
def test_the_raw_result_is_that_of_the_reference(case: str, rule: Any, data: Any, result: Any) -> None:
    assert CompiledRule.compile(rule).result(RuleData(data)) == result, case


@pytest.mark.parametrize(
    ("case", "rule", "data", "verdict", "missing"),
    [
        ("C020-1", {"<": [{"var": "temp"}, 15]}, {}, "indeterminate", ("temp",)),
        ("C020-2", {"<": [{"var": "temp"}, 15]}, {"temp": 9.5}, "pass", ()),
        ("C020-3", {"<=": [0, {"var": "p"}, 1]}, {"p": None}, "indeterminate", ("p",)),
        ("C020-4", {"<": [{"var": ["temp", 99]}, 15]}, {}, "fail", ()),
        ("text", {"<": [{"var": "x"}, 1]}, {"x": "abc"}, "error", ()),
        ("zero", {"<": [{"/": [1, {"var": "x"}]}, 1]}, {"x": 0}, "error", ()),
        ("truthy", {"var": "x"}, {"x": "0"}, "pass", ()),
        ("falsy", {"var": "x"}, {"x": []}, "fail", ()),
        ("a constant", True, {}, "pass", ()),
    ],
)
def test_verdicts(case: str, rule: Any, data: Any, verdict: str, missing: tuple[str, ...]) -> None:
    outcome = CompiledRule.compile(rule).verdict(RuleData(data))
    assert (outcome.verdict, outcome.missing) == (Verdict(verdict), missing), case


def test_the_operation_budget_ends_in_an_error() -> None:
    rule = CompiledRule.compile({"all": [{"var": "xs"}, {"===": [{"var": ""}, 1]}]})
    outcome = rule.verdict(RuleData({"xs": [1] * 300_000}))
    assert outcome.verdict is Verdict.ERROR
    assert "BudgetExceeded" in outcome.cause


@pytest.mark.parametrize(
    ("rule", "pointer", "named"),
    [
        ({"nope": [1]}, "", "'nope'"),
        ({"and": [{"===": [1, 1]}, {"log": "x"}]}, "/and/1", "'log'"),
        ({"now": []}, "", "'now'"),
        ({"val": ["a"]}, "", "'val'"),
        ({"===": [{"length": ["a"]}, 1]}, "/===/0", "'length'"),
        ({"==": [1]}, "/==", "2 operands"),
        ({"a": 1, "b": 2}, "", "2"),
        ({"missing": ["a", {"var": "b"}]}, "/missing", "one list"),
        ({"reduce": [[1], {"var": {"var": "current"}}, 0]}, "/reduce/1/var", "written out"),
        ({"var": [["a", "b"]]}, "/var", "not a list"),
        ({"===": [{"var": "id"}, 12345678901234567890]}, "/===/1", "beyond exact range"),
        ({"reduce": [[1], [{"var": "accumulator"}, {"var": "accumulator"}], 1]}, "/reduce/1", "grow without bound"),
        ({"reduce": [[1], {"map": [{"var": "accumulator"}, [{"var": ""}]]}, [1]]}, "/reduce/1/map/1", "grow"),
    ],
)
def test_unknown_operators_and_forms_are_refused_at_registration(rule: Any, pointer: str, named: str) -> None:
    with pytest.raises(RuleRefused, match=named) as refused:
        CompiledRule.compile(rule)
    assert refused.value.pointer == pointer


def test_a_reduce_may_collect_what_it_reads() -> None:
    rule = CompiledRule.compile(
        {"reduce": [{"var": "xs"}, {"merge": [{"var": "accumulator"}, [{"var": "current.v"}]]}, []]}
    )
    assert rule.result(RuleData({"xs": [{"v": 1}, {"v": 2}]})) == [1, 2]


def test_data_may_be_one_level_deeper_than_a_body() -> None:
    body: Any = 1
    for _ in range(64):
        body = [body]
    assert CompiledRule.compile({"!!": {"var": "body"}}).verdict(RuleData({"body": body})).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("rule", "data", "cause"),
    [
        ({"<": [{"var": "x"}, 1]}, {"x": "private"}, "a value is no number in '<'"),
        ({"<": [{"var": "x"}, {"var": "y"}]}, {"x": "private", "y": 1}, "a value is no number"),
        ({"===": [{"var": "x"}, {"var": "x"}]}, {"x": ["private"]}, "lists and objects have no equality"),
        ({"in": [1, {"merge": [{"var": "x"}]}]}, {"x": None}, "'merge' was given null"),
        ({"===": [{"var": "x"}, 1]}, {"x": 2**64}, "number beyond exact range"),
    ],
)
def test_the_cause_of_an_error_holds_no_data(rule: Any, data: Any, cause: str) -> None:
    assert CompiledRule.compile(rule).verdict(RuleData(data)).cause == cause


def test_a_rule_that_nests_too_deep_is_refused() -> None:
    rule: Any = True
    for _ in range(200):
        rule = {"!": [rule]}
    with pytest.raises(RuleRefused, match="nesting"):
        CompiledRule.compile(rule)
