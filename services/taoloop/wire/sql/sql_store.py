"""A durable store: SQLite or PostgreSQL, by SQLAlchemy Core."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from taoloop.core.clock import Clock
from taoloop.core.errors import BackendUnavailable, ConfigurationError
from taoloop.wire.sql.sql_schema import SqlSchema, migrate

TIMEOUT_SECONDS: Final = 5.0
"""For a connection, a statement, a lock and a place in the pool, each."""
_LOCKED_TRIES: Final = 3

ValueT = TypeVar("ValueT")


class Transaction:
    """A transaction that is under way.

    Args:
        connection: What it goes over; nobody else's meanwhile.
    """

    def __init__(self, connection: AsyncConnection) -> None:
        self._connection = connection

    async def execute(
        self, statement: sa.Executable, values: Mapping[str, object] | Sequence[Mapping[str, object]] | None = None
    ) -> sa.CursorResult[*tuple[Any, ...]]:
        """Execute a statement; see `AsyncConnection.execute`. A caller that is cancelled leaves when it has ended."""
        return await _to_its_end(self._connection.execute(statement, values))


class SqlStore:
    """Transactions on one database.

    Every transaction of ours begins with its write, so that SQLite takes its lock at once and two processes
    never wait for each other in a circle.

    Args:
        engine: The connection pool; this object does not close it.
        schema: Its tables.
        clock: Dates the rows.
        is_durable: What the database was found to promise.
    """

    def __init__(self, engine: AsyncEngine, schema: SqlSchema, clock: Clock, *, is_durable: bool) -> None:
        self._engine = engine
        self._schema = schema
        self.clock = clock
        self.is_durable = is_durable
        self.insert = postgresql.insert if engine.dialect.name == "postgresql" else sqlite.insert

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """Open a transaction that commits at the end and rolls back on an exception, a cancellation among them.

        No step of it is left in the middle: a caller that is cancelled leaves when the step has ended, whose length
        the store's time limits bound. The pool throws a connection away that was left in the middle of a step, and
        does not tell those who wait for its place: on SQLite, which has one, they would wait in vain.

        Raises:
            BackendUnavailable: The store did not answer; whether it committed is not known.
        """
        connection = self._engine.connect()
        with _translated(self._schema):
            try:
                await _to_its_end(connection.start())
                yield Transaction(connection)
                await _to_its_end(connection.commit())
            finally:
                if connection.sync_connection is not None:
                    await _to_its_end(connection.close())

    def __repr__(self) -> str:
        return f"SqlStore({self._engine.url!r}, is_durable={self.is_durable}, pool={self._engine.pool.status()!r})"


@asynccontextmanager
async def sql_store(
    url: str, schema: SqlSchema, clock: Clock, timeout_seconds: float | None = None
) -> AsyncIterator[SqlStore]:
    """Open the store at a SQLAlchemy URL and bring its tables to this version.

    SQLite files run in WAL mode with `synchronous=FULL`; their directory is created. PostgreSQL must run with
    `fsync` on to be called durable, and `synchronous_commit` is turned on for every connection.

    Args:
        url: `sqlite+aiosqlite:///PATH` or `postgresql+asyncpg://USER@HOST/DATABASE`.
        schema: The tables that are kept there.
        clock: Dates the rows.
        timeout_seconds: For a connection, a statement, a lock and a place in the pool, each; None takes
            `TIMEOUT_SECONDS`.

    Raises:
        ConfigurationError: The URL names another kind of store, or is none; its directory cannot be made; or the
            tables are too new.
        BackendUnavailable: The store does not answer.
    """
    engine = _engine(url, schema, TIMEOUT_SECONDS if timeout_seconds is None else timeout_seconds)
    try:
        with _translated(schema):
            await _migrate(engine, schema)
            async with engine.connect() as connection:
                is_durable = await _promises_durability(connection)
        yield SqlStore(engine, schema, clock, is_durable=is_durable)
    finally:
        await engine.dispose()


@asynccontextmanager
async def existing_sql_store(
    url: str, schema: SqlSchema, clock: Clock, timeout_seconds: float | None = None
) -> AsyncIterator[SqlStore]:
    """Open a store that is already there; see `sql_store`, which would make a new file for a mistyped path.

    Raises:
        ConfigurationError: There is no such file, or what `sql_store` raises.
        BackendUnavailable: The store does not answer.
    """
    _refuse_missing_file(url, schema)
    async with sql_store(url, schema, clock, timeout_seconds) as store:
        yield store


def _refuse_missing_file(url: str, schema: SqlSchema) -> None:
    try:
        parsed = sa.make_url(url)
    except ArgumentError:
        return  # the store says so
    path = parsed.database or ""
    if parsed.get_backend_name() == "sqlite" and not Path(path).is_file():
        raise ConfigurationError(
            f"There is no {schema.title} at {path or 'no path'}; {schema.setting} names it.", metadata={"path": path}
        )


async def _migrate(engine: AsyncEngine, schema: SqlSchema) -> None:
    """Bring the tables to this version, in one transaction that a repeat begins anew.

    SQLite's lock is not fair: of several processes that start at once, and switch the file to WAL, one may find it
    locked for longer than it waits although each of the others was brief. So it asks again.
    """
    tries_left = _LOCKED_TRIES
    while True:
        tries_left -= 1
        try:
            async with engine.begin() as connection:
                await migrate(connection, schema)
        except OperationalError:
            if engine.dialect.name != "sqlite" or not tries_left:
                raise
        else:
            return


@contextmanager
def _translated(schema: SqlSchema) -> Iterator[None]:
    """Raise what a driver raises as `BackendUnavailable`."""
    try:
        yield
    except (SQLAlchemyError, OSError) as exc:
        raise BackendUnavailable(
            f"The {schema.title} does not answer.", metadata={"backend": schema.backend}, retry_after_seconds=1.0
        ) from exc


async def _to_its_end(step: Coroutine[Any, Any, ValueT]) -> ValueT:
    """Wait for a step; who is cancelled meanwhile is told so when it has ended."""
    task = asyncio.create_task(step)  # noqa: TID251 - never outlives this call
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as exc:
            cancelled = exc
    if cancelled is not None:
        raise cancelled from (None if task.cancelled() else task.exception())
    return task.result()


def _engine(url: str, schema: SqlSchema, timeout_seconds: float) -> AsyncEngine:
    try:
        parsed = sa.make_url(url)
    except ArgumentError as exc:
        raise ConfigurationError(f"The {schema.title}'s URL is not a URL.") from exc
    if parsed.drivername == "postgresql+asyncpg":
        arguments = {
            "server_settings": {"synchronous_commit": "on"},
            "timeout": timeout_seconds,
            "command_timeout": timeout_seconds,
        }
        return create_async_engine(parsed, connect_args=arguments, pool_pre_ping=True, pool_timeout=timeout_seconds)
    if parsed.drivername != "sqlite+aiosqlite":
        raise ConfigurationError(
            f"The {schema.title} cannot stand on {parsed.drivername}; use sqlite+aiosqlite or postgresql+asyncpg.",
            metadata={"driver": parsed.drivername},
        )
    return _sqlite_engine(parsed, schema, timeout_seconds)


def _sqlite_engine(url: sa.URL, schema: SqlSchema, timeout_seconds: float) -> AsyncEngine:
    if not url.database or url.database == ":memory:":
        engine = create_async_engine(url)
    else:
        _make_directory(Path(url.database).parent, schema)
        # One connection: SQLite has one writer at a time, and the pool's queue is fair where its lock is not.
        engine = create_async_engine(url, pool_size=1, max_overflow=0, pool_timeout=timeout_seconds)
    sa.event.listen(engine.sync_engine, "connect", partial(_prepare_sqlite, int(timeout_seconds * 1000)))
    return engine


def _make_directory(directory: Path, schema: SqlSchema) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise ConfigurationError(
            f"The directory {directory} of the {schema.title} cannot be made: {exc.strerror}.",
            metadata={"path": str(directory)},
        ) from exc


def _prepare_sqlite(busy_ms: int, connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={busy_ms}")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()


async def _promises_durability(connection: AsyncConnection) -> bool:
    if connection.dialect.name == "postgresql":
        return bool((await connection.execute(sa.text("SHOW fsync"))).scalar_one() == "on")
    return bool((await connection.execute(sa.text("PRAGMA journal_mode"))).scalar_one() == "wal")
