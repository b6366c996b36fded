"""Steps that run once per item of a list: their calls, their ids, their result, and what happens when items fail."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from taoloop.core.calls import CallContext
from taoloop.core.deadlines import Deadline
from taoloop.core.exact_json import JsonValue
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.loop.steps.lost_calls import unknown_outcome
from taoloop.plan.acting import ActionResult, ActionStatus, ExecuteRequest
from taoloop.plan.effects import ApprovalDecision, DecideApprovalRequest
from taoloop.plan.model import Binding, ForEach, ItemValue, PlanStep, StepOutput
from taoloop.plan.observing import ConfidenceLevel
from taoloop.plan.running import ActionReturned, ApprovalOutcome, ItemsGathered, ResultObserved, RunResumed, StepStarted
from taoloop.testing.clock import FakeClock
from taoloop.testing.services import GatedAction, ScriptedAction, ScriptedObservation
from taoloop.tools.signature import Effect, Trust
from tests.unit.loop.steps.stepping import FAILED, Stepping, data_of, fault_of, of

ORDERS: JsonValue = {"orders": [{"id": "A"}, {"id": "B"}, {"id": "C"}]}
LIST = PlanStep(step_id="1.list", tool="orders")


def each(**more: object) -> PlanStep:
    fan_out = ForEach(items=StepOutput(step_id="1.list", pointer="/orders"), max_items=5)
    binding = Binding(pointer="/id", source=ItemValue(pointer="/id"))
    step = PlanStep(step_id="1.ship", tool="ship", depends_on=("1.list",), bindings=(binding,), for_each=fan_out)
    return replace(step, **more)  # type: ignore[arg-type]


async def shipped(request: ExecuteRequest) -> JsonValue:
    assert isinstance(request.arguments, dict)
    return {"at": f"place of {request.arguments['id']}"}


def failing_for(*ids: str) -> object:
    async def ship(request: ExecuteRequest) -> ActionResult | JsonValue:
        assert isinstance(request.arguments, dict)
        return FAILED if request.arguments["id"] in ids else await shipped(request)

    return ship


def stepping(ship: object = shipped, *after: PlanStep, orders: JsonValue = ORDERS, **more: object) -> Stepping:
    tools: dict[str, object] = {"orders": orders, "ship": ship, "tell": {"told": True}}
    return Stepping(ScriptedAction(tools), LIST, each(**more), *after)  # type: ignore[arg-type]


async def test_a_step_runs_once_per_item_and_brings_the_list_of_their_results() -> None:
    tell = PlanStep(step_id="1.tell", tool="tell", depends_on=("1.ship",), bindings=(of("1.ship", "/2/at"),))
    run = stepping(shipped, tell)
    state = await run.run()
    assert data_of(state, "1.ship") == [{"at": "place of A"}, {"at": "place of B"}, {"at": "place of C"}]
    assert run.action.requests[-1].arguments == {"q": "place of C"}
    assert sorted(run.called[1:4]) == [("1.ship#0", "ship"), ("1.ship#1", "ship"), ("1.ship#2", "ship")]
    starts = [body for body in await run.bodies() if isinstance(body, StepStarted) and body.item_of]
    assert sorted((start.item_of, start.item) for start in starts) == [("1.ship", 0), ("1.ship", 1), ("1.ship", 2)]


async def test_every_host_reads_the_same_result_from_the_events() -> None:
    run = stepping(failing_for("B"), optional=True)
    state = await run.run()
    assert (await run.folded()).steps == state.steps


async def test_arguments_of_an_item_say_where_they_come_from() -> None:
    run = stepping()
    await run.run()
    request = next(request for request in run.action.requests if request.step_id == "1.ship#1")
    assert request.arguments == {"id": "B"}
    (source,) = request.provenance
    assert (source.source, source.step_id, source.trust) == ("step_output", "1.list", Trust.TRUSTED)


async def test_items_run_side_by_side_and_no_more_than_may() -> None:
    running, most = 0, 0

    async def ship(request: ExecuteRequest) -> JsonValue:
        nonlocal running, most
        running += 1
        most = max(most, running)
        for _ in range(5):
            await asyncio.sleep(0)
        running -= 1
        return {}

    run = stepping(ship, orders={"orders": [{"id": str(n)} for n in range(5)]})
    run.max_parallel_steps = 2
    state = await run.run()
    assert state.steps["1.ship"].has_succeeded
    assert most == 2


async def test_a_step_over_an_empty_list_brings_an_empty_list() -> None:
    run = stepping(orders={"orders": []})
    state = await run.run()
    assert data_of(state, "1.ship") == []
    assert len(run.called) == 1


async def test_a_step_fails_when_items_fail_and_says_which() -> None:
    run = stepping(failing_for("A", "C"), PlanStep(step_id="1.tell", tool="tell", depends_on=("1.ship",)))
    state = await run.run()
    record = state.steps["1.ship"]
    assert record.fault is not None
    assert (record.fault.code, record.fault.actual) == ("TOOL_ERROR", ["1.ship#0", "1.ship#2"])
    assert record.fault.message.startswith("2 of 3 items failed: 1.ship#0 TOOL_ERROR, 1.ship#2 TOOL_ERROR.")
    assert not record.fault.cause_step_id
    assert state.steps["1.ship#1"].has_succeeded
    assert fault_of(state, "1.tell")[0] == "UPSTREAM_STEP_FAILED"
    (gathered,) = [body for body in await run.bodies() if isinstance(body, ItemsGathered)]
    assert (gathered.items, gathered.failed) == (3, ("1.ship#0", "1.ship#2"))


async def test_an_optional_step_goes_on_with_the_items_that_succeeded() -> None:
    run = stepping(failing_for("B"), optional=True)
    assert data_of(await run.run(), "1.ship") == [{"at": "place of A"}, {"at": "place of C"}]
    run = stepping(failing_for("A", "B", "C"), optional=True)
    assert not (await run.run()).steps["1.ship"].has_succeeded


async def test_a_list_is_as_sure_and_as_trusted_as_the_least_of_its_items() -> None:
    run = stepping()
    run.observation = ScriptedObservation(doubtful_tools=frozenset({"ship"}))
    observation = (await run.run()).steps["1.ship"].observation
    assert observation is not None
    assert (observation.confidence, observation.confidence_level) == (0.4, ConfidenceLevel.LOW)
    assert observation.trust is Trust.TRUSTED


@pytest.mark.parametrize(
    ("count", "plan_bound", "max_items", "found"),
    [
        (6, 5, 20, ("TOO_MANY_ITEMS", "/for_each/items")),
        (21, 0, 20, ("LIMIT_REACHED", "max_items")),
        (11, 0, 20, ("LIMIT_REACHED", "max_calls_per_tool")),
    ],
)
async def test_a_list_that_is_too_long_is_refused_before_any_call(
    count: int, plan_bound: int, max_items: int, found: tuple[str, str]
) -> None:
    fan_out = ForEach(items=StepOutput(step_id="1.list", pointer="/orders"), max_items=plan_bound)
    run = stepping(orders={"orders": [{"id": str(n)} for n in range(count)]}, for_each=fan_out)
    run.limits = replace(run.limits, max_items=max_items)
    state = await run.run()
    assert fault_of(state, "1.ship") == found
    assert len(run.called) == 1


@pytest.mark.parametrize("orders", [{"orders": {"id": "A"}}, {"orders": None}])
async def test_what_is_no_list_is_not_run_over(orders: JsonValue) -> None:
    assert fault_of(await stepping(orders=orders).run(), "1.ship")[0] == "TOO_MANY_ITEMS"


async def test_a_list_that_is_not_there_is_not_run_over() -> None:
    assert fault_of(await stepping(orders={}).run(), "1.ship")[0] == "UNRESOLVED_REFERENCE"


async def test_equal_items_are_read_once() -> None:
    run = stepping(orders={"orders": [{"id": "A"}] * 3})
    state = await run.run()
    assert data_of(state, "1.ship") == [{"at": "place of A"}] * 3
    assert [tool for _, tool in run.called] == ["orders", "ship"]


async def test_items_that_were_done_are_not_run_again_by_another_host() -> None:
    run = stepping()
    await run.run()
    bodies = await run.bodies()
    verdicts = [number for number, body in enumerate(bodies, start=1) if isinstance(body, ResultObserved)]
    other, before = await run.on_another_host(verdicts[1]), len(run.action.requests)  # the list, and one item
    known = other.writer.state.steps.values()
    (done,) = (record.step_id for record in known if record.is_done and record.is_item)
    state = await other.run()
    assert data_of(state, "1.ship") == [{"at": "place of A"}, {"at": "place of B"}, {"at": "place of C"}]
    again = [request.step_id for request in run.action.requests[before:]]
    assert sorted([*again, done]) == ["1.ship#0", "1.ship#1", "1.ship#2"]


async def test_a_correction_runs_the_failed_items_again_and_no_other() -> None:
    is_broken = True

    async def ship(request: ExecuteRequest) -> ActionResult | JsonValue:
        assert isinstance(request.arguments, dict)
        return FAILED if is_broken and request.arguments["id"] == "B" else await shipped(request)

    run = stepping(ship)
    state = await run.run()
    assert not state.steps["1.ship"].has_succeeded
    is_broken = False
    state.steps["1.ship"].reopen()  # as a correction that retries does
    before = len(run.action.requests)
    state = await run.run()
    assert [request.step_id for request in run.action.requests[before:]] == ["1.ship#1"]
    assert len(data_of(state, "1.ship")) == 3  # type: ignore[arg-type]
    assert state.steps["1.ship#1"].attempt == 2


async def test_a_step_waits_while_an_item_of_it_waits_for_leave() -> None:
    clock = FakeClock(is_impatient=True)
    action = GatedAction({"orders": ORDERS, "ship": shipped, "tell": {}}, frozenset({"ship"}), clock.now())
    tell = PlanStep(step_id="1.tell", tool="tell", depends_on=("1.ship",))
    run = Stepping(action, LIST, each(), tell, clock=clock, effects={"ship": Effect.WRITE})
    state = await run.run()
    assert [approval.step_id for approval in state.open_approvals] == ["1.ship#0", "1.ship#1", "1.ship#2"]
    assert (state.steps["1.ship"].is_open, state.steps["1.tell"].is_done) == (True, False)

    await _decide_all(run, action)

    assert state.unfinished_plan is run.plan
    state = await run.run()
    assert len(data_of(state, "1.ship")) == 3  # type: ignore[arg-type]
    assert state.steps["1.tell"].has_succeeded


async def _decide_all(run: Stepping, action: GatedAction) -> None:
    call = CallContext(deadline=Deadline.after(1.0, run.clock))
    for approval in run.writer.state.open_approvals:
        wanted = DecideApprovalRequest(
            approval_id=approval.approval_id, decision=ApprovalDecision.APPROVED, decided_by="ann"
        )
        await action.decide_approval(wanted, call)
        outcome = ApprovalOutcome(approval_id=approval.approval_id, decision=ApprovalDecision.APPROVED)
        await run.writer.emit(RunResumed(reason="approval", approval=outcome))


async def test_calls_of_items_that_ran_again_are_counted_all() -> None:
    run = stepping(failing_for("B"))
    state = await run.run()
    state.steps["1.ship"].reopen()
    state = await run.run()
    assert state.calls_per_tool == {"orders": 1, "ship": 4}


@pytest.mark.parametrize(
    "grave",
    [
        ActionResult(step_id="", tool="", status=ActionStatus.OUTCOME_UNKNOWN, fault=unknown_outcome("ship", "lost.")),
        ActionResult(step_id="", tool="", status=ActionStatus.OUTCOME_UNKNOWN, effect_id="e1", fault=FAILED.fault),
    ],
)
async def test_an_optional_step_is_not_silent_about_an_item_that_may_have_taken_effect(grave: ActionResult) -> None:
    async def ship(request: ExecuteRequest) -> ActionResult | JsonValue:
        assert isinstance(request.arguments, dict)
        return grave if request.arguments["id"] == "B" else await shipped(request)

    state = await stepping(ship, optional=True).run()
    assert grave.fault is not None
    assert fault_of(state, "1.ship")[0] == grave.fault.code


async def test_an_item_whose_call_is_over_is_not_counted_twice_by_another_host() -> None:
    run = stepping()
    run.limits = replace(run.limits, max_calls_per_tool=3)
    await run.run()
    bodies = await run.bodies()
    returned = [number for number, body in enumerate(bodies, start=1) if isinstance(body, ActionReturned)]
    other = await run.on_another_host(returned[1])  # the list, and one item that nobody has judged
    other.limits = run.limits
    assert len(data_of(await other.run(), "1.ship")) == 3  # type: ignore[arg-type]


async def test_the_fault_of_a_step_is_that_of_the_item_which_allows_no_other_way() -> None:
    refused = Fault(code=FaultCode.APPROVAL_REJECTED, stage=FaultStage.ACTION, message="A person said no.")
    rejected = replace(FAILED, status=ActionStatus.REJECTED, fault=refused)

    async def ship(request: ExecuteRequest) -> ActionResult | JsonValue:
        assert isinstance(request.arguments, dict)
        return {"A": FAILED, "B": rejected}.get(str(request.arguments["id"]), {})

    assert fault_of(await stepping(ship).run(), "1.ship")[0] == "APPROVAL_REJECTED"
