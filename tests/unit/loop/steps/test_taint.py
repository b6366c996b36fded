"""What taints a run, what a plan's taint is, and what steers a step."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from taoloop.core.exact_json import ABSENT
from taoloop.loop.correction.progress import second_of
from taoloop.loop.state import RunState
from taoloop.loop.steps.taint import Steering, steering_of
from taoloop.plan.acting import ActionResult, ActionStatus, Attempt, Body, Provenance, ServedBy
from taoloop.plan.effects import ApprovalDecision
from taoloop.plan.model import ForEach, PlanStep, StepOutput, ThoughtPlan
from taoloop.plan.observing import ObservationResult
from taoloop.plan.running import (
    ActionReturned,
    ApprovalOutcome,
    EventBody,
    ResultObserved,
    RunEvent,
    RunResumed,
    RunStarted,
    StepStarted,
    ThoughtMade,
)
from taoloop.plan.task import Task
from taoloop.plan.thinking import ThinkResponse
from taoloop.tools.signature import Trust

RUN_ID = "1" * 32
NOW = datetime(2026, 3, 10, tzinfo=UTC)
UNTRUSTED = (Provenance(pointer="/q", source="step_output", step_id="1.page", trust=Trust.UNTRUSTED),)


def state_of(*bodies: EventBody) -> RunState:
    events = [RunEvent(run_id=RUN_ID, sequence=n, time=NOW, body=body) for n, body in enumerate(bodies, 1)]
    return RunState.from_events(RUN_ID, events)


def thought(*steps: PlanStep, iteration: int = 1) -> ThoughtMade:
    return ThoughtMade(
        response=ThinkResponse(outcome=ThoughtPlan(steps=steps), thought_id="2" * 32, iteration=iteration)
    )


def step(step_id: str, **more: Any) -> PlanStep:
    return PlanStep(step_id=step_id, tool="tool", **more)


def said(step_id: str, trust: Trust, provenance: tuple[Provenance, ...] = (), **more: Any) -> tuple[EventBody, ...]:
    """Return the events of a step that was called and judged."""
    given: dict[str, Any] = {"status": ActionStatus.SUCCEEDED, "served_by": ServedBy.PRIMARY}
    result = ActionResult(step_id=step_id, tool="tool", trust=trust, **(given | more))
    verdict = ObservationResult(step_id=step_id, tool="tool", valid=True, data={"n": 1}, trust=trust)
    started = StepStarted(step_id=step_id, tool="tool", arguments={}, provenance=provenance)
    return started, ActionReturned(result=result), ResultObserved(result=verdict)


PAGE = said("1.page", Trust.UNTRUSTED)


def test_a_run_is_tainted_once_an_untrusted_tool_has_said_something() -> None:
    plan = thought(step("1.page"), step("1.order"))
    assert not state_of(RunStarted(), plan, *said("1.order", Trust.TRUSTED)).is_tainted
    tainted = state_of(RunStarted(), plan, *PAGE)
    assert (tainted.is_tainted, tainted.tainting_steps) == (True, ("1.page",))


@pytest.mark.parametrize(
    ("result", "is_tainted"),
    [
        ({"served_by": ServedBy.CACHE}, True),
        ({"served_by": ServedBy.DUPLICATE}, True),
        ({"status": ActionStatus.FAILED, "served_by": ServedBy.PRIMARY}, True),
        ({"status": ActionStatus.FAILED, "served_by": None, "body": Body(size_bytes=3, truncated=True)}, True),
        (
            {
                "status": ActionStatus.FAILED,
                "served_by": None,
                "attempts": (Attempt(start=NOW, outcome="UPSTREAM_REFUSED", code=403),),
            },
            True,
        ),
        ({"status": ActionStatus.REJECTED, "served_by": None}, False),
        ({"status": ActionStatus.FAILED, "served_by": None, "attempts": (Attempt(start=NOW, outcome="X"),)}, False),
    ],
)
def test_a_failure_or_a_part_of_an_answer_taints_and_a_call_that_brought_nothing_does_not(
    result: dict[str, Any], is_tainted: bool
) -> None:
    state = state_of(RunStarted(), thought(step("1.page")), *said("1.page", Trust.UNTRUSTED, **result))
    assert state.is_tainted is is_tainted


def test_another_attempt_by_a_trusted_tool_takes_no_mark_away() -> None:
    state = state_of(RunStarted(), thought(step("1.page")), *PAGE, *said("1.page", Trust.TRUSTED))
    assert state.is_tainted


def test_neither_leave_nor_a_take_over_takes_the_mark_away() -> None:
    leave = ApprovalOutcome(approval_id="a", decision=ApprovalDecision.APPROVED)
    resumed = (RunResumed(reason="approval", approval=leave), RunResumed(reason="take_over"))
    state = state_of(RunStarted(), thought(step("1.page")), *PAGE, *resumed, thought(step("2.t"), iteration=2))
    assert state.plan_is_tainted


def test_a_task_that_says_so_is_tainted_from_its_start() -> None:
    state = state_of(RunStarted(task=Task(tainted_context=True)), thought(step("1.pay")))
    assert steering_of(state, step("1.pay")) == Steering(True, ())


def test_a_result_that_untrusted_words_asked_for_is_untrusted_for_the_next_thought() -> None:
    state = state_of(RunStarted(), thought(), *PAGE, *said("1.order", Trust.TRUSTED, UNTRUSTED))
    assert [(done.step_id, done.trust) for done in state.completed()] == [
        ("1.page", Trust.UNTRUSTED),
        ("1.order", Trust.UNTRUSTED),
    ]


def test_a_page_that_is_read_beside_a_step_does_not_steer_it() -> None:
    pay = step("1.pay")
    state = state_of(RunStarted(), thought(step("1.page"), pay), *PAGE)
    assert steering_of(state, pay) == Steering(False, ())


def test_a_plan_that_was_made_after_the_page_was_read_is_steered_by_it() -> None:
    pay = step("2.pay")
    state = state_of(RunStarted(), thought(step("1.page")), *PAGE, thought(pay, iteration=2))
    assert steering_of(state, pay) == Steering(True, ("1.page",))


def test_a_condition_that_reads_untrusted_words_steers() -> None:
    when = {"==": [{"var": "steps.1.page.n"}, 1]}
    pay, other = step("1.pay", when=when), step("1.other", when={"==": [{"var": "steps.1.order.n"}, 1]})
    events = (thought(step("1.page"), step("1.order"), pay, other), *PAGE, *said("1.order", Trust.TRUSTED))
    state = state_of(RunStarted(), *events)
    assert steering_of(state, pay) == Steering(True, ("1.page",))
    assert steering_of(state, other) == Steering(False, ())


def test_what_steers_a_step_steers_the_second_source_that_is_asked_in_its_place() -> None:
    pay = step("1.pay", when={"==": [{"var": "steps.1.page.n"}, 1]})
    state = state_of(RunStarted(), thought(step("1.page"), pay), *PAGE)
    assert steering_of(state, step(second_of("1.pay"))) == Steering(True, ("1.page",))


def test_a_list_of_untrusted_words_steers_each_of_its_items() -> None:
    items = ForEach(items=StepOutput(step_id="1.page", pointer="/list"), max_items=3)
    state = state_of(RunStarted(), thought(step("1.page"), step("1.pay", for_each=items)), *PAGE)
    assert steering_of(state, step("1.pay#0", when=ABSENT)) == Steering(True, ("1.page",))
