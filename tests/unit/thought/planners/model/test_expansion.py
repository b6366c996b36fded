"""A skeleton points; code finds, converts and checks, and says what has to be written otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.core.faults import Fault, FaultCode
from taoloop.plan.model import (
    Binding,
    ContractValue,
    ContractValueKind,
    Convert,
    Generated,
    InputValue,
    QuerySpan,
    Reasoning,
    RequestClock,
    StatePath,
    StepOutput,
    ThoughtPlan,
)
from taoloop.plan.task import InputReason, Permissions, ProvidedInput, Role, Turn
from taoloop.plan.thinking import (
    Answer,
    AnswerOrigin,
    CompletedStep,
    Grounding,
    NeedInput,
    Refusal,
    RefusalReason,
)
from taoloop.thought.planners.model.expansion import Expansion, SkeletonRefused, expand
from taoloop.thought.planners.model.filling import Flag
from taoloop.thought.planners.model.offer import Mode
from taoloop.tools.signature import Trust
from tests.unit.thought.planners.model.tools import offer_of, request_of

N = None
F = FaultCode
MISSING, INVALID = InputReason.MISSING, InputReason.INVALID
DONE = CompletedStep(step_id="1.t1", tool="find_guest", exposed={"id": "g-7", "n": 1}, trust=Trust.TRUSTED)


def expanded(skeleton: JsonValue, **more: Any) -> Expansion:
    request = request_of(**more)
    return expand(skeleton, offer_of(request), request)


def plan_of(skeleton: JsonValue, **more: Any) -> ThoughtPlan:
    outcome = expanded(skeleton, **more).outcome
    assert isinstance(outcome, ThoughtPlan), outcome
    return outcome


def bound(*values: JsonValue, **more: Any) -> dict[str, Binding]:
    """Return the bindings of a booking with these values behind guest and arrival."""
    plan = plan_of({"plan": [[2, "555-0199", "next Monday", *values]]}, **more)
    return {binding.pointer: binding for binding in plan.steps[0].bindings}


def asked(skeleton: JsonValue, **more: Any) -> list[tuple[str, InputReason]]:
    outcome = expanded(skeleton, **more).outcome
    assert isinstance(outcome, NeedInput), outcome
    return [(field.pointer, field.reason) for field in outcome.fields]


def faults_of(skeleton: JsonValue, **more: Any) -> tuple[Fault, ...]:
    with pytest.raises(SkeletonRefused) as caught:
        expanded(skeleton, **more)
    return caught.value.faults


def test_quotes_become_spans_of_the_request_with_their_conversion() -> None:
    bindings = bound(N, "3")

    span = bindings["/arrival"].source
    assert isinstance(span, QuerySpan)
    assert (span.text, bindings["/arrival"].convert) == ("next Monday", Convert(to="date"))
    assert bindings["/arrival"].value == "2026-12-07"
    assert (bindings["/nights"].value, bindings["/nights"].convert) == (3, Convert(to="integer"))


def test_numbers_choose_values_of_the_schema() -> None:
    assert bound(2)["/kind"].source == ContractValue(kind=ContractValueKind.ENUM, pointer="/$defs/kind/enum/1")
    assert bound(0)["/kind"].source == ContractValue(kind=ContractValueKind.DEFAULT, pointer="/$defs/kind/default")
    assert bound(2)["/kind"].value == "double bed"


def test_words_for_a_value_of_the_schema_are_that_value() -> None:
    assert bound("Double Bed")["/kind"].source == ContractValue(
        kind=ContractValueKind.ENUM, pointer="/$defs/kind/enum/1"
    )


def test_objects_and_lists_are_filled_by_position() -> None:
    bindings = bound(N, N, N, ["Osaka"], ["cot", "towels"])

    assert {key: binding.value for key, binding in bindings.items() if key.count("/") > 1} == {
        "/address/city": "Osaka",
        "/extras/0": "cot",
        "/extras/1": "towels",
    }


def test_true_and_false_come_from_words_that_say_so() -> None:
    binding = bound(N, N, {"true": "with breakfast"})["/breakfast"]

    assert binding.convert == Convert(to="enum", options={"values": {"with breakfast": True}})
    assert binding.value is True


def test_everything_else_is_a_pointer() -> None:
    more = bound(N, N, N, N, N, {"now": True}, {"text": "a quiet room"}, {"state": "user.token"})

    assert (more["/made_at"].source, more["/note"].source) == (RequestClock(), Generated(text="a quiet room"))
    assert more["/secret"].source == StatePath(pointer="/user/token")
    given = plan_of({"plan": [[1, {"input": "phone"}]]}, inputs=(ProvidedInput(input_id="i", values={"phone": "1"}),))
    assert given.steps[0].bindings[0].source == InputValue(input_id="i", pointer="/phone")


def test_a_step_points_at_an_earlier_one_and_waits_for_it() -> None:
    plan = plan_of({"why": "id first", "plan": [[1, "555-0199"], [2, {"1": "id"}, "next Monday"]]})

    assert [step.step_id for step in plan.steps] == ["2.t1", "2.t2"]
    assert plan.steps[1].depends_on == ("2.t1",)
    assert plan.steps[1].bindings[0].source == StepOutput(step_id="2.t1", pointer="/id")
    assert plan.reasoning == Reasoning(why="id first")


def test_a_step_that_writes_waits_for_every_step_before_it() -> None:
    plan = plan_of({"plan": [[1, "555-0199"], [2, "555-0199", "next Monday"], [1, "555-0199"]]})

    assert [step.depends_on for step in plan.steps] == [(), ("2.t1",), ()]


def test_completed_steps_are_pointed_at_by_letter() -> None:
    plan = plan_of({"plan": [[2, {"a": "id"}, "next Monday"]]}, completed=(DONE,))

    assert plan.steps[0].bindings[0].source == StepOutput(step_id="1.t1", pointer="/id")


@pytest.mark.parametrize(
    ("skeleton", "fields"),
    [
        ({"plan": [[1, "555-9999"]]}, [("/phone", MISSING)]),
        ({"plan": [[1]]}, [("/phone", MISSING)]),
        ({"plan": [[2, N, "next Monday", N, "Osaka"]]}, [("/guest", MISSING), ("/nights", INVALID)]),
        ({"plan": [[2, "555-0199", "breakfast"]]}, [("/arrival", INVALID)]),
        ({"plan": [[2, "555-0199", "next Monday", "towels"]]}, [("/kind", INVALID)]),
        ({"plan": [[2, "555-0199", "next Monday", N, N, N, [N, "Osaka"]]]}, [("/address/city", MISSING)]),
        ({"ask": [2, "address.city", "guest"]}, [("/address/city", MISSING), ("/guest", MISSING)]),
        ({"ask": ["find_guest", "phone"]}, [("/phone", MISSING)]),
    ],
)  # fmt: skip
def test_what_nobody_said_is_asked_for(skeleton: JsonValue, fields: list[tuple[str, InputReason]]) -> None:
    assert asked(skeleton) == fields


def test_a_question_has_the_same_id_each_time_and_words_of_the_users_language() -> None:
    first, second = (expanded({"ask": [2, "guest"]}).outcome for _ in range(2))
    chinese = expanded({"ask": [2, "guest"]}, locale="zh-CN").outcome

    assert first == second
    assert isinstance(first, NeedInput)
    assert isinstance(chinese, NeedInput)
    assert first.fields[0].question == "Please give: Id of the guest. Not the name."
    assert chinese.fields[0].question.startswith("请提供")


@pytest.mark.parametrize(
    ("skeleton", "code", "field"),
    [
        ([], F.INVALID_PLAN, ""),
        ({}, F.INVALID_PLAN, ""),
        ({"plan": [[1]], "none": True}, F.INVALID_PLAN, ""),
        ({"done": ["a"]}, F.INVALID_PLAN, ""),
        ({"plan": []}, F.EMPTY_PLAN, "/plan"),
        ({"plan": [[]]}, F.INVALID_PLAN, "/plan/0"),
        ({"plan": [[1, "555-0199"]] * 8}, F.PLAN_TOO_LARGE, "/plan"),
        ({"plan": [[9]]}, F.UNKNOWN_TOOL, "/plan/0/0"),
        ({"plan": [[True]]}, F.UNKNOWN_TOOL, "/plan/0/0"),
        ({"tool": 9, "plan": [[1, "555-0199"]]}, F.UNKNOWN_TOOL, "/tool"),
        ({"plan": [[1, "555-0199", "x"]]}, F.UNKNOWN_PARAMETER, "/plan/0"),
        ({"plan": [[1, ["555-0199"]]]}, F.TYPE_MISMATCH, "/plan/0/1"),
        ({"plan": [[1, True]]}, F.TYPE_MISMATCH, "/plan/0/1"),
        ({"plan": [[1, {"1": "id"}]]}, F.UNKNOWN_REFERENCE, "/plan/0/1"),
        ({"plan": [[1, {"0": "id"}]]}, F.UNKNOWN_REFERENCE, "/plan/0/1"),
        ({"plan": [[1, "555-0199"], [1, {"1": "phone"}]]}, F.UNKNOWN_REFERENCE, "/plan/1/1"),
        ({"plan": [[1, "555-0199"], [1, {"1": "stays"}]]}, F.TYPE_MISMATCH, "/steps/1/args/phone"),
        ({"plan": [[1, {"state": "user.age"}]]}, F.TYPE_MISMATCH, "/steps/0/args/phone"),
        ({"plan": [[1, {"state": "nobody"}]]}, F.UNKNOWN_REFERENCE, "/plan/0/1"),
        ({"plan": [[1, {"input": "phone"}]]}, F.UNKNOWN_REFERENCE, "/plan/0/1"),
        ({"plan": [[1, {"a": "id"}]]}, F.UNKNOWN_REFERENCE, "/plan/0/1"),
        ({"plan": [[1, {"text": "555"}]]}, F.SOURCE_NOT_ALLOWED, "/plan/0/1"),
        ({"plan": [[1, {"now": True}]]}, F.TYPE_MISMATCH, "/plan/0/1"),
        ({"plan": [[1, {"true": "with breakfast"}]]}, F.TYPE_MISMATCH, "/plan/0/1"),
        ({"plan": [[2, "555-0199", "next Monday", 7]]}, F.UNKNOWN_REFERENCE, "/plan/0/3"),
        ({"plan": [[2, "555-0199", "next Monday", N, N, N, N, N, N, "cot"]]}, F.SOURCE_NOT_ALLOWED, "/plan/0/9"),
        ({"plan": [[2, "555-0199", "next Monday", N, N, N, N, N, N, N, N, "x"]]}, F.TYPE_MISMATCH, "/plan/0/11"),
        ({"ask": [1, "room"]}, F.INVALID_PLAN, "/ask/1"),
        ({"ask": [1]}, F.INVALID_PLAN, "/ask"),
    ],
)  # fmt: skip
def test_what_does_not_type_check_is_a_fault_with_its_place(skeleton: JsonValue, code: FaultCode, field: str) -> None:
    (fault,) = faults_of(skeleton)

    assert (fault.code, fault.field) == (code, field)
    assert fault.message


def test_every_fault_of_the_steps_comes_at_once() -> None:
    assert [fault.field for fault in faults_of({"plan": [[1, True], [1, {"2": "id"}]]})] == ["/plan/0/1", "/plan/1/1"]


def test_a_fault_names_what_would_be_right() -> None:
    (unknown,) = faults_of({"plan": [[1, "555-0199"], [1, {"1": "nam"}]]})

    assert unknown.candidates[0] == "name"
    assert faults_of({"plan": [[9]]})[0].candidates == ("1 find_guest", "2 book_room", "3 echo")


def test_a_plan_beyond_the_permissions_is_refused_by_the_check() -> None:
    (fault,) = faults_of({"plan": [[2, "555-0199", "next Monday"]]}, permissions=Permissions())

    assert fault.code == FaultCode.EFFECT_NOT_ALLOWED


def test_a_mode_that_is_not_allowed_is_refused() -> None:
    request = request_of()

    with pytest.raises(SkeletonRefused):
        expand({"plan": [[1, "555-0199"]]}, offer_of(request, frozenset({Mode.ASK, Mode.NONE})), request)


def test_a_quote_that_was_said_twice_takes_the_first_place_and_is_flagged() -> None:
    expansion = expanded({"plan": [[1, "555-0199"]]})

    assert isinstance(expansion.outcome, ThoughtPlan)
    span = expansion.outcome.steps[0].bindings[0].source
    assert isinstance(span, QuerySpan)
    assert span.start == request_of().turns[0].text.index("555")
    assert expansion.flags == {Flag.SEVERAL_PLACES}


def test_other_kinds_of_sloppiness_are_flagged() -> None:
    assert expanded({"plan": [[1, "double   bed"]]}).flags == {Flag.FOLDED_QUOTE}
    assert expanded({"plan": [[1, "owel"]]}).flags == {Flag.INSIDE_WORD}
    assert Flag.NUMBER_AS_QUOTE in expanded({"plan": [[2, "Osaka", "next Monday", N, 3]]}).flags


def test_only_the_user_is_quoted_and_later_turns_first() -> None:
    turns = tuple(
        Turn(role=role, text=text)
        for role, text in [(Role.USER, "call 17"), (Role.ASSISTANT, "17 or 18?"), (Role.USER, "17 please")]
    )

    plan = plan_of({"plan": [[1, "17"]]}, turns=turns)
    assert plan.steps[0].bindings[0].source == QuerySpan(turn=2, start=0, end=2, text="17")
    assert asked({"plan": [[1, "18"]]}, turns=turns) == [("/phone", InputReason.MISSING)]


def test_the_other_outcomes_carry_what_they_need() -> None:
    assert expanded({"none": True, "why": "no tool"}).outcome == Refusal(reason=RefusalReason.NO_TOOL)
    held = (Grounding(text="", step_id="1.t1", pointer=""),)
    answer = expanded({"done": ["a"]}, completed=(DONE,)).outcome
    assert answer == Answer(text="id: g-7, n: 1", data={"id": "g-7", "n": 1}, grounding=held, origin=AnswerOrigin.FACTS)
    assert expanded({"done": ["a"]}, completed=(CompletedStep(step_id="1.t1", tool="x"),)).outcome == Answer(
        text="x", data=ABSENT, grounding=held, origin=AnswerOrigin.FACTS
    )


def test_reasoning_in_words_counts_where_the_skeleton_says_nothing() -> None:
    request = request_of()
    block = "known: the phone\ntool: find_guest\nwhy: it leads to the id"
    said = expand({"plan": [[1, "555-0199"]]}, offer_of(request), request, blocks=(block,))

    assert said.reasoning == Reasoning(known=("the phone",), tool="find_guest", why="it leads to the id")
    assert said.outcome == replace(plan_of({"plan": [[1, "555-0199"]]}), reasoning=said.reasoning)


def test_a_thought_that_names_a_tool_that_is_not_there_is_stopped() -> None:
    request = request_of()

    with pytest.raises(SkeletonRefused) as caught:
        expand({"plan": [[1, "555-0199"]]}, offer_of(request), request, blocks=("tool: delete_guest",))
    assert caught.value.faults[0].code == F.UNKNOWN_TOOL


def test_the_snapshot_holds_the_intent_and_the_days_and_the_step_with_the_days_uses_it() -> None:
    plan = plan_of({"plan": [[2, "555-0199", "next Monday"]]})
    arrival = next(each.value for each in plan.steps[0].bindings if each.pointer == "/arrival")
    assert plan.state_snapshot == {"user_intent": "book_room", "date_range": f"{arrival}~{arrival}"}
    assert plan.steps[0].uses_snapshot == ("date_range",)


def test_a_plan_without_days_has_the_intent_alone() -> None:
    plan = plan_of({"plan": [[1, "555-0199"]]})
    assert plan.state_snapshot == {"user_intent": "find_guest"}
    assert plan.steps[0].uses_snapshot == ()
