"""A message comes to a plan, a question or faults, never to an exception of a parser."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taoloop.core.faults import Fault, FaultCode
from taoloop.plan.model import QuerySpan, ThoughtPlan
from taoloop.plan.thinking import NeedInput
from taoloop.thought.parsing import ChatMessageText, Repair
from taoloop.thought.planners.model.expansion import Expansion, SkeletonRefused
from taoloop.thought.planners.model.interpreting import interpret
from tests.unit.thought.planners.model.tools import offer_of, request_of

REQUEST = request_of()
OFFER = offer_of(REQUEST)


def interpreted(content: str | None, **more: Any) -> Expansion:
    return interpret(ChatMessageText(content=content, **more), OFFER, REQUEST)


def faults_of(content: str | None, **more: Any) -> tuple[Fault, ...]:
    with pytest.raises(SkeletonRefused) as caught:
        interpreted(content, **more)
    return caught.value.faults


def called(name: str, **args: Any) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': args})}</tool_call>"


def test_a_reply_that_is_mended_says_how() -> None:
    expansion = interpreted("<think>why: by phone</think>{'plan': [[1, '555-0199']]}")

    assert isinstance(expansion.outcome, ThoughtPlan)
    assert expansion.repairs == {Repair.REASONING, Repair.PYTHON_QUOTES}
    assert expansion.reasoning.why == "by phone"


@pytest.mark.parametrize(
    ("content", "more", "cause"),
    [
        ('{"plan": [[1, "555-0199"]', {}, "TRUNCATED"),
        ('{"none": true}', {"finish_reason": "length"}, "TRUNCATED"),
        (None, {"reasoning": '{"none": true}'}, "EMPTY_CONTENT"),
        ("I cannot plan that.", {}, "NO_PLAN"),
    ],
)
def test_what_cannot_be_read_is_one_fault_with_its_cause(content: str | None, more: Any, cause: str) -> None:
    (fault,) = faults_of(content, **more)

    assert (fault.code, fault.actual) == (FaultCode.PARSE_FAILED, cause)
    assert fault.suggestion


def test_calls_in_another_format_are_plans_whose_arguments_are_quotes() -> None:
    said = {"guest": "555-0199", "arrival": "next Monday", "kind": "double bed", "nights": 3}
    plan = interpreted(called("book_room", **said, address={"city": "Osaka"})).outcome

    assert isinstance(plan, ThoughtPlan)
    values = {binding.pointer: binding.value for binding in plan.steps[0].bindings}
    assert values["/kind"] == "double bed"
    assert values["/nights"] == 3
    assert values["/address/city"] == "Osaka"
    assert isinstance(plan.steps[0].bindings[0].source, QuerySpan)


def test_an_argument_of_a_call_that_nobody_said_is_asked_for() -> None:
    outcome = interpreted(called("find_guest", phone="555-1234")).outcome

    assert isinstance(outcome, NeedInput)


def test_calls_of_tools_and_parameters_that_are_not_there_are_faults() -> None:
    faults = faults_of(called("drop_tables") + called("find_guest", phone="555-0199", mail="x"))

    assert [fault.code for fault in faults] == [FaultCode.UNKNOWN_TOOL, FaultCode.UNKNOWN_PARAMETER]


ODD: list[Any] = [{}, [], None, True, 1.5, "", "555-0199"]


@given(st.text(max_size=80) | st.sampled_from([called("find_guest", phone=phone) for phone in ODD]))
def test_any_message_is_interpreted_or_refused(content: str) -> None:
    try:
        expansion = interpreted(content)
    except SkeletonRefused:
        return
    assert expansion.outcome is not None


WHOLE = '{"why": "id first", "plan": [[1, "555-0199"], [2, {"1": "id"}, "next Monday", 2, "3"]]}'


@pytest.mark.parametrize("text", [WHOLE, f"```json\n{WHOLE}\n```", f"<think>hm</think>{WHOLE}"])
def test_a_plan_that_was_cut_anywhere_is_never_accepted(text: str) -> None:
    whole = interpreted(text).outcome
    for end in range(len(text)):
        try:
            outcome = interpreted(text[:end]).outcome
        except SkeletonRefused:
            continue
        assert outcome == whole, text[:end]
