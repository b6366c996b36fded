"""One suite for every run log: what the driver relies on."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from pydantic import SecretStr

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, RequestIdReused, RunConflict, UnknownRun
from taoloop.core.settings import RedisSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.loop.ports import NewRun, RunLog
from taoloop.loop.runlog.redis_run_log import RedisRunLog
from taoloop.loop.servicer import event_codec
from taoloop.plan.running import LimitReached, RunEvent, RunFinished, RunStarted
from taoloop.plan.task import Outcome, Role, Task, Turn
from taoloop.testing.run_log import InMemoryRunLog
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.wire.redis.redis_link import redis_link

NOW = datetime(2026, 3, 10, 8, 0, 0, 123000, tzinfo=UTC)


def soon(seconds: float = 5.0) -> Deadline:
    return Deadline.after(seconds, SystemClock())


@pytest.fixture
def run_id() -> str:
    return uuid.uuid4().hex


@pytest.fixture
def tenant() -> str:
    return f"tenant-{uuid.uuid4().hex[:8]}"


@pytest.fixture(params=["memory", "redis"])
async def log(request: pytest.FixtureRequest, valkey: EmbeddedValkey) -> AsyncIterator[RunLog]:
    if request.param == "memory":
        yield InMemoryRunLog()
        return
    settings = RedisSettings(url=SecretStr(valkey.url))
    async with redis_link(settings, Telemetry.build(TelemetrySettings(), "test")) as link:
        yield RedisRunLog(link, event_codec(), "test", retention_seconds=60.0)


def event(run_id: str, sequence: int, value: float = 0.0, epoch: int = 1) -> RunEvent:
    body = LimitReached(limit="max_tokens", value=value)
    return RunEvent(run_id=run_id, sequence=sequence, time=NOW, host_epoch=epoch, body=body)


def new_run(tenant: str, run_id: str, request_id: str = "q1", digest: str = "d1") -> NewRun:
    return NewRun(tenant=tenant, run_id=run_id, request_id=request_id, task_digest=digest, created_at=datetime.now(UTC))


async def test_events_come_back_whole_and_in_order(log: RunLog, tenant: str, run_id: str) -> None:
    task = Task(request_id="q", turns=(Turn(role=Role.USER, text="订单 12345678901234567 在哪"),), state={"n": 0})
    started = replace(event(run_id, 1), body=RunStarted(task=task, catalogue_digest="d"))
    finished = replace(event(run_id, 2), body=RunFinished(outcome=Outcome.ANSWERED, duration_seconds=1.5))
    await log.append(tenant, started, soon())
    await log.append(tenant, finished, soon())

    read = await log.read(tenant, run_id, 1, soon())

    assert [entry.sequence for entry in read] == [1, 2]
    assert [entry.body for entry in read] == [started.body, finished.body]


async def test_reading_from_a_sequence_number_leaves_earlier_events_out(log: RunLog, tenant: str, run_id: str) -> None:
    for sequence in (1, 2, 3):
        await log.append(tenant, event(run_id, sequence), soon())

    assert [entry.sequence for entry in await log.read(tenant, run_id, 3, soon())] == [3]


async def test_the_same_event_twice_is_written_once(log: RunLog, tenant: str, run_id: str) -> None:
    await log.append(tenant, event(run_id, 1), soon())
    await log.append(tenant, event(run_id, 1), soon())

    assert len(await log.read(tenant, run_id, 1, soon())) == 1


async def test_another_event_under_a_taken_number_is_a_conflict(log: RunLog, tenant: str, run_id: str) -> None:
    await log.append(tenant, event(run_id, 1, value=1.0), soon())

    with pytest.raises(RunConflict):
        await log.append(tenant, event(run_id, 1, value=2.0), soon())


async def test_a_gap_in_the_numbers_is_a_conflict(log: RunLog, tenant: str, run_id: str) -> None:
    with pytest.raises(RunConflict):
        await log.append(tenant, event(run_id, 2), soon())


async def test_a_host_of_an_older_epoch_may_not_write(log: RunLog, tenant: str, run_id: str) -> None:
    await log.append(tenant, event(run_id, 1, epoch=2), soon())

    with pytest.raises(RunConflict):
        await log.append(tenant, event(run_id, 2, epoch=1), soon())


async def test_an_unknown_run_is_told_apart_from_an_empty_read(log: RunLog, tenant: str, run_id: str) -> None:
    await log.append(tenant, event(run_id, 1), soon())

    assert await log.read(tenant, run_id, 2, soon()) == ()
    with pytest.raises(UnknownRun):
        await log.read(tenant, "0" * 32, 1, soon())


async def test_another_tenant_does_not_see_the_run(log: RunLog, tenant: str, run_id: str) -> None:
    await log.append(tenant, event(run_id, 1), soon())

    with pytest.raises(UnknownRun):
        await log.read("somebody-else", run_id, 1, soon())


async def test_the_same_request_with_the_same_task_is_one_run(log: RunLog, tenant: str, run_id: str) -> None:
    first = await log.create(new_run(tenant, run_id), soon())
    second = await log.create(new_run(tenant, uuid.uuid4().hex), soon())

    assert first == second == run_id


async def test_the_same_request_id_with_another_task_is_refused(log: RunLog, tenant: str, run_id: str) -> None:
    await log.create(new_run(tenant, run_id), soon())

    with pytest.raises(RequestIdReused):
        await log.create(new_run(tenant, uuid.uuid4().hex, digest="d2"), soon())


async def test_two_tenants_may_use_one_request_id(log: RunLog, tenant: str, run_id: str) -> None:
    other = uuid.uuid4().hex
    await log.create(new_run(tenant, run_id), soon())

    assert await log.create(new_run(f"{tenant}-2", other), soon()) == other


async def test_runs_are_listed_newest_first_and_page_by_page(log: RunLog, tenant: str) -> None:
    ids = []
    for number in range(3):
        created = datetime.fromtimestamp(datetime.now(UTC).timestamp() - 10 + number, UTC)
        run = replace(new_run(tenant, uuid.uuid4().hex, request_id=f"q{number}"), created_at=created)
        ids.append(await log.create(run, soon()))

    first = await log.list_runs(tenant, 2, "", soon())
    second = await log.list_runs(tenant, 2, first[-1], soon())

    assert (*first, *second) == tuple(reversed(ids))


async def test_a_follower_gets_old_events_and_new_ones(log: RunLog, tenant: str, run_id: str) -> None:
    await log.append(tenant, event(run_id, 1), soon())
    seen = []
    async with aclosing(log.follow(tenant, run_id, 1, soon())) as events:
        async for entry in events:
            seen.append(entry.sequence)
            if len(seen) == 3:
                break
            await log.append(tenant, event(run_id, len(seen) + 1), soon())

    assert seen == [1, 2, 3]


async def test_a_follower_of_no_run_is_told(log: RunLog, tenant: str) -> None:
    with pytest.raises(UnknownRun):
        async for _ in log.follow(tenant, "f" * 32, 1, soon(4.0)):
            pass


async def test_a_log_that_is_away_is_unavailable(tenant: str, run_id: str) -> None:
    settings = RedisSettings(url=SecretStr("redis://127.0.0.1:1/0"), outage_tolerance_seconds=0.3)
    async with redis_link(settings, Telemetry.build(TelemetrySettings(), "test")) as link:
        away = RedisRunLog(link, event_codec(), "test", retention_seconds=60.0)

        with pytest.raises(BackendUnavailable):
            await away.append(tenant, event(run_id, 1), soon())
        assert not await away.is_ready()
