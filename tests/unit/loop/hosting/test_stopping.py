"""A host that stops: what it drives has time to come to its end."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from taoloop.plan.task import Outcome
from tests.unit.loop.hosting import hosts
from tests.unit.loop.hosting.hosts import CONFIG, PLAN, TASK, Hanging, call, host_on, new_world


async def test_a_run_that_ends_within_the_time_to_stop_ends_on_its_own_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "CONFIG", replace(CONFIG, drain_seconds=5.0))
    world, hanging = new_world(), Hanging()
    async with host_on(world, "one", PLAN, find=hanging) as one:
        run_id = (await one.runs.submit(TASK, "d", call())).run_id
        await hanging.is_asked.wait()
        async with asyncio.TaskGroup() as group:
            group.create_task(one.host.wind_down(), name="wind down")
            await asyncio.sleep(0)
            assert not one.host.takes_runs
            hanging.may_answer.set()
        state = await world.state(run_id)

    assert state.finished is not None
    assert state.finished.outcome is Outcome.ANSWERED
    assert not world.table.held
