"""Statements on PostgreSQL: a pool for each tool, whose sessions are read-only and bounded by the server itself."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, Final

from taoloop.action.ports import TransportFault
from taoloop.action.transports.sql.failures import lost, sqlstate_failure
from taoloop.action.transports.sql.queries import Progress, Query, Stage
from taoloop.action.transports.sql.rows import Rows
from taoloop.core import exact_json, pointers
from taoloop.core.errors import ConfigurationError
from taoloop.core.faults import FaultCode
from taoloop.tools.sql_statement import with_parameters

try:
    import asyncpg
except ImportError as exc:
    raise ConfigurationError("The SQL transport needs the extra `action`.", metadata={"extra": "action"}) from exc

_ROWS_AT_ONCE: Final = 100
_CLEANING_SECONDS: Final = 1.0
_TEXT_TYPES: Final = ("date", "time", "timetz", "interval", "uuid", "inet", "cidr", "macaddr")
_STAMP_TYPES: Final = ("timestamp", "timestamptz")
_JSON_TYPES: Final = ("json", "jsonb")
_SHORT_OFFSET: Final = re.compile(r"([+-]\d\d)$")
_ARGUMENT: Final = re.compile(r"query argument \$(\d+)")


class PostgresqlDatabase:
    """A `Database` on a PostgreSQL server.

    Args:
        url: `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`.
        size: Most connections.
        idle_seconds: How long one may wait for its next statement.
        timeout_seconds: After which the server itself ends a statement.
        read_only: Whether every transaction is read-only.
    """

    def __init__(self, url: str, *, size: int, idle_seconds: float, timeout_seconds: float, read_only: bool) -> None:
        milliseconds = str(max(1, round(timeout_seconds * 1000)))
        self._pool = asyncpg.create_pool(
            url,
            min_size=0,
            max_size=size,
            max_inactive_connection_lifetime=idle_seconds,
            init=_prepare,
            server_settings={
                "application_name": "taoloop",
                "default_transaction_read_only": "on" if read_only else "off",
                "statement_timeout": milliseconds,
                "lock_timeout": milliseconds,
                "idle_in_transaction_session_timeout": milliseconds,
                "TimeZone": "UTC",
                # A cancel request that arrives between two messages of the protocol is lost, and the statement would
                # run on for a client that is gone: the server looks every second (PostgreSQL 14 and later).
                "client_connection_check_interval": "1000",
                "DateStyle": "ISO, YMD",
                "IntervalStyle": "iso_8601",
            },
        )

    @property
    def busy(self) -> int:
        """Connections that a call holds now."""
        return int(self._pool.get_size() - self._pool.get_idle_size())

    @property
    def idle(self) -> int:
        """Connections that are kept for the next call."""
        return int(self._pool.get_idle_size())

    async def run(self, query: Query, progress: Progress) -> Rows:
        """Run one statement; see `Database.run`."""
        async with self._connection(progress) as connection:
            transaction = connection.transaction(readonly=query.transport.read_only)
            try:
                with _translated(query, progress):
                    await transaction.start()
                    progress.stage = Stage.RUNNING
                    rows = await _rows(connection, query)
                    progress.stage = Stage.COMMITTING
                    await transaction.commit()
                    progress.stage = Stage.COMMITTED
            except BaseException:
                await _roll_back(connection, transaction)
                raise
            return rows

    @asynccontextmanager
    async def _connection(self, progress: Progress) -> AsyncIterator[Any]:
        """Hold a connection; at the end its statement is cancelled, if it runs, and its transaction rolled back."""
        await self._pool  # connects to nothing yet; a second time it does nothing
        if self._pool.get_idle_size() or self._pool.get_size() < self._pool.get_max_size():
            progress.stage = Stage.CONNECTING
        with _connecting(progress):
            connection = await self._pool.acquire()
        try:
            yield connection
        finally:
            # What the statement came to is known by now; a connection that cannot be cleaned is ended by the pool.
            with suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
                await self._pool.release(connection, timeout=_CLEANING_SECONDS)

    async def retire(self) -> None:
        """Close each connection when its statement has ended."""
        await self._pool.close()

    async def aclose(self) -> None:
        """Close every connection, at once."""
        self._pool.terminate()

    def __repr__(self) -> str:
        return f"PostgresqlDatabase({self.busy} busy, {self.idle} idle)"


async def _roll_back(connection: Any, transaction: Any) -> None:
    """End the transaction, after its statement was cancelled if it still runs; else end the connection."""
    try:
        async with asyncio.timeout(_CLEANING_SECONDS):
            await transaction.rollback()
    except (TimeoutError, OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
        with suppress(asyncpg.InterfaceError):  # it has ended by itself
            connection.terminate()  # its transaction goes with it


async def _rows(connection: Any, query: Query) -> Rows:
    places = {name: f"${place}" for place, name in enumerate(query.names, start=1)}
    statement = await connection.prepare(with_parameters(query.transport.statement, places.__getitem__))
    values = [query.values.get(name) for name in query.names]
    rows = query.rows(tuple(attribute.name for attribute in statement.get_attributes()))
    if not statement.get_attributes():
        await statement.fetch(*values)
        rows.changed = _changed(statement.get_statusmsg())
        return rows
    cursor = await statement.cursor(*values)
    while batch := await cursor.fetch(_ROWS_AT_ONCE):
        for row in batch:
            rows.add(tuple(row))
    return rows


def _changed(status: str) -> int:
    """Return the count of a status such as `UPDATE 3` or `INSERT 0 1`."""
    last = status.rpartition(" ")[2]
    return int(last) if last.isdigit() else 0


async def _prepare(connection: Any) -> None:
    """Let dates and the like be given and read as text, which the server parses as it does a literal; JSON exactly."""
    for name in _TEXT_TYPES:
        await connection.set_type_codec(name, schema="pg_catalog", encoder=_text, decoder=str)
    for name in _STAMP_TYPES:
        await connection.set_type_codec(name, schema="pg_catalog", encoder=_text, decoder=_rfc_3339)
    for name in _JSON_TYPES:
        await connection.set_type_codec(name, schema="pg_catalog", encoder=exact_json.dumps, decoder=exact_json.loads)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a text is expected")
    return value


def _rfc_3339(text: str) -> str:
    """Return PostgreSQL's ISO form of a time as RFC 3339: a `T`, and offsets with minutes."""
    return _SHORT_OFFSET.sub(r"\1:00", text.replace(" ", "T", 1))


