"""One suite for every effect ledger: what the executor relies on."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from taoloop.action.errors import EffectSettled, UnknownEffect
from taoloop.action.ledger.effects import Claim, EffectIntent, EffectQuery, Resolution
from taoloop.action.ledger.sql_ledger import sql_ledger
from taoloop.action.ports import EffectLedger
from taoloop.core.errors import BackendUnavailable, ConfigurationError, RequestIdReused
from taoloop.plan.acting import EffectState
from taoloop.testing.clock import FakeClock
from taoloop.testing.effect_ledger import InMemoryEffectLedger, StoredEffects
from tests.contract.postgresql import postgresql

Opener = Callable[[], AbstractAsyncContextManager[EffectLedger]]

INTENT = EffectIntent(
    tenant="acme",
    run_id="r1",
    step_id="1.t1",
    iteration=1,
    tool="book_room",
    arguments_hash="a" * 64,
    request_id="q1",
    request_digest="d1",
)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    with postgresql() as url:
        yield url


@pytest.fixture(params=["memory", "sqlite", pytest.param("postgresql", marks=pytest.mark.real)])
def open_ledger(request: pytest.FixtureRequest, clock: FakeClock, tmp_path: Path) -> Opener:
    """Return what opens a ledger; each opening plays a process of its own on the same store."""
    if request.param == "sqlite":
        return lambda: sql_ledger(f"sqlite+aiosqlite:///{tmp_path}/deep/ledger.sqlite", clock)
    if request.param == "postgresql":
        url = request.getfixturevalue("cluster")
        asyncio.run(emptied(url))
        return lambda: sql_ledger(url, clock)
    store = StoredEffects()

    @asynccontextmanager
    async def in_memory() -> AsyncIterator[EffectLedger]:
        yield InMemoryEffectLedger(clock, store)

    return in_memory


async def emptied(url: str) -> None:
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.execute(text("DROP TABLE IF EXISTS taoloop_effects"))
    await engine.dispose()


@pytest.fixture
async def ledger(open_ledger: Opener) -> AsyncIterator[EffectLedger]:
    async with open_ledger() as opened:
        yield opened


async def started(ledger: EffectLedger, intent: EffectIntent = INTENT) -> str:
    claim = await ledger.plan(intent)
    assert claim.is_new
    assert await ledger.start(claim.entry.effect.effect_id)
    return claim.entry.effect.effect_id


async def test_an_intent_is_recorded_before_anything_else(ledger: EffectLedger, clock: FakeClock) -> None:
    claim = await ledger.plan(INTENT)
    effect = (await ledger.get("acme", claim.entry.effect.effect_id)).effect
    assert claim.is_new
    assert (effect.state, effect.run_id, effect.step_id, effect.iteration) == (EffectState.PLANNED, "r1", "1.t1", 1)
    assert (effect.planned_at, effect.updated_at) == (clock.now(), clock.now())


@pytest.mark.parametrize("state", [EffectState.SUCCEEDED, EffectState.UNKNOWN])
async def test_a_call_that_took_or_may_have_taken_effect_blocks_its_repeat(
    ledger: EffectLedger, clock: FakeClock, state: EffectState
) -> None:
    effect_id = await started(ledger)
    clock.advance(1)
    assert await ledger.finish(effect_id, state, "the envelope")
    claim = await ledger.plan(replace(INTENT, step_id="2.t1", iteration=2, request_id="q2", request_digest="d2"))
    assert (claim.is_new, claim.entry.effect.state, claim.entry.result_text) == (False, state, "the envelope")
    assert (claim.entry.effect.step_id, claim.entry.effect.updated_at) == ("1.t1", clock.now())


async def test_a_call_in_progress_blocks_its_repeat(ledger: EffectLedger) -> None:
    effect_id = await started(ledger)
    claim = await ledger.plan(INTENT)
    assert (claim.is_new, claim.entry.effect.effect_id) == (False, effect_id)
    assert claim.entry.effect.state is EffectState.STARTED


async def test_a_call_that_surely_had_no_effect_may_be_made_again(ledger: EffectLedger, clock: FakeClock) -> None:
    first = await started(ledger)
    assert await ledger.finish(first, EffectState.FAILED, "refused")
    clock.advance(1)
    second = await ledger.plan(INTENT)
    assert second.is_new
    assert second.entry.effect.effect_id != first
    assert len(await ledger.list("acme", EffectQuery(run_id="r1"))) == 2


async def test_an_intent_that_never_left_may_be_given_up(ledger: EffectLedger) -> None:
    claim = await ledger.plan(INTENT)
    assert await ledger.finish(claim.entry.effect.effect_id, EffectState.FAILED, "")
    assert (await ledger.plan(INTENT)).is_new


@pytest.mark.parametrize(
    "other",
    [
        replace(INTENT, tenant="other"),
        replace(INTENT, run_id="r2", request_id="q2"),
        replace(INTENT, tool="cancel_room", request_id="q2"),
        replace(INTENT, arguments_hash="b" * 64, request_id="q2"),
    ],
)
async def test_tenant_run_tool_and_arguments_make_another_call(ledger: EffectLedger, other: EffectIntent) -> None:
    await started(ledger)
    assert (await ledger.plan(other)).is_new


async def test_of_many_plans_at_once_one_call_may_leave(open_ledger: Opener) -> None:
    async with open_ledger() as left, open_ledger() as right:
        ledgers = [left] * 5 + [right] * 5
        claims: list[Claim] = await asyncio.gather(*(ledger.plan(INTENT) for ledger in ledgers))
        # A process may adopt what another has planned and not started, even back and forth: `start` decides.
        starts = [
            await ledger.start(claim.entry.effect.effect_id)
            for ledger, claim in zip(ledgers, claims, strict=True)
            if claim.is_new
        ]
    assert len({claim.entry.effect.effect_id for claim in claims}) == 1
    assert sum(starts) == 1


async def test_a_call_that_a_dead_process_had_started_is_unknown_at_first_sight(open_ledger: Opener) -> None:
    async with open_ledger() as before:
        effect_id = await started(before)
    async with open_ledger() as after:
        claim = await after.plan(INTENT)
        assert (claim.is_new, claim.entry.effect.state) == (False, EffectState.UNKNOWN)
        assert not await after.start(effect_id)


async def test_a_call_that_a_dead_process_had_only_planned_is_taken_over(open_ledger: Opener) -> None:
    async with open_ledger() as before, open_ledger() as after:
        planned = (await before.plan(INTENT)).entry.effect.effect_id
        claim = await after.plan(replace(INTENT, step_id="2.t1", iteration=2, request_id="q2", request_digest="d2"))
        assert (claim.is_new, claim.entry.effect.effect_id, claim.entry.effect.step_id) == (True, planned, "2.t1")
        assert not await before.start(planned)
        assert await after.start(planned)


async def test_an_outcome_that_arrives_late_still_counts(open_ledger: Opener) -> None:
    async with open_ledger() as slow, open_ledger() as hasty:
        effect_id = await started(slow)
        await hasty.plan(INTENT)
        assert await slow.finish(effect_id, EffectState.SUCCEEDED, "late")
        claim = await hasty.plan(INTENT)
        assert (claim.entry.effect.state, claim.entry.result_text) == (EffectState.SUCCEEDED, "late")


async def test_a_settled_outcome_stays(ledger: EffectLedger) -> None:
    effect_id = await started(ledger)
    assert await ledger.finish(effect_id, EffectState.SUCCEEDED, "first")
    assert not await ledger.finish(effect_id, EffectState.UNKNOWN, "second")
    assert not await ledger.finish(effect_id, EffectState.FAILED, "third")
    assert (await ledger.get("acme", effect_id)).result_text == "first"


async def test_a_request_id_with_another_body_is_refused_and_leaves_nothing(ledger: EffectLedger) -> None:
    await ledger.plan(INTENT)
    with pytest.raises(RequestIdReused):
        await ledger.plan(replace(INTENT, arguments_hash="b" * 64, request_digest="d2"))
    assert len(await ledger.list("acme", EffectQuery())) == 1


async def test_effects_are_listed_by_page_newest_first_for_one_tenant(ledger: EffectLedger, clock: FakeClock) -> None:
    ids = []
    for number in range(5):
        intent = replace(INTENT, arguments_hash=str(number) * 64, request_id=f"q{number}")
        ids.append((await ledger.plan(intent)).entry.effect.effect_id)
        clock.advance(1)
    await ledger.plan(replace(INTENT, tenant="other"))
    newest = await ledger.list("acme", EffectQuery(limit=3))
    older = await ledger.list("acme", EffectQuery(limit=3, before_effect_id=newest[-1].effect_id))
    assert [effect.effect_id for effect in (*newest, *older)] == ids[::-1]
    assert await ledger.list("acme", EffectQuery(state=EffectState.STARTED)) == ()
    assert await ledger.list("acme", EffectQuery(run_id="elsewhere")) == ()


async def test_an_entry_of_another_tenant_is_unknown(ledger: EffectLedger) -> None:
    effect_id = await started(ledger)
    with pytest.raises(UnknownEffect):
        await ledger.get("other", effect_id)
    with pytest.raises(UnknownEffect):
        await ledger.resolve("other", Resolution(effect_id=effect_id, took_place=False, resolved_by="mallory"))


@pytest.mark.parametrize(("took_place", "may_be_made_again"), [(True, False), (False, True)])
async def test_a_person_settles_an_unknown_outcome(
    ledger: EffectLedger, clock: FakeClock, took_place: bool, may_be_made_again: bool
) -> None:
    effect_id = await started(ledger)
    await ledger.finish(effect_id, EffectState.UNKNOWN, "")
    clock.advance(1)
    resolution = Resolution(effect_id=effect_id, took_place=took_place, resolved_by="ana", request_id="s1")
    effect = await ledger.resolve("acme", resolution)
    assert (effect.state, effect.resolved_by, effect.updated_at) == (EffectState.RECONCILED, "ana", clock.now())
    assert await ledger.resolve("acme", resolution) == effect  # a repeat returns the first reply
    assert (await ledger.plan(INTENT)).is_new is may_be_made_again


async def test_a_second_decision_and_a_known_outcome_are_refused(ledger: EffectLedger) -> None:
    effect_id = await started(ledger)
    decision = Resolution(effect_id=effect_id, took_place=True, resolved_by="ana", request_id="s1")
    with pytest.raises(EffectSettled):
        await ledger.resolve("acme", decision)  # it is still being made here
    await ledger.finish(effect_id, EffectState.UNKNOWN, "")
    await ledger.resolve("acme", decision)
    with pytest.raises(EffectSettled):
        await ledger.resolve("acme", replace(decision, took_place=False, request_id="s2"))


async def test_what_a_dead_process_had_started_can_be_settled_unseen(open_ledger: Opener) -> None:
    async with open_ledger() as before:
        effect_id = await started(before)
    async with open_ledger() as after:
        decision = Resolution(effect_id=effect_id, took_place=False, resolved_by="ana")
        assert (await after.resolve("acme", decision)).state is EffectState.RECONCILED


async def test_the_double_and_a_store_in_memory_promise_nothing(clock: FakeClock, tmp_path: Path) -> None:
    assert not InMemoryEffectLedger(clock).is_durable
    async with sql_ledger("sqlite+aiosqlite:///:memory:", clock) as ledger:
        assert not ledger.is_durable
    async with sql_ledger(f"sqlite+aiosqlite:///{tmp_path}/ledger.sqlite", clock) as ledger:
        assert ledger.is_durable


async def test_sqlite_writes_through_to_the_disk(clock: FakeClock, tmp_path: Path) -> None:
    async with (
        sql_ledger(f"sqlite+aiosqlite:///{tmp_path}/ledger.sqlite", clock) as ledger,
        ledger._engine.connect() as connection,
    ):
        synchronous = (await connection.execute(text("PRAGMA synchronous"))).scalar_one()
        journal_mode = (await connection.execute(text("PRAGMA journal_mode"))).scalar_one()
    assert (synchronous, journal_mode) == (2, "wal")  # 2 is FULL


async def test_a_store_that_is_no_ledger_is_refused(clock: FakeClock) -> None:
    for url in ("redis://127.0.0.1/0", "mysql+aiomysql://127.0.0.1/db", "nonsense"):
        with pytest.raises(ConfigurationError):
            async with sql_ledger(url, clock):
                pass


async def test_a_store_that_does_not_answer_is_a_backend_that_is_unavailable(clock: FakeClock, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: the port refuses
        url = f"postgresql+asyncpg://nobody@127.0.0.1:{taken.getsockname()[1]}/none"
        with pytest.raises(BackendUnavailable):
            async with sql_ledger(url, clock):
                pass
    (tmp_path / "ledger.sqlite").write_bytes(b"no database" * 1000)
    with pytest.raises(BackendUnavailable):
        async with sql_ledger(f"sqlite+aiosqlite:///{tmp_path}/ledger.sqlite", clock):
            pass
