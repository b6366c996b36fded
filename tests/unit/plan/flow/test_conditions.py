"""Conditions: what they read, when they hold, and what they may not be."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.plan.flow.conditions import Condition, ConditionRefused, steering_sources
from taoloop.plan.model import ForEach, InputValue, PlanStep, StatePath, StepOutput
from taoloop.plan.task import ProvidedInput, TaintedEffects
from taoloop.tools.rules import RuleRefused, Verdict
from tests.unit.plan.checking import ALL, faults, full_faults, step

VIP: JsonValue = {"===": [{"var": "steps.1.t1.customer.level"}, "vip"]}


def judged(when: JsonValue, results: dict[str, JsonValue], state: Any = ABSENT, inputs: Any = ()) -> Verdict:
    return Condition.of(when, results).judged(results, state, inputs).verdict


def test_a_condition_reads_steps_by_their_ids_the_state_and_inputs() -> None:
    rule: JsonValue = {
        "and": [VIP, {"var": "state.user.is_known"}, {"<": [{"var": "inputs.i1.count"}, {"var": "steps.find.0.n"}]}]
    }
    assert set(Condition.of(rule, {"1.t1", "find"}).sources) == {
        StepOutput(step_id="1.t1", pointer="/customer/level"),
        StatePath(pointer="/user/is_known"),
        InputValue(input_id="i1", pointer="/count"),
        StepOutput(step_id="find", pointer="/0/n"),
    }


@pytest.mark.parametrize(
    ("level", "verdict"),
    [("vip", Verdict.PASS), ("basic", Verdict.FAIL)],
)
def test_a_condition_holds_by_the_data_of_a_step_whose_id_has_a_dot(level: str, verdict: Verdict) -> None:
    assert judged(VIP, {"1.t1": {"customer": {"level": level}}}) is verdict


def test_a_comparison_with_what_is_missing_decides_nothing() -> None:
    assert judged({">": [{"var": "steps.1.t1.total"}, 5]}, {"1.t1": {}}) is Verdict.INDETERMINATE
    assert judged({">": [{"var": "steps.1.t1.total"}, 5]}, {"1.t1": {"total": None}}) is Verdict.INDETERMINATE


def test_a_condition_may_ask_whether_something_is_missing() -> None:
    rule: JsonValue = {"!": [{"missing": ["steps.1.t1.coupon"]}]}
    assert judged(rule, {"1.t1": {"coupon": "X"}}) is Verdict.PASS
    assert judged(rule, {"1.t1": {}}) is Verdict.FAIL


def test_a_condition_that_cannot_be_computed_is_an_error() -> None:
    assert judged({">": [{"/": [{"var": "steps.1.t1.n"}, 0]}, 1]}, {"1.t1": {"n": 5}}) is Verdict.ERROR


def test_data_as_deep_as_a_result_may_be_is_judged_or_said_to_be_too_deep() -> None:
    deep: JsonValue = 1
    for _ in range(64):
        deep = [deep]
    assert judged({"!!": [{"var": "steps.1.t1"}]}, {"1.t1": deep}) is Verdict.ERROR


def test_state_and_inputs_decide_too_and_the_last_answer_counts() -> None:
    assert judged({"var": "state.is_new"}, {}, {"is_new": True}) is Verdict.PASS
    answers = (ProvidedInput(input_id="i", values={"n": 1}), ProvidedInput(input_id="i", values={"n": 3}))
    assert judged({"===": [{"var": "inputs.i.n"}, 3]}, {}, ABSENT, answers) is Verdict.PASS


@pytest.mark.parametrize(
    "when",
    [
        {"var": ""},
        {"var": "customer.level"},
        {"var": "steps"},
        {"var": {"cat": ["steps.", "1.t1.level"]}},
        {"some": [{"var": "steps.1.t1.lines"}, {"var": "urgent"}]},
        {"and": [{"var": "steps.1.level"}, {"var": "steps.1.t1.level"}]},
    ],
)
def test_a_condition_reads_only_places_that_it_writes_out(when: JsonValue) -> None:
    with pytest.raises(ConditionRefused):
        Condition.of(when, {"1.t1", "1"})


def test_a_condition_is_a_rule() -> None:
    with pytest.raises(RuleRefused):
        Condition.of({"launch": [1]}, {"a"})


def test_what_steers_a_step_is_what_its_condition_reads_and_its_list() -> None:
    items = StepOutput(step_id="b", pointer="/lines")
    planned = PlanStep(step_id="c", tool="t", when={"var": "steps.a.is_open"}, for_each=ForEach(items=items))
    assert steering_sources(planned, {"a", "b", "c"}) == (StepOutput(step_id="a", pointer="/is_open"), items)
    assert steering_sources(PlanStep(step_id="c", tool="t", when={"launch": 1}), {"a"}) == ()


OPEN = {"===": [{"var": "steps.a.id"}, "x"]}


def test_a_plan_may_have_conditions_over_steps_that_it_waits_for() -> None:
    assert faults(step("a", "find"), step("b", "get", {"id": {"$ref": "a/id"}}, ["a"], when=OPEN)) == []


@pytest.mark.parametrize(
    ("when", "after", "found"),
    [
        (OPEN, [], [("UNDECLARED_DEPENDENCY", "/steps/1/when")]),
        ({"var": "steps.a.color"}, ["a"], [("UNKNOWN_REFERENCE", "/steps/1/when")]),
        ({"var": "steps.z.color"}, ["a"], [("UNKNOWN_REFERENCE", "/steps/1/when")]),
        ({"launch": [1]}, ["a"], [("INVALID_PLAN", "/steps/1/when")]),
        ({"!": [{"launch": [1]}]}, ["a"], [("INVALID_PLAN", "/steps/1/when/!/0")]),
        ({"var": "a.id"}, ["a"], [("INVALID_PLAN", "/steps/1/when")]),
    ],
)
def test_a_condition_is_checked_as_references_are(when: Any, after: list[str], found: list[tuple[str, str]]) -> None:
    assert faults(step("a", "find"), step("b", "find", after=after, when=when)) == found


def test_a_condition_over_the_state_needs_the_state() -> None:
    one = step("a", "find", when={"var": "state.is_new"})
    assert faults(one, turns=(), state={"is_new": False}) == []
    assert faults(one, turns=(), state={}) == [("UNKNOWN_REFERENCE", "/steps/0/when")]


def test_a_condition_that_reads_something_else_names_what_it_may_read() -> None:
    (fault,) = full_faults(step("a", "find", when={"var": "data.x"}))
    assert fault.candidates == ("steps", "state", "inputs")


def test_untrusted_text_decides_over_no_write_where_that_is_refused() -> None:
    web = step("a", "web")
    pay = step("b", "pay", {"id": "x"}, ["a"], when={"!!": [{"var": "steps.a.page"}]})
    refusing = replace(ALL, tainted_effects=TaintedEffects.REFUSE)
    assert faults(web, pay, permissions=refusing) == [("TAINTED_SOURCE", "/steps/1")]
    assert faults(web, pay, permissions=ALL) == []


def test_a_step_reads_for_its_condition_only_what_its_input_sources_list() -> None:
    found = faults(step("a", "find"), step("b", "find", after=["a"], when=OPEN, input_sources=["user_query"]))
    assert found == [("SOURCE_NOT_ALLOWED", "/steps/1")]