@contextmanager
def _connecting(progress: Progress) -> Iterator[None]:
    try:
        yield
    except asyncpg.PostgresError as exc:
        if str(exc.sqlstate or "")[:2] == "28":
            message = "The database does not let the user of its URL in."
            raise TransportFault(FaultCode.CREDENTIAL_REFUSED, message, may_have_left=False) from exc
        message = f"The database takes no connection: {_name(exc)}."
        raise progress.fault(FaultCode.TOOL_UNREACHABLE, message, is_retriable=True) from exc
    except (asyncpg.InterfaceError, ValueError) as exc:
        message = "The URL of the database cannot be used."
        raise TransportFault(FaultCode.TOOL_UNREACHABLE, message, may_have_left=False) from exc
    except OSError as exc:
        message = "No connection to the database could be made."
        raise progress.fault(FaultCode.TOOL_UNREACHABLE, message, is_retriable=True) from exc


@contextmanager
def _translated(query: Query, progress: Progress) -> Iterator[None]:
    try:
        yield
    except asyncpg.PostgresError as exc:
        raise _refused_argument(exc, query, progress) or sqlstate_failure(
            str(exc.sqlstate or ""), _name(exc), progress
        ) from exc
    except exact_json.JsonSyntaxError as exc:
        message = "A JSON value of the result cannot be read exactly."
        raise progress.fault(FaultCode.RESPONSE_MALFORMED, message) from exc
    except (asyncpg.InterfaceError, OSError) as exc:
        raise lost(progress) from exc


def _refused_argument(error: Any, query: Query, progress: Progress) -> TransportFault | None:
    """Return the fault of an argument that the driver did not send: a server's error that has no severity."""
    found = _ARGUMENT.search(str(error))
    if found is None or getattr(error, "severity", None) is not None:
        return None
    message = "An argument is not of the type that the statement wants there."
    pointer = pointers.join(query.names[int(found[1]) - 1])
    return progress.fault(FaultCode.INVALID_PARAMETER, message, pointer=pointer)


def _name(error: Any) -> str:
    """Return what PostgreSQL calls an error, such as `unique_violation`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(error).__name__.removesuffix("Error")).lower()
