"""Leases of the runs that a host drives: kept, taken back, and given up to whoever owns the run by its log."""

from __future__ import annotations

from taoloop.core.telemetry import names
from taoloop.loop.ports import RunKey
from taoloop.loop.runlog.writer import RunWriter
from taoloop.plan.running import ListRunsRequest, RunFinished, RunResumed
from tests.unit.loop.hosting.hosts import CLOCK, PLAN, TASK, TENANT, Hanging, call, host_on, new_world


async def test_a_run_that_is_driven_has_a_lease_that_is_renewed() -> None:
    world, hanging = new_world(), Hanging()
    async with host_on(world, "one", PLAN, find=hanging) as one:
        run_id = (await one.runs.submit(TASK, "d", call())).run_id
        world.table.let_lapse()
        await one.renew()

        assert world.table.held[RunKey(TENANT, run_id)][1] > CLOCK.monotonic()


async def test_a_lease_that_somebody_holds_for_nothing_is_taken_back() -> None:
    world, hanging = new_world(), Hanging()
    async with host_on(world, "one", PLAN, find=hanging) as one:
        run_id = (await one.runs.submit(TASK, "d", call())).run_id
        await hanging.is_asked.wait()
        key = RunKey(TENANT, run_id)
        world.table.held[key] = ("who wanted to resume it, too late", CLOCK.monotonic() + 10.0)
        await one.renew()

        assert world.table.held[key][0] == "one"
        assert len(one.host.open_runs) == 1
        assert one.counted(names.RUN_LEASES_LOST) == 0


async def test_a_run_that_another_host_opened_is_given_up_without_a_word() -> None:
    world, hanging = new_world(), Hanging()
    async with host_on(world, "one", PLAN, find=hanging) as one:
        run_id = (await one.runs.submit(TASK, "d", call())).run_id
        await hanging.is_asked.wait()
        key = RunKey(TENANT, run_id)
        world.table.held[key] = ("two", CLOCK.monotonic() + 10.0)
        await RunWriter(world.log, TENANT, await world.state(run_id), CLOCK, 1.0).emit(RunResumed(reason="take_over"))
        await one.renew()
        await one.at_rest()

        assert not any(isinstance(event.body, RunFinished) for event in await world.events(run_id))
        assert world.table.held[key][0] == "two", "the lease is the other host's"
        assert one.counted(names.RUN_LEASES_LOST) == 1


async def test_a_store_that_is_away_stops_no_run() -> None:
    world, hanging = new_world(), Hanging()
    async with host_on(world, "one", PLAN, find=hanging) as one:
        await one.runs.submit(TASK, "d", call())
        one.leases.is_down = True
        hanging.may_answer.set()
        await one.at_rest()
        page = await one.runs.list(ListRunsRequest(), call())

    assert [run.outcome for run in page.runs] == ["answered"]
