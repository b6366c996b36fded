"""Writes under way when a run ends without its driver: whether they took effect is told, or asked of people."""

from __future__ import annotations

from taoloop.core.exact_json import JsonValue
from taoloop.loop.ports import RunKey
from taoloop.loop.runlog.writer import RunWriter
from taoloop.loop.state import RunState
from taoloop.plan.acting import ExecuteRequest, ToolSummary
from taoloop.plan.running import RunFinished, RunResumed, RunStarted, StepStarted, ThoughtMade
from taoloop.plan.task import Outcome
from taoloop.testing.services import ListedTools
from taoloop.tools.signature import Effect
from tests.unit.loop.hosting.hosts import CLOCK, PLAN, TASK, TENANT, call, host_on, new_world, soon

RUN_ID = "f" * 32
KEY = RunKey(TENANT, RUN_ID)
WRITING = ListedTools((ToolSummary(name="find", effect=Effect.WRITE, parameters={}),))


async def test_a_write_of_a_run_that_no_host_brings_on_goes_to_a_person() -> None:
    world = new_world()
    async with host_on(world, "two", PLAN, max_take_overs=1) as two:
        two.action._listing = WRITING
        dead = RunWriter(world.log, TENANT, RunState(RUN_ID), CLOCK, 1.0)
        await dead.emit(RunStarted(task=TASK, catalogue_digest="d"), ThoughtMade(response=PLAN))
        await dead.emit(StepStarted(step_id="1.t1", tool="find"), RunResumed(reason="take_over"))
        await two.leases.hold(KEY, soon())
        world.table.let_lapse()
        await two.look()
        summary = (await world.state(RUN_ID)).summary()

    assert summary.outcome is Outcome.NEEDS_HUMAN
    assert [each.step_id for each in summary.handovers_required] == ["1.t1"]
    assert [type(each.body).__name__ for each in await world.events(RUN_ID)][-3:] == [
        "LimitReached",
        "HandoverRequired",
        "RunFinished",
    ]


async def test_a_run_that_is_cancelled_where_nobody_drives_it_names_the_writes_that_may_have_taken_effect() -> None:
    world = new_world()
    async with host_on(world, "two") as two:
        two.action._listing = WRITING
        dead = RunWriter(world.log, TENANT, RunState(RUN_ID), CLOCK, 1.0)
        await dead.emit(RunStarted(task=TASK, catalogue_digest="d"), ThoughtMade(response=PLAN))
        await dead.emit(StepStarted(step_id="1.t1", tool="find"))
        await two.host.cancel(two.host.writer(await world.state(RUN_ID), TENANT), "not wanted")
        summary = (await world.state(RUN_ID)).summary()

    assert summary.outcome is Outcome.CANCELLED
    assert summary.fault is not None
    assert summary.fault.message == "not wanted. Whether these steps took effect is not known: 1.t1."


async def test_a_write_that_a_fault_of_the_program_cuts_off_goes_to_a_person() -> None:
    async def break_down(_: ExecuteRequest) -> JsonValue:
        raise ZeroDivisionError("a fault of ours")

    async with host_on(new_world(), "one", PLAN, find=break_down) as one:
        one.action._listing = WRITING
        events = [event async for event in one.runs.run(TASK, "d", call())]

    assert isinstance(events[-1].body, RunFinished)
    assert events[-1].body.outcome is Outcome.NEEDS_HUMAN
