"""A run with a step per item: corrections and answers see the step, and the items that failed are tried again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from taoloop.core.exact_json import JsonValue
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.loop.settings import LoopSettings
from taoloop.plan.acting import ActionResult, ActionStatus, ExecuteRequest, ToolSummary
from taoloop.plan.model import Binding, ForEach, ItemValue, PlanStep, StepOutput
from taoloop.plan.running import CorrectionMade, HandoverRequired, ItemsGathered, LimitReached
from taoloop.plan.task import Outcome
from taoloop.testing.services import ListedTools, ScriptedAction, ScriptedThought
from taoloop.tools.signature import Effect
from tests.unit.loop.driving import LIMITS, Run, ended, plan, step

LATE = ActionResult(
    step_id="",
    tool="",
    status=ActionStatus.TIMED_OUT,
    fault=Fault(code=FaultCode.TOOL_TIMEOUT, stage=FaultStage.ACTION, message="late", retriable=True),
)

REFUSED = ActionResult(
    step_id="",
    tool="",
    status=ActionStatus.FAILED,
    fault=Fault(code=FaultCode.UPSTREAM_REFUSED, stage=FaultStage.ACTION, message="no"),
)
SHIP = ToolSummary(name="ship", description="Ships an order.", parameters={})


def each(condition: JsonValue = True) -> PlanStep:
    return PlanStep(
        step_id="1.ship",
        tool="ship",
        depends_on=("1.list",),
        bindings=(Binding(pointer="/id", source=ItemValue(pointer="")),),
        for_each=ForEach(items=StepOutput(step_id="1.list", pointer="/ids")),
        when=condition,
    )


async def test_a_correction_tries_the_items_that_failed_again_and_the_run_answers() -> None:
    async def ship(request: ExecuteRequest) -> ActionResult | JsonValue:
        assert isinstance(request.arguments, dict)
        is_first = [each.step_id for each in run.action.requests].count(request.step_id) == 1
        return LATE if is_first and request.arguments["id"] == "B" else {"at": request.arguments["id"]}

    tools = {"list": {"ids": ["A", "B", "C"]}, "ship": ship}
    run = Run(ScriptedThought(plan(step("1.list", "list"), each())), ScriptedAction(tools))  # type: ignore[arg-type]
    state = await run.drive()
    assert ended(state) == (Outcome.ANSWERED, "")
    assert state.answer is not None
    assert state.answer.data == [{"at": "A"}, {"at": "B"}, {"at": "C"}]
    bodies = await run.bodies()
    assert [(made.reaction, made.step_id) for made in bodies if isinstance(made, CorrectionMade)] == [
        ("retry", "1.ship")
    ]
    assert [body.failed for body in bodies if isinstance(body, ItemsGathered)] == [("1.ship#1",), ()]
    assert sorted(request.step_id for request in run.action.requests if request.tool == "ship") == [
        "1.ship#0", "1.ship#1", "1.ship#1", "1.ship#2",
    ]  # fmt: skip
    assert state.usage.tool_calls == 5


async def test_a_run_whose_last_step_is_left_out_answers_with_what_it_has() -> None:
    thought = ScriptedThought(plan(step("1.list", "list"), each({"var": "steps.1.list.is_wanted"})))
    run = Run(thought, ScriptedAction({"list": {"ids": ["A"], "is_wanted": False}, "ship": {}}))
    state = await run.drive()
    assert ended(state) == (Outcome.ANSWERED, "")
    assert state.answer is not None
    assert state.answer.data == {"ids": ["A"], "is_wanted": False}
    assert [request.tool for request in run.action.requests] == ["list"]
    assert not [body for body in await run.bodies() if isinstance(body, CorrectionMade)]


async def test_a_list_that_is_too_long_ends_the_run_at_its_limit() -> None:
    thought = ScriptedThought(plan(step("1.list", "list"), each()))
    run = Run(thought, ScriptedAction({"list": {"ids": [*range(LIMITS.max_items + 1)]}, "ship": {}}))
    assert ended(await run.drive()) == (Outcome.LIMIT_REACHED, FaultCode.LIMIT_REACHED)
    assert [body.limit for body in await run.bodies() if isinstance(body, LimitReached)] == ["max_items"]
    assert [request.tool for request in run.action.requests] == ["list"]


def test_a_list_of_as_many_items_as_a_step_may_have_is_within_the_calls_of_one_tool_by_default() -> None:
    for limits in (LoopSettings().limits(), LIMITS):
        assert limits.max_items <= limits.max_calls_per_tool


@pytest.mark.parametrize(
    ("locale", "remark"),
    [
        ("en", "No result could be had for some items of the list, counted from 1: 2 (Ships an order)."),
        ("zh", "列表中以下各项（从 1 起）没有得到结果：2（Ships an order）。"),
    ],
)
async def test_an_optional_step_that_lacks_items_is_told_as_left_out_with_the_items_that_are_missing(
    locale: str, remark: str
) -> None:
    async def ship(request: ExecuteRequest) -> ActionResult | JsonValue:
        return LATE if request.step_id == "1.ship#1" else {"at": "x"}

    tools = ListedTools((ToolSummary(name="list", parameters={}), SHIP))
    thought = ScriptedThought(plan(step("1.list", "list"), replace(each(), optional=True)))
    run = Run(thought, ScriptedAction({"list": {"ids": ["A", "B", "C"]}, "ship": ship}, tools))
    run.locale = locale

    state = await run.drive()

    assert ended(state) == (Outcome.ANSWERED, "")
    assert state.answer is not None
    assert state.answer.text.splitlines()[1:] == [remark]
    assert state.answer.data == [{"at": "x"}, {"at": "x"}]
    (made,) = [body for body in await run.bodies() if isinstance(body, CorrectionMade)]
    assert (made.reaction, made.step_id, made.fault and made.fault.actual) == ("leave_out", "1.ship", ["1.ship#1"])
    assert [request.step_id for request in run.action.requests].count("1.ship#1") == 1


@pytest.mark.parametrize(
    ("effect", "refused", "outcome"),
    [
        (Effect.WRITE, {"B"}, Outcome.NEEDS_HUMAN),
        (Effect.WRITE, {"A", "B", "C"}, Outcome.FAILED),
        (Effect.READ, {"B"}, Outcome.FAILED),
    ],
)
async def test_a_write_that_was_made_for_some_items_and_refused_for_others_goes_to_a_person(
    effect: Effect, refused: set[str], outcome: Outcome
) -> None:
    async def ship(request: ExecuteRequest) -> ActionResult | JsonValue:
        assert isinstance(request.arguments, dict)
        return REFUSED if request.arguments["id"] in refused else {"at": "x"}

    tools = ListedTools((ToolSummary(name="list", parameters={}), replace(SHIP, effect=effect)))
    thought = ScriptedThought(plan(step("1.list", "list"), each()))
    run = Run(thought, ScriptedAction({"list": {"ids": ["A", "B", "C"]}, "ship": ship}, tools))

    assert ended(await run.drive()) == (outcome, FaultCode.UPSTREAM_REFUSED)
    handed = [body.step_id for body in await run.bodies() if isinstance(body, HandoverRequired)]
    assert handed == (["1.ship"] if outcome is Outcome.NEEDS_HUMAN else [])
