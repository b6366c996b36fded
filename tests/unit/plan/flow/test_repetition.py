"""What makes two calls one question, and when asking it again is a loop."""

from __future__ import annotations

import pytest

from taoloop.core.exact_json import JsonValue
from taoloop.plan.flow.repetition import LoopGuard, ask_the_same


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("差旅 报销", "差旅  报销"),
        ("差旅报销", "差旅 报销"),
        ("差旅报销", "差旅 报销 流程"),
        ("差旅报销的流程", "差旅报销"),
        ("travel expenses", "Travel   Expenses"),
        ("travel expenses", "travel expenses?"),
        ("travel expenses", "expenses travel"),
        ("travel expenses", "travel expenses approval"),
        ("ＡＢＣ１２３", "abc123"),
        ("A-100", "a 100"),
        ("order 123 status", "status of order 123"),
    ],
)
def test_the_same_query_in_other_spelling_or_with_words_besides_asks_the_same(one: str, other: str) -> None:
    assert ask_the_same({"query": one}, {"query": other})
    assert ask_the_same({"query": other}, {"query": one})


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hotels in Paris", "hotels in Rome"),
        ("A1", "A12"),
        ("order 123 status", "order 124 status"),
        ("order 123 status", "order status"),
        ("北京天气预报", "上海天气预报"),
        ("北京", "北京市"),
        ("Ann", "Ann Lee"),
        ("+", "-"),
        ("", "x"),
        ("-5", "5 apples"),
    ],
)
def test_another_thing_asks_something_else(one: str, other: str) -> None:
    assert not ask_the_same({"query": one}, {"query": other})


def test_everything_but_texts_must_be_equal() -> None:
    assert ask_the_same({"a": 1, "b": [True, None]}, {"b": [True, None], "a": 1})
    assert not ask_the_same({"a": 1}, {"a": 2})
    assert not ask_the_same({"a": "1"}, {"a": 1})
    assert not ask_the_same({"a": 1}, {"a": 1, "b": 2})
    assert not ask_the_same([1, 2], [2, 1])
    assert not ask_the_same({"a": True}, {"a": 1})


def test_a_very_long_text_is_compared_as_a_whole() -> None:
    assert not ask_the_same("word " * 1000, "word " * 1000 + "more")
    assert ask_the_same("Word " * 1000, "word " * 1000)


def trips_at(guard: LoopGuard, calls: list[tuple[str, JsonValue, JsonValue]]) -> int | None:
    return next((n for n, call in enumerate(calls, start=1) if guard.record(*call)), None)


def test_key_order_and_number_form_do_not_hide_a_loop() -> None:
    calls: list[tuple[str, JsonValue, JsonValue]] = [
        ("read", {"path": "/a", "limit": 5}, "x"),
        ("read", {"limit": 5, "path": "/a"}, "x"),
        ("read", {"path": "/a", "limit": 5.0}, "x"),
    ]
    assert trips_at(LoopGuard(3), calls) == 3


def test_another_tool_other_arguments_or_another_result_are_no_loop() -> None:
    assert trips_at(LoopGuard(2), [("a", {}, 1), ("b", {}, 1), ("a", {"x": 1}, 1), ("b", {"x": 1}, 1)]) is None
    assert trips_at(LoopGuard(3), [("job", {"id": 7}, word) for word in ("pending", "running", "done")]) is None


@pytest.mark.parametrize(
    ("calls", "tripped"),
    [
        # Cases C011-1 to C011-3.
        ([({"path": "/a", "limit": 5}, "x"), ({"limit": 5, "path": "/a"}, "x"), ({"path": "/a", "limit": 5}, "x")], 3),
        ([({"path": "/a"}, "x"), ({"path": "/b"}, "x"), ({"path": "/c"}, "x")], None),
        ([({"job": "7"}, "pending"), ({"job": "7"}, "running"), ({"job": "7"}, "done")], None),
        ([({"j": 1}, "x"), ({"j": 1}, "x"), ({"j": 1}, "y"), ({"j": 1}, "x"), ({"j": 1}, "x"), ({"j": 1}, "x")], 6),
        ([({"j": 1}, "x"), ({"j": 2}, "x"), ({"j": 1}, "x"), ({"j": 2}, "x"), ({"j": 1}, "x")], 5),
    ],
)
def test_guard_trips_at_the_third_equal_call_with_an_equal_result(
    calls: list[tuple[JsonValue, JsonValue]], tripped: int | None
) -> None:
    guard = LoopGuard(3)
    verdicts = [guard.record("read_file", arguments, result) for arguments, result in calls]
    assert (verdicts.index(True) + 1 if True in verdicts else None) == tripped


def test_guard_needs_at_least_two_calls() -> None:
    with pytest.raises(ValueError, match="at least two"):
        LoopGuard(1)


def test_calls_of_one_plan_that_say_different_things_are_no_loop() -> None:
    calls: tuple[JsonValue, ...] = ({"q": "red shirt"}, {"q": "red shirt long"}, {"q": "red shirt short"})
    beside, apart = LoopGuard(3), LoopGuard(3)
    assert [beside.record("find", call, True, "1") for call in calls] == [False] * 3
    reworded = (("a b", "1"), ("b a", "2"), ("A b!", "3"))
    assert [apart.record("find", {"q": text}, True, plan) for text, plan in reworded] == [False, False, True]


def test_a_guard_shows_what_it_knows() -> None:
    guard = LoopGuard(3)
    guard.record("a", {}, 1)
    assert repr(guard) == "LoopGuard(threshold=3, calls=1)"
