"""What becomes of a call whose connection to PostgreSQL cannot be made, or breaks."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import sqlalchemy as sa

from taoloop.action.ports import TransportFault
from taoloop.action.transports.sql import postgresql as postgresql_module
from taoloop.action.transports.sql.queries import Query
from taoloop.action.transports.sql.rows import Rows
from taoloop.core.faults import FaultCode
from taoloop.testing.ports import free_ports
from tests.contract.postgresql import postgresql
from tests.integration.action.transports.databases import opened, statement
from tests.integration.action.transports.tool_calls import attempted


async def fault_of(url: str, text: str = "SELECT 1 AS one", *, read_only: bool = True) -> TransportFault:
    async with opened(url) as transport:
        with pytest.raises(TransportFault) as caught:
            await attempted(transport, statement(text, read_only=read_only))
    return caught.value


async def test_a_url_that_the_driver_does_not_take_is_no_outage() -> None:
    fault = await fault_of("postgresql://anna:geheim@127.0.0.1:1/shop?sslmode=nonsense")
    assert (fault.code, fault.is_retriable, fault.may_have_left) == (FaultCode.TOOL_UNREACHABLE, False, False)
    assert "geheim" not in fault.message


async def test_nobody_at_the_port_is_an_outage() -> None:
    (port,) = free_ports(1)
    fault = await fault_of(f"postgresql://anna:geheim@127.0.0.1:{port}/shop")
    assert (fault.code, fault.is_retriable, fault.may_have_left) == (FaultCode.TOOL_UNREACHABLE, True, False)
    assert "geheim" not in fault.message


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with postgresql() as url:
        yield url


@asynccontextmanager
async def breaking_at(word: bytes, url: str, *, lets_answer: bool) -> AsyncIterator[str]:
    """Stand between client and server, and end the connection before or behind the answer to what has a word in it."""
    target = sa.make_url(url)

    async def relay(client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        server, to_server = await asyncio.open_connection(target.host, target.port)
        is_asked = asyncio.Event()

        async def answers() -> None:
            while data := await server.read(65_536):
                if lets_answer or not is_asked.is_set():
                    to_client.write(data)
                if is_asked.is_set():
                    to_client.close()
                    return

        async with asyncio.TaskGroup() as group:
            group.create_task(answers())
            while data := await client.read(65_536):
                if word in data:
                    is_asked.set()
                to_server.write(data)
            to_server.close()

    listener = await asyncio.start_server(relay, "127.0.0.1", 0)
    async with listener:
        port = listener.sockets[0].getsockname()[1]
        yield target.set(host="127.0.0.1", port=port).render_as_string(hide_password=False)


@pytest.mark.real
@pytest.mark.parametrize("read_only", [True, False])
async def test_a_connection_that_breaks_between_two_commands_had_no_effect(cluster: str, read_only: bool) -> None:
    async with breaking_at(b"BEGIN", cluster, lets_answer=True) as url:
        fault = await fault_of(url, read_only=read_only)
    assert (fault.code, fault.is_retriable, fault.may_have_left) == (FaultCode.RESPONSE_INCOMPLETE, True, False)


@pytest.mark.real
async def test_a_connection_that_the_driver_finds_closed_had_no_effect(
    cluster: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = postgresql_module._rows

    async def on_a_closed_one(connection: Any, query: Query) -> Rows:
        connection.terminate()
        return await rows(connection, query)

    monkeypatch.setattr(postgresql_module, "_rows", on_a_closed_one)
    fault = await fault_of(cluster)
    assert (fault.code, fault.is_retriable, fault.may_have_left) == (FaultCode.RESPONSE_INCOMPLETE, True, False)


WRITE = "CREATE TABLE IF NOT EXISTS broken_off (a int)"


@pytest.mark.real
async def test_a_connection_that_breaks_behind_the_commit_is_no_failure(cluster: str) -> None:
    async with breaking_at(b"COMMIT", cluster, lets_answer=True) as url, opened(url) as transport:
        reply = await attempted(transport, statement(WRITE, read_only=False))
    assert reply.status_code == 200


@pytest.mark.real
async def test_a_connection_that_breaks_before_the_answer_to_the_commit_leaves_the_outcome_open(cluster: str) -> None:
    async with breaking_at(b"COMMIT", cluster, lets_answer=False) as url:
        fault = await fault_of(url, WRITE, read_only=False)
    assert (fault.code, fault.may_have_left) == (FaultCode.RESPONSE_INCOMPLETE, True)
