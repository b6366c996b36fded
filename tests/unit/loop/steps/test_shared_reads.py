"""Reads of one plan that are the same are made once; writes are not, and nothing is shared across a write."""

from __future__ import annotations

import asyncio

import pytest

from taoloop.core.exact_json import JsonValue
from taoloop.core.telemetry import Metrics
from taoloop.plan.acting import ActionResult, ActionStatus, ExecuteRequest, ServedBy
from taoloop.plan.model import PlanStep
from taoloop.plan.running import ActionReturned, StepStarted
from taoloop.testing.services import ScriptedAction, ScriptedObservation
from taoloop.tools.signature import Effect, Trust
from tests.unit.loop.steps.stepping import FAILED, Stepping, data_of, said


def step(step_id: str, tool: str = "find", text: str = "x", depends_on: tuple[str, ...] = ()) -> PlanStep:
    return PlanStep(step_id=step_id, tool=tool, bindings=(said(text),), depends_on=depends_on)


def counted(metrics: Metrics, tool: str, outcome: str) -> float | None:
    return metrics.registry.get_sample_value("taoloop_repeated_calls_total", {"tool": tool, "outcome": outcome})


async def test_the_second_of_two_equal_reads_waits_for_the_first_and_takes_its_result() -> None:
    run = Stepping(ScriptedAction({"find": {"n": 1}}), step("1.a"), step("1.b"))
    state = await run.run()
    assert run.called == [("1.a", "find")]
    assert data_of(state, "1.b") == {"n": 1}
    assert state.usage.tool_calls == 1
    assert state.calls_per_tool == {"find": 1}
    served = state.steps["1.b"].action
    assert served is not None
    assert (served.step_id, served.served_by, served.attempts) == ("1.b", ServedBy.DUPLICATE, ())
    assert counted(run.metrics, "find", "shared") == 1.0


async def test_the_event_says_whose_result_serves() -> None:
    run = Stepping(ScriptedAction({"find": {"n": 1}}), step("1.a"), step("1.b"))
    await run.run()
    starts = {body.step_id: body.same_as for body in await run.bodies() if isinstance(body, StepStarted)}
    assert starts == {"1.a": "", "1.b": "1.a"}
    assert (await run.folded()).steps == run.writer.state.steps


async def test_reads_that_follow_each_other_are_shared_as_those_side_by_side_are() -> None:
    run = Stepping(ScriptedAction({"find": {"n": 1}}), step("1.a"), step("1.b", depends_on=("1.a",)))
    await run.run()
    assert run.called == [("1.a", "find")]


async def test_other_arguments_are_another_read_and_spelling_is_not() -> None:
    run = Stepping(ScriptedAction({"find": {"n": 1}}), step("1.a", text="x"), step("1.b", text="X"))
    await run.run()
    assert len(run.called) == 2


async def test_each_step_judges_the_shared_result_by_what_it_expects_itself() -> None:
    picky = PlanStep(step_id="1.b", tool="find", bindings=(said("x"),), expect={"/n": [2]})
    run = Stepping(ScriptedAction({"find": {"n": 1}}), step("1.a"), picky)
    await run.run()
    assert [request.expect for request in run.observation.requests][1] == {"/n": [2]}


async def test_a_failure_serves_nobody_else() -> None:
    async def once_broken(request: ExecuteRequest) -> ActionResult | JsonValue:
        await asyncio.sleep(0)
        return FAILED if len(run.action.requests) == 1 else {"n": 1}

    run = Stepping(ScriptedAction({"find": once_broken}), step("1.a"), step("1.b"), step("1.c"))
    state = await run.run()
    assert [state.steps[step_id].has_succeeded for step_id in ("1.a", "1.b", "1.c")] == [False, True, True]
    assert len(run.called) == 2


async def test_equal_writes_are_both_put_to_the_executor() -> None:
    effects = {"pay": Effect.WRITE}
    run = Stepping(ScriptedAction({"pay": {}}), step("1.a", "pay"), step("1.b", "pay"), effects=effects)
    await run.run()
    assert sorted(run.called) == [("1.a", "pay"), ("1.b", "pay")]


async def test_a_read_after_a_write_is_made_again() -> None:
    steps = (step("1.a"), step("1.w", "pay", depends_on=("1.a",)), step("1.b", depends_on=("1.w",)))
    run = Stepping(ScriptedAction({"find": {"n": 1}, "pay": {}}), *steps, effects={"pay": Effect.IDEMPOTENT_WRITE})
    await run.run()
    assert [step_id for step_id, _ in run.called] == ["1.a", "1.w", "1.b"]


async def test_a_read_begun_during_a_write_does_not_serve_one_after_it() -> None:
    is_read = asyncio.Event()

    async def pay(request: ExecuteRequest) -> JsonValue:
        await is_read.wait()
        return {}

    async def find(request: ExecuteRequest) -> JsonValue:
        is_read.set()
        return {"n": len(run.called)}

    steps = (step("1.w", "pay"), step("1.a"), step("1.b", depends_on=("1.w",)))
    run = Stepping(ScriptedAction({"find": find, "pay": pay}), *steps, effects={"pay": Effect.WRITE})
    await asyncio.wait_for(run.run(), 5.0)
    assert [step_id for step_id, _ in run.called] == ["1.w", "1.a", "1.b"]


@pytest.mark.parametrize("served_by", [ServedBy.FALLBACK, ServedBy.CACHE])
async def test_a_result_that_weighs_less_weighs_less_for_everybody(served_by: ServedBy) -> None:
    answer = ActionResult(
        step_id="", tool="", status=ActionStatus.SUCCEEDED, parsed={}, served_by=served_by, trust=Trust.UNTRUSTED
    )
    run = Stepping(ScriptedAction({"find": answer}), step("1.a"), step("1.b"))
    await run.run()
    returned = [body.result for body in await run.bodies() if isinstance(body, ActionReturned)]
    assert [(each.served_by, each.trust) for each in returned if each] == [(served_by, Trust.UNTRUSTED)] * 2


async def test_a_step_that_is_stopped_lets_those_who_wait_for_it_go() -> None:
    has_started = asyncio.Event()

    async def hang(request: ExecuteRequest) -> JsonValue:
        has_started.set()
        await asyncio.Event().wait()
        return {}

    run = Stepping(ScriptedAction({"find": hang}), step("1.a"), step("1.b"), observation=ScriptedObservation())
    working = asyncio.ensure_future(run.run())
    await has_started.wait()
    working.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(working, 5.0)
