"""When a run has made calls enough, and how a planner names the results that hold the answer."""

from __future__ import annotations

from typing import Any

import pytest

from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.core.faults import Fault, FaultCode
from taoloop.plan.task import ProvidedInput
from taoloop.plan.thinking import AnswerOrigin, CompletedStep, ThinkRequest
from taoloop.thought.planners.known import SummaryRules, answer_of

FAULT = Fault(code=FaultCode.NOT_FOUND, stage="action", message="no such thing")
RULES = SummaryRules(after_calls=3)


def done(step_id: str, arguments: JsonValue = None) -> CompletedStep:
    return CompletedStep(step_id=step_id, tool="find", arguments=arguments, exposed={"n": step_id})


def lost(step_id: str) -> CompletedStep:
    return CompletedStep(step_id=step_id, tool="find", fault=FAULT)


def applies(*completed: CompletedStep, calls: int = 4, rules: SummaryRules = RULES, **more: Any) -> bool:
    return rules.apply_to(ThinkRequest(run_id="r", iteration=3, completed=completed, step_count=calls, **more))


def test_a_run_with_results_is_answered_after_so_many_calls() -> None:
    assert applies(done("1.t1"), calls=4)
    assert not applies(done("1.t1"), calls=3)
    assert applies(done("1.t1"), calls=1, rules=SummaryRules(after_calls=0))
    assert not applies(done("1.t1"), calls=99, rules=SummaryRules(is_on=False))


def test_without_a_result_there_is_nothing_to_answer_with() -> None:
    assert not applies(calls=9)
    assert not applies(lost("1.t1"), lost("2.t1"), calls=9)


def test_the_first_plan_that_failed_may_be_planned_round() -> None:
    assert not applies(done("1.t1"), lost("1.t2"), lost("1.t3"))
    assert not applies(done("1.t1"), done("2.t1"), lost("2.t2"))


def test_a_second_plan_that_failed_is_the_last() -> None:
    assert applies(done("1.t1"), lost("1.t2"), lost("2.t1"))


def test_a_failure_that_was_planned_round_with_success_is_over() -> None:
    assert applies(done("1.t1"), lost("1.t2"), done("2.t1"))


@pytest.mark.parametrize(("value", "is_over"), [("A1", True), ("A2", False)])
def test_an_answer_of_the_users_that_no_call_has_used_may_be_planned_with(value: str, is_over: bool) -> None:
    given = ProvidedInput(input_id="i", values={"/order_id": value})
    assert applies(done("1.t1", {"order_id": "A1"}), inputs=(given,)) is is_over


def test_a_run_that_a_person_let_go_on_may_plan() -> None:
    assert not applies(done("1.t1"), notes=("try the other depot",))


def test_an_answer_names_its_results_and_lists_them_for_who_reads_the_thought() -> None:
    answer = answer_of([done("1.t1"), CompletedStep(step_id="1.t2", tool="find", exposed="x")])
    assert [source.step_id for source in answer.grounding] == ["1.t1", "1.t2"]
    assert (answer.text, answer.data, answer.origin) == ("n: 1.t1\nx", "x", AnswerOrigin.FACTS)
    assert answer_of([]).data is ABSENT
