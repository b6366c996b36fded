"""`taoloop gc --runs` on a real Valkey: what logs left behind goes, and nothing else."""

import asyncio
import json
import uuid
from datetime import timedelta
from typing import Any

import pytest
from pydantic import SecretStr
from redis.asyncio import Redis

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.settings import RedisSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.loop.ports import NewRun, RunsWanted
from taoloop.loop.runlog.event_form import EventForm
from taoloop.loop.runlog.redis_leases import redis_run_leases
from taoloop.loop.runlog.redis_run_log import redis_run_log
from taoloop.loop.runlog.retention import Retention
from taoloop.loop.runlog.run_keys import RunKeys
from taoloop.loop.servicer import run_codec
from taoloop.loop.state import RunState
from taoloop.plan.running import EventBody, RunEvent, RunFinished, RunStarted
from taoloop.plan.task import Outcome, Task
from taoloop.plan.thinking import Answer
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.wire.redis.redis_link import redis_link
from tests.unit.cli.conftest import Invoke

CLOCK = SystemClock()
TENANT = "acme: 上海, {1}"


def soon() -> Deadline:
    return Deadline.after(5.0, CLOCK)


async def fill(url: str, prefix: str) -> list[str]:
    """Write runs of an hour ago with a large event: one stays, one loses its log, one its expiry, two go on.

    Of those that go on, one has a host.
    """
    settings, telemetry = RedisSettings(url=SecretStr(url)), Telemetry.build(TelemetrySettings(), "test")
    retention = Retention(ended_seconds=60.0, open_seconds=600.0)
    form = EventForm(run_codec(), inline_bytes=1024, max_bytes=1024 * 1024)
    ids = [uuid.uuid4().hex for _ in range(3)]
    async with (
        redis_link(settings, telemetry) as link,
        redis_run_log(link, form, prefix, retention, CLOCK) as log,
        Redis.from_url(url) as client,
    ):
        for number, run_id in enumerate(ids):
            created = CLOCK.now() - timedelta(hours=1)
            new = NewRun(tenant=TENANT, run_id=run_id, request_id=f"q{number}", task_digest="d", created_at=created)
            await log.create(new, soon())
            bodies: tuple[EventBody, ...] = (
                RunStarted(task=Task()),
                Answer(text="x" * 5000),
                RunFinished(outcome=Outcome.ANSWERED),
            )
            events = [
                RunEvent(run_id=run_id, sequence=index + 1, time=created, host_epoch=1, body=body)
                for index, body in enumerate(bodies)
            ]
            await log.append(TENANT, events, soon())
            await log.note(TENANT, RunState.from_events(run_id, events).summary(), soon())
        for number in range(2):
            run_id, created = uuid.uuid4().hex, CLOCK.now() - timedelta(hours=1)
            new = NewRun(tenant=TENANT, run_id=run_id, request_id=f"o{number}", task_digest="d", created_at=created)
            await log.create(new, soon())
            started = RunEvent(run_id=run_id, sequence=1, time=created, host_epoch=1, body=RunStarted(task=Task()))
            await log.append(TENANT, [started], soon())
            if number == 0:
                await client.zadd(RunKeys(prefix).leases, {f"{run_id} {TENANT}": 9e15})
        await client.delete(RunKeys(prefix).of_run(TENANT, ids[1])[0])
        await client.persist(RunKeys(prefix).of_run(TENANT, ids[2])[0])
    return ids


async def left(url: str, prefix: str) -> tuple[list[str], list[str], int]:
    """Return the listed runs, the keys beside streams, and for how long the log without expiry is kept."""
    async with Redis.from_url(url) as client:
        listed: list[Any] = await client.zrange(f"{prefix}:{{tenant:{TENANT}}}:runs:answered", 0, -1)
        beside = [key.decode() async for key in client.scan_iter(match=f"{prefix}:{{run:*:contents")]
        ttls = [await client.pttl(key) async for key in client.scan_iter(match=f"{prefix}:{{run:*:events")]
    return [each.decode() for each in listed], beside, min(ttls)


async def claimed(url: str, prefix: str) -> int:
    """Return how many runs a host takes over."""
    settings, telemetry = RedisSettings(url=SecretStr(url)), Telemetry.build(TelemetrySettings(), "test")
    async with redis_link(settings, telemetry) as link, redis_run_leases(link, prefix, 60.0, CLOCK) as leases:
        return len(await leases.claim(10, soon()))


@pytest.fixture
def swept_valkey(valkey: EmbeddedValkey, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str, list[str]]:
    """A Valkey with runs under a prefix of their own, which the environment names."""
    prefix = f"gc-{uuid.uuid4().hex[:8]}"
    monkeypatch.setenv("TAOLOOP_REDIS__URL", valkey.url)
    monkeypatch.setenv("TAOLOOP_REDIS__KEY_PREFIX", prefix)
    return valkey.url, prefix, asyncio.run(fill(valkey.url, prefix))


def test_what_logs_left_behind_is_removed(invoke: Invoke, swept_valkey: tuple[str, str, list[str]]) -> None:
    url, prefix, ids = swept_valkey
    done = invoke("gc", "--runs", "--json")

    assert done.code == 0
    assert json.loads(done.out) == {
        "dry_run": False,
        "tenants": 1,
        "listed": 1,
        "contents": 2,
        "adopted": 1,
        "without_expiry": 1,
    }
    listed, beside, least = asyncio.run(left(url, prefix))
    assert sorted(listed) == sorted([ids[0], ids[2]])
    assert len(beside) == 2
    assert least > 0
    again = json.loads(invoke("gc", "--runs", "--json").out)
    assert (again["listed"], again["adopted"]) == (0, 0)
    assert asyncio.run(claimed(url, prefix)) == 1


def test_a_dry_run_says_the_same_and_removes_nothing(invoke: Invoke, swept_valkey: tuple[str, str, list[str]]) -> None:
    url, prefix, _ = swept_valkey
    before = asyncio.run(left(url, prefix))
    done = invoke("gc", "--runs", "--dry-run")

    assert "would remove 1 entries of lists and 2 contents whose log is gone, of 1 tenants" in " ".join(
        done.out.split()
    )
    assert "1 logs had no end and would get one" in done.out
    assert "1 open runs had no host and would be taken over" in done.out
    assert asyncio.run(claimed(url, prefix)) == 0
    assert asyncio.run(left(url, prefix)) == before


async def _page(url: str, prefix: str) -> int:
    settings, telemetry = RedisSettings(url=SecretStr(url)), Telemetry.build(TelemetrySettings(), "test")
    form = EventForm(run_codec(), inline_bytes=1024, max_bytes=1024 * 1024)
    retention = Retention(ended_seconds=60.0, open_seconds=600.0)
    async with redis_link(settings, telemetry) as link, redis_run_log(link, form, prefix, retention, CLOCK) as log:
        return len((await log.list_runs(TENANT, RunsWanted(most=10), soon())).runs)


def test_runs_that_have_their_log_stay_listed(invoke: Invoke, swept_valkey: tuple[str, str, list[str]]) -> None:
    url, prefix, _ = swept_valkey
    invoke("gc", "--runs")

    assert asyncio.run(_page(url, prefix)) == 4


def test_a_redis_that_is_away_is_an_error_in_one_line(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAOLOOP_REDIS__URL", "redis://127.0.0.1:1/0")
    done = invoke("gc", "--runs")

    assert done.code == 1
    assert done.err.startswith("BACKEND_UNAVAILABLE: Redis does not serve")
