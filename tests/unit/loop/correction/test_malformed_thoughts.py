"""Thoughts that fail, and plans made for tools of yesterday."""

from __future__ import annotations

import pytest

from taoloop.core.errors import CatalogueMismatch
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.core.telemetry import Metrics, names
from taoloop.loop.correction.corrector import CorrectionServices
from taoloop.plan.acting import ActionStatus
from taoloop.plan.running import LimitReached, RunResumed
from taoloop.plan.task import Limits, Outcome, Usage
from taoloop.plan.thinking import Escalation, Refusal, RefusalReason, ThinkResponse
from taoloop.testing.services import ListedTools, ScriptedAction, ScriptedThought
from tests.unit.loop.correction.correcting import (
    chat,
    failed,
    made,
    reactions,
    tool,
)
from tests.unit.loop.driving import Run, ended, plan, step


async def test_a_malformed_thought_is_made_once_more_and_more_strictly() -> None:
    run = Run(ScriptedThought(chat("no json"), plan(step("2.t1", "find"))), ScriptedAction({"find": {}}))

    state = await run.drive(deadline_seconds=20.0)

    assert ended(state) == (Outcome.ANSWERED, "")
    assert [request.strict for request in run.thought.requests] == [False, True]
    (reprompt,) = await made(run)
    assert (reprompt.reaction, reprompt.step_id, reprompt.fault_class) == ("reprompt", "", "LLM_OUTPUT_MALFORMED")


async def test_a_second_malformed_thought_goes_to_a_person_when_the_planner_says_so() -> None:
    run = Run(ScriptedThought(chat("no json"), chat("again")), ScriptedAction({}))

    assert ended(await run.drive(deadline_seconds=20.0)) == (Outcome.NEEDS_HUMAN, FaultCode.PARSE_FAILED)
    assert await reactions(run) == ["reprompt", "hand_over"]


async def test_a_model_is_not_asked_again_when_its_timeout_and_the_margin_are_not_left() -> None:
    run = Run(ScriptedThought(chat("no json"), plan(step("2.t1", "find"))), ScriptedAction({"find": {}}))
    metrics = Metrics()
    run.corrections = CorrectionServices(metrics=metrics)

    state = await run.drive(deadline_seconds=10.4)

    assert ended(state) == (Outcome.NEEDS_HUMAN, FaultCode.PARSE_FAILED)
    assert len(run.thought.requests) == 1
    skipped = metrics.counter(names.CORRECTIONS_SKIPPED).labels(reaction="reprompt", reason="insufficient_deadline")
    assert skipped._value.get() == 1


async def test_a_planner_without_a_model_is_not_asked_the_same_again() -> None:
    refusal = ThinkResponse(outcome=Refusal(reason=RefusalReason.PLAN_FAILED, message="too many steps"))
    run = Run(ScriptedThought(refusal, plan(step("2.t1", "find"))), ScriptedAction({"find": {}}))

    assert ended(await run.drive()) == (Outcome.FAILED, FaultCode.INVALID_PLAN)
    assert len(run.thought.requests) == 1


async def test_an_unknown_tool_does_not_end_the_run() -> None:
    unknown = failed("UNKNOWN_TOOL", status=ActionStatus.REJECTED)
    thought = ScriptedThought(plan(step("1.t1", "fnid")), plan(step("2.t1", "find")))
    run = Run(thought, ScriptedAction({"fnid": unknown, "find": {"n": 1}}))

    assert ended(await run.drive()) == (Outcome.ANSWERED, "")
    assert await reactions(run) == ["replan"]


async def test_a_run_whose_catalogue_was_replaced_is_pinned_anew_and_thinks_again() -> None:
    thought = ScriptedThought(CatalogueMismatch.of("d" * 64, "e" * 64), plan(step("2.t1", "find")))
    run = Run(thought, ScriptedAction({"find": {"n": 1}}, ListedTools((tool("find"),), catalogue_digest="e" * 64)))

    state = await run.drive()

    assert ended(state) == (Outcome.ANSWERED, "")
    assert [(request.iteration, request.catalogue_digest[0]) for request in run.thought.requests] == [
        (1, "d"),
        (2, "e"),
    ]
    (resumed,) = [body for body in await run.bodies() if isinstance(body, RunResumed)]
    assert (resumed.reason, resumed.catalogue_digest) == ("catalogue", "e" * 64)
    assert state.usage.iterations == 2


