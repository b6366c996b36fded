"""The transport to databases: statements of contracts, with the arguments as parameters, in bounds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from opentelemetry.trace import Span, SpanKind

from taoloop.action.ports import Reply, SecretSource, ToolCall, TransportFault
from taoloop.action.settings import ToolSqlSettings
from taoloop.action.transports.bound_keys import with_body_key
from taoloop.action.transports.sql.failures import StatementFailed
from taoloop.action.transports.sql.queries import Database, Progress, Query, Stage
from taoloop.action.transports.sql.rows import RowsRefused
from taoloop.core.faults import FaultCode
from taoloop.core.telemetry import Telemetry, names
from taoloop.core.telemetry.names import Attribute
from taoloop.tools.contract import SqlTransport, ToolContract
from taoloop.tools.sql_statement import read_statement

_SQLITE: Final = ("sqlite:///", "sqlite+aiosqlite:///")
_POSTGRESQL: Final = ("postgresql://", "postgres://", "postgresql+asyncpg://")


@dataclass(frozen=True, slots=True)
class _Opened:
    """A tool's database, and the URL that it was opened at."""

    url: str
    database: Database
    system: str


class SqlStatementTransport:
    """A `Transport` to PostgreSQL and SQLite.

    Args:
        settings: Sizes where a contract says nothing.
        secrets: Where the databases' URLs come from.
        telemetry: Counts results that are too large.
        group: Closes databases whose URL has changed.
    """

    def __init__(
        self, settings: ToolSqlSettings, secrets: SecretSource, telemetry: Telemetry, group: asyncio.TaskGroup
    ) -> None:
        self._settings = settings
        self._secrets = secrets
        self._group = group
        self._tracing = telemetry.tracing
        self._refused = telemetry.metrics.counter(names.RESPONSE_REFUSED)
        self._exhausted = telemetry.metrics.counter(names.POOL_EXHAUSTED)
        self._gauge = telemetry.metrics.gauge(names.POOL_CONNECTIONS)
        self._opened: dict[str, _Opened] = {}

    async def attempt(self, call: ToolCall) -> Reply:
        """Make one attempt; see `Transport.attempt`."""
        transport = call.contract.transport
        assert isinstance(transport, SqlTransport)
        query = Query(
            transport=transport, names=read_statement(transport.statement).parameters, values=with_body_key(call)
        )
        opened = await self._database(call.contract, transport)
        attributes = {Attribute.DB_SYSTEM: opened.system}
        name = names.statement_span(opened.system, call.contract.name)
        with self._tracing.span(name, attributes, kind=SpanKind.CLIENT) as span:
            return await self._bounded(call, opened.database, query, span)

    async def _bounded(self, call: ToolCall, database: Database, query: Query, span: Span) -> Reply:
        progress = Progress()
        try:
            async with asyncio.timeout(call.timeout_seconds):
                rows = await database.run(query, progress)
        except TimeoutError as exc:
            if progress.rows is None:
                raise self._late(call, progress) from exc
            rows = progress.rows  # it was committed when its time was over
        except StatementFailed as failed:
            span.set_attribute(Attribute.DB_STATUS_CODE, failed.code)
            return failed.reply()
        except RowsRefused as refused:
            if refused.limit:
                self._refused.labels(tool=call.contract.name, limit=refused.limit).inc()
            raise progress.fault(refused.code, str(refused)) from refused
        span.set_attribute(Attribute.DB_RETURNED_ROWS, len(rows))
        return Reply(status_code=200, content_type="application/json", body=rows.body())

    def _late(self, call: ToolCall, progress: Progress) -> TransportFault:
        seconds = f"{call.timeout_seconds:g} s"
        if progress.stage is Stage.WAITING:
            self._exhausted.labels(tool=call.contract.name).inc()
            message = f"No connection of the tool's pool was free within {seconds}."
            return progress.fault(FaultCode.POOL_EXHAUSTED, message, is_retriable=True)
        message = f"The database did not answer within {seconds}."
        return progress.fault(FaultCode.TOOL_TIMEOUT, message, is_retriable=True)

    async def _database(self, contract: ToolContract, transport: SqlTransport) -> _Opened:
        url = await self._secrets.secret(transport.database)
        if url is None:
            message = f"The secret {transport.database} is not configured."
            raise TransportFault(FaultCode.CREDENTIAL_MISSING, message, may_have_left=False)
        before = self._opened.get(contract.name)
        if before is not None and before.url == url:
            return before
        opened = self._opened[contract.name] = self._open(url, contract, transport)
        database = opened.database
        self._gauge.labels(tool=contract.name, state="busy").set_function(lambda: database.busy)
        self._gauge.labels(tool=contract.name, state="idle").set_function(lambda: database.idle)
        if before is not None:
            self._group.create_task(before.database.retire(), name=f"close the database of {contract.name}")
        return opened

    def _open(self, url: str, contract: ToolContract, transport: SqlTransport) -> _Opened:
        settings, limits = self._settings, contract.pool
        size = settings.pool_size if limits is None else limits.size
        for prefix in _SQLITE:
            if url.startswith(prefix):
                from taoloop.action.transports.sql.sqlite import SqliteDatabase

                path = unquote(url.removeprefix(prefix).partition("?")[0])
                return _Opened(url, SqliteDatabase(path, size), "sqlite")
        for prefix in _POSTGRESQL:
            if url.startswith(prefix):
                from taoloop.action.transports.sql.postgresql import PostgresqlDatabase

                database = PostgresqlDatabase(
                    "postgresql://" + url.removeprefix(prefix),
                    size=size,
                    idle_seconds=settings.pool_idle_timeout_seconds if limits is None else limits.idle_timeout_seconds,
                    timeout_seconds=contract.timeout_seconds,
                    read_only=transport.read_only,
                )
                return _Opened(url, database, "postgresql")
        message = f"The secret {transport.database} is no URL of a database that is served: postgresql or sqlite."
        raise TransportFault(FaultCode.TOOL_UNREACHABLE, message, may_have_left=False)

    async def aclose(self) -> None:
        """Close every database."""
        for opened in self._opened.values():
            await opened.database.aclose()

    def __repr__(self) -> str:
        shown = "; ".join(f"{tool}: {opened.database!r}" for tool, opened in self._opened.items())
        return f"<SqlStatementTransport [{shown}]>"


@asynccontextmanager
async def sql_transport(
    settings: ToolSqlSettings, secrets: SecretSource, telemetry: Telemetry
) -> AsyncIterator[SqlStatementTransport]:
    """Open the transport and close its databases at the end."""
    async with asyncio.TaskGroup() as group:
        transport = SqlStatementTransport(settings, secrets, telemetry, group)
        try:
            yield transport
        finally:
            await asyncio.shield(transport.aclose())
