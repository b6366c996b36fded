"""Where the fault lies, the tool's result or the planner's reading of it, is said by facts alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.core.faults import Fault
from taoloop.evaluation.samples.exchanges import Exchange
from taoloop.evaluation.sandbox import STEP_ID, Assessment, SandboxVerdict, assess, planned_arguments, with_result
from taoloop.observation.grounding.checking import check_answer
from taoloop.plan.model import Binding, Literal, PlanStep, QuerySpan, StepOutput, Template, TemplatePart, ThoughtPlan
from taoloop.plan.task import InputField, Role, Turn
from taoloop.plan.thinking import Answer, Escalation, NeedInput, Refusal, RefusalReason, ThinkRequest
from tests.unit.evaluation.samples.orders import GOOD, observer, write

QUERY = "Where is order A-1001?"
ARGUMENTS: dict[str, JsonValue] = {"order_id": "A-1001"}


def assessed(directory: Path, outcome: Any, body: Any = GOOD, status: int = 200) -> Assessment:
    judge = observer(write(directory))
    observation = judge.observe(Exchange(tool="get_order", arguments=ARGUMENTS, body=body, status_code=status))
    first = ThinkRequest(run_id="r", iteration=1, turns=(Turn(role=Role.USER, text=QUERY),))
    request = with_result(first, "get_order", ARGUMENTS, observation)
    assert request.iteration == 2
    return assess(judge.catalogue, request, observation, outcome, check_answer)


def plan(*bindings: Binding, tool: str = "get_order") -> ThoughtPlan:
    return ThoughtPlan(version="1.0", steps=(PlanStep(step_id="2.t1", tool=tool, bindings=bindings),))


def span(text: str) -> QuerySpan:
    start = QUERY.index(text)
    return QuerySpan(turn=0, start=start, end=start + len(text), text=text)


def reference(pointer: str) -> Binding:
    return Binding(pointer="/order_id", source=StepOutput(step_id=STEP_ID, pointer=pointer))


def test_an_answer_that_says_what_the_result_says_is_understood(tmp_path: Path) -> None:
    found = assessed(tmp_path, Answer(text="A-1001 is shipped, the fee is 1."))
    assert found.verdict is SandboxVerdict.UNDERSTOOD, found.facts
    assert "/fee" in {fact.pointer for fact in found.facts}


def test_an_answer_that_says_another_value_misreads(tmp_path: Path) -> None:
    found = assessed(tmp_path, Answer(text="The fee of A-1001 is 7."))
    assert found.verdict is SandboxVerdict.PLANNER_MISREADS
    assert ["7" in fact.message for fact in found.facts if fact.is_fault] == [True]


def test_the_users_own_words_are_no_misreading(tmp_path: Path) -> None:
    found = assessed(tmp_path, Answer(text="A-1001: fee 1."))
    assert found.verdict is SandboxVerdict.UNDERSTOOD, found.facts


def test_an_answer_without_any_value_is_undecided(tmp_path: Path) -> None:
    assert assessed(tmp_path, Answer(text="it is fine")).verdict is SandboxVerdict.UNDECIDED


@pytest.mark.parametrize(("body", "status"), [({"state": 5}, 200), ({"error": "none"}, 404)])
def test_a_result_that_is_not_valid_is_the_tools_fault_whatever_the_planner_does(
    tmp_path: Path, body: Any, status: int
) -> None:
    found = assessed(tmp_path, Answer(text="The fee is 7."), body, status)
    assert found.verdict is SandboxVerdict.TOOL_RESULT_WRONG
    assert any(fact.about == "tool" and fact.is_fault for fact in found.facts)


def test_a_result_that_is_not_there_yet_is_nobodys_fault(tmp_path: Path) -> None:
    refusal = Refusal(reason=RefusalReason.PLAN_FAILED, message="wait")
    assert assessed(tmp_path, refusal, {}, 202).verdict is SandboxVerdict.UNDECIDED


def test_a_plan_that_refers_to_what_the_result_has_is_understood(tmp_path: Path) -> None:
    found = assessed(tmp_path, plan(reference("/status")))
    assert found.verdict is SandboxVerdict.UNDERSTOOD, found.facts


def test_a_plan_that_refers_to_what_the_result_lacks_misreads(tmp_path: Path) -> None:
    found = assessed(tmp_path, plan(reference("/order_no")))
    assert found.verdict is SandboxVerdict.PLANNER_MISREADS
    assert "/order_no" in {fact.pointer for fact in found.facts if fact.is_fault}


def test_a_reference_inside_a_template_is_looked_up_too(tmp_path: Path) -> None:
    parts = (TemplatePart(source=Literal(text="no. ")), TemplatePart(source=StepOutput(step_id=STEP_ID, pointer="/x")))
    found = assessed(tmp_path, plan(Binding(pointer="/order_id", source=Template(parts=parts))))
    assert "/x" in {fact.pointer for fact in found.facts if fact.is_fault}


def test_a_plan_that_calls_again_what_was_answered_misreads(tmp_path: Path) -> None:
    again = plan(Binding(pointer="/order_id", source=span("A-1001"), value="A-1001"))
    found = assessed(tmp_path, again)
    assert found.verdict is SandboxVerdict.PLANNER_MISREADS
    assert any("again" in fact.message for fact in found.facts if fact.is_fault)


def test_a_question_for_a_value_that_the_result_has_misreads(tmp_path: Path) -> None:
    asked = NeedInput(input_id="i", fields=(InputField(pointer="/eta", tool="get_order"),))
    found = assessed(tmp_path, asked)
    assert found.verdict is SandboxVerdict.PLANNER_MISREADS
    assert found.facts[-1].pointer == "/eta"


def test_a_question_for_anything_else_is_undecided(tmp_path: Path) -> None:
    asked = NeedInput(input_id="i", fields=(InputField(pointer="/language", tool="get_order"),))
    assert assessed(tmp_path, asked).verdict is SandboxVerdict.UNDECIDED


def test_handing_over_a_valid_result_misreads(tmp_path: Path) -> None:
    escalation = Escalation(message="A person must look.", faults=(Fault(code="X", stage="plan", message="x"),))
    assert assessed(tmp_path, escalation).verdict is SandboxVerdict.PLANNER_MISREADS


def test_planned_arguments_are_those_of_the_tools_step_when_all_are_known() -> None:
    known = plan(Binding(pointer="/order_id", source=span("A-1001"), value="A-1001"))
    assert planned_arguments(known, "get_order") == {"order_id": "A-1001"}
    assert planned_arguments(known, "other") is ABSENT
    assert planned_arguments(plan(reference("/status")), "get_order") is ABSENT
    assert planned_arguments(Answer(text=""), "get_order") is ABSENT
