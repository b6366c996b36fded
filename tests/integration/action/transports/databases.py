"""Databases with the same tables, for the tests of SQL tools."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from pydantic import SecretStr

from taoloop.action.secrets import ConfiguredSecrets
from taoloop.action.settings import ToolSqlSettings
from taoloop.action.transports.sql.transport import SqlStatementTransport, sql_transport
from taoloop.tools.contract import Idempotency, Pool, SqlTransport, ToolContract
from taoloop.tools.signature import Effect
from tests.integration.action.transports.tool_calls import contract
from tests.unit.action.contracts import telemetry

TABLES = """
CREATE TABLE orders (id VARCHAR(20) PRIMARY KEY, city TEXT, amount NUMERIC(20, 4), made DATE, phone TEXT);
INSERT INTO orders VALUES ('A1', 'Oslo', 10.5, '2026-01-02', '+47 1');
INSERT INTO orders VALUES ('A2', 'Bergen', 20, '2026-01-03', '+47 2');
INSERT INTO orders VALUES ('A3', 'Oslo', 30, '2026-01-04', NULL);
"""


def sqlite_file(folder: Path) -> Path:
    """Return a new file with the tables."""
    path = folder / "orders ü.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(TABLES)
    connection.close()
    return path


@asynccontextmanager
async def opened(url: str | None) -> AsyncIterator[SqlStatementTransport]:
    """Open the transport with the database's URL as the secret ORDERS_DB; None for no secret."""
    secrets = ConfiguredSecrets({} if url is None else {"ORDERS_DB": SecretStr(url)})
    async with sql_transport(ToolSqlSettings(pool_size=2), secrets, telemetry()) as transport:
        yield transport


def statement(
    text: str,
    *,
    read_only: bool = True,
    max_rows: int = 1000,
    max_bytes: int = 1 << 20,
    mask: tuple[str, ...] = (),
    pool: Pool | None = None,
    idempotency: Idempotency | None = None,
    timeout_seconds: float = 20.0,
) -> ToolContract:
    """Return the contract of a statement."""
    transport = SqlTransport(
        database="ORDERS_DB", statement=text, read_only=read_only, max_rows=max_rows, max_bytes=max_bytes, mask=mask
    )
    return contract(
        transport,
        effect=Effect.READ if read_only else Effect.WRITE,
        pool=pool,
        idempotency=idempotency,
        timeout_seconds=timeout_seconds,
    )
