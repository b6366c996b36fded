"""Results that cannot be used, or are doubted: another source is asked."""

from __future__ import annotations

import pytest

from taoloop.core.faults import FaultCode
from taoloop.plan.effects import ApprovalDecision, DecideApprovalRequest
from taoloop.plan.running import ApprovalOutcome, HandoverRequired, RunResumed
from taoloop.plan.task import Limits, Outcome
from taoloop.testing.services import GatedAction, ScriptedAction, ScriptedObservation, ScriptedThought
from tests.unit.loop.correction.correcting import (
    CITY,
    REFUSED,
    START,
    TWO_SOURCES,
    doubted,
    failed,
    first,
    listed,
    made,
    reactions,
    tool,
    weather,
)
from tests.unit.loop.driving import Run, ended, plan, step


async def test_a_fallback_that_brings_nothing_leaves_the_failure() -> None:
    run = Run(
        ScriptedThought(plan(step("1.t1", "find"))),
        ScriptedAction({"find": {}, "table": {}}, TWO_SOURCES),
        ScriptedObservation(invalid_tools=frozenset({"find", "table"})),
    )

    assert ended(await run.drive()) == (Outcome.FAILED, FaultCode.SCHEMA_VIOLATION)
    assert await reactions(run) == ["fallback", "replan", "fail"]
    assert [request.tool for request in run.action.requests] == ["find", "table"]


async def test_a_second_source_is_asked_with_the_value_that_the_first_was_asked_with() -> None:
    run = weather(first(REFUSED, {"sky": "clear"}), "shanghai")
    parameters = {"type": "object", "properties": {"city": CITY}}
    run.action = ScriptedAction(
        {"get_weather": first(REFUSED, {"sky": "clear"}), "table": {"sky": "clear"}},
        listed(tool("get_weather", parameters=parameters, fallback_tool="table"), tool("table", parameters=parameters)),
    )
    run.observation = ScriptedObservation(invalid_tools=frozenset({"get_weather"}))

    assert ended(await run.drive()) == (Outcome.ANSWERED, "")
    assert await reactions(run) == ["fix_input", "fallback"]
    assert [(request.tool, request.arguments) for request in run.action.requests] == [
        ("get_weather", {"city": "shanghai"}),
        ("get_weather", {"city": "CN-Shanghai"}),
        ("table", {"city": "CN-Shanghai"}),
    ]


async def test_a_doubtful_result_that_another_source_confirms_is_used() -> None:
    run = doubted({"rate": 7.1, "more": 1})

    state = await run.drive()

    assert ended(state) == (Outcome.ANSWERED, "")
    assert await reactions(run) == ["cross_check"]
    observation = state.steps["1.t1"].observation
    assert observation is not None
    assert observation.source_detail == "table says the same of /rate"
    assert state.answer is not None


async def test_two_doubtful_results_are_for_a_person_though_they_agree() -> None:
    run = doubted({"rate": 7.1}, is_sure=False)

    assert ended(await run.drive()) == (Outcome.NEEDS_HUMAN, FaultCode.DECISION_BY_PERSON_NEEDED)
    (handed,) = [body for body in await run.bodies() if isinstance(body, HandoverRequired)]
    assert handed.step_id == ""


async def test_of_two_sources_that_disagree_the_sure_one_serves_and_the_user_is_told() -> None:
    run = doubted({"rate": 6.9, "day": "x"})

    state = await run.drive()

    assert ended(state) == (Outcome.ANSWERED, "")
    check, prefer = await made(run)
    assert (check.reaction, prefer.reaction, prefer.state) == ("cross_check", "prefer", "cross_checked")
    assert prefer.fault is not None
    assert (prefer.fault.code, prefer.fault.field) == (FaultCode.SOURCES_DISAGREE, "/rate")
    assert prefer.fault.message == "find and table disagree on /rate: 7.1 and 6.9."
    assert prefer.fault.actual == {"/rate": {"find": 7.1, "table": 6.9}}
    assert prefer.user_message == "find and another source disagree; what the more certain one says is told."
    assert state.answer is not None
    assert state.answer.data == {"rate": 6.9, "day": "x"}


async def test_two_unsure_sources_that_disagree_are_for_a_person_who_sees_both_values() -> None:
    run = doubted({"rate": 6.9}, is_sure=False)

    assert ended(await run.drive()) == (Outcome.NEEDS_HUMAN, FaultCode.SOURCES_DISAGREE)
    (handed,) = [body for body in await run.bodies() if isinstance(body, HandoverRequired)]
    assert handed.fault is not None
    assert handed.fault.actual == {"/rate": {"find": 7.1, "table": 6.9}}


async def test_a_second_source_that_is_not_to_be_had_is_not_asked() -> None:
    tools = listed(tool("find", fallback_tool="gone"), tool("table"))
    run = doubted({})
    run.action = ScriptedAction({"find": {"rate": 7.1}}, tools)

    assert ended(await run.drive()) == (Outcome.NEEDS_HUMAN, FaultCode.DECISION_BY_PERSON_NEEDED)
    assert await reactions(run) == []


@pytest.mark.parametrize("doubtful", [frozenset(), frozenset({"find"})])
async def test_a_source_that_needs_leave_is_waited_for_and_then_asked(doubtful: frozenset[str]) -> None:
    answers = {"find": {"n": 1} if doubtful else failed("TOOL_ERROR"), "table": {"n": 1}}
    action = GatedAction(answers, frozenset({"table"}), START)  # type: ignore[arg-type]
    action.list_tools = ScriptedAction({}, TWO_SOURCES).list_tools  # type: ignore[method-assign]
    run = Run(ScriptedThought(plan(step("1.t1", "find"))), action, ScriptedObservation(doubtful_tools=doubtful))

    state = await run.drive(Limits(max_iterations=1))

    assert ended(state) == (Outcome.NEEDS_APPROVAL, "")
    (asked,) = state.open_approvals
    given = ApprovalOutcome(approval_id=asked.approval_id, decision=ApprovalDecision.APPROVED)
    action.decisions.append(DecideApprovalRequest(approval_id=asked.approval_id, decision=given.decision))
    await run.writer.emit(RunResumed(reason="approval", approval=given))
    assert ended(await run.go_on()) == (Outcome.ANSWERED, "")
    assert await reactions(run) == ["cross_check" if doubtful else "fallback"]
