"""A SQLite ledger that others hold locked is asked again, and then told to be away."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from taoloop.action.ledger.sql.migrations import LEDGER
from taoloop.core.errors import BackendUnavailable
from taoloop.testing.clock import FakeClock
from taoloop.wire.sql import sql_schema
from taoloop.wire.sql import sql_store as module
from taoloop.wire.sql.sql_schema import SqlSchema
from taoloop.wire.sql.sql_store import sql_store


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(module, "TIMEOUT_SECONDS", 0.01)
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def other(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection of another process that holds the lock."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("BEGIN IMMEDIATE")
        yield connection


async def test_a_lock_that_goes_while_it_is_waited_for_is_no_outage(
    path: Path, other: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []

    async def noted(connection: AsyncConnection, schema: SqlSchema) -> None:
        tries.append(len(tries))
        if len(tries) == 3:
            other.execute("ROLLBACK")
        await sql_schema.migrate(connection, schema)

    monkeypatch.setattr(module, "migrate", noted)
    async with (
        sql_store(f"sqlite+aiosqlite:///{path}", LEDGER, FakeClock()) as store,
        store.transaction() as connection,
    ):
        assert (await connection.execute(sa.text("SELECT count(*) FROM taoloop_effects"))).scalar_one() == 0
    assert len(tries) == 3


async def test_a_lock_that_stays_is_an_outage(path: Path, other: sqlite3.Connection) -> None:
    with pytest.raises(BackendUnavailable):
        async with sql_store(f"sqlite+aiosqlite:///{path}", LEDGER, FakeClock()):
            pass
    other.execute("ROLLBACK")
