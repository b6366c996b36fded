"""One suite for every store of memory: what runs rely on, and what no other tenant, line, user or session can reach."""

from __future__ import annotations

import asyncio
import sqlite3
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, ConfigurationError
from taoloop.core.settings import RedisSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.loop.memory.late_warm_memory import LateWarmMemory
from taoloop.loop.memory.model import EntryKind, Forgotten, KnowledgeEntry, MemorySpace, RememberedTurn, SessionMemory
from taoloop.loop.memory.ports import HotMemory, WarmMemory
from taoloop.loop.memory.redis_hot_memory import RedisHotMemory
from taoloop.loop.memory.sql.sql_warm_memory import SWEPT_AT_ONCE, sql_warm_memory
from taoloop.loop.memory.sql.tables import METADATA
from taoloop.plan.task import Role
from taoloop.plan.thinking import ErrorTrace
from taoloop.testing.clock import FakeClock
from taoloop.testing.memory.in_memory import InMemoryHotMemory, InMemoryWarmMemory
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.wire.redis.redis_link import redis_link

ANNA = MemorySpace(tenant="acme", business_line="sales", session_id="s1", user_id="anna")
SESSION = SessionMemory(
    turns=(
        RememberedTurn(role=Role.USER, text="查3月的报销\0", run_id="1" * 32),
        RememberedTurn(role=Role.ASSISTANT, text="共 3 笔", tools=("list_claims",), run_id="1" * 32),
    ),
    summary="she asked for March",
    state={"date_range": "2024-03-01~2024-03-31", "amount": 12345678901234567890, "nested": {"list": [None, True]}},
    snapshot={"user_intent": "list_claims"},
    last_error=ErrorTrace(code="TOOL_TIMEOUT", tool="list_claims", arguments_sha256="ab" * 32),
    version=1,
)
# Everything that might be taken for Anna's session by a store that joins, folds, matches or cuts names.
OTHERS = [
    replace(ANNA, tenant="acme2"),
    replace(ANNA, tenant="Acme"),
    replace(ANNA, tenant="аcme"),  # a Cyrillic letter
    replace(ANNA, tenant=""),
    replace(ANNA, business_line="hr"),
    replace(ANNA, business_line=""),
    replace(ANNA, session_id="s2"),
    replace(ANNA, session_id="S1"),
    replace(ANNA, session_id="ｓ１"),
    replace(ANNA, session_id="s1 "),
    replace(ANNA, session_id="s1\0"),
    replace(ANNA, session_id="s1\u200b"),
    replace(ANNA, session_id="s_"),
    replace(ANNA, session_id="%"),
    replace(ANNA, session_id="*"),
    replace(ANNA, session_id="s?"),
    replace(ANNA, session_id="s1' OR '1'='1"),
    replace(ANNA, session_id="%731"),
    replace(ANNA, user_id=""),
    replace(ANNA, user_id="ann", session_id="a:s1"),
    replace(ANNA, user_id="anna:s1", session_id=""),
    replace(ANNA, user_id="anna%"),
    replace(ANNA, user_id="Anna"),
    replace(ANNA, user_id="anńa"),
    MemorySpace(tenant="acme:sales", business_line="anna", session_id="s1"),
    MemorySpace(tenant="acme", business_line="sales:anna", session_id="s1"),
    MemorySpace(tenant="acme%3Asales", business_line="anna", session_id="s1"),
    MemorySpace(tenant="acme}:x{", business_line="sales", session_id="s1", user_id="anna"),
]


@dataclass(frozen=True)
class Stores:
    """A store, and how its time passes."""

    memory: HotMemory
    clock: FakeClock | SystemClock


def soon() -> Deadline:
    return Deadline.after(5.0, SystemClock())


async def emptied(url: str) -> None:
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        for table in METADATA.tables:
            await connection.execute(text(f"DROP TABLE IF EXISTS {table}"))
    await engine.dispose()


WARM = ["in memory, warm", "sqlite", pytest.param("postgresql", marks=pytest.mark.real)]


Opener = Callable[[], AbstractAsyncContextManager[Stores]]


@asynccontextmanager
async def in_redis(url: str) -> AsyncIterator[Stores]:
    async with redis_link(RedisSettings(url=SecretStr(url)), Telemetry.build(TelemetrySettings(), "test")) as link:
        yield Stores(RedisHotMemory(link, f"test-{uuid.uuid4().hex[:8]}", 300.0), SystemClock())


@asynccontextmanager
async def in_sql(url: str) -> AsyncIterator[Stores]:
    clock = FakeClock()
    if not url.startswith("sqlite"):
        await emptied(url)
    async with sql_warm_memory(url, clock, 86_400.0) as memory:
        yield Stores(memory, clock)


