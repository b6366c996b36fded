"""Tools that fail in the middle of a run: what is done about it, what is written down, and how the run ends."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from taoloop.core.exact_json import JsonValue
from taoloop.core.faults import FaultCode
from taoloop.core.telemetry import Metrics, names
from taoloop.loop.correction.corrector import CorrectionServices
from taoloop.loop.correction.machine import Reaction
from taoloop.loop.correction.settings import CorrectionRules
from taoloop.plan.acting import ActionResult, ExecuteRequest
from taoloop.plan.model import Binding, ForEach, ItemValue, StepOutput
from taoloop.plan.running import StepStarted
from taoloop.plan.task import Outcome
from taoloop.testing.services import ScriptedAction, ScriptedObservation, ScriptedThought
from tests.unit.loop.correction.correcting import (
    LATE,
    SAME,
    TWO_SOURCES,
    failed,
    first,
    listed,
    made,
    reactions,
    tool,
)
from tests.unit.loop.driving import Run, ended, plan, step


async def test_a_read_that_was_late_is_made_once_more_after_a_pause() -> None:
    run = Run(ScriptedThought(plan(step("1.t1", "find"))), ScriptedAction({"find": first(LATE, {"n": 1})}))
    run.corrections = CorrectionServices(random=Random(7))
    before = run.clock.monotonic()

    state = await run.drive()

    assert ended(state) == (Outcome.ANSWERED, "")
    assert len(run.action.requests) == 2
    (retry,) = await made(run)
    assert (retry.reaction, retry.step_id, retry.tool, retry.state, retry.attempt) == (
        "retry",
        "1.t1",
        "find",
        "fresh",
        1,
    )
    assert (retry.is_transient, retry.is_retry_useful, retry.is_told_to_user, retry.user_message) == (
        True,
        True,
        False,
        "",
    )
    assert retry.fault is not None
    assert retry.fault.code == FaultCode.TOOL_TIMEOUT
    assert 0.1 <= run.clock.monotonic() - before <= 0.6
    started = [body.attempt for body in await run.bodies() if isinstance(body, StepStarted)]
    assert started == [1, 2]
    assert state.usage.tool_calls == 2
    assert state.calls_per_tool == {"find": 2}


async def test_a_correction_is_written_before_it_is_carried_out() -> None:
    written: list[list[str]] = []

    async def note(_request: ExecuteRequest) -> ActionResult | JsonValue:
        written.append(await reactions(run))
        return LATE if len(written) == 1 else {}

    run = Run(ScriptedThought(plan(step("1.t1", "find"))), ScriptedAction({"find": note}))
    await run.drive()

    assert written == [[], ["retry"]]


async def test_what_depends_on_a_retried_step_runs_after_all() -> None:
    binding = Binding(pointer="/n", source=StepOutput(step_id="1.t1", pointer="/n"))
    thought = ScriptedThought(
        plan(step("1.t1", "find"), step("1.t2", "track", ("1.t1",), binding), step("1.x", "other"))
    )
    run = Run(thought, ScriptedAction({"find": first(LATE, {"n": 7}), "track": {}, "other": {}}))

    state = await run.drive()

    assert ended(state) == (Outcome.ANSWERED, "")
    assert [request.tool for request in run.action.requests].count("other") == 1
    assert run.action.requests[-1].arguments == {"n": 7}


async def test_a_call_that_the_executor_repeated_is_not_repeated_again() -> None:
    late = failed("TOOL_TIMEOUT", retriable=True, attempts=2)
    run = Run(ScriptedThought(plan(step("1.t1", "find"))), ScriptedAction({"find": late}))

    await run.drive()

    assert len(run.action.requests) == 1
    assert await reactions(run) == ["replan", "fail"]


async def test_a_second_timeout_is_planned_round_and_then_told() -> None:
    run = Run(ScriptedThought(plan(step("1.t1", "find"))), ScriptedAction({"find": LATE}))

    state = await run.drive()

    assert len(run.action.requests) == 2
    assert [(each.reaction, each.state, each.attempt) for each in await made(run)] == [
        ("retry", "fresh", 1),
        ("replan", "retried", 2),
        ("fail", "replanned", 3),
    ]
    assert ended(state) == (Outcome.FAILED, FaultCode.TOOL_TIMEOUT)
    assert (await made(run))[-1].user_message == (
        "find did not answer in time; nothing was changed. Please try again later."
    )


async def test_a_tool_that_is_down_is_not_called_again_and_not_offered_again() -> None:
    down = failed("UPSTREAM_UNAVAILABLE", retriable=True)
    thought = ScriptedThought(plan(step("1.t1", "find")), plan(step("2.t1", "other")))
    run = Run(thought, ScriptedAction({"find": down, "other": {"n": 1}}))

    state = await run.drive()

    assert [request.tool for request in run.action.requests] == ["find", "other"]
    assert ended(state) == (Outcome.ANSWERED, "")
    again = run.thought.requests[1]
    assert [(entry.tool, entry.available, entry.reason) for entry in again.availability] == [
        ("find", False, "failed_in_run")
    ]
    assert [(done.step_id, done.fault and done.fault.code) for done in again.completed] == [
        ("1.t1", FaultCode.UPSTREAM_UNAVAILABLE)
    ]
    assert run.thought.requests[0].availability == ()


async def test_a_user_is_told_when_a_tool_that_is_down_is_worth_another_try() -> None:
    down = failed("UPSTREAM_UNAVAILABLE", retriable=True, retry_after_seconds=30.0)
    run = Run(ScriptedThought(plan(step("1.t1", "find"))), ScriptedAction({"find": down}))
    run.locale = "zh-CN"

    state = await run.drive()

    assert ended(state) == (Outcome.FAILED, FaultCode.UPSTREAM_UNAVAILABLE)
    last = (await made(run))[-1]
    assert (last.reaction, last.is_told_to_user) == ("fail", True)
    assert last.user_message == "find 目前无法提供服务，没有做任何更改。请在 30 秒后再试。"


async def test_a_result_that_cannot_be_used_is_replaced_by_that_of_the_contracts_fallback() -> None:
    run = Run(
        ScriptedThought(plan(step("1.t1", "find"), step("1.t2", "tell", ("1.t1",), SAME))),
        ScriptedAction({"find": {"n": "?"}, "table": {"n": 7}, "tell": {}}, TWO_SOURCES),
        ScriptedObservation(invalid_tools=frozenset({"find"})),
    )

    state = await run.drive()

    assert ended(state) == (Outcome.ANSWERED, "")
    assert [request.tool for request in run.action.requests] == ["find", "table", "tell"]
    assert run.action.requests[2].arguments == {"n": 7}
    assert state.steps["1.t1"].has_succeeded
    assert await reactions(run) == ["fallback"]


async def test_an_optional_step_that_fails_is_left_out_and_told() -> None:
    thought = ScriptedThought(plan(step("1.a", "bad", optional=True), step("1.b", "good")))
    run = Run(thought, ScriptedAction({"bad": failed("TOOL_ERROR"), "good": {"n": 1}}))

    assert ended(await run.drive()) == (Outcome.ANSWERED, "")
    (told,) = await made(run)
    assert (told.reaction, told.user_message) == (
        "leave_out",
        "bad reports that it failed. The answer is given without it.",
    )
    assert len(run.thought.requests) == 1


async def test_a_required_step_that_fails_is_never_answered_round() -> None:
    thought = ScriptedThought(plan(step("1.a", "bad"), step("1.b", "good")))
    run = Run(thought, ScriptedAction({"bad": failed("TOOL_ERROR"), "good": {"n": 1}}))

    state = await run.drive()

    assert ended(state) == (Outcome.FAILED, FaultCode.TOOL_ERROR)
    assert state.answer is None


async def test_with_corrections_switched_off_a_failure_ends_the_run() -> None:
    run = Run(ScriptedThought(plan(step("1.t1", "find"))), ScriptedAction({"find": LATE}))
    run.corrections = CorrectionServices(rules=CorrectionRules(switched_off=frozenset(Reaction)))

    assert ended(await run.drive()) == (Outcome.FAILED, FaultCode.TOOL_TIMEOUT)
    assert len(run.action.requests) == len(run.thought.requests) == 1


async def test_corrections_are_counted_by_class_and_reaction() -> None:
    run = Run(ScriptedThought(plan(step("1.t1", "find"))), ScriptedAction({"find": first(LATE, {"n": 1})}))
    metrics = Metrics()
    run.corrections = CorrectionServices(metrics=metrics)

    await run.drive()

    counted = metrics.counter(names.CORRECTIONS).labels(fault_class="TOOL_TIMEOUT", reaction="retry")
    assert counted._value.get() == 1


async def test_a_required_step_that_an_optional_one_held_up_is_a_failure_of_its_own() -> None:
    thought = ScriptedThought(plan(step("1.a", "bad", optional=True), step("1.b", "good", ("1.a",))))
    run = Run(thought, ScriptedAction({"bad": failed("TOOL_ERROR"), "good": {"n": 1}}))

    assert ended(await run.drive()) == (Outcome.FAILED, FaultCode.UPSTREAM_STEP_FAILED)
    assert await reactions(run) == ["leave_out", "replan", "fail"]


async def test_of_a_step_that_fans_out_only_the_items_that_were_late_are_retried() -> None:
    late = {"B"}

    async def ship(request: ExecuteRequest) -> ActionResult | JsonValue:
        assert isinstance(request.arguments, dict)
        name = str(request.arguments["id"])
        if name in late:
            late.remove(name)
            return LATE
        return {"at": name}

    items = Binding(pointer="/id", source=ItemValue(pointer="/id"))
    each = replace(
        step("1.ship", "ship", ("1.list",), items),
        for_each=ForEach(items=StepOutput(step_id="1.list", pointer="/orders"), max_items=5),
    )
    orders: JsonValue = {"orders": [{"id": "A"}, {"id": "B"}, {"id": "C"}]}
    parameters = {"type": "object", "properties": {"id": {"type": "string"}}}
    tools = listed(tool("list"), tool("ship", parameters=parameters))
    run = Run(
        ScriptedThought(plan(step("1.list", "list"), each)), ScriptedAction({"list": orders, "ship": ship}, tools)
    )

    state = await run.drive()

    assert ended(state) == (Outcome.ANSWERED, "")
    assert sorted(request.step_id for request in run.action.requests) == [
        "1.list", "1.ship#0", "1.ship#1", "1.ship#1", "1.ship#2",
    ]  # fmt: skip
    assert [(each.step_id, each.reaction) for each in await made(run)] == [("1.ship", "retry")]


ENDS = {Outcome.FAILED, Outcome.NEEDS_HUMAN, Outcome.LIMIT_REACHED, Outcome.NO_TOOL}


@pytest.mark.parametrize("retriable", [False, True])
async def test_whatever_a_tool_fails_with_the_run_ends_and_says_why(retriable: bool) -> None:
    for code in (*FaultCode, "OF_A_CONTRACT"):
        answer = failed(code, retriable=retriable)
        run = Run(ScriptedThought(plan(step("1.t1", "find"))), ScriptedAction({"find": answer}))

        outcome, why = ended(await run.drive())

        assert (why, outcome in ENDS) == (code, True)
        assert len(run.action.requests) <= 2
        assert (await made(run))[-1].is_told_to_user
