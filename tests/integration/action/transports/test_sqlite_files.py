"""SQL tools on a file of SQLite: its locks, its types, and statements that are stopped."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest

from taoloop.action.ports import TransportFault
from taoloop.action.transports.sql import sqlite as sqlite_module
from taoloop.action.transports.sql.queries import Progress, Query, Stage
from taoloop.action.transports.sql.sqlite import SqliteDatabase
from taoloop.core.faults import FaultCode
from taoloop.tools.contract import SqlTransport
from tests.integration.action.transports.databases import opened, sqlite_file, statement
from tests.integration.action.transports.eventually import assert_eventually
from tests.integration.action.transports.sql_calls import SQLITE_SLOW, count, fault_of, ran
from tests.integration.action.transports.tool_calls import attempted, body_of


async def test_a_locked_file_is_not_reached(tmp_path: Path) -> None:
    path = sqlite_file(tmp_path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        fault = await fault_of(f"sqlite:///{path}", statement("DELETE FROM orders", read_only=False))
    assert (fault.code, fault.is_retriable, fault.may_have_left) == (FaultCode.TOOL_UNREACHABLE, True, False)


async def test_a_commit_that_finds_the_file_locked_is_rolled_back(tmp_path: Path) -> None:
    path = sqlite_file(tmp_path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM orders").fetchall()  # a reader lets a writer begin, not commit
        fault = await fault_of(f"sqlite:///{path}", statement("DELETE FROM orders", read_only=False))
    assert (fault.code, fault.may_have_left) == (FaultCode.TOOL_UNREACHABLE, False)
    assert await count(f"sqlite:///{path}") == 3


async def test_values_that_sqlite_cannot_hold_are_refused(tmp_path: Path) -> None:
    url = f"sqlite:///{sqlite_file(tmp_path)}"
    wide = await fault_of(url, statement("SELECT :n AS n"), n=1 << 70)
    assert (wide.code, wide.pointer) == (FaultCode.INVALID_PARAMETER, "/n")
    blob = await fault_of(url, statement("SELECT x'00' AS b"))
    assert (blob.code, "column b" in blob.message) == (FaultCode.RESPONSE_MALFORMED, True)
    big = await fault_of(url, statement("SELECT zeroblob(900000000) AS b"))
    assert big.code == FaultCode.RESPONSE_TOO_LARGE
    values = await ran(url, statement("SELECT :f AS f, :d AS d, :l AS l"), f=Decimal("0.1"), d=Decimal("1e400"), l=[1])
    assert values["rows"] == [{"f": Decimal("0.1"), "d": "1E+400", "l": "[1]"}]


async def test_a_commit_that_was_done_when_the_time_was_over_is_an_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{sqlite_file(tmp_path)}"
    commit, began, late = sqlite_module._commit, threading.Event(), threading.Event()

    def slowly(connection: sqlite3.Connection, progress: Progress) -> None:
        began.set()
        late.wait(10)
        commit(connection, progress)

    monkeypatch.setattr(sqlite_module, "_commit", slowly)
    async with opened(url) as transport, asyncio.TaskGroup() as group:
        tool = statement("DELETE FROM orders", read_only=False)
        call = group.create_task(attempted(transport, tool, 0.2))
        await assert_eventually(began.is_set)
        await asyncio.sleep(0.3)  # the attempt's time is over, and it waits for the thread
        late.set()
    assert body_of(call.result()) == {"rows": [], "row_count": 3}


async def test_closing_ends_what_runs(tmp_path: Path) -> None:
    async with opened(f"sqlite:///{sqlite_file(tmp_path)}") as transport:
        call = asyncio.ensure_future(attempted(transport, statement(SQLITE_SLOW)))
        await assert_eventually(lambda: "1 busy" in repr(transport))
        await transport.aclose()
        with pytest.raises(TransportFault) as caught:
            await call
        assert caught.value.code == FaultCode.TOOL_TIMEOUT


def query(text: str) -> Query:
    return Query(transport=SqlTransport(database="D", statement=text, read_only=False), names=(), values={})


def test_what_was_stopped_is_not_committed(tmp_path: Path) -> None:
    path, stop, progress = sqlite_file(tmp_path), threading.Event(), Progress()
    stop.set()
    with pytest.raises(TransportFault) as caught:
        sqlite_module._run(str(path), query("DELETE FROM orders"), progress, stop)
    assert (caught.value.code, caught.value.may_have_left) == (FaultCode.TOOL_TIMEOUT, False)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM orders").fetchone() == (3,)


def test_a_commit_that_fails_without_a_transaction_left_may_have_taken_effect() -> None:
    progress = Progress(Stage.COMMITTING)
    with (
        closing(sqlite3.connect(":memory:", isolation_level=None)) as connection,
        pytest.raises(sqlite3.OperationalError),
    ):
        sqlite_module._commit(connection, progress)
    assert progress.stage is Stage.COMMITTING


async def test_no_connection_to_a_file_is_kept(tmp_path: Path) -> None:
    assert SqliteDatabase(str(sqlite_file(tmp_path)), 1).idle == 0
