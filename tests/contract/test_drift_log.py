"""One suite for every drift log: what the replicas of the observation service rely on."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import SecretStr

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable
from taoloop.core.settings import RedisSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.observation.drift.local_drift_log import LocalDriftLog
from taoloop.observation.drift.ports import DriftLog, Sighting, SightingBatch
from taoloop.observation.drift.redis_drift_log import RedisDriftLog
from taoloop.plan.observing import Drift, DriftKind, DriftRecord
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.wire.redis.redis_link import RedisLink, redis_link

CLOCK = SystemClock()
MORNING = datetime(2026, 3, 10, 8, 0, 0, 123456, tzinfo=UTC)
STATE = Drift(kind=DriftKind.NEW_ENUM_VALUE, pointer="/items/*/state", value='已取消:"x"\n')
FIELD = Drift(kind=DriftKind.NEW_FIELD, pointer="/weight", value="number", in_data=True)

Open = Callable[[int], DriftLog]


def soon() -> Deadline:
    return Deadline.after(5.0, CLOCK)


def sighting(drift: Drift = STATE, *, tool: str = "track", minutes: int = 0, count: int = 1) -> Sighting:
    moment = MORNING + timedelta(minutes=minutes)
    return Sighting(tool=tool, drift=drift, first_seen=moment, last_seen=moment, count=count)


def batch(number: int, *sightings: Sighting, source: str = "one") -> SightingBatch:
    return SightingBatch(source=source, number=number, sightings=sightings)


@pytest.fixture
async def link(valkey: EmbeddedValkey) -> AsyncIterator[RedisLink]:
    settings = RedisSettings(url=SecretStr(valkey.url))
    async with redis_link(settings, Telemetry.build(TelemetrySettings(), "test")) as opened:
        yield opened


@pytest.fixture(params=["local", "redis"])
def opened(request: pytest.FixtureRequest, link: RedisLink) -> Open:
    if request.param == "local":
        return LocalDriftLog
    prefix = f"test-{uuid.uuid4().hex[:8]}"
    return lambda max_records: RedisDriftLog(link, prefix, max_records=max_records, retention_seconds=3600)


async def read(log: DriftLog, *tools: str) -> dict[str, DriftRecord]:
    records = await log.read(tools or ("track",), soon())
    return {record.drift.pointer: record for record in records if record.drift is not None}


async def test_a_drift_is_remembered_as_it_was_seen(opened: Open) -> None:
    log = opened(10)
    assert await log.add(batch(1, sighting(), sighting(FIELD)), soon()) == 0

    assert await read(log) == {
        STATE.pointer: DriftRecord(tool="track", drift=STATE, first_seen=MORNING, last_seen=MORNING, count=1),
        FIELD.pointer: DriftRecord(tool="track", drift=FIELD, first_seen=MORNING, last_seen=MORNING, count=1),
    }


async def test_sightings_of_all_processes_make_one_record(opened: Open) -> None:
    log = opened(10)
    await log.add(batch(1, sighting(minutes=5, count=2)), soon())
    await log.add(batch(1, sighting(minutes=1, count=3), source="two"), soon())
    await log.add(batch(2, sighting(minutes=9)), soon())

    record = (await read(log))[STATE.pointer]
    assert record.first_seen == MORNING + timedelta(minutes=1)
    assert record.last_seen == MORNING + timedelta(minutes=9)
    assert record.count == 6


async def test_the_same_batch_again_changes_nothing(opened: Open) -> None:
    log = opened(10)
    for _ in range(3):
        await log.add(batch(1, sighting()), soon())

    assert (await read(log))[STATE.pointer].count == 1


async def test_a_full_tool_takes_what_it_knows_and_tells_how_much_it_refused(opened: Open) -> None:
    log = opened(1)
    others = [replace(FIELD, pointer=f"/f{number}") for number in range(3)]
    await log.add(batch(1, sighting()), soon())

    assert await log.add(batch(2, sighting(), *map(sighting, others), sighting(tool="other")), soon()) == 3
    assert (await read(log, "track", "other")).keys() == {STATE.pointer}
    assert (await read(log, "track"))[STATE.pointer].count == 2


async def test_tools_are_read_by_name(opened: Open) -> None:
    log = opened(10)
    await log.add(batch(1, sighting(), sighting(FIELD, tool="other")), soon())

    assert (await read(log, "other")).keys() == {FIELD.pointer}
    assert await log.read((), soon()) == ()
    assert await read(log, "nobody") == {}


async def test_what_cannot_be_read_is_left_out(link: RedisLink) -> None:
    prefix = f"test-{uuid.uuid4().hex[:8]}"
    log = RedisDriftLog(link, prefix, max_records=10, retention_seconds=3600)
    garbage: dict[Any, Any] = {
        "{": "1:2:3",
        '["new_smell",false,"/x","v"]': "1:2:3",
        '["new_field"]': "1:2:3",
        "[]": "x",
    }
    await link.client.hset(f"{prefix}:{{observation}}:drift:of:track", mapping=garbage)
    await log.add(batch(1, sighting()), soon())

    assert (await read(log)).keys() == {STATE.pointer}


async def test_records_and_batches_go_by_themselves(link: RedisLink) -> None:
    prefix = f"test-{uuid.uuid4().hex[:8]}"
    log = RedisDriftLog(link, prefix, max_records=10, retention_seconds=3600)
    await log.add(batch(1, sighting()), soon())

    keys = [key async for key in link.client.scan_iter(f"{prefix}:*")]
    assert len(keys) == 2
    assert all([0 < await link.client.pttl(key) <= 24 * 3600 * 1000 for key in keys])


async def test_a_log_that_is_away_or_refuses_is_unavailable(link: RedisLink) -> None:
    prefix = f"test-{uuid.uuid4().hex[:8]}"
    await link.client.set(f"{prefix}:{{observation}}:drift:of:track", "no hash")
    with pytest.raises(BackendUnavailable):
        await RedisDriftLog(link, prefix, max_records=1, retention_seconds=9).add(batch(1, sighting()), soon())

    settings = RedisSettings(url=SecretStr("redis://127.0.0.1:1/0"), outage_tolerance_seconds=0.2)
    async with redis_link(settings, Telemetry.build(TelemetrySettings(), "test")) as away:
        log = RedisDriftLog(away, "test", max_records=1, retention_seconds=9)
        with pytest.raises(BackendUnavailable):
            await log.read(("track",), soon())


async def test_a_log_shows_what_it_is(link: RedisLink) -> None:
    local = LocalDriftLog(10)
    await local.add(batch(1, sighting()), soon())
    shared = RedisDriftLog(link, "test", max_records=1, retention_seconds=9)

    assert (repr(local), local.is_shared) == ("<LocalDriftLog [1 records]>", False)
    assert repr(shared).startswith("<RedisDriftLog test:{observation}:drift on <RedisLink redis://127.0.0.1:")
    assert shared.is_shared