@asynccontextmanager
async def in_memory(kind: type[InMemoryHotMemory]) -> AsyncIterator[Stores]:
    clock = FakeClock()
    yield Stores(kind(clock), clock)


@pytest.fixture
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> Opener:
    match request.param:
        case "redis":
            return partial(in_redis, request.getfixturevalue("valkey").url)
        case "sqlite":
            return partial(in_sql, f"sqlite+aiosqlite:///{tmp_path}/deep/memory.sqlite")
        case "postgresql":
            return partial(in_sql, request.getfixturevalue("cluster"))
        case kind:
            return partial(in_memory, InMemoryHotMemory if kind.endswith("hot") else InMemoryWarmMemory)


@pytest.fixture
async def stores(opener: Opener) -> AsyncIterator[Stores]:
    async with opener() as opened:
        yield opened


@pytest.fixture
def hot(stores: Stores) -> HotMemory:
    return stores.memory


@pytest.fixture
def warm(stores: Stores) -> WarmMemory:
    memory = stores.memory
    assert hasattr(memory, "keep")
    return memory  # type: ignore[return-value]  # parametrised with those stores alone


every = pytest.mark.parametrize("opener", ["in memory, hot", "redis", *WARM], indirect=True)
warm_only = pytest.mark.parametrize("opener", WARM, indirect=True)


def knowledge(name: str, *, kind: EntryKind = EntryKind.POLICY, user_id: str = "") -> KnowledgeEntry:
    return KnowledgeEntry(kind=kind, name=name, text=f"about {name}", user_id=user_id)


@every
async def test_a_session_comes_back_as_it_was_saved(hot: HotMemory) -> None:
    assert await hot.load(ANNA, soon()) is None
    assert await hot.save(ANNA, SESSION, 0, soon())

    assert await hot.load(ANNA, soon()) == SESSION


@every
async def test_a_version_that_follows_what_is_known_replaces_it(hot: HotMemory) -> None:
    await hot.save(ANNA, SESSION, 0, soon())
    later = replace(SESSION, summary="later", version=2)

    assert await hot.save(ANNA, later, 1, soon())
    assert await hot.load(ANNA, soon()) == later


@every
async def test_a_version_that_missed_another_runs_changes_nothing(hot: HotMemory) -> None:
    await hot.save(ANNA, SESSION, 0, soon())

    assert not await hot.save(ANNA, replace(SESSION, summary="mine"), 0, soon())
    assert await hot.load(ANNA, soon()) == SESSION


@every
async def test_the_same_write_again_is_no_conflict(hot: HotMemory) -> None:
    await hot.save(ANNA, SESSION, 0, soon())

    assert await hot.save(ANNA, SESSION, 0, soon())


@every
async def test_one_of_two_runs_at_once_is_told_that_the_other_was_faster(hot: HotMemory) -> None:
    versions = [replace(SESSION, summary=name) for name in ("one", "two")]

    assert sorted(await asyncio.gather(*(hot.save(ANNA, each, 0, soon()) for each in versions))) == [False, True]


@every
async def test_no_other_name_reaches_a_session(hot: HotMemory) -> None:
    await hot.save(ANNA, SESSION, 0, soon())
    for other in OTHERS:
        assert await hot.load(other, soon()) is None, other
        assert await hot.save(other, replace(SESSION, summary="other"), 0, soon()), other
        if other.session_id:
            assert (await hot.forget(other, soon())).sessions == 1, other

    assert await hot.load(ANNA, soon()) == SESSION


@every
async def test_every_name_has_a_session_of_its_own(hot: HotMemory) -> None:
    for place, space in enumerate((ANNA, *OTHERS)):
        await hot.save(space, replace(SESSION, summary=str(place)), 0, soon())
    for place, space in enumerate((ANNA, *OTHERS)):
        found = await hot.load(space, soon())
        assert found is not None
        assert found.summary == str(place), space


@every
async def test_forgetting_a_user_takes_the_sessions_of_this_user_alone(hot: HotMemory) -> None:
    second, other = replace(ANNA, session_id="s2"), replace(ANNA, user_id="ben")
    nobody = replace(ANNA, user_id="")
    for space in (ANNA, second, other, nobody):
        await hot.save(space, SESSION, 0, soon())

    assert (await hot.forget(replace(ANNA, session_id=""), soon())).sessions == 2
    found = [await hot.load(space, soon()) is not None for space in (ANNA, second, other, nobody)]
    assert found == [False, False, True, True]


@every
async def test_forgetting_nobody_takes_nothing(hot: HotMemory) -> None:
    nobody = replace(ANNA, user_id="")
    await hot.save(nobody, SESSION, 0, soon())

    assert await hot.forget(replace(nobody, session_id=""), soon()) == Forgotten()
    assert await hot.load(nobody, soon()) == SESSION


