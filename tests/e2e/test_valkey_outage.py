"""Valkey dies for five seconds while runs are on: accepted work ends, and the services recover by themselves."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest
from redis.asyncio import Redis

from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, DeadlineExceeded, TaoError
from taoloop.core.settings import GrpcSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.running import RunFinished
from taoloop.plan.task import Outcome, Role, Task, Turn
from taoloop.testing.mock_tools import FaultProfile, MockTools
from taoloop.testing.tool_samples import read_samples
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.tools.served_catalogue import read_catalogue
from taoloop.wire.clients import LoopClient, loop_client
from tests.e2e.deployment import Deployment, deployment
from tests.e2e.processes import CATALOGUE
from tests.e2e.waiting import eventually, is_serving

OUTAGE_SECONDS = 5.0
RUNS_AT_ONCE = 8
CLEAR_ERRORS = (BackendUnavailable, DeadlineExceeded)


@dataclass(frozen=True)
class Ending:
    """How one run ended for its caller."""

    outcome: Outcome | None = None
    error: TaoError | None = None
    fault_code: str = ""

    @property
    def is_clear(self) -> bool:
        """Whether it was answered, or ended with a fault or an error that names the cause."""
        if self.error is not None:
            return isinstance(self.error, CLEAR_ERRORS)
        return self.outcome is Outcome.ANSWERED or bool(self.fault_code)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("patience_seconds", [10.0, 1.0], ids=["ridden_out", "given_up_on"])
async def test_an_outage_of_five_seconds_loses_no_run_and_needs_no_restart(
    patience_seconds: float, tmp_path: Path
) -> None:
    catalogue = read_catalogue(CATALOGUE)
    slow = FaultProfile(latency_seconds=0.2)
    patience = {"TAOLOOP_REDIS__OUTAGE_TOLERANCE_SECONDS": str(patience_seconds)}
    telemetry = Telemetry.build(TelemetrySettings(), "test")
    async with (
        EmbeddedValkey(tmp_path / "valkey") as valkey,
        MockTools(catalogue, read_samples(CATALOGUE, catalogue), slow) as tools,
        deployment(tmp_path, valkey.url, tools.bases, patience) as running,
        loop_client(running.loop_address, GrpcSettings(), telemetry) as client,
    ):
        assert (await _run(client)).outcome is Outcome.ANSWERED  # warm: the outage hits work, not a first start
        # With `everysec` a write may wait for two seconds behind a slow fsync, and SIGKILL loses what was acknowledged.
        async with Redis.from_url(valkey.url) as server:
            await server.config_set("appendfsync", "always")
        submitted = await _submit(client)
        async with asyncio.TaskGroup() as group:
            first = [group.create_task(_run(client)) for _ in range(RUNS_AT_ONCE)]
            await eventually(partial(_reached, tools, 2), "a tool call of the runs")
            valkey.kill()
            during = [group.create_task(_run(client)) for _ in range(RUNS_AT_ONCE)]
            await asyncio.sleep(OUTAGE_SECONDS)
            assert not await is_serving(running.loop_address)
            await valkey.start()
        endings = [task.result() for task in (*first, *during)]
        assert all(ending.is_clear for ending in endings), endings
        if patience_seconds > OUTAGE_SECONDS:
            assert {ending.outcome for ending in endings} == {Outcome.ANSWERED}, endings
            assert await _outcome_of(client, submitted) is Outcome.ANSWERED
        else:
            assert any(ending.outcome is not Outcome.ANSWERED for ending in endings), endings
            # Nobody waits for this one; its end is written all the same, when the log is back.
            assert await _outcome_of(client, submitted) in {Outcome.ANSWERED, Outcome.FAILED}
        await _recovered(running, client)
        assert all(process.process.poll() is None for process in running.processes.values()), running.told()


async def _recovered(running: Deployment, client: LoopClient) -> None:
    for name, address in running.addresses.items():
        await eventually(partial(is_serving, address), f"{name} serving again")
    ending = await _run(client)
    assert ending.outcome is Outcome.ANSWERED, ending


async def _reached(tools: MockTools, calls: int) -> bool:
    return tools.calls.total() >= calls


async def _run(client: LoopClient) -> Ending:
    """Run a chain of two calls to its end, as its caller sees it."""
    ending = Ending()
    try:
        async for event in client.run(_task(), _call()):
            if isinstance(event.body, RunFinished):
                fault = event.body.fault
                ending = Ending(event.body.outcome, fault_code=fault.code if fault else "")
    except TaoError as error:
        return Ending(error=error)
    return ending


async def _submit(client: LoopClient) -> str:
    return (await client.submit(_task(), _call())).run_id


async def _outcome_of(client: LoopClient, run_id: str) -> Outcome | None:
    async def has_ended() -> bool:
        return (await client.get_run(run_id, _call())).outcome is not None

    await eventually(has_ended, f"the end of run {run_id}", 60.0)
    return (await client.get_run(run_id, _call())).outcome


def _task() -> Task:
    return Task(
        request_id=uuid.uuid4().hex,
        turns=(Turn(role=Role.USER, text="用手机号 13800138000 查订单，然后查它的物流"),),
        reference_time=datetime.fromisoformat("2026-03-10T09:00:00+08:00"),
        time_zone="Asia/Shanghai",
        locale="zh-CN",
    )


def _call() -> CallContext:
    return CallContext(deadline=Deadline.after(40.0, SystemClock()))
