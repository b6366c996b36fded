"""One suite for every run log: what the driver relies on."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import SecretStr
from redis.asyncio import Redis

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import (
    BackendUnavailable,
    EventTooLarge,
    InvalidRequest,
    RequestIdReused,
    RunConflict,
    UnknownRun,
)
from taoloop.core.settings import RedisSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.loop.ports import NewRun, RunLog, RunPosition, RunsPage, RunsWanted
from taoloop.loop.runlog.event_form import EventForm
from taoloop.loop.runlog.redis_run_log import RedisRunLog, redis_run_log
from taoloop.loop.runlog.retention import Retention
from taoloop.loop.runlog.run_keys import RunKeys
from taoloop.loop.servicer import run_codec
from taoloop.loop.state import RunState
from taoloop.plan.running import (
    ApprovalRequired,
    EventBody,
    LimitReached,
    RunEvent,
    RunFinished,
    RunResumed,
    RunStarted,
)
from taoloop.plan.task import Outcome, Role, Task, Turn
from taoloop.plan.thinking import Answer
from taoloop.testing.run_log import InMemoryRunLog
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.wire.redis.redis_link import redis_link
from taoloop.wire.redis.script_batch import script_batch

NOW = datetime(2026, 3, 10, 8, 0, 0, 123000, tzinfo=UTC)


def soon(seconds: float = 5.0) -> Deadline:
    return Deadline.after(seconds, SystemClock())


@pytest.fixture
def run_id() -> str:
    return uuid.uuid4().hex


@pytest.fixture
def tenant() -> str:
    return f"tenant-{uuid.uuid4().hex[:8]}"


def form(inline_bytes: int = 1024, max_bytes: int = 256 * 1024) -> EventForm:
    return EventForm(run_codec(), inline_bytes, max_bytes)


@asynccontextmanager
async def redis_log(url: str, inline_bytes: int = 1024) -> AsyncIterator[RedisRunLog]:
    settings = RedisSettings(url=SecretStr(url), outage_tolerance_seconds=0.3)
    retention = Retention(ended_seconds=60.0, open_seconds=600.0)
    async with (
        redis_link(settings, Telemetry.build(TelemetrySettings(), "test")) as link,
        redis_run_log(link, form(inline_bytes), "test", retention, SystemClock()) as opened,
    ):
        yield opened


@pytest.fixture(params=["memory", "redis"])
async def log(request: pytest.FixtureRequest, valkey: EmbeddedValkey) -> AsyncIterator[RunLog]:
    if request.param == "memory":
        yield InMemoryRunLog()
        return
    async with redis_log(valkey.url) as opened:
        yield opened


@asynccontextmanager
async def beside(log: RunLog) -> AsyncIterator[RunLog]:
    """Open the same log as another process does."""
    if isinstance(log, InMemoryRunLog):
        yield log.beside()
        return
    assert isinstance(log, RedisRunLog)
    async with script_batch(log._link) as scripts:
        yield RedisRunLog(log._link, scripts, form(), RunKeys("test"), log._retention, SystemClock())


def event(run_id: str, sequence: int, value: float = 0.0, epoch: int = 1) -> RunEvent:
    body = LimitReached(limit="max_tokens", value=value)
    return RunEvent(run_id=run_id, sequence=sequence, time=NOW, host_epoch=epoch, body=body)


def new_run(tenant: str, run_id: str, request_id: str = "q1", digest: str = "d1") -> NewRun:
    return NewRun(tenant=tenant, run_id=run_id, request_id=request_id, task_digest=digest, created_at=datetime.now(UTC))


async def test_events_come_back_whole_and_in_order(log: RunLog, tenant: str, run_id: str) -> None:
    task = Task(request_id="q", turns=(Turn(role=Role.USER, text="订单 12345678901234567 在哪"),), state={"n": 0})
    started = replace(event(run_id, 1), body=RunStarted(task=task, catalogue_digest="d"))
    finished = replace(event(run_id, 2), body=RunFinished(outcome=Outcome.ANSWERED, duration_seconds=1.5))
    await log.append(tenant, [started], soon())
    await log.append(tenant, [finished], soon())

    read = await log.read(tenant, run_id, 1, soon())

    assert [entry.sequence for entry in read] == [1, 2]
    assert [entry.body for entry in read] == [started.body, finished.body]


async def test_reading_from_a_sequence_number_leaves_earlier_events_out(log: RunLog, tenant: str, run_id: str) -> None:
    for sequence in (1, 2, 3):
        await log.append(tenant, [event(run_id, sequence)], soon())

    assert [entry.sequence for entry in await log.read(tenant, run_id, 3, soon())] == [3]


async def test_the_same_event_twice_is_written_once(log: RunLog, tenant: str, run_id: str) -> None:
    await log.append(tenant, [event(run_id, 1)], soon())
    await log.append(tenant, [event(run_id, 1)], soon())

    assert len(await log.read(tenant, run_id, 1, soon())) == 1


async def test_the_same_event_of_another_writer_is_no_repeat(log: RunLog, tenant: str, run_id: str) -> None:
    async with beside(log) as other:
        await log.append(tenant, [event(run_id, 1)], soon())

        with pytest.raises(RunConflict):
            await other.append(tenant, [event(run_id, 1)], soon())
        await other.append(tenant, [event(run_id, 2)], soon())
        with pytest.raises(RunConflict):
            await log.append(tenant, [event(run_id, 2)], soon())


async def test_another_event_under_a_taken_number_is_a_conflict(log: RunLog, tenant: str, run_id: str) -> None:
    await log.append(tenant, [event(run_id, 1, value=1.0)], soon())

    with pytest.raises(RunConflict):
        await log.append(tenant, [event(run_id, 1, value=2.0)], soon())


async def test_a_gap_in_the_numbers_is_a_conflict(log: RunLog, tenant: str, run_id: str) -> None:
    with pytest.raises(RunConflict):
        await log.append(tenant, [event(run_id, 2)], soon())


async def test_a_host_of_an_older_epoch_may_not_write(log: RunLog, tenant: str, run_id: str) -> None:
    await log.append(tenant, [event(run_id, 1, epoch=2)], soon())

    with pytest.raises(RunConflict):
        await log.append(tenant, [event(run_id, 2, epoch=1)], soon())


async def test_an_unknown_run_is_told_apart_from_an_empty_read(log: RunLog, tenant: str, run_id: str) -> None:
    await log.append(tenant, [event(run_id, 1)], soon())

    assert await log.read(tenant, run_id, 2, soon()) == ()
    with pytest.raises(UnknownRun):
        await log.read(tenant, "0" * 32, 1, soon())


async def test_another_tenant_does_not_see_the_run(log: RunLog, tenant: str, run_id: str) -> None:
    await log.append(tenant, [event(run_id, 1)], soon())

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


async def listed(
    log: RunLog, tenant: str, outcome: Outcome | None = None, most: int = 10, page_token: str = ""
) -> RunsPage:
    return await log.list_runs(tenant, RunsWanted(most=most, outcome=outcome, page_token=page_token), soon())


async def entered(log: RunLog, tenant: str, request_id: str, seconds_ago: float) -> str:
    """Enter a run with its first event."""
    created = datetime.fromtimestamp(datetime.now(UTC).timestamp() - seconds_ago, UTC)
    new = replace(new_run(tenant, uuid.uuid4().hex, request_id=request_id), created_at=created)
    run_id = await log.create(new, soon())
    started = RunStarted(task=Task(request_id=request_id), catalogue_digest="d")
    await log.append(tenant, [replace(event(run_id, 1), body=started, time=created)], soon())
    return run_id


async def written(log: RunLog, tenant: str, run_id: str, body: EventBody, *, is_noted: bool = True) -> None:
    """Write one event more, and note where the run stands then unless its host died in between."""
    state = RunState.from_events(run_id, await log.read(tenant, run_id, 1, soon()))
    new = RunEvent(run_id=run_id, sequence=state.last_sequence + 1, time=NOW, host_epoch=state.host_epoch, body=body)
    await log.append(tenant, [new], soon())
    state.apply(new)
    if is_noted:
        await log.note(tenant, state.summary(), soon())


async def test_runs_are_listed_newest_first_and_page_by_page(log: RunLog, tenant: str) -> None:
    ids = [await entered(log, tenant, f"q{number}", 10.0 - number) for number in range(3)]

    first = await listed(log, tenant, most=2)
    second = await listed(log, tenant, most=2, page_token=first.next_page_token)

    assert [run.run_id for run in (*first.runs, *second.runs)] == ids[::-1]
    assert second.next_page_token == ""


async def test_runs_that_were_entered_at_the_same_moment_are_each_listed_once(log: RunLog, tenant: str) -> None:
    now = datetime.now(UTC)
    for number in range(5):
        run_id = uuid.uuid4().hex
        await log.create(replace(new_run(tenant, run_id, request_id=f"q{number}"), created_at=now), soon())
        await log.append(tenant, [event(run_id, 1)], soon())
    seen: list[str] = []
    token = ""
    while len(seen) < 10:
        page = await listed(log, tenant, most=2, page_token=token)
        seen += [run.run_id for run in page.runs]
        token = page.next_page_token
        if not token:
            break

    assert len(seen) == len(set(seen)) == 5


async def test_a_page_token_of_somebody_else_is_refused(log: RunLog, tenant: str) -> None:
    with pytest.raises(InvalidRequest):
        await listed(log, tenant, page_token="nonsense, or worse\n")


async def test_a_run_without_an_event_is_not_listed(log: RunLog, tenant: str, run_id: str) -> None:
    await log.create(new_run(tenant, run_id), soon())

    assert (await listed(log, tenant)).runs == ()


async def test_runs_are_listed_by_how_they_stand_now(log: RunLog, tenant: str) -> None:
    open_run, asking, answered = [await entered(log, tenant, f"q{number}", 10.0 - number) for number in range(3)]
    for run_id in (asking, answered):
        await written(log, tenant, run_id, RunFinished(outcome=Outcome.NEEDS_INPUT))
    await written(log, tenant, answered, RunResumed(reason="input"))
    assert [run.run_id for run in (await listed(log, tenant, Outcome.NEEDS_INPUT)).runs] == [asking]
    await written(log, tenant, answered, RunFinished(outcome=Outcome.ANSWERED))

    assert [run.run_id for run in (await listed(log, tenant, Outcome.NEEDS_INPUT)).runs] == [asking]
    assert [run.run_id for run in (await listed(log, tenant, Outcome.ANSWERED)).runs] == [answered]
    everything = (await listed(log, tenant)).runs
    assert [run.run_id for run in everything] == [answered, asking, open_run]
    assert [run.last_sequence for run in everything] == [4, 2, 1]
    assert [run.outcome for run in everything] == [Outcome.ANSWERED, Outcome.NEEDS_INPUT, None]


async def test_a_run_that_went_on_is_not_listed_as_waiting_though_its_host_died_before_it_said_so(
    log: RunLog, tenant: str
) -> None:
    run_id = await entered(log, tenant, "q", 1.0)
    await written(log, tenant, run_id, RunFinished(outcome=Outcome.NEEDS_INPUT))
    await written(log, tenant, run_id, RunResumed(reason="input"), is_noted=False)

    assert (await listed(log, tenant, Outcome.NEEDS_INPUT)).runs == ()
    assert [run.outcome for run in (await listed(log, tenant)).runs] == [None]


async def test_a_host_that_is_late_with_where_a_run_stands_changes_nothing(log: RunLog, tenant: str) -> None:
    run_id = await entered(log, tenant, "q", 1.0)
    await written(log, tenant, run_id, RunFinished(outcome=Outcome.NEEDS_INPUT))
    await written(log, tenant, run_id, RunResumed(reason="input"), is_noted=False)
    late = RunState.from_events(run_id, await log.read(tenant, run_id, 1, soon())).summary()
    await written(log, tenant, run_id, RunFinished(outcome=Outcome.ANSWERED))
    await log.note(tenant, late, soon())

    assert [run.outcome for run in (await listed(log, tenant)).runs] == [Outcome.ANSWERED]
    assert [run.run_id for run in (await listed(log, tenant, Outcome.ANSWERED)).runs] == [run_id]


async def test_events_that_are_written_together_stand_or_fall_together(log: RunLog, tenant: str, run_id: str) -> None:
    await log.append(tenant, [event(run_id, 1), event(run_id, 2), event(run_id, 3)], soon())

    with pytest.raises(RunConflict):
        await log.append(tenant, [event(run_id, 3, value=9.0), event(run_id, 4)], soon())
    assert [entry.sequence for entry in await log.read(tenant, run_id, 1, soon())] == [1, 2, 3]


async def test_events_that_are_written_together_twice_are_written_once(log: RunLog, tenant: str, run_id: str) -> None:
    together = [event(run_id, 1), event(run_id, 2)]
    await log.append(tenant, together, soon())
    await log.append(tenant, together, soon())

    assert len(await log.read(tenant, run_id, 1, soon())) == 2


async def test_the_same_events_and_one_more_are_another_append(log: RunLog, tenant: str, run_id: str) -> None:
    await log.append(tenant, [event(run_id, 1)], soon())

    with pytest.raises(RunConflict):
        await log.append(tenant, [event(run_id, 1), event(run_id, 2)], soon())


async def test_what_a_newer_host_wrote_ends_an_older_one(log: RunLog, tenant: str, run_id: str) -> None:
    await log.append(tenant, [event(run_id, 1, epoch=1)], soon())
    await log.append(tenant, [event(run_id, 2, epoch=2)], soon())

    with pytest.raises(RunConflict) as refused:
        await log.append(tenant, [event(run_id, 3, epoch=1)], soon())
    assert refused.value.metadata["cause"] == "stale"
    assert await log.position(tenant, run_id, soon()) == RunPosition(sequence=2, host_epoch=2)


async def test_the_position_of_no_run_is_unknown(log: RunLog, tenant: str, run_id: str) -> None:
    with pytest.raises(UnknownRun):
        await log.position(tenant, run_id, soon())


def large_event(run_id: str, sequence: int, size: int = 50_000) -> RunEvent:
    return replace(event(run_id, sequence), body=Answer(text="订单 7 " * (size // 10)))


async def test_large_events_come_back_whole_and_are_followed_too(log: RunLog, tenant: str, run_id: str) -> None:
    together = [event(run_id, 1), large_event(run_id, 2), large_event(run_id, 3)]
    await log.append(tenant, together, soon())
    await log.append(tenant, together, soon())

    assert await log.read(tenant, run_id, 1, soon()) == tuple(together)
    async with aclosing(log.follow(tenant, run_id, 2, soon())) as events:
        assert await anext(events) == together[1]


async def test_a_large_event_is_kept_once_compressed_and_beside_the_stream(
    valkey: EmbeddedValkey, tenant: str, run_id: str
) -> None:
    async with redis_log(valkey.url) as log, Redis.from_url(valkey.url) as client:
        await log.append(tenant, [large_event(run_id, 1)], soon())
        stream, position, contents = RunKeys("test").of_run(tenant, run_id)

        entries: Any = await client.xrange(stream)
        [(_, fields)] = entries
        assert list(fields) == [b"content"]
        assert await client.hlen(contents) == 1
        assert sum(map(len, await client.hvals(contents))) < 5_000
        for key in (stream, position, contents):
            assert await client.pttl(key) > 0


async def test_an_event_that_is_too_large_is_refused_before_anything_is_written(
    valkey: EmbeddedValkey, tenant: str, run_id: str
) -> None:
    async with redis_log(valkey.url) as log:
        with pytest.raises(EventTooLarge) as refused:
            await log.append(tenant, [event(run_id, 1), large_event(run_id, 2, size=1_000_000)], soon())

        assert refused.value.limit_bytes == 256 * 1024
        with pytest.raises(UnknownRun):
            await log.read(tenant, run_id, 1, soon())


async def test_a_log_whose_content_is_gone_says_so(valkey: EmbeddedValkey, tenant: str, run_id: str) -> None:
    async with redis_log(valkey.url) as log, Redis.from_url(valkey.url) as client:
        await log.append(tenant, [large_event(run_id, 1)], soon())
        await client.delete(RunKeys("test").of_run(tenant, run_id)[2])

        with pytest.raises(UnknownRun, match="not whole"):
            await log.read(tenant, run_id, 1, soon())


async def test_a_log_whose_position_is_lost_goes_on_where_its_events_end(
    valkey: EmbeddedValkey, tenant: str, run_id: str
) -> None:
    async with redis_log(valkey.url) as log, Redis.from_url(valkey.url) as client:
        await log.append(tenant, [event(run_id, 1), event(run_id, 2)], soon())
        await client.delete(RunKeys("test").of_run(tenant, run_id)[1])

        assert await log.position(tenant, run_id, soon()) == RunPosition(sequence=2, host_epoch=1)
        with pytest.raises(RunConflict):
            await log.append(tenant, [event(run_id, 2, value=7.0)], soon())
        await log.append(tenant, [event(run_id, 3)], soon())


async def test_the_same_bytes_of_another_host_are_a_conflict(valkey: EmbeddedValkey, tenant: str, run_id: str) -> None:
    async with redis_log(valkey.url) as one, redis_log(valkey.url) as other:
        await one.append(tenant, [event(run_id, 1)], soon())

        with pytest.raises(RunConflict):
            await other.append(tenant, [event(run_id, 1)], soon())


async def test_what_waits_is_kept_longer_than_what_has_ended(valkey: EmbeddedValkey, tenant: str) -> None:
    async with redis_log(valkey.url) as log, Redis.from_url(valkey.url) as client:
        run_id = await entered(log, tenant, "q", 1.0)
        kept = [await client.pttl(key) / 1000 for key in RunKeys("test").of_run(tenant, run_id)[:2]]
        expires = datetime.now(UTC) + timedelta(seconds=5_000)
        wait = ApprovalRequired(approval_id="a", step_id="1.t1", tool="pay", expires_at=expires)
        await written(log, tenant, run_id, wait)
        await written(log, tenant, run_id, RunFinished(outcome=Outcome.NEEDS_APPROVAL))
        waiting = [await client.pttl(key) / 1000 for key in RunKeys("test").of_run(tenant, run_id)[:2]]
        await written(log, tenant, run_id, RunFinished(outcome=Outcome.CANCELLED))
        ended = [await client.pttl(key) / 1000 for key in RunKeys("test").of_run(tenant, run_id)[:2]]

    assert all(590 < seconds <= 600 for seconds in kept)
    assert all(5_050 < seconds <= 5_060 for seconds in waiting), "its longest wait, and then the retention"
    assert all(50 < seconds <= 60 for seconds in ended)


async def test_all_that_belongs_to_a_run_is_kept_as_long_as_its_log(valkey: EmbeddedValkey, tenant: str) -> None:
    async with redis_log(valkey.url) as log, Redis.from_url(valkey.url) as client:
        run_id = await entered(log, tenant, "q", 1.0)
        await log.append(tenant, [large_event(run_id, 2)], soon())
        keys = (*RunKeys("test").of_run(tenant, run_id), f"test:{{tenant:{tenant}}}:request:q")
        going_on = [await client.pttl(key) / 1000 for key in keys]
        await written(log, tenant, run_id, RunFinished(outcome=Outcome.ANSWERED))
        ended = [await client.pttl(key) / 1000 for key in keys]

    assert all(590 < seconds <= 600 for seconds in going_on)
    assert all(50 < seconds <= 60 for seconds in ended)


async def test_a_listed_run_whose_log_is_gone_leaves_the_list(valkey: EmbeddedValkey, tenant: str) -> None:
    async with redis_log(valkey.url) as log, Redis.from_url(valkey.url) as client:
        run_id = await entered(log, tenant, "q", 1.0)
        await written(log, tenant, run_id, RunFinished(outcome=Outcome.NEEDS_INPUT))
        await client.delete(*RunKeys("test").of_run(tenant, run_id))

        assert (await listed(log, tenant)).runs == ()
        assert await client.zcard(f"test:{{tenant:{tenant}}}:runs") == 0
        assert await client.zcard(f"test:{{tenant:{tenant}}}:runs:needs_input") == 0


async def test_a_new_run_makes_room_by_those_that_are_forgotten(valkey: EmbeddedValkey, tenant: str) -> None:
    async with redis_log(valkey.url) as log, Redis.from_url(valkey.url) as client:
        old = await entered(log, tenant, "q1", 10.0)
        await written(log, tenant, old, RunFinished(outcome=Outcome.ANSWERED))
        await client.zadd(f"test:{{tenant:{tenant}}}:until", {old: 1.0})
        new = await entered(log, tenant, "q2", 1.0)

        assert await client.zrange(f"test:{{tenant:{tenant}}}:runs", 0, -1) == [new.encode()]
        assert await client.zcard(f"test:{{tenant:{tenant}}}:runs:answered") == 0


async def test_a_follower_gets_old_events_and_new_ones(log: RunLog, tenant: str, run_id: str) -> None:
    await log.append(tenant, [event(run_id, 1)], soon())
    seen = []
    async with aclosing(log.follow(tenant, run_id, 1, soon())) as events:
        async for entry in events:
            seen.append(entry.sequence)
            if len(seen) == 3:
                break
            await log.append(tenant, [event(run_id, len(seen) + 1)], soon())

    assert seen == [1, 2, 3]


async def test_many_followers_leave_room_for_who_writes(log: RunLog, tenant: str, run_id: str) -> None:
    await log.append(tenant, [event(run_id, 1)], soon())

    async def follow() -> list[int]:
        seen: list[int] = []
        async with aclosing(log.follow(tenant, run_id, 1, soon())) as events:
            async for entry in events:
                seen.append(entry.sequence)
                if len(seen) == 2:
                    break
        return seen

    following = [asyncio.create_task(follow()) for _ in range(100)]
    await asyncio.sleep(0)
    await log.append(tenant, [event(run_id, 2)], soon(2.0))

    assert await asyncio.gather(*following) == [[1, 2]] * 100


async def test_a_follower_of_no_run_is_told(log: RunLog, tenant: str) -> None:
    with pytest.raises(UnknownRun):
        async for _ in log.follow(tenant, "f" * 32, 1, soon(4.0)):
            pass


async def test_a_log_that_is_away_is_unavailable(tenant: str, run_id: str) -> None:
    async with redis_log("redis://127.0.0.1:1/0") as away:
        with pytest.raises(BackendUnavailable):
            await away.append(tenant, [event(run_id, 1)], soon())
        assert not await away.is_ready()
