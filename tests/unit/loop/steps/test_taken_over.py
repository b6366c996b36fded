"""A host may die after any event: whoever goes on comes to the same results, and does nothing again that was done."""

from __future__ import annotations

from taoloop.core.exact_json import ABSENT, JsonValue
from taoloop.plan.acting import ActionResult, ActionStatus, ExecuteRequest
from taoloop.plan.model import Binding, ForEach, ItemValue, PlanStep, StepOutput
from taoloop.testing.services import ScriptedAction
from taoloop.tools.signature import Effect
from tests.unit.loop.steps.stepping import FAILED, Stepping, data_of, of

LIST = PlanStep(step_id="1.list", tool="orders")
AGAIN = PlanStep(step_id="1.again", tool="orders")
VIP = PlanStep(
    step_id="1.vip", tool="gift", depends_on=("1.list",), when={"===": [{"var": "steps.1.list.level"}, "vip"]}
)
SHIP = PlanStep(
    step_id="1.ship",
    tool="ship",
    depends_on=("1.list",),
    bindings=(Binding(pointer="/id", source=ItemValue(pointer="")),),
    for_each=ForEach(items=StepOutput(step_id="1.list", pointer="/ids")),
    optional=True,
)
BUILD = PlanStep(step_id="1.build", tool="build", depends_on=("1.ship",), bindings=(of("1.ship", "/0/at"),))
PAY = PlanStep(step_id="1.pay", tool="pay", depends_on=("1.build",), bindings=(of("1.build", "/n", "/amount"),))


async def ship(request: ExecuteRequest) -> ActionResult | JsonValue:
    assert isinstance(request.arguments, dict)
    return FAILED if request.arguments["id"] == "B" else {"at": f"place of {request.arguments['id']}"}


async def build(request: ExecuteRequest) -> ActionResult | JsonValue:
    pending = ActionResult(step_id="", tool="", status=ActionStatus.PENDING, job_handle={"job": request.step_id})
    return pending if request.job_handle is ABSENT else {"n": 7}


def new_run() -> Stepping:
    orders: JsonValue = {"ids": ["A", "B", "C"], "level": "basic"}
    tools = {"orders": orders, "gift": {}, "ship": ship, "build": build, "pay": {"ok": True}}
    action = ScriptedAction(tools)  # type: ignore[arg-type]
    return Stepping(action, LIST, AGAIN, VIP, SHIP, BUILD, PAY, effects={"pay": Effect.WRITE, "gift": Effect.WRITE})


async def test_a_host_may_die_after_any_event() -> None:
    whole = new_run()
    state = await whole.run()
    assert data_of(state, "1.ship") == [{"at": "place of A"}, {"at": "place of C"}]
    assert state.steps["1.vip"].is_left_out
    count = len(await whole.bodies())
    for known in range(2, count + 1):
        other, before = await whole.on_another_host(known), len(whole.action.requests)
        found = {step_id: record.is_done for step_id, record in other.writer.state.steps.items()}
        handles = [record.job_handle for record in other.writer.state.steps.values()]

        end = await other.run()

        for step_id, record in state.steps.items():
            taken_over = end.steps[step_id]
            assert (taken_over.is_done, taken_over.has_succeeded) == (record.is_done, record.has_succeeded), (
                known,
                step_id,
            )
            if record.has_succeeded:
                assert data_of(end, step_id) == data_of(state, step_id)
        again = whole.action.requests[before:]
        assert not [request.step_id for request in again if found.get(request.step_id)], known
        if {"job": "1.build"} in handles:
            assert [request.job_handle for request in again if request.tool == "build"] == [{"job": "1.build"}]
        assert (await other.folded()).steps == end.steps
