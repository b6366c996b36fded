"""Statements on SQLite files: a connection of their own in a thread, ended by a flag that SQLite looks at."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from decimal import Decimal
from typing import Final
from urllib.parse import quote

from taoloop.action.transports.sql.failures import sqlite_failure
from taoloop.action.transports.sql.queries import Progress, Query, Stage
from taoloop.action.transports.sql.rows import Rows
from taoloop.core import exact_json, pointers
from taoloop.core.exact_json import JsonValue
from taoloop.core.faults import FaultCode

_LOCK_WAIT_SECONDS: Final = 1.0
_STEPS_BETWEEN_LOOKS: Final = 1000
_ROWS_AT_ONCE: Final = 100
_MIN_LENGTH_LIMIT: Final = 1 << 20
"""SQLite's limit on one value also holds for the statement and its parameters."""


class SqliteDatabase:
    """A `Database` on a file.

    Args:
        path: The file, which must exist.
        size: Most statements at a time.
    """

    def __init__(self, path: str, size: int) -> None:
        self._path = path
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="sqlite")
        self._slots = asyncio.Semaphore(size)
        self._running: set[threading.Event] = set()

    @property
    def busy(self) -> int:
        """Statements that run now."""
        return len(self._running)

    @property
    def idle(self) -> int:
        """None: opening a file costs less than a connection that holds on to a file that was replaced."""
        return 0

    async def run(self, query: Query, progress: Progress) -> Rows:
        """Run one statement; see `Database.run`."""
        async with self._slots:
            stop = threading.Event()
            self._running.add(stop)
            loop = asyncio.get_running_loop()
            work = loop.run_in_executor(self._threads, _run, self._path, query, progress, stop)
            try:
                return await asyncio.shield(work)
            except asyncio.CancelledError:
                stop.set()
                await asyncio.wait((work,))  # soon: the thread looks at the flag
                if not work.cancelled() and work.exception() is None and progress.stage is Stage.COMMITTED:
                    progress.rows = work.result()
                raise
            finally:
                self._running.discard(stop)

    async def retire(self) -> None:
        """Close when the last statement has ended."""
        await asyncio.to_thread(self._threads.shutdown)

    async def aclose(self) -> None:
        """End what runs, and the threads."""
        for stop in self._running:
            stop.set()
        await asyncio.to_thread(self._threads.shutdown)

    def __repr__(self) -> str:
        return f"SqliteDatabase({self.busy} busy)"


def _run(path: str, query: Query, progress: Progress, stop: threading.Event) -> Rows:
    progress.stage = Stage.CONNECTING
    with _translated(query, progress), _connection(path, query) as connection:
        connection.set_progress_handler(stop.is_set, _STEPS_BETWEEN_LOOKS)
        connection.execute("BEGIN" if query.transport.read_only else "BEGIN IMMEDIATE")
        progress.stage = Stage.RUNNING
        rows = _rows(connection, query)
        if stop.is_set():
            raise _stopped()
        progress.stage = Stage.COMMITTING
        _commit(connection, progress)
        progress.stage = Stage.COMMITTED
        return rows


def _commit(connection: sqlite3.Connection, progress: Progress) -> None:
    try:
        connection.execute("COMMIT")
    except sqlite3.Error:
        if connection.in_transaction:  # it did not commit, and closing rolls it back
            progress.stage = Stage.RUNNING
        raise


@contextmanager
def _connection(path: str, query: Query) -> Iterator[sqlite3.Connection]:
    """Open the file; what was not committed is rolled back at the end."""
    is_read_only = query.transport.read_only
    mode = "ro" if is_read_only else "rw"  # a file that is not there is never made
    connection = sqlite3.connect(
        f"file:{quote(path)}?mode={mode}", uri=True, isolation_level=None, timeout=_LOCK_WAIT_SECONDS
    )
    try:
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(query.transport.max_bytes, _MIN_LENGTH_LIMIT))
        connection.execute(f"PRAGMA query_only = {'ON' if is_read_only else 'OFF'}")
        connection.execute("PRAGMA foreign_keys = ON")
        yield connection
    finally:
        connection.close()


def _rows(connection: sqlite3.Connection, query: Query) -> Rows:
    cursor = connection.execute(
        query.transport.statement, {name: _bound(query.values.get(name)) for name in query.names}
    )
    rows = query.rows(tuple(column[0] for column in cursor.description or ()))
    while batch := cursor.fetchmany(_ROWS_AT_ONCE):
        for row in batch:
            rows.add(row)
    rows.changed = max(0, cursor.rowcount)
    return rows


def _bound(value: JsonValue) -> object:
    """Return a value as SQLite takes it: a fraction as the double with the same text, else as its text."""
    if isinstance(value, Decimal):
        near = float(value)
        return near if Decimal(repr(near)) == value else str(value)
    return exact_json.dumps(value) if isinstance(value, list | dict) else value


@contextmanager
def _translated(query: Query, progress: Progress) -> Iterator[None]:
    try:
        yield
    except OverflowError as exc:
        raise _refused(query, progress) from exc
    except sqlite3.Error as exc:
        code = getattr(exc, "sqlite_errorname", "") or "SQLITE_UNKNOWN"
        raise sqlite_failure(code, progress) from exc


def _refused(query: Query, progress: Progress) -> Exception:
    """Return the fault of an integer of more than 64 bits."""
    wide = [
        name for name, value in query.values.items() if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63
    ]
    pointer = pointers.join(wide[0]) if wide else ""
    message = "An integer argument has more than 64 bits."
    return progress.fault(FaultCode.INVALID_PARAMETER, message, pointer=pointer)


def _stopped() -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("interrupted")
    error.sqlite_errorname = "SQLITE_INTERRUPT"
    return error
