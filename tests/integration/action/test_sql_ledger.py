"""The effect ledger on SQLite: durability, a store that is away or is none, and what goes on at the same time."""

from __future__ import annotations

import asyncio
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from taoloop.action.ledger.effects import EffectIntent, EffectQuery, Forgotten, Swept
from taoloop.action.ledger.sql.sql_ledger import sql_ledger
from taoloop.core.errors import BackendUnavailable, ConfigurationError, RunConflict
from taoloop.plan.effects import EffectState
from taoloop.testing.clock import FakeClock
from taoloop.testing.effect_ledger import InMemoryEffectLedger
from tests.contract.conftest import LEASE_SECONDS
from tests.contract.effects import INTENT, started


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


async def test_the_double_and_a_store_in_memory_promise_nothing(clock: FakeClock, tmp_path: Path) -> None:
    assert not InMemoryEffectLedger(clock).is_durable
    async with sql_ledger("sqlite+aiosqlite:///:memory:", clock) as ledger:
        assert not ledger.is_durable
    async with sql_ledger(f"sqlite+aiosqlite:///{tmp_path}/ledger.sqlite", clock) as ledger:
        assert ledger.is_durable


async def test_sqlite_writes_through_to_the_disk(clock: FakeClock, tmp_path: Path) -> None:
    async with (
        sql_ledger(f"sqlite+aiosqlite:///{tmp_path}/ledger.sqlite", clock) as ledger,
        ledger._store._engine.connect() as connection,
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


async def test_what_is_old_is_forgotten_in_small_transactions(
    clock: FakeClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("taoloop.action.ledger.sql.sql_retention.DELETED_AT_ONCE", 2)
    async with sql_ledger(f"sqlite+aiosqlite:///{tmp_path}/ledger.sqlite", clock) as ledger:
        for number in range(5):
            effect_id = await started(ledger, replace(INTENT, arguments_hash=str(number) * 64, request_id=f"q{number}"))
            await ledger.finish(effect_id, EffectState.SUCCEEDED, "")
        clock.advance(1)
        assert await ledger.forget_before(clock.now()) == Forgotten(effects=5)
        assert await ledger.list("acme", EffectQuery()) == ()


async def test_a_store_that_goes_away_is_told_and_does_not_make_anybody_dead(clock: FakeClock, tmp_path: Path) -> None:
    path = tmp_path / "ledger.sqlite"
    url = f"sqlite+aiosqlite:///{path}"
    async with sql_ledger(url, clock, LEASE_SECONDS) as ledger, sql_ledger(url, clock, LEASE_SECONDS) as other:
        effect_id = await started(other)
        await ledger.beat()
        assert await ledger.is_available()
        async with ledger._store.transaction() as connection:
            await connection.execute(text("ALTER TABLE taoloop_ledger_owners RENAME TO elsewhere"))
        clock.advance(LEASE_SECONDS)
        with pytest.raises(BackendUnavailable):
            await ledger.beat()
        async with ledger._store.transaction() as connection:
            await connection.execute(text("ALTER TABLE elsewhere RENAME TO taoloop_ledger_owners"))
        await ledger.beat()
        assert await ledger.sweep((), clock.now()) == Swept()
        assert (await ledger.get("acme", effect_id)).effect.state is EffectState.STARTED
        async with ledger._store.transaction() as connection:
            await connection.execute(text("DROP TABLE taoloop_ledger_owners"))
        # Leaving such a store is no failure: its silence will tell.
        assert "SqlEffectLedger" in repr(ledger)
        assert "SqlApprovalBook" in repr(ledger.approvals)


async def test_a_store_that_is_away_is_not_available(clock: FakeClock, tmp_path: Path) -> None:
    async with sql_ledger(f"sqlite+aiosqlite:///{tmp_path}/ledger.sqlite", clock) as ledger:
        await ledger._store._engine.dispose()
        (tmp_path / "ledger.sqlite").write_bytes(b"no database" * 1000)
        assert not await ledger.is_available()


async def test_an_entry_that_is_settled_while_it_is_looked_at_is_a_conflict(
    clock: FakeClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with sql_ledger(f"sqlite+aiosqlite:///{tmp_path}/ledger.sqlite", clock) as ledger:
        await ledger.plan(INTENT)

        async def settled(connection: AsyncConnection, _intent: EffectIntent) -> bool:
            await connection.execute(text("UPDATE taoloop_effects SET state = 'failed', is_blocking = 0"))
            return False

        monkeypatch.setattr(ledger, "_take_over", settled)
        with pytest.raises(RunConflict):
            await ledger.plan(INTENT)


async def test_an_entry_that_fails_while_its_repeat_is_planned_stands_in_nobodys_way(
    clock: FakeClock, tmp_path: Path
) -> None:
    async with sql_ledger(f"sqlite+aiosqlite:///{tmp_path}/ledger.sqlite", clock) as ledger:
        first = await started(ledger)
        claim, is_told = await asyncio.gather(ledger.plan(INTENT), ledger.finish(first, EffectState.FAILED, "refused"))
        assert (is_told, claim.is_new, claim.is_ours) == (True, True, True)
        assert claim.entry.effect.effect_id != first