@pytest.mark.parametrize("opener", ["in memory, hot", *WARM], indirect=True)
async def test_a_session_is_gone_when_its_time_is_over_and_may_begin_anew(stores: Stores) -> None:
    clock = stores.clock
    assert isinstance(clock, FakeClock)
    await stores.memory.save(ANNA, replace(SESSION, version=7), 6, soon())
    clock.advance(86_401)

    assert await stores.memory.load(ANNA, soon()) is None
    assert await stores.memory.save(ANNA, SESSION, 0, soon())


async def test_redis_forgets_by_itself_and_what_cannot_be_read_is_no_session(valkey: EmbeddedValkey) -> None:
    async with redis_link(RedisSettings(url=SecretStr(valkey.url)), Telemetry.build(TelemetrySettings(), "t")) as link:
        prefix = f"test-{uuid.uuid4().hex[:8]}"
        memory = RedisHotMemory(link, prefix, 300.0)
        await memory.save(ANNA, SESSION, 0, soon())
        keys = [key async for key in link.client.scan_iter(f"{prefix}*")]
        lives = [await link.client.pttl(key) for key in keys]
        assert len(keys) == 2
        assert all(0 < life <= 300_000 for life in lives)
        session = next(key for key in keys if b":session:" in key)
        await link.client.hset(session, "text", '{"version": 1}')
        assert await memory.load(ANNA, soon()) is None

        await memory.forget(ANNA, soon())  # the session's name goes from its user's as well
        assert [key async for key in link.client.scan_iter(f"{prefix}*")] == []


async def test_a_redis_that_refuses_is_away_like_a_silent_one(valkey: EmbeddedValkey) -> None:
    async with redis_link(RedisSettings(url=SecretStr(valkey.url)), Telemetry.build(TelemetrySettings(), "t")) as link:
        prefix = f"test-{uuid.uuid4().hex[:8]}"
        memory = RedisHotMemory(link, prefix, 300.0)
        await memory.save(ANNA, SESSION, 0, soon())
        keys = [key async for key in link.client.scan_iter(f"{prefix}*")]
        for key in keys:
            await link.client.delete(key)
            await link.client.lpush(key, "no hash and no sorted set")

        for operation in (
            memory.load(ANNA, soon()),
            memory.save(ANNA, SESSION, 0, soon()),
            memory.forget(replace(ANNA, session_id=""), soon()),
        ):
            with pytest.raises(BackendUnavailable, match="WRONGTYPE"):
                await operation


@warm_only
async def test_a_user_is_told_of_the_line_and_of_the_user_alone(warm: WarmMemory) -> None:
    mine, ours = knowledge("likes", kind=EntryKind.PREFERENCE, user_id="anna"), knowledge("limit")
    theirs = knowledge("likes", kind=EntryKind.PREFERENCE, user_id="ben")
    await warm.keep(ANNA, [mine, ours, theirs], soon())

    found = await warm.known(ANNA, 10, soon())
    assert {(entry.name, entry.user_id, entry.text) for entry in found} == {
        ("likes", "anna", "about likes"),
        ("limit", "", "about limit"),
    }
    nobody = await warm.known(replace(ANNA, user_id=""), 10, soon())
    assert [entry.name for entry in nobody] == ["limit"]


@warm_only
async def test_knowledge_of_a_line_is_known_in_no_other_tenant_or_line(warm: WarmMemory) -> None:
    await warm.keep(ANNA, [knowledge("limit"), knowledge("mine", user_id="anna")], soon())
    for other in OTHERS:
        if (other.tenant, other.business_line) == (ANNA.tenant, ANNA.business_line):
            names = {entry.name for entry in await warm.known(other, 10, soon())}
            assert names == ({"limit", "mine"} if other.user_id == "anna" else {"limit"}), other
        else:
            assert await warm.known(other, 10, soon()) == (), other
            assert await warm.drop(replace(other, user_id=""), "policy", "limit", soon()) == Forgotten(), other
            await warm.forget(replace(other, session_id=""), soon())

    assert len(await warm.known(ANNA, 10, soon())) == 2


@warm_only
async def test_an_entry_of_the_same_name_replaces_the_earlier_one(warm: WarmMemory) -> None:
    await warm.keep(ANNA, [knowledge("a%")], soon())
    await warm.keep(ANNA, [replace(knowledge("a%"), text="new"), knowledge("ab")], soon())

    found = {entry.name: entry.text for entry in await warm.known(ANNA, 10, soon())}
    assert found == {"a%": "new", "ab": "about ab"}
    assert await warm.drop(replace(ANNA, user_id=""), "policy", "a%", soon()) == Forgotten(entries=1)
    assert [entry.name for entry in await warm.known(ANNA, 10, soon())] == ["ab"]


