"""The durable store of effects and approvals: SQLite or PostgreSQL, by SQLAlchemy Core."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import ArgumentError, OperationalError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from taoloop.action.ledger.sql.migrations import migrate
from taoloop.core.clock import Clock
from taoloop.core.errors import BackendUnavailable, ConfigurationError

TIMEOUT_SECONDS: Final = 5.0
_LOCKED_TRIES: Final = 3
"""For a connection, a statement, a lock and a place in the pool, each."""

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
        clock: Dates the rows.
        is_durable: What the database was found to promise.
    """

    def __init__(self, engine: AsyncEngine, clock: Clock, *, is_durable: bool) -> None:
        self._engine = engine
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
        with translated():
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
async def sql_store(url: str, clock: Clock) -> AsyncIterator[SqlStore]:
    """Open the store at a SQLAlchemy URL and bring its tables to this version.

    SQLite files run in WAL mode with `synchronous=FULL`; their directory is created. PostgreSQL must run with
    `fsync` on to be called durable, and `synchronous_commit` is turned on for every connection.

    Args:
        url: `sqlite+aiosqlite:///PATH` or `postgresql+asyncpg://USER@HOST/DATABASE`.
        clock: Dates the rows.

    Raises:
        ConfigurationError: The URL names another kind of store, or is none; or the tables are too new.
        BackendUnavailable: The store does not answer.
    """
    engine = _engine(url)
    try:
        with translated():
            await _migrate(engine)
            async with engine.connect() as connection:
                is_durable = await _promises_durability(connection)
        yield SqlStore(engine, clock, is_durable=is_durable)
    finally:
        await engine.dispose()


async def _migrate(engine: AsyncEngine) -> None:
    """Bring the tables to this version, in one transaction that a repeat begins anew.

    SQLite's lock is not fair: of several processes that start at once, and switch the file to WAL, one may find it
    locked for longer than it waits although each of the others was brief. So it asks again.
    """
    tries_left = _LOCKED_TRIES
    while True:
        tries_left -= 1
        try:
            async with engine.begin() as connection:
                await migrate(connection)
        except OperationalError:
            if engine.dialect.name != "sqlite" or not tries_left:
                raise
        else:
            return


@contextmanager
def translated() -> Iterator[None]:
    """Raise what a driver raises as `BackendUnavailable`."""
    try:
        yield
    except (SQLAlchemyError, OSError) as exc:
        raise BackendUnavailable(
            "The effect ledger does not answer.", metadata={"backend": "effect_ledger"}, retry_after_seconds=1.0
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


def _engine(url: str) -> AsyncEngine:
    try:
        parsed = sa.make_url(url)
    except ArgumentError as exc:
        raise ConfigurationError("The ledger's URL is not a URL.") from exc
    if parsed.drivername == "postgresql+asyncpg":
        arguments = {
            "server_settings": {"synchronous_commit": "on"},
            "timeout": TIMEOUT_SECONDS,
            "command_timeout": TIMEOUT_SECONDS,
        }
        return create_async_engine(parsed, connect_args=arguments, pool_pre_ping=True, pool_timeout=TIMEOUT_SECONDS)
    if parsed.drivername != "sqlite+aiosqlite":
        raise ConfigurationError(
            f"The ledger cannot stand on {parsed.drivername}; use sqlite+aiosqlite or postgresql+asyncpg.",
            metadata={"driver": parsed.drivername},
        )
    return _sqlite_engine(parsed)


def _sqlite_engine(url: sa.URL) -> AsyncEngine:
    if not url.database or url.database == ":memory:":
        engine = create_async_engine(url)
    else:
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
        # One connection: SQLite has one writer at a time, and the pool's queue is fair where its lock is not.
        engine = create_async_engine(url, pool_size=1, max_overflow=0, pool_timeout=TIMEOUT_SECONDS)
    sa.event.listen(engine.sync_engine, "connect", _prepare_sqlite)
    return engine


def _prepare_sqlite(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    cursor.execute(f"PRAGMA busy_timeout={int(TIMEOUT_SECONDS * 1000)}")
    cursor.execute("PRAGMA journal_mode=WAL")
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()


async def _promises_durability(connection: AsyncConnection) -> bool:
    if connection.dialect.name == "postgresql":
        return bool((await connection.execute(sa.text("SHOW fsync"))).scalar_one() == "on")
    return bool((await connection.execute(sa.text("PRAGMA journal_mode"))).scalar_one() == "wal")
