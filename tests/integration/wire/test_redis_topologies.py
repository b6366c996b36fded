"""Run log, board and drift on a Sentinel set and on a Cluster: what they wrote is there after the primary has died."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import SecretStr

from taoloop.action.board.model import BoardContent, OpenBreaker, Switch
from taoloop.action.board.redis_board_store import RedisBoardStore
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import RequestIdReused
from taoloop.core.settings import RedisSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.loop.ports import NewRun, RunKey, RunsWanted
from taoloop.loop.runlog.event_form import EventForm
from taoloop.loop.runlog.redis_leases import RedisRunLeases, redis_run_leases
from taoloop.loop.runlog.redis_run_log import RedisRunLog, redis_run_log
from taoloop.loop.runlog.retention import Retention
from taoloop.loop.servicer import run_codec
from taoloop.observation.drift.ports import Sighting, SightingBatch
from taoloop.observation.drift.redis_drift_log import RedisDriftLog
from taoloop.plan.observing import Drift, DriftKind
from taoloop.plan.running import LimitReached, RunEvent, RunSummary
from taoloop.wire.redis.redis_link import RedisLink, redis_link
from tests.redis_servers import RedisProcess, redis_cluster, sentinel_set

CLOCK = SystemClock()
NOW = datetime(2026, 3, 10, 8, 0, tzinfo=UTC)
RUN = uuid.uuid4().hex
BREAKER = OpenBreaker(tool="pay", endpoint="https://pay.example:443", retry_at=NOW + timedelta(days=36_500))
SIGHTING = Sighting(
    tool="track",
    drift=Drift(kind=DriftKind.NEW_FIELD, pointer="/a", value="x", in_data=True),
    first_seen=NOW,
    last_seen=NOW,
    count=2,
)


def soon() -> Deadline:
    return Deadline.after(40.0, CLOCK)


def event(sequence: int) -> RunEvent:
    body = LimitReached(limit="max_tokens", value=float(sequence))
    return RunEvent(run_id=RUN, sequence=sequence, time=NOW, host_epoch=1, body=body)


@dataclass
class Users:
    """Everything but the queue that keeps something in Redis."""

    log: RedisRunLog
    leases: RedisRunLeases
    board: RedisBoardStore
    drift: RedisDriftLog

    @classmethod
    @asynccontextmanager
    async def of(cls, link: RedisLink) -> AsyncIterator[Users]:
        """Give them on one link."""
        form = EventForm(run_codec(), inline_bytes=1024, max_bytes=1024 * 1024)
        retention = Retention(ended_seconds=600.0, open_seconds=600.0)
        async with (
            redis_run_log(link, form, "test", retention, CLOCK) as log,
            redis_run_leases(link, "test", 60.0, CLOCK) as leases,
        ):
            yield cls(
                log,
                leases,
                RedisBoardStore(link, "test", "one", CLOCK),
                RedisDriftLog(link, "test", max_records=10, retention_seconds=600.0),
            )

    async def write(self, sequence: int) -> None:
        """Write one thing of each."""
        await self.log.append("acme", [event(sequence)], soon())
        await self.log.note("acme", RunSummary(run_id=RUN, request_id="q", last_sequence=sequence), soon())
        await self.leases.hold(RunKey("acme", RUN), soon())
        await self.board.switch_off(Switch(tool=f"tool-{sequence}"), soon())
        await self.board.publish((BREAKER,), soon())
        await self.drift.add(SightingBatch(source="one", number=sequence, sightings=(SIGHTING,)), soon())

    async def check(self, sequence: int) -> None:
        """Find all that was written up to a number."""
        assert [each.sequence for each in await self.log.read("acme", RUN, 1, soon())] == list(range(1, sequence + 1))
        assert await self.leases.renew([RunKey("acme", RUN)], soon()) == ()
        content: BoardContent = await self.board.read(soon())
        assert {switch.tool for switch in content.switches} == {f"tool-{n}" for n in range(1, sequence + 1)}
        assert content.open_breakers == (BREAKER,)
        (record,) = await self.drift.read(("track",), soon())
        assert record.count == 2 * sequence


@asynccontextmanager
async def users(url: str) -> AsyncIterator[Users]:
    settings = RedisSettings(url=SecretStr(url), outage_tolerance_seconds=30.0)
    async with redis_link(settings, Telemetry.build(TelemetrySettings(), "test")) as link, Users.of(link) as kept:
        yield kept


@asynccontextmanager
async def installation(kind: str, directory: Path) -> AsyncIterator[tuple[str, RedisProcess]]:
    """Give the URL of an installation, and a primary to kill: in a cluster the one that holds the board."""
    async with AsyncExitStack() as stack:
        if kind == "sentinel":
            sentinel = await stack.enter_async_context(sentinel_set(directory))
            yield sentinel.url, await sentinel.primary()
            return
        cluster = await stack.enter_async_context(redis_cluster(directory))
        yield cluster.url, await cluster.holder("test:{action}:switches")


@pytest.mark.parametrize("kind", ["sentinel", "cluster"])
async def test_whoever_keeps_something_in_redis_goes_on_after_a_fail_over(kind: str, tmp_path: Path) -> None:
    async with installation(kind, tmp_path) as (url, primary), users(url) as kept:
        first = NewRun(tenant="acme", run_id=RUN, request_id="q", task_digest="d", created_at=datetime.now(UTC))
        assert await kept.log.create(first, soon()) == RUN
        await kept.write(1)
        await kept.check(1)
        primary.kill()
        await kept.write(2)
        await kept.check(2)

        page = await kept.log.list_runs("acme", RunsWanted(most=10), soon())
        assert [(run.run_id, run.last_sequence) for run in page.runs] == [(RUN, 2)]
        with pytest.raises(RequestIdReused):
            await kept.log.create(
                NewRun(tenant="acme", run_id="x", request_id="q", task_digest="e", created_at=NOW), soon()
            )
