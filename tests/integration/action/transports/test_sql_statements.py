"""SQL tools on real databases: what they return, refuse and leave behind; SQLite always, PostgreSQL as `real`."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import create_async_engine

from taoloop.action.ports import TransportFault
from taoloop.action.secrets import ConfiguredSecrets
from taoloop.action.settings import ToolSqlSettings
from taoloop.action.transports.sql.transport import sql_transport
from taoloop.core.faults import FaultCode
from taoloop.tools.contract import Pool, ToolContract
from tests.contract.postgresql import postgresql
from tests.integration.action.transports.databases import TABLES, opened, sqlite_file, statement
from tests.integration.action.transports.eventually import assert_eventually
from tests.integration.action.transports.sql_calls import SQLITE_SLOW, count, fault_of, ran
from tests.integration.action.transports.tool_calls import attempted, body_of
from tests.unit.action.contracts import telemetry

SECRET = "Tromsø-4711"


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with postgresql() as url:
        yield url


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.real)])
async def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite+aiosqlite:///{sqlite_file(tmp_path)}"
    url: str = request.getfixturevalue("cluster")
    engine = create_async_engine(url)
    async with engine.begin() as connection:
        await connection.execute(sa.text("DROP TABLE IF EXISTS orders"))
        for each in TABLES.strip().split(";\n"):
            await connection.execute(sa.text(each.rstrip(";")))
    await engine.dispose()
    return url


async def error_of(url: str, tool: ToolContract, **arguments: Any) -> tuple[int, str]:
    async with opened(url) as transport:
        reply = await attempted(transport, tool, **arguments)
        assert SECRET.encode() not in reply.body
        return reply.status_code, body_of(reply)["error"]["code"]


async def test_rows_are_exact_and_arguments_are_parameters(url: str) -> None:
    tool = statement("SELECT id, city, ':city' AS colon FROM orders WHERE city = :city ORDER BY id -- :city")
    found = await ran(url, tool, city="Oslo")
    assert found == {
        "rows": [{"id": "A1", "city": "Oslo", "colon": ":city"}, {"id": "A3", "city": "Oslo", "colon": ":city"}],
        "row_count": 2,
    }
    injected = await ran(url, tool, city="' OR 1=1 --")
    assert injected == {"rows": [], "row_count": 0}


async def test_a_parameter_without_an_argument_is_null(url: str) -> None:
    tool = statement("SELECT id FROM orders WHERE CAST(:city AS text) IS NULL OR city = :city ORDER BY id")
    assert [row["id"] for row in (await ran(url, tool))["rows"]] == ["A1", "A2", "A3"]
    assert [row["id"] for row in (await ran(url, tool, city="Bergen"))["rows"]] == ["A2"]


async def test_a_number_finds_the_same_number(url: str) -> None:
    tool = statement("SELECT id FROM orders WHERE amount = :amount")
    for amount in (Decimal("10.5"), Decimal("10.50")):
        assert [row["id"] for row in (await ran(url, tool, amount=amount))["rows"]] == ["A1"]


async def test_masked_columns_keep_their_place_and_lose_their_value(url: str) -> None:
    tool = statement("SELECT id, phone FROM orders ORDER BY id", mask=("PHONE",))
    assert (await ran(url, tool))["rows"][::2] == [{"id": "A1", "phone": "***"}, {"id": "A3", "phone": "***"}]
    misspelt = await fault_of(url, statement("SELECT id, phone FROM orders", mask=("fone",)))
    assert (misspelt.code, "fone" in misspelt.message) == (FaultCode.RESPONSE_MALFORMED, True)
    twice = await fault_of(url, statement("SELECT id, id FROM orders"))
    assert twice.code == FaultCode.RESPONSE_MALFORMED


async def test_rows_and_bytes_are_limited(url: str) -> None:
    for tool in (
        statement("SELECT id FROM orders", max_rows=2),
        statement("SELECT id FROM orders", max_bytes=20),
    ):
        fault = await fault_of(url, tool)
        assert (fault.code, fault.may_have_left) == (FaultCode.RESPONSE_TOO_LARGE, False)
    assert len((await ran(url, statement("SELECT id FROM orders", max_rows=3)))["rows"]) == 3


async def test_a_write_commits_and_tells_how_many_rows_it_changed(url: str) -> None:
    update = statement("UPDATE orders SET city = :city WHERE city = 'Oslo'", read_only=False)
    assert await ran(url, update, city="Bodø") == {"rows": [], "row_count": 2}
    insert = statement("INSERT INTO orders (id, city) VALUES (:id, :city) RETURNING id, amount", read_only=False)
    assert await ran(url, insert, id="B1", city="Bodø") == {"rows": [{"id": "B1", "amount": None}], "row_count": 1}
    assert await count(url) == 4


async def test_a_write_whose_result_breaks_a_limit_is_rolled_back(url: str) -> None:
    fault = await fault_of(url, statement("DELETE FROM orders RETURNING id", read_only=False, max_rows=1))
    assert (fault.code, fault.may_have_left) == (FaultCode.RESPONSE_TOO_LARGE, False)
    assert await count(url) == 3


async def test_the_database_itself_refuses_a_write_of_a_read_only_tool(url: str) -> None:
    status, _ = await error_of(url, statement("DELETE FROM orders"))
    assert status == 403
    assert await count(url) == 3


async def test_refusals_are_answers_with_the_databases_code_and_without_values(url: str) -> None:
    insert = statement("INSERT INTO orders (id, city) VALUES (:id, :city)", read_only=False)
    status, code = await error_of(url, insert, id="A1", city=SECRET)
    assert (status, code in {"23505", "SQLITE_CONSTRAINT_PRIMARYKEY"}) == (409, True)
    status, code = await error_of(url, statement("SELECT nothing FROM nowhere WHERE 'x' = :x"), x=SECRET)
    assert (status, code in {"42P01", "SQLITE_ERROR"}) == (400, True)


async def test_without_its_secret_a_tool_is_not_called() -> None:
    fault = await fault_of(None, statement("SELECT 1 AS one"))
    assert (fault.code, fault.may_have_left) == (FaultCode.CREDENTIAL_MISSING, False)


@pytest.mark.parametrize(
    "url_",
    [
        "mysql://x:geheim@h/d",
        "nothing",
        "sqlite:////no/such/folder/geheim.sqlite",
        "postgresql://u:geheim@127.0.0.1:1/d",
        "postgresql://u:geheim@[::1",
        "postgresql://u:geheim@127.0.0.1:port/d",
    ],
)
async def test_a_database_that_cannot_be_reached_is_surely_not_asked(url_: str) -> None:
    fault = await fault_of(url_, statement("SELECT 1 AS one"), 5.0)
    assert (fault.code, fault.may_have_left) == (FaultCode.TOOL_UNREACHABLE, False)
    assert "geheim" not in fault.message


def slow(url: str) -> str:
    return SQLITE_SLOW if url.startswith("sqlite") else "SELECT 1 AS n FROM pg_sleep(600)"


async def test_a_late_statement_ends_in_the_database_and_frees_its_place(url: str) -> None:
    async with opened(url) as transport:
        tool = statement(slow(url), pool=Pool(size=1, idle_timeout_seconds=60.0))
        for _ in range(3):
            async with asyncio.timeout(5):
                with pytest.raises(TransportFault) as caught:
                    await attempted(transport, tool, 0.3)
            assert (caught.value.code, caught.value.may_have_left) == (FaultCode.TOOL_TIMEOUT, False)
        assert "0 busy" in repr(transport)
    await assert_none_runs(url)


async def test_a_cancelled_statement_ends_in_the_database(url: str, caplog: pytest.LogCaptureFixture) -> None:
    async with opened(url) as transport:
        async with asyncio.TaskGroup() as group:
            call = group.create_task(attempted(transport, statement(slow(url))))
            await assert_eventually(lambda: "1 busy" in repr(transport))
            call.cancel()
        assert "0 busy" in repr(transport)
        await assert_none_runs(url)
    assert not [each for each in caplog.records if each.levelname == "ERROR"]


async def assert_none_runs(url: str) -> None:
    """Wait until the database runs no slow statement: its server ends one soon after it is told, not at once."""
    for _ in range(200):
        if await running(url) == 0:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("a slow statement still runs in the database")


async def running(url: str) -> int:
    if url.startswith("sqlite"):
        return 0
    text = "SELECT count(*) AS n FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%pg_sleep(600)'"
    return int((await ran(url, statement(text)))["rows"][0]["n"])


async def test_statements_beyond_the_pool_wait_and_are_surely_not_run_when_late(url: str) -> None:
    async with opened(url) as transport, asyncio.TaskGroup() as group:
        tool = statement(slow(url), pool=Pool(size=1, idle_timeout_seconds=60.0))
        holder = group.create_task(attempted(transport, tool))
        await assert_eventually(lambda: "1 busy" in repr(transport))
        with pytest.raises(TransportFault) as caught:
            await attempted(transport, tool, 0.1)
        assert (caught.value.code, caught.value.may_have_left) == (FaultCode.POOL_EXHAUSTED, False)
        holder.cancel()


async def test_a_secret_that_changes_opens_the_other_database(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    first, second = sqlite_file(tmp_path / "one"), sqlite_file(tmp_path / "two")
    with closing(sqlite3.connect(second, isolation_level=None)) as other:
        other.execute("DELETE FROM orders")
    tool = statement("SELECT count(*) AS n FROM orders")
    secrets = tmp_path / "secrets"
    secrets.mkdir()

    async with sql_transport(ToolSqlSettings(), ConfiguredSecrets({}, secrets), telemetry()) as transport:
        for path, expected in ((first, 3), (second, 0), (second, 0)):
            (secrets / "ORDERS_DB").write_text(f"sqlite:///{path}")
            assert body_of(await attempted(transport, tool))["rows"] == [{"n": expected}]


@pytest.mark.real
async def test_types_of_postgresql_have_exact_json(cluster: str) -> None:
    text = """SELECT CAST(:day AS date) AS day, CAST(:at AS timestamptz) AS at, CAST(:n AS numeric) AS n,
        CAST(:j AS jsonb) AS j, CAST(:u AS uuid) AS u, interval '1 day 2 hours' AS i, 9223372036854775807 AS big,
        ARRAY[1, 2] AS a, timestamp '2026-01-02 03:04:05.5' AS local, CAST(:f AS double precision) AS f, true AS t,
        inet '10.0.0.1' AS ip, time '03:04' AS clock"""
    uuid = "018f4d3a-0000-7000-8000-000000000001"
    found = await ran(
        cluster,
        statement(text),
        day="2026-02-03",
        at="2026-01-02T03:04:05+08:00",
        n=Decimal("0.10"),
        j={"k": [Decimal("1.50"), 12345678901234567890]},
        u=uuid,
        f=Decimal("0.1"),
    )
    assert found["rows"] == [
        {
            "day": "2026-02-03",
            "at": "2026-01-01T19:04:05+00:00",
            "n": Decimal("0.10"),
            "j": {"k": [Decimal("1.50"), 12345678901234567890]},
            "u": uuid,
            "i": "P1DT2H",
            "big": 9223372036854775807,
            "a": [1, 2],
            "local": "2026-01-02T03:04:05.5",
            "f": Decimal("0.1"),
            "t": True,
            "ip": "10.0.0.1",
            "clock": "03:04:00",
        }
    ]


@pytest.mark.real
async def test_arguments_of_the_wrong_type_name_their_parameter(cluster: str) -> None:
    fault = await fault_of(
        cluster, statement("SELECT CAST(:a AS integer) AS a, CAST(:b AS text) AS b"), a="x", b=SECRET
    )
    assert (fault.code, fault.pointer, fault.may_have_left) == (FaultCode.INVALID_PARAMETER, "/a", False)
    assert SECRET not in fault.message


@pytest.mark.real
async def test_a_session_that_the_server_ends_is_a_fault_and_is_replaced(cluster: str) -> None:
    async with opened(cluster) as transport:
        with pytest.raises(TransportFault) as caught:
            await attempted(transport, statement("SELECT pg_terminate_backend(pg_backend_pid()) AS gone"))
        assert (caught.value.is_retriable, caught.value.may_have_left) == (True, False)
        assert body_of(await attempted(transport, statement("SELECT 1 AS one")))["rows"] == [{"one": 1}]


@pytest.mark.real
async def test_the_server_ends_a_statement_at_the_contracts_timeout(cluster: str) -> None:
    fault = await fault_of(cluster, statement("SELECT 1 AS n FROM pg_sleep(600)", timeout_seconds=0.2))
    assert fault.code == FaultCode.TOOL_TIMEOUT


@pytest.mark.real
async def test_a_deferred_constraint_that_fails_at_the_commit_is_a_refusal(cluster: str) -> None:
    engine = create_async_engine(cluster)
    async with engine.begin() as connection:
        await connection.execute(sa.text("DROP TABLE IF EXISTS pairs"))
        await connection.execute(sa.text("CREATE TABLE pairs (a int UNIQUE DEFERRABLE INITIALLY DEFERRED)"))
    await engine.dispose()
    insert = statement("INSERT INTO pairs VALUES (:a), (:a)", read_only=False)
    assert await error_of(cluster, insert, a=1) == (409, "23505")


@pytest.mark.real
async def test_a_user_that_is_not_let_in_is_a_refused_credential(cluster: str) -> None:
    fault = await fault_of(cluster.replace("taoloop@", "nobody_known:geheim@"), statement("SELECT 1 AS one"))
    assert fault.code == FaultCode.CREDENTIAL_REFUSED
    absent = await fault_of(cluster.replace("/postgres", "/absent"), statement("SELECT 1 AS one"))
    assert absent.code == FaultCode.TOOL_UNREACHABLE


@pytest.mark.real
async def test_arguments_of_another_kind_and_json_that_is_not_exact_are_named(cluster: str) -> None:
    wrong = await fault_of(cluster, statement("SELECT CAST(:day AS date) AS day"), day=5)
    assert (wrong.code, wrong.pointer) == (FaultCode.INVALID_PARAMETER, "/day")
    twice = await fault_of(cluster, statement("""SELECT CAST('{"a":1,"a":2}' AS json) AS j"""))
    assert twice.code == FaultCode.RESPONSE_MALFORMED


@pytest.mark.real
async def test_a_secret_that_changes_lets_what_runs_end(cluster: str, tmp_path: Path) -> None:
    secret = tmp_path / "ORDERS_DB"
    secret.write_text(cluster)
    async with sql_transport(ToolSqlSettings(), ConfiguredSecrets({}, tmp_path), telemetry()) as transport:
        async with asyncio.TaskGroup() as group:
            slow_ = group.create_task(attempted(transport, statement("SELECT 1 AS one FROM pg_sleep(0.5)")))
            await assert_eventually(lambda: "1 busy" in repr(transport))
            secret.write_text(cluster + "?application_name=other")
            assert body_of(await attempted(transport, statement("SELECT 2 AS two")))["rows"] == [{"two": 2}]
        assert body_of(slow_.result())["rows"] == [{"one": 1}]


@pytest.mark.real
async def test_closing_ends_what_runs_on_a_server(cluster: str) -> None:
    async with opened(cluster) as transport:
        call = asyncio.ensure_future(attempted(transport, statement("SELECT 1 AS n FROM pg_sleep(600)")))
        await assert_eventually(lambda: "1 busy" in repr(transport))
        await transport.aclose()
        with pytest.raises(TransportFault) as caught:
            await call
        assert (caught.value.code, caught.value.may_have_left) == (FaultCode.RESPONSE_INCOMPLETE, False)
