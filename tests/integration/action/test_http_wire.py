"""What goes over one connection: a request once, the answer that is meant, and nothing after it was given up."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

import aiohttp
import pytest
import trustme

from taoloop.action.ports import TransportFault
from taoloop.action.transports.egress_guard import Egress
from taoloop.action.transports.http.failures import Progress
from taoloop.action.transports.http.pools import PooledCall, TlsIdentity, ToolPool, ToolPools
from taoloop.action.transports.http_request import HttpRequest
from taoloop.core.faults import FaultCode
from taoloop.core.telemetry.metrics import Metrics
from taoloop.tools.contract import Pool
from taoloop.tools.signature import Effect
from tests.integration.action.http_calls import call, contract, fault_of, transport
from tests.integration.action.raw_server import RawServer, answer, raw_server, says, says_and_hangs

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


async def test_interim_answers_do_not_lengthen_the_time() -> None:
    async with raw_server(says_and_hangs(HINTS)) as server, transport(server.base_url) as under_test:
        fault = await fault_of(under_test, call(contract(), seconds=0.1))
        assert (fault.code, fault.may_have_left) == (FaultCode.TOOL_TIMEOUT, True)
        assert under_test.pools.pools["look_up"].busy == 0


@pytest.mark.parametrize("word", [b"H", b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", b"\r\n"])
@pytest.mark.parametrize("is_plain", [False, True])
async def test_a_connection_on_which_the_server_spoke_unasked_takes_no_request(word: bytes, *, is_plain: bool) -> None:
    speaks, writers = asyncio.Event(), set[asyncio.StreamWriter]()

    async def behave(writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        writer.write(answer(b'{"a":1}', headers="" if is_plain else "Set-Cookie: a=b\r\nSet-Cookie: c=d\r\n"))
        if len(writers) == 1:
            await speaks.wait()
            writer.write(word)

    async with raw_server(behave) as server, transport(server.base_url) as under_test:
        assert not (await under_test.attempt(call(contract()))).reused_connection
        ((kept, _),) = next(iter(under_test.pools.pools["look_up"]._connector._conns.values()))
        speaks.set()
        async with asyncio.timeout(5.0):
            while kept.is_silent():  # type: ignore[attr-defined]  # noqa: ASYNC110 - nothing tells when it has arrived
                await asyncio.sleep(0)
        reply = await under_test.attempt(call(contract()))
        assert (reply.body, reply.reused_connection) == (b'{"a":1}', False)
    assert len(writers) == 2


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


@pytest.mark.parametrize("is_tls", [False, True])
async def test_a_connection_whose_request_was_answered_before_it_was_read_is_not_kept(*, is_tls: bool) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        head = await reader.readuntil(b"\r\n\r\n")
        writer.write(answer(status="200 OK" if b"Content-Length: 0" in head else "413 Content Too Large"))
        try:
            await writer.drain()
            await ended.wait()
        except ConnectionError:
            pass
        finally:
            writer.transport.abort()

    ended, writers, authority = asyncio.Event(), list[asyncio.StreamWriter](), trustme.CA()
    context, trusted = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH), ssl.create_default_context()
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.configure_trust(trusted)
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context if is_tls else None)
    url = f"{'https' if is_tls else 'http'}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server, transport(url) as under_test:
        pool = await under_test.pools.of_tool("look_up", None, TlsIdentity("", trusted))
        route = pool.admit(url, is_base=True)
        progress = Progress()
        for text, status in (("x" * 20_000_000, 413), ("", 200)):
            request = HttpRequest(method="POST", url=url, headers={}, body=text.encode())
            async with asyncio.timeout(5.0):
                await under_test.send(pool, route, request, progress, 1_000)
            assert (progress.status_code, progress.reused_connection) == (status, False)
        ended.set()
        for writer in writers:
            await writer.wait_closed()
    assert len(writers) == 2


async def test_what_a_server_says_before_it_is_asked_is_nobody_s_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    received, accepted, ended = bytearray(), 0, asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal accepted
        accepted += 1
        writer.write(answer(b'{"of":"nobody"}'))
        received.extend(await reader.read())
        writer.close()
        await writer.wait_closed()
        ended.set()

    create = aiohttp.TCPConnector._create_connection

    async def create_slowly(connector: aiohttp.TCPConnector, *args: Any) -> Any:
        protocol = await create(connector, *args)
        async with asyncio.timeout(5.0):
            while not protocol._tail:  # noqa: ASYNC110 - nothing tells when it has arrived
                await asyncio.sleep(0)
        return protocol

    monkeypatch.setattr(aiohttp.TCPConnector, "_create_connection", create_slowly)
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    tool = contract(method="POST", effect=Effect.WRITE)
    async with server, transport(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}") as under_test:
        fault = await fault_of(under_test, call(tool))
        assert under_test.pools.pools["look_up"].busy == 0
        await asyncio.wait_for(ended.wait(), 5.0)
    assert (fault.code, fault.may_have_left, fault.is_retriable) == (FaultCode.TOOL_UNREACHABLE, False, True)
    assert (accepted, bytes(received)) == (1, b"")


async def test_a_connection_that_closed_before_the_request_takes_none() -> None:
    async with raw_server(says(answer())) as server:
        pools, pool = await pool_for(server)
        route = pool.admit(server.base_url, is_base=True)
        connection = await pool.connection(route, Progress())
        assert connection.transport is not None
        connection.transport.close()
        with pytest.raises(aiohttp.ClientConnectionResetError):
            connection.ask("GET", b"GET / HTTP/1.1\r\n\r\n", None, pool.head)
        pool.drop(route, connection)
        assert pool.busy == 0
        await pools.aclose()
    assert server.heads == []


async def test_the_library_s_own_client_gets_no_connection_on_which_the_server_spoke_unasked() -> None:
    speaks, writers = asyncio.Event(), set[asyncio.StreamWriter]()

    async def behave(writer: asyncio.StreamWriter) -> None:
        writers.add(writer)
        writer.write(answer(b"{}"))
        if len(writers) == 1:
            await speaks.wait()
            writer.write(answer(b"[]"))

    async with raw_server(behave) as server:
        pools, pool = await pool_for(server)
        for _ in range(2):
            with PooledCall(pool, Progress()):
                async with pool.session.get(server.base_url) as response:
                    assert await response.read() == b"{}"
            ((kept, _),) = next(iter(pool._connector._conns.values()))
            speaks.set()
            async with asyncio.timeout(5.0):
                while len(writers) == 1 and kept.is_silent():  # type: ignore[attr-defined]  # noqa: ASYNC110 - see above
                    await asyncio.sleep(0)
        await pools.aclose()
    assert len(writers) == 2


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
