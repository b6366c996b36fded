"""Ledgers for the contract suites of effects and approvals: the double, SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from taoloop.action.ledger.ports import EffectLedger
from taoloop.action.ledger.sql.sql_ledger import sql_ledger
from taoloop.action.ledger.sql.tables import METADATA
from taoloop.testing.clock import FakeClock
from taoloop.testing.effect_ledger import InMemoryEffectLedger, StoredEffects
from tests.contract.postgresql import postgresql

Opener = Callable[[], AbstractAsyncContextManager[EffectLedger]]
LEASE_SECONDS = 10.0


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
        return lambda: sql_ledger(f"sqlite+aiosqlite:///{tmp_path}/deep/ledger.sqlite", clock, LEASE_SECONDS)
    if request.param == "postgresql":
        url = request.getfixturevalue("cluster")
        asyncio.run(emptied(url))
        return lambda: sql_ledger(url, clock, LEASE_SECONDS)
    store = StoredEffects()

    @asynccontextmanager
    async def in_memory() -> AsyncIterator[EffectLedger]:
        opened = InMemoryEffectLedger(clock, store, lease_seconds=LEASE_SECONDS)
        yield opened
        await opened.leave()

    return in_memory


async def emptied(url: str) -> None:
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        for table in METADATA.tables:
            await connection.execute(text(f"DROP TABLE IF EXISTS {table}"))
    await engine.dispose()


@pytest.fixture
async def ledger(open_ledger: Opener) -> AsyncIterator[EffectLedger]:
    async with open_ledger() as opened:
        yield opened
