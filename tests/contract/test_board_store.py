"""One suite for every board store: what the replicas of the action service rely on."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
from pydantic import SecretStr

from taoloop.action.board.local_board_store import LocalBoardStore
from taoloop.action.board.model import BoardContent, BoardStore, OpenBreaker, Switch
from taoloop.action.board.redis_board_store import RedisBoardStore
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable
from taoloop.core.settings import RedisSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.wire.redis.redis_link import RedisLink, redis_link

CLOCK = SystemClock()
OFF = Switch(tool="pay", reason="停用：对账", switched_by="ann", switched_at=datetime(2026, 3, 10, tzinfo=UTC))


def soon() -> Deadline:
    return Deadline.after(5.0, CLOCK)


def breaker(tool: str, seconds: float = 60.0) -> OpenBreaker:
    retry_at = datetime.fromtimestamp(round(CLOCK.now().timestamp() + seconds), UTC)
    return OpenBreaker(tool=tool, endpoint="https://orders.example:443", retry_at=retry_at)


@pytest.fixture
async def link(valkey: EmbeddedValkey) -> AsyncIterator[RedisLink]:
    settings = RedisSettings(url=SecretStr(valkey.url))
    async with redis_link(settings, Telemetry.build(TelemetrySettings(), "test")) as opened:
        yield opened


@pytest.fixture(params=["local", "redis"])
def store(request: pytest.FixtureRequest, link: RedisLink) -> BoardStore:
    if request.param == "local":
        return LocalBoardStore(CLOCK)
    return RedisBoardStore(link, f"test-{uuid.uuid4().hex[:8]}", "one", CLOCK)


async def test_a_tool_stays_off_until_somebody_switches_it_on(store: BoardStore) -> None:
    await store.switch_off(OFF, soon())
    assert await store.read(soon()) == BoardContent(switches=(OFF,))

    await store.switch_on("pay", soon())
    await store.switch_on("pay", soon())
    assert await store.read(soon()) == BoardContent()


async def test_what_is_published_replaces_what_was_published(store: BoardStore) -> None:
    first, second = breaker("a"), breaker("b")
    await store.publish((first, second), soon())
    await store.publish((second,), soon())
    assert (await store.read(soon())).open_breakers == (second,)

    await store.publish((), soon())
    assert (await store.read(soon())).open_breakers == ()


async def test_a_breaker_whose_time_is_over_is_left_out(store: BoardStore) -> None:
    await store.publish((breaker("a", seconds=-5.0),), soon())

    assert (await store.read(soon())).open_breakers == ()


async def test_replicas_see_each_other_and_replace_only_their_own(link: RedisLink) -> None:
    prefix = f"test-{uuid.uuid4().hex[:8]}"
    one, two = (RedisBoardStore(link, prefix, name, CLOCK) for name in ("one", "two"))
    await one.publish((breaker("a"),), soon())
    await two.publish((breaker("b"),), soon())
    await one.publish((), soon())

    assert [entry.tool for entry in (await one.read(soon())).open_breakers] == ["b"]


async def test_garbage_on_the_board_switches_off_and_never_fails(link: RedisLink) -> None:
    prefix = f"test-{uuid.uuid4().hex[:8]}"
    undated = '{"reason": "x", "at": "soon"}'
    await link.client.hset(f"{prefix}:{{action}}:switches", mapping={"pay": "{garbage", "ship": undated})
    await link.client.hset(f"{prefix}:{{action}}:open", mapping={"x": "soon", "a\x1fb": "5", "c\x1fd\x1fe": "1e99"})

    found = await RedisBoardStore(link, prefix, "one", CLOCK).read(soon())
    assert set(found.switches) == {Switch(tool="pay"), Switch(tool="ship", reason="x")}
    assert found.open_breakers == ()


async def test_a_store_that_is_away_is_unavailable() -> None:
    settings = RedisSettings(url=SecretStr("redis://127.0.0.1:1/0"), outage_tolerance_seconds=0.2)
    async with redis_link(settings, Telemetry.build(TelemetrySettings(), "test")) as away:
        with pytest.raises(BackendUnavailable):
            await RedisBoardStore(away, "test", "one", CLOCK).read(soon())


async def test_a_store_shows_what_it_is(link: RedisLink) -> None:
    local = LocalBoardStore(CLOCK)
    await local.switch_off(OFF, soon())
    assert repr(local) == "<LocalBoardStore [1 off]>"
    assert repr(RedisBoardStore(link, "test", "one", CLOCK)).startswith(
        "<RedisBoardStore test:{action}:switches on <RedisLink redis://127.0.0.1:"
    )