@warm_only
async def test_the_newest_are_known_first_and_a_users_many_hide_none_of_the_line(stores: Stores) -> None:
    warm, clock = stores.memory, stores.clock
    assert isinstance(clock, FakeClock)
    assert hasattr(warm, "keep")
    assert hasattr(warm, "known")
    for place in range(5):
        await warm.keep(ANNA, [knowledge(f"run {place}", kind=EntryKind.RUN, user_id="anna")], soon())
        clock.advance(1)
    await warm.keep(ANNA, [knowledge("limit")], soon())

    assert [entry.name for entry in await warm.known(ANNA, 3, soon())] == ["limit", "run 4", "run 3"]


@warm_only
async def test_what_has_expired_is_not_known_and_is_swept(stores: Stores) -> None:
    warm, clock = stores.memory, stores.clock
    assert isinstance(clock, FakeClock)
    assert hasattr(warm, "keep")
    assert hasattr(warm, "known")
    assert hasattr(warm, "sweep")
    brief = replace(knowledge("brief"), expires_at=clock.now() + timedelta(seconds=60))
    await warm.keep(ANNA, [brief, knowledge("for good")], soon())
    await warm.save(ANNA, SESSION, 0, soon())
    clock.advance(61)
    assert [entry.name for entry in await warm.known(ANNA, 10, soon())] == ["for good"]

    assert await warm.sweep(clock.now(), soon()) == Forgotten(entries=1)
    clock.advance(86_400)
    assert await warm.sweep(clock.now(), soon()) == Forgotten(sessions=1)
    assert await warm.sweep(clock.now(), soon()) == Forgotten()


@warm_only
async def test_forgetting_a_user_takes_the_knowledge_too(warm: WarmMemory) -> None:
    await warm.keep(ANNA, [knowledge("mine", user_id="anna"), knowledge("limit")], soon())
    await warm.save(ANNA, SESSION, 0, soon())

    assert await warm.forget(replace(ANNA, session_id=""), soon()) == Forgotten(sessions=1, entries=1)
    assert [entry.name for entry in await warm.known(ANNA, 10, soon())] == ["limit"]


@warm_only
async def test_forgetting_a_session_takes_what_is_known_of_its_runs_and_nothing_else(warm: WarmMemory) -> None:
    run = replace(knowledge("r1", user_id="anna"), kind=EntryKind.RUN)
    await warm.keep(ANNA, [run, knowledge("mine", user_id="anna")], soon())
    await warm.keep(replace(ANNA, session_id="s2"), [replace(run, name="r2")], soon())
    await warm.keep(replace(ANNA, user_id="ann"), [replace(run, user_id="ann")], soon())

    assert await warm.forget(ANNA, soon()) == Forgotten(entries=1)
    assert {entry.name for entry in await warm.known(ANNA, 10, soon())} == {"r2", "mine"}
    assert len(await warm.known(replace(ANNA, user_id="ann"), 10, soon())) == 1


async def test_more_than_one_round_may_sweep_goes_in_several(tmp_path: Path) -> None:
    clock = FakeClock()
    async with sql_warm_memory(f"sqlite+aiosqlite:///{tmp_path}/m.sqlite", clock, 300.0) as memory:
        many = [replace(knowledge(f"k{n}"), expires_at=clock.now()) for n in range(SWEPT_AT_ONCE + 5)]
        await memory.keep(ANNA, many, soon())
        rounds = [(await memory.sweep(clock.now(), soon())).entries for _ in range(3)]
    assert rounds == [SWEPT_AT_ONCE, 5, 0]


async def test_a_store_that_was_away_at_the_start_is_opened_by_the_next_call(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite"
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode=WAL")
        other.execute("BEGIN IMMEDIATE")
        opener = partial(sql_warm_memory, f"sqlite+aiosqlite:///{path}", FakeClock(), 300.0, 0.01)
        async with LateWarmMemory(opener) as memory:
            with pytest.raises(BackendUnavailable):
                await memory.load(ANNA, soon())
            other.execute("ROLLBACK")
            assert await memory.save(ANNA, SESSION, 0, soon())
            assert await memory.load(ANNA, soon()) == SESSION


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("mysql+x://h/d", "warm memory cannot stand on mysql"),
        ("sqlite+aiosqlite:////proc/no/m.sqlite", "cannot be made"),
    ],
)
async def test_a_url_that_can_never_be_used_is_refused_at_the_start(url: str, why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        async with LateWarmMemory(lambda: sql_warm_memory(url, FakeClock(), 300.0)):
            pass


async def test_warm_memory_and_ledger_may_share_a_database(tmp_path: Path) -> None:
    from taoloop.action.ledger.sql.sql_ledger import sql_ledger

    url = f"sqlite+aiosqlite:///{tmp_path}/both.sqlite"
    async with sql_ledger(url, FakeClock(), 10.0), sql_warm_memory(url, FakeClock(), 300.0) as memory:
        assert await memory.save(ANNA, SESSION, 0, soon())
