"""The ledger's tables grow forward and keep what they hold."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine

from taoloop.action.ledger.effects import EffectIntent, EffectQuery
from taoloop.action.ledger.sql.migrations import KNOWN_VERSION, MIGRATIONS
from taoloop.action.ledger.sql.sql_ledger import sql_ledger
from taoloop.action.ledger.sql.tables import METADATA
from taoloop.core.errors import ConfigurationError
from taoloop.plan.effects import EffectState
from taoloop.testing.clock import FakeClock

ROW = (
    "INSERT INTO taoloop_effects VALUES ('0e', 'acme', 'r1', '1.t1', 1, 'pay', 'h', '', '', 'succeeded', 1, 'gone', "
    "'2026-03-10 08:00:00.000000', '2026-03-10 08:00:00.000000', 'the envelope', NULL, '', '', '')"
)


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite+aiosqlite:///{tmp_path}/ledger.sqlite"


async def run(url: str, *statements: str) -> None:
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        for statement in statements:
            await connection.exec_driver_sql(statement)
    await engine.dispose()


async def columns(url: str) -> dict[str, set[str]]:
    engine = create_async_engine(url)
    async with engine.connect() as connection:
        found = await connection.run_sync(
            lambda sync: {
                table: {column["name"] for column in sa.inspect(sync).get_columns(table)}
                for table in sa.inspect(sync).get_table_names()
            }
        )
    await engine.dispose()
    return found


async def test_the_steps_lead_to_the_tables_that_the_code_uses(url: str) -> None:
    async with sql_ledger(url, FakeClock()):
        pass
    assert await columns(url) == {
        table.name: {column.name for column in table.columns} for table in METADATA.tables.values()
    }


async def test_a_ledger_from_before_versions_were_counted_keeps_its_entries(url: str) -> None:
    await run(url, *MIGRATIONS[0].statements, ROW)
    async with sql_ledger(url, FakeClock()) as ledger:
        (kept,) = await ledger.list("acme", EffectQuery())
        assert (kept.effect_id, kept.state, kept.idempotency_key) == ("0e", EffectState.SUCCEEDED, "")
        same = EffectIntent(tenant="acme", run_id="r1", step_id="2.t1", iteration=2, tool="pay", arguments_hash="h")
        claim = await ledger.plan(same)
        assert (claim.is_new, claim.entry.result_text) == (False, "the envelope")


async def test_a_ledger_of_a_newer_program_is_refused(url: str) -> None:
    async with sql_ledger(url, FakeClock()):
        pass
    await run(url, f"INSERT INTO taoloop_schema_version VALUES ({KNOWN_VERSION + 1})")
    with pytest.raises(ConfigurationError, match=f"version {KNOWN_VERSION + 1}"):
        async with sql_ledger(url, FakeClock()):
            pass


async def test_processes_that_start_at_once_migrate_once(url: str) -> None:
    async def start() -> None:
        async with sql_ledger(url, FakeClock()):
            pass

    await asyncio.gather(*(start() for _ in range(4)))
    engine = create_async_engine(url)
    async with engine.connect() as connection:
        versions = (await connection.exec_driver_sql("SELECT version FROM taoloop_schema_version")).scalars().all()
    await engine.dispose()
    assert sorted(versions) == [migration.version for migration in MIGRATIONS]


def test_versions_have_no_gaps() -> None:
    assert [migration.version for migration in MIGRATIONS] == list(range(1, KNOWN_VERSION + 1))
