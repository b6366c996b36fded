"""Stalls: what stands still is refused with its likely causes, and what moves on is not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.fingerprint import thought_fingerprint
from taoloop.plan.model import (
    Binding,
    ForEach,
    InputValue,
    ItemValue,
    PlanStep,
    QuerySpan,
    StatePath,
    StepOutput,
    ThoughtPlan,
)
from taoloop.plan.task import InputField, InputReason, ProvidedInput
from taoloop.plan.thinking import Answer, CompletedStep, Escalation, NeedInput, Refusal, RefusalReason, ThinkRequest
from taoloop.thought.pipeline.stalling import Outcome, Stall, find_stall, stall_of

SPAN = QuerySpan(start=0, end=4, text="1234")
BOUND = Binding(pointer="/locker", source=SPAN, value="1234")
PLAN = ThoughtPlan(steps=(PlanStep(step_id="1.t1", tool="open_hours", bindings=(BOUND,)),), iteration=1)
AGAIN = replace(PLAN, steps=(replace(PLAN.steps[0], step_id="2.t1"),), iteration=2)
QUESTION = NeedInput(input_id="q1", fields=(InputField(pointer="/day", tool="book"),))
GIVEN = (ProvidedInput(input_id="q1", values={"day": "2026-05-20"}),)
DONE = CompletedStep(step_id="1.t1", tool="open_hours", arguments={"locker": "1234"}, exposed={"opens": "09:00"})


def _request(previous: Outcome | None = None, **more: Any) -> ThinkRequest:
    before = "" if previous is None else thought_fingerprint(previous)
    return ThinkRequest(run_id="r", iteration=2, previous_thought_sha256=before, **more)


def _fault(*, retriable: bool) -> Fault:
    return Fault(code=FaultCode.TOOL_TIMEOUT, stage=FaultStage.ACTION, message="late", retriable=retriable)


def test_plan_without_a_step_stands_still() -> None:
    assert stall_of(ThoughtPlan(), _request()) is Stall.EMPTY_PLAN


def test_same_plan_after_an_answer_stands_still_under_other_ids() -> None:
    assert stall_of(AGAIN, _request(PLAN, inputs=GIVEN)) is Stall.REPEATED_PLAN


def test_plan_that_reads_the_answer_moves_on() -> None:
    source = InputValue(input_id="q1", pointer="/day")
    step = PlanStep(step_id="2.t1", tool="open_hours", bindings=(BOUND, Binding(pointer="/day", source=source)))
    assert stall_of(ThoughtPlan(steps=(step,)), _request(PLAN, inputs=GIVEN)) is None


def test_same_plan_is_tried_again_after_a_failure_that_may_pass() -> None:
    failed = replace(DONE, exposed=None, fault=_fault(retriable=True))
    assert stall_of(AGAIN, _request(PLAN, completed=(failed,))) is None


def test_same_plan_after_a_failure_that_stays_stands_still() -> None:
    failed = replace(DONE, exposed=None, fault=_fault(retriable=False))
    assert stall_of(AGAIN, _request(PLAN, completed=(failed,))) is Stall.REPEATED_PLAN


def test_plan_of_calls_that_were_all_made_with_success_stands_still_without_a_fingerprint() -> None:
    assert stall_of(AGAIN, _request(completed=(DONE,))) is Stall.REPEATED_PLAN


def test_plan_with_one_new_call_moves_on() -> None:
    other = replace(AGAIN.steps[0], step_id="2.t2", bindings=(replace(BOUND, value="9999"),))
    assert stall_of(replace(AGAIN, steps=(*AGAIN.steps, other)), _request(completed=(DONE,))) is None


def test_argument_from_an_earlier_result_is_compared_by_its_value() -> None:
    source = StepOutput(step_id="1.t1", pointer="/opens")
    step = PlanStep(step_id="2.t1", tool="remind", bindings=(Binding(pointer="/at", source=source),))
    reminded = CompletedStep(step_id="1.t2", tool="remind", arguments={"at": "09:00"})
    plan = ThoughtPlan(steps=(step,))
    assert stall_of(plan, _request(completed=(DONE, reminded))) is Stall.REPEATED_PLAN
    assert stall_of(plan, _request(completed=(DONE, replace(reminded, arguments={"at": "10:00"})))) is None


@pytest.mark.parametrize(("asked", "stall"), [(["a", "b"], Stall.REPEATED_PLAN), (["a"], None)])
def test_a_step_for_every_item_was_made_when_it_was_made_for_each_of_them(
    asked: list[str], stall: Stall | None
) -> None:
    listed = CompletedStep(step_id="1.t1", tool="lockers", exposed={"ids": ["a", "b"]})
    done = CompletedStep(
        step_id="1.t2",
        tool="open_hours",
        arguments=[{"locker": each} for each in asked],
        exposed=[{"opens": "09:00"} for _ in asked],
        is_gathered=True,
    )
    step = PlanStep(
        step_id="2.t1",
        tool="open_hours",
        bindings=(Binding(pointer="/locker", source=ItemValue(pointer="")),),
        for_each=ForEach(items=StepOutput(step_id="1.t1", pointer="/ids")),
    )
    assert stall_of(ThoughtPlan(steps=(step,)), _request(completed=(listed, done))) is stall
    elsewhere = replace(step, for_each=ForEach(items=StepOutput(step_id="1.t1", pointer="/names")))
    assert stall_of(ThoughtPlan(steps=(elsewhere,)), _request(completed=(listed, done))) is None


def test_same_question_after_its_answer_stands_still() -> None:
    assert stall_of(replace(QUESTION, input_id="q2"), _request(QUESTION, inputs=GIVEN)) is Stall.REPEATED_QUESTION


def test_question_for_another_value_moves_on() -> None:
    other = NeedInput(input_id="q2", fields=(InputField(pointer="/hour", tool="book"),))
    assert stall_of(other, _request(QUESTION, inputs=GIVEN)) is None


def test_value_that_did_not_fit_is_asked_for_again() -> None:
    again = NeedInput(input_id="q2", fields=(InputField(pointer="/day", tool="book", reason=InputReason.INVALID),))
    assert stall_of(again, _request(again, inputs=GIVEN)) is None


@pytest.mark.parametrize("outcome", [Answer(text="x"), Refusal(reason=RefusalReason.NO_TOOL), Escalation(message="x")])
def test_thought_that_ends_the_run_never_stands_still(outcome: Outcome) -> None:
    assert find_stall(outcome, _request(PLAN, inputs=GIVEN)) is None


def test_fault_names_the_stall_and_its_likely_causes() -> None:
    fault = find_stall(AGAIN, _request(PLAN, inputs=GIVEN))
    assert fault is not None
    assert (fault.code, fault.stage) == (FaultCode.THOUGHT_STALLED, FaultStage.PLAN)
    assert fault.actual == {"stall": "repeated_plan", "causes": ["input_not_read", "session_state_lost"]}
    assert "answered since" in fault.message


def test_state_that_is_there_is_no_cause() -> None:
    fault = find_stall(AGAIN, _request(PLAN, inputs=GIVEN, state={"user": {"id": "7"}}))
    assert fault is not None
    assert fault.actual == {"stall": "repeated_plan", "causes": ["input_not_read"]}


def test_plan_that_reads_neither_words_nor_results_says_so() -> None:
    step = PlanStep(step_id="2.t1", tool="show", bindings=(Binding(pointer="/id", source=StatePath(pointer="/id")),))
    plan = ThoughtPlan(steps=(step,))
    fault = find_stall(plan, _request(plan, state={"id": "1"}, completed=(DONE,)))
    assert fault is not None
    assert fault.actual == {"stall": "repeated_plan", "causes": ["results_not_read", "words_not_read"]}


@given(st.text(max_size=20), st.text(max_size=20))
def test_pointers_that_lead_nowhere_are_no_stall(pointer: str, place: str) -> None:
    source = StepOutput(step_id="1.t1", pointer=pointer)
    step = PlanStep(step_id="2.t1", tool="remind", bindings=(Binding(pointer=place, source=source),))
    assert stall_of(ThoughtPlan(steps=(step,)), _request(completed=(DONE, replace(DONE, tool="remind")))) is None
