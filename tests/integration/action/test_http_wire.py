"""What goes over one connection: a request once, the answer that is meant, and nothing after it was given up."""

from __future__ import annotations

import asyncio

import aiohttp
import pytest

from taoloop.action.ports import TransportFault
from taoloop.action.transports.egress_guard import Egress
from taoloop.action.transports.http.failures import Progress
from taoloop.action.transports.http.pools import PooledCall, ToolPool, ToolPools
from taoloop.action.transports.http.wire import sent
from taoloop.core.faults import FaultCode
from taoloop.core.telemetry.metrics import Metrics
from taoloop.tools.contract import Pool
from taoloop.tools.signature import Effect
from tests.integration.action.http_calls import call, contract, transport
from tests.integration.action.raw_server import RawServer, answer, raw_server, says

HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n"


async def pool_for(server: RawServer) -> tuple[ToolPools, ToolPool]:
    pools = ToolPools(Pool(), Egress(), Metrics())
    pool = await pools.of_tool("a", None)
    pool.admit(server.base_url, is_base=True)
    return pools, pool


async def test_an_interim_answer_is_not_the_answer() -> None:
    async with raw_server(says(2 * HINTS + answer(b'{"a":1}'))) as server, transport(server.base_url) as under_test:
        reply = await under_test.attempt(call(contract()))
        assert (reply.status_code, reply.body) == (200, b'{"a":1}')
        assert (await under_test.attempt(call(contract()))).reused_connection


async def test_an_answer_that_comes_in_pieces_is_read_whole() -> None:
    body = b'"' + b"x" * 3_000_000 + b'"'
    async with raw_server(says(answer(body))) as server, transport(server.base_url) as under_test:
        assert (await under_test.attempt(call(contract()))).body == body
        assert (await under_test.attempt(call(contract()))).reused_connection


async def test_what_the_caller_has_given_up_is_not_sent_on() -> None:
    length, received = 30_000_000, bytearray()
    reads, ended = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reads.wait()
        try:
            while piece := await reader.read(1_000_000):
                received.extend(piece)
        except ConnectionError:
            pass
        finally:
            writer.close()
            ended.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    tool = contract(method="POST", effect=Effect.WRITE, json={"text": "{text}"})
    async with server, transport(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}") as under_test:
        with pytest.raises(TransportFault) as raised:
            await under_test.attempt(call(tool, seconds=0.1, text="x" * length))
        assert (raised.value.code, raised.value.may_have_left) == (FaultCode.TOOL_TIMEOUT, True)
        reads.set()
        await asyncio.wait_for(ended.wait(), 10.0)
        assert len(received) < length


async def test_a_connection_that_closed_before_the_request_takes_none() -> None:
    async with raw_server(says(answer())) as server:
        pools, pool = await pool_for(server)
        route = pool.admit(server.base_url, is_base=True)
        with PooledCall(pool, Progress()):
            connection = await pool.connection(route)
            assert connection.transport is not None
            connection.transport.close()
            with pytest.raises(aiohttp.ClientConnectionResetError):
                sent(connection, "GET", b"GET / HTTP/1.1\r\n\r\n", None)
            connection.close()
        await pools.aclose()
    assert server.heads == []


async def test_the_library_s_own_client_does_not_send_a_request_again() -> None:
    served = 0

    async def behave(writer: asyncio.StreamWriter) -> None:
        nonlocal served
        served += 1
        writer.close() if served == 2 else writer.write(answer())

    async with raw_server(behave) as server:
        pools, pool = await pool_for(server)
        with PooledCall(pool, Progress()):
            async with pool.session.get(server.base_url) as response:
                await response.read()
        with PooledCall(pool, Progress()), pytest.raises(aiohttp.ClientConnectionError, match="sent before"):
            await pool.session.get(server.base_url)
        await pools.aclose()
    assert len(server.heads) == 2