async def test_services_that_never_agree_on_the_catalogue_end_the_run() -> None:
    mismatch = CatalogueMismatch.of("d" * 64, "e" * 64)
    run = Run(ScriptedThought(mismatch, mismatch), ScriptedAction({}))

    assert ended(await run.drive()) == (Outcome.FAILED, FaultCode.CATALOGUE_MISMATCH)
    assert await reactions(run) == ["replan", "fail"]


@pytest.mark.parametrize("thoughts", [1, 2, 3])
async def test_planning_again_is_bounded_by_the_limit_of_thoughts(thoughts: int) -> None:
    # Each plan fails in another way, so that each is worth another thought.
    codes = ("TOOL_ERROR", "UPSTREAM_UNAVAILABLE", "SCHEMA_VIOLATION", "TOOL_TIMEOUT")
    answers = {f"t{n}": failed(code) for n, code in enumerate(codes)}
    run = Run(ScriptedThought(*(plan(step(f"{n + 1}.t", f"t{n}")) for n in range(4))), ScriptedAction(answers))

    state = await run.drive(Limits(max_iterations=thoughts))

    assert len(run.thought.requests) == thoughts
    assert ended(state) == (Outcome.FAILED, codes[thoughts - 1])
    assert [body.limit for body in await run.bodies() if isinstance(body, LimitReached)] == ["max_iterations"]
    assert state.limits_reached == ("max_iterations",)


async def test_what_failed_in_the_same_way_after_planning_again_is_not_planned_a_third_time() -> None:
    thoughts = [plan(step(f"{n}.t", "find")) for n in (1, 2, 3)]
    run = Run(ScriptedThought(*thoughts), ScriptedAction({"find": failed("TOOL_ERROR")}))

    assert ended(await run.drive()) == (Outcome.FAILED, FaultCode.TOOL_ERROR)
    assert len(run.thought.requests) == 2


async def test_a_run_whose_executor_has_another_catalogue_is_pinned_anew_and_planned_again() -> None:
    mismatch = CatalogueMismatch.of("d" * 64, "e" * 64)
    tools = ListedTools((tool("find"), tool("seek")), catalogue_digest="e" * 64)
    thought = ScriptedThought(plan(step("1.t1", "find")), plan(step("2.t1", "seek")))
    run = Run(thought, ScriptedAction({"find": mismatch, "seek": {"n": 1}}, tools))

    assert ended(await run.drive()) == (Outcome.ANSWERED, "")
    (made_once,) = await made(run)
    assert (made_once.fault_class, made_once.reaction, made_once.step_id) == ("PLAN_OUTDATED", "replan", "1.t1")
    assert run.action.requests[-1].catalogue_digest == "e" * 64


async def test_a_tool_that_a_model_made_up_is_a_malformed_thought() -> None:
    made_up = Fault(code=FaultCode.UNKNOWN_TOOL, stage=FaultStage.PLAN, message="There is no tool 9.")
    thought = ThinkResponse(outcome=Escalation(message="No plan.", faults=(made_up,)), usage=Usage(model_calls=1))
    run = Run(ScriptedThought(thought, plan(step("2.t1", "find"))), ScriptedAction({"find": {}}))

    assert ended(await run.drive(deadline_seconds=20.0)) == (Outcome.ANSWERED, "")
    assert await reactions(run) == ["reprompt"]


async def test_tools_that_are_replaced_after_a_failure_are_planned_with_all_the_same() -> None:
    mismatch = CatalogueMismatch.of("d" * 64, "e" * 64)
    tools = ListedTools((tool("find"), tool("seek")), catalogue_digest="e" * 64)
    thought = ScriptedThought(plan(step("1.t1", "find")), mismatch, plan(step("3.t1", "seek")))
    run = Run(thought, ScriptedAction({"find": failed("UPSTREAM_UNAVAILABLE"), "seek": {"n": 1}}, tools))

    assert ended(await run.drive()) == (Outcome.ANSWERED, "")
    assert [(each.fault_class, each.step_id) for each in await made(run)] == [
        ("TOOL_UNAVAILABLE", "1.t1"),
        ("PLAN_OUTDATED", ""),
    ]


async def test_a_failure_is_named_as_the_cause_though_a_thought_failed_before_no_way_was_found() -> None:
    no_tool = ThinkResponse(outcome=Refusal(reason=RefusalReason.NO_TOOL, message="none"))
    run = Run(
        ScriptedThought(plan(step("1.t1", "find")), chat("no json"), no_tool),
        ScriptedAction({"find": failed("UPSTREAM_UNAVAILABLE")}),
    )

    assert ended(await run.drive(deadline_seconds=20.0)) == (Outcome.FAILED, FaultCode.UPSTREAM_UNAVAILABLE)
    assert await reactions(run) == ["replan", "reprompt", "fail"]
