"""Leases of the runs that a host drives: kept, taken back, and given up to whoever owns the run by its log."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, InvalidRequest, UnknownRun
from taoloop.core.telemetry import names
from taoloop.loop.ports import RunKey
from taoloop.loop.runlog.writer import RunWriter
from taoloop.plan.running import ListRunsRequest, RunEvent, RunFinished, RunResumed, RunSummary
from taoloop.plan.task import Outcome
from tests.unit.loop.hosting.hosts import CLOCK, PLAN, TASK, TENANT, Hanging, call, host_on, new_world

UNKNOWN = UnknownRun.of("0" * 32)


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


@pytest.mark.parametrize("found", [InvalidRequest("RunEvent: outcome has no name."), ValueError("no event"), UNKNOWN])
async def test_a_run_whose_new_hosts_events_cannot_be_read_is_given_up_alone(
    monkeypatch: pytest.MonkeyPatch, found: Exception
) -> None:
    """The other host is of a newer version, or the log is gone."""
    world, hanging = new_world(), Hanging()

    async with host_on(world, "one", PLAN, PLAN, find=hanging) as one:
        lost, kept = [
            (await one.runs.submit(replace(TASK, request_id=name), "d", call())).run_id for name in ("q1", "q2")
        ]
        await RunWriter(world.log, TENANT, await world.state(lost), CLOCK, 1.0).emit(RunResumed(reason="take_over"))
        for run_id in (lost, kept):
            world.table.held[RunKey(TENANT, run_id)] = ("two", CLOCK.monotonic() + 10.0)
        read = world.log.read

        async def read_or_fail(
            tenant: str, run_id: str, from_sequence: int, deadline: Deadline
        ) -> tuple[RunEvent, ...]:
            if run_id == lost:
                raise found
            return await read(tenant, run_id, from_sequence, deadline)

        works = [run.work for run in one.host.open_runs]
        with monkeypatch.context() as patched:
            patched.setattr(world.log, "read", read_or_fail)
            await one.renew()
        await asyncio.wait(works, timeout=2.0, return_when=asyncio.FIRST_COMPLETED)

        assert [run.key.run_id for run in one.host.open_runs] == [kept]
        assert world.table.held[RunKey(TENANT, kept)][0] == "one", (
            "its lease is taken back although the other's log failed"
        )
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


async def test_a_host_that_claims_a_run_of_its_own_goes_on_with_it_as_if_nothing_had_been() -> None:
    world, hanging = new_world(), Hanging()
    async with host_on(world, "one", PLAN, find=hanging) as one:
        run_id = (await one.runs.submit(TASK, "d", call())).run_id
        await hanging.is_asked.wait()
        world.table.let_lapse()
        await one.look()
        hanging.may_answer.set()
        await one.at_rest()
        state = await world.state(run_id)

    assert state.finished is not None
    assert state.finished.outcome is Outcome.ANSWERED
    assert state.host_epoch == 1


async def test_an_end_that_is_not_in_the_list_keeps_its_lease_until_a_host_has_entered_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world, noted = new_world(), list[RunSummary]()
    is_away = True

    async def note(_tenant: str, summary: RunSummary, _deadline: Deadline) -> None:
        if is_away:
            raise BackendUnavailable("The list does not answer.")
        noted.append(summary)

    monkeypatch.setattr(world.log, "note", note)
    async with host_on(world, "one", PLAN) as one, host_on(world, "two") as two:
        run_id = (await one.runs.submit(TASK, "d", call())).run_id
        await one.at_rest()
        assert list(world.table.held) == [RunKey(TENANT, run_id)]
        world.table.let_lapse()
        is_away = False
        await two.look()

    assert [(summary.run_id, summary.outcome) for summary in noted] == [(run_id, Outcome.ANSWERED)]
    assert not world.table.held
