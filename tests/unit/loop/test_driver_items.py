"""A run with a step per item: corrections and answers see the step, and the items that failed are tried again."""

from __future__ import annotations

from taoloop.core.exact_json import JsonValue
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.plan.acting import ActionResult, ActionStatus, ExecuteRequest
from taoloop.plan.model import Binding, ForEach, ItemValue, PlanStep, StepOutput
from taoloop.plan.running import CorrectionMade, ItemsGathered
from taoloop.plan.task import Outcome
from taoloop.testing.services import ScriptedAction, ScriptedThought
from tests.unit.loop.driving import Run, ended, plan, step

LATE = ActionResult(
    step_id="",
    tool="",
    status=ActionStatus.TIMED_OUT,
    fault=Fault(code=FaultCode.TOOL_TIMEOUT, stage=FaultStage.ACTION, message="late", retriable=True),
)


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
