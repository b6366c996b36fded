"""Servers that break the protocol: whatever they send, a call is one reply or one fault, and the next call works."""

from __future__ import annotations

import asyncio
import base64
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from taoloop.action.ports import Reply, TransportFault
from taoloop.action.transports.mcp import http_bridge
from taoloop.core import exact_json
from taoloop.core.faults import FaultCode
from taoloop.tools.contract import BearerAuth, McpCommandServer, OAuth2ClientCredentials
from tests.integration.action.mcp_bench import HOSTILE, LIMIT_BYTES, McpBench, mcp_bench, over_http

Answer = Callable[[web.Request, Any], Awaitable[web.StreamResponse]]
JSON = "application/json"
EVENTS = "text/event-stream"
PIN = "2025-11-25"


class HostileServer:
    """Shakes hands over HTTP and answers calls as it is told."""

    def __init__(self) -> None:
        self.version = PIN
        self.answer: Answer = self._well
        self.start_status = 200
        self.requests: list[tuple[str, dict[str, str], Any]] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        raw = await request.read()
        message = exact_json.loads(raw) if raw else None
        self.requests.append((request.method, dict(request.headers), message))
        method = message.get("method") if isinstance(message, dict) else None
        if method == "initialize":
            return self._hands(message)
        if method == "tools/call":
            return await self.answer(request, message)
        if isinstance(message, dict) and method and "id" in message:
            error = {"code": -32601, "message": "no such method"}
            return web.json_response({"jsonrpc": "2.0", "id": message["id"], "error": error})
        return web.Response(status=202)

    def _hands(self, message: Any) -> web.Response:
        if self.start_status != 200:
            return web.Response(status=self.start_status, headers={"Retry-After": "7"})
        result = {"protocolVersion": self.version, "capabilities": {}, "serverInfo": {"name": "h", "version": "1"}}
        body = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        return web.json_response(body, headers={"Mcp-Session-Id": "s1"})

    async def _well(self, _request: web.Request, message: Any) -> web.Response:
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], "result": {"content": []}})

    def says(self, body: bytes, content_type: str = JSON, status: int = 200, **headers: str) -> None:
        """Answer calls with these bytes."""

        async def answer(_request: web.Request, message: Any) -> web.Response:
            written = body.replace(b"@ID@", str(message["id"]).encode())
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            return web.Response(body=written, status=status, headers={"Content-Type": content_type} | sent)

        self.answer = answer


@asynccontextmanager
async def serving(server: HostileServer) -> AsyncIterator[str]:
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", server.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1, handler_cancellation=True)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = runner.addresses[0][1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        await runner.cleanup()


@pytest.fixture
def server() -> HostileServer:
    return HostileServer()


@pytest.fixture
async def bench(server: HostileServer) -> AsyncIterator[McpBench]:
    async with serving(server) as base, mcp_bench(over_http(), base=base) as opened:
        yield opened


async def told(bench: McpBench, **more: Any) -> str:
    """Return the status of a reply or the code of a fault, in words."""
    got = await bench.call("any", pin=PIN, **more)
    return f"{got.status_code} {got.failure}".strip() if isinstance(got, Reply) else str(got.code)


RESULT = b'{"jsonrpc":"2.0","id":@ID@,"result":%s}'


@pytest.mark.parametrize(
    ("body", "content_type", "status", "expected"),
    [
        (RESULT % b'{"content":[],"structuredContent":{"a":0.10}}', JSON, 200, "200"),
        (b"data: " + RESULT % b'{"content":[]}' + b"\n\n", EVENTS, 200, "200"),
        (RESULT % b'{"content":[],"structuredContent":{"a":NaN}}', JSON, 200, "RESPONSE_MALFORMED"),
        (RESULT % b'{"content":[],"structuredContent":{"a":1,"a":2}}', JSON, 200, "RESPONSE_MALFORMED"),
        (RESULT % b'{"content":"x"}', JSON, 200, "TOOL_PROTOCOL_FAULT"),
        (RESULT % b"7", JSON, 200, "RESPONSE_MALFORMED"),
        (b'{"jsonrpc":"2.0","id":@ID@,"error":{"code":-32602,"message":"unknown tool"}}', JSON, 200, "400"),
        (b'{"jsonrpc":"2.0","id":@ID@,"error":{"code":-32602,"message":"unknown tool"}}', JSON, 400, "400"),
        (b'{"jsonrpc":"2.0","id":@ID@,"error":{"code":-32603,"message":"oh"}}', JSON, 200, "500"),
        (b'{"jsonrpc":"2.0","id":@ID@,"error":{"code":-32603,"message":"oh"}}', JSON, 503, "503"),
        (b"", JSON, 200, "RESPONSE_MALFORMED"),
        (b"{", JSON, 200, "RESPONSE_MALFORMED"),
        (b"<html>", "text/html", 200, "RESPONSE_MALFORMED"),
        (b"", EVENTS, 200, "RESPONSE_INCOMPLETE"),
        (b"data: {}\n\n", EVENTS, 200, "RESPONSE_MALFORMED"),
        (b"", JSON, 202, "RESPONSE_MALFORMED"),
        (b"no", "text/plain", 401, "401"),
        (b"no", "text/plain", 403, "403"),
        (b"no", "text/plain", 404, "TOOL_UNREACHABLE"),
        (b"no", "text/plain", 429, "429"),
        (b"no", "text/plain", 500, "500"),
        (b"{", JSON, 400, "RESPONSE_MALFORMED"),
        (b"x" * (2 * LIMIT_BYTES), JSON, 200, "RESPONSE_TOO_LARGE"),
        (b"data: " + b"x" * (2 * LIMIT_BYTES) + b"\n\n", EVENTS, 200, "RESPONSE_TOO_LARGE"),
    ],
)
async def test_an_answer_is_what_it_is(
    server: HostileServer, bench: McpBench, body: bytes, content_type: str, status: int, expected: str
) -> None:
    server.says(body, content_type, status)
    assert await told(bench) == expected
    server.answer = server._well
    assert await told(bench) == "200"


async def test_numbers_keep_their_digits(server: HostileServer, bench: McpBench) -> None:
    server.says(RESULT % b'{"content":[],"structuredContent":{"a":0.10,"b":0.12345678901234567890}}')
    got = await bench.call("any", pin=PIN)
    assert isinstance(got, Reply)
    assert got.body == b'{"a":0.10,"b":0.12345678901234567890}'


async def test_a_redirect_is_not_followed(server: HostileServer, bench: McpBench) -> None:
    server.says(b"", "text/plain", 307, Location="/mcp")
    assert await told(bench) == "307"
    assert [message["method"] for _, _, message in server.requests].count("tools/call") == 1


@pytest.mark.parametrize("encoding", ["gzip", "br"])
async def test_a_broken_encoding_is_malformed(server: HostileServer, bench: McpBench, encoding: str) -> None:
    server.says(b"not compressed", JSON, 200, Content_Encoding=encoding)
    assert await told(bench) == "RESPONSE_MALFORMED"
    server.answer = server._well
    assert await told(bench) == "200"


async def test_a_server_that_resets_the_connection_fails_one_call_and_not_the_session(
    server: HostileServer, bench: McpBench
) -> None:
    async def reset(request: web.Request, _message: Any) -> web.StreamResponse:
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    assert await told(bench) == "200"
    server.answer = reset
    assert await told(bench) == "RESPONSE_INCOMPLETE"
    server.answer = server._well
    assert await told(bench) == "200"
    assert [message["method"] for _, _, message in server.requests if message].count("initialize") == 1


async def test_a_body_that_breaks_off_or_drips_ends_with_the_call(server: HostileServer, bench: McpBench) -> None:
    async def drip(request: web.Request, _message: Any) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": JSON})
        await response.prepare(request)
        for _ in range(1000):
            await response.write(b" ")
            await asyncio.sleep(0.05)
        return response

    async def break_off(request: web.Request, _message: Any) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": JSON, "Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b'{"jsonrpc":')
        assert request.transport is not None
        request.transport.close()
        return response

    server.answer = drip
    assert await told(bench, seconds=0.3) == "TOOL_TIMEOUT"
    server.answer = break_off
    assert await told(bench) == "RESPONSE_INCOMPLETE"
    server.answer = server._well
    assert await told(bench) == "200"


async def test_a_request_that_hangs_gives_its_connection_back_after_its_call(
    server: HostileServer, bench: McpBench
) -> None:
    left = asyncio.Event()

    async def hang(_request: web.Request, _message: Any) -> web.StreamResponse:
        try:
            await asyncio.Event().wait()
        finally:
            left.set()
        raise AssertionError

    server.answer = hang
    assert await told(bench, seconds=0.2) == "TOOL_TIMEOUT"
    async with asyncio.timeout(5):
        await left.wait()  # the older versions keep the request open when its call is cancelled


async def test_another_version_than_the_pinned_one_is_refused(server: HostileServer, bench: McpBench) -> None:
    server.version = "2025-06-18"
    fault = await bench.fault("any", pin=PIN)
    assert fault.code == FaultCode.TOOL_PROTOCOL_FAULT
    assert "2025-06-18" in fault.message
    server.version = "2024-11-05"
    assert (await bench.fault("any")).code == FaultCode.TOOL_PROTOCOL_FAULT
    server.version = "1.0; drop"
    assert "drop" not in (await bench.fault("any", pin="2025-06-18")).message


async def test_a_version_that_nobody_knows_is_refused(server: HostileServer, bench: McpBench) -> None:
    server.version = "1.0; drop"
    fault = await bench.fault("any")
    assert (fault.code, "drop" in fault.message) == (FaultCode.TOOL_PROTOCOL_FAULT, False)


@pytest.mark.parametrize(("status", "code"), [(401, "UPSTREAM_REFUSED"), (503, "UPSTREAM_UNAVAILABLE")])
async def test_a_server_that_begins_no_session_is_told_by_its_status(
    server: HostileServer, bench: McpBench, status: int, code: str
) -> None:
    server.start_status = status
    fault = await bench.fault("any", pin=PIN)
    assert (fault.code, fault.may_have_left) == (code, False)
    assert fault.received is not None
    assert fault.received.status_code == status


async def test_a_bearer_token_is_sent_with_every_message(server: HostileServer) -> None:
    async with serving(server) as base:
        auth = BearerAuth(secret="TOKEN")
        async with mcp_bench(over_http(auth), base=base, secrets={"TOKEN": "t0ken"}) as bench:
            assert await told(bench) == "200"
        async with mcp_bench(over_http(auth), base=base) as bench:
            fault = await bench.fault("any", pin=PIN)
            assert (fault.code, fault.may_have_left) == (FaultCode.CREDENTIAL_MISSING, False)
    assert {headers["Authorization"] for _, headers, _ in server.requests} == {"Bearer t0ken"}
    assert server.requests[-1][0] == "DELETE"


@pytest.mark.parametrize("kind", ["result", "error"])
async def test_a_token_that_a_server_says_again_is_masked(server: HostileServer, kind: str) -> None:
    async def answer(request: web.Request, message: Any) -> web.StreamResponse:
        said = request.headers["Authorization"]
        told = {"content": [{"type": "text", "text": said}]} if kind == "result" else {"code": -32000, "message": said}
        return web.json_response({"jsonrpc": "2.0", "id": message["id"], kind: told})

    server.answer = answer
    secrets = {"TOKEN": "a l0ng token"}
    async with (
        serving(server) as base,
        mcp_bench(over_http(BearerAuth(secret="TOKEN")), base=base, secrets=secrets) as bench,
    ):
        reply = await bench.call("any", pin=PIN)

    assert isinstance(reply, Reply)
    assert reply.has_masked
    assert "l0ng" not in f"{reply.body.decode()}{reply.failure}"


async def test_an_access_token_that_aged_is_fetched_anew_once(server: HostileServer) -> None:
    issued: list[str] = []

    async def answer(request: web.Request, message: Any) -> web.StreamResponse:
        if request.headers["Authorization"] == "Bearer t1":
            return web.Response(status=401)
        return await server._well(request, message)

    async def token(_request: web.Request) -> web.StreamResponse:
        issued.append(f"t{len(issued) + 1}")
        return web.json_response({"access_token": issued[-1], "token_type": "Bearer", "expires_in": 300})

    server.answer = answer
    handle = server.handle

    async def route(request: web.Request) -> web.StreamResponse:
        return await (token(request) if request.path == "/token" else handle(request))

    server.handle = route  # type: ignore[method-assign]
    auth = OAuth2ClientCredentials(token_url="{{base.mock}}/token", client_id="c", secret="TOKEN")
    async with serving(server) as base, mcp_bench(over_http(auth), base=base, secrets={"TOKEN": "s"}) as bench:
        assert await told(bench) == "200"
    assert issued == ["t1", "t2"]


async def test_the_stream_of_what_servers_say_unasked_is_not_opened(server: HostileServer, bench: McpBench) -> None:
    assert await told(bench) == "200"
    assert "GET" not in [method for method, _, _ in server.requests]
    assert http_bridge.FAILED_STATUS == 599


async def test_any_bytes_from_a_server_over_http_are_one_reply_or_one_fault(
    server: HostileServer, bench: McpBench
) -> None:
    chance = random.Random(20260310)
    pieces = [
        b"data: ",
        b"\n\n",
        b"{",
        b"}",
        b'"result":',
        b'"error":',
        b"null",
        b"@ID@",
        b'"id":',
        b'"jsonrpc":"2.0",',
        b"\xff",
    ]
    for _ in range(60):
        body = b"".join(chance.choices(pieces, k=chance.randrange(12)))
        server.says(body, chance.choice([JSON, EVENTS, "text/html"]), chance.choice([200, 200, 202, 204, 400, 500]))
        got = await bench.call("any", pin=PIN, seconds=5.0)
        assert isinstance(got, Reply | TransportFault)
        assert not isinstance(got, TransportFault) or got.code != FaultCode.TOOL_TIMEOUT, body
    server.answer = server._well
    assert await told(bench) == "200"


@pytest.fixture
async def command() -> AsyncIterator[McpBench]:
    async with mcp_bench(McpCommandServer(command=HOSTILE)) as opened:
        yield opened


async def writes(bench: McpBench, written: bytes, seconds: float = 20.0) -> Reply | TransportFault:
    return await bench.call("write", pin=PIN, seconds=seconds, bytes=base64.b64encode(written).decode())


async def test_a_process_that_writes_something_else_fails_no_call_but_its_own(command: McpBench) -> None:
    good = RESULT % b'{"content":[],"structuredContent":{"a":0.12345678901234567890}}' + b"\n"
    got = await writes(command, b"Listening.\n\n[]\n" + good)
    assert isinstance(got, Reply)
    assert got.body == b'{"a":0.12345678901234567890}'
    broken = await writes(command, RESULT % b'{"content":[],"structuredContent":{"a":NaN}}' + b"\n")
    assert isinstance(broken, TransportFault)
    assert broken.code == FaultCode.RESPONSE_MALFORMED
    silent = await writes(command, b"{\n", seconds=0.3)
    assert isinstance(silent, TransportFault)
    assert silent.code == FaultCode.TOOL_TIMEOUT
    refused = await writes(command, b'{"jsonrpc":"2.0","id":@ID@,"error":{"code":-32602,"message":"m"}}\n')
    assert isinstance(refused, Reply)
    assert refused.status_code == 400
    assert isinstance(await writes(command, good), Reply)


async def test_a_process_that_ends_or_shouts_without_end_is_started_again(command: McpBench) -> None:
    good = RESULT % b'{"content":[]}' + b"\n"
    ended = await command.fault("end", pin=PIN)
    assert (ended.code, ended.is_retriable) == (FaultCode.RESPONSE_INCOMPLETE, True)
    assert isinstance(await writes(command, good), Reply)


async def test_a_line_without_end_is_too_large(command: McpBench) -> None:
    flood = await writes(command, b"x" * (LIMIT_BYTES + 10))
    assert isinstance(flood, TransportFault)
    assert flood.code == FaultCode.RESPONSE_TOO_LARGE
    assert isinstance(await writes(command, RESULT % b'{"content":[]}' + b"\n"), Reply)


async def test_a_process_that_does_not_listen_costs_the_call_its_time_and_is_killed_at_the_end() -> None:
    async with mcp_bench(McpCommandServer(command=HOSTILE)) as bench:
        assert (await bench.fault("deaf", pin=PIN, seconds=0.5)).code == FaultCode.TOOL_TIMEOUT
        assert (await bench.fault("write", pin=PIN, seconds=0.5, bytes="")).code == FaultCode.TOOL_TIMEOUT


@pytest.mark.parametrize("command", [("there-is-no-such-program",), ("/",), ("true",)])
async def test_a_process_that_cannot_serve_is_unreachable(command: tuple[str, ...]) -> None:
    async with mcp_bench(McpCommandServer(command=command)) as bench:
        fault = await bench.fault("echo")
        assert (fault.may_have_left, fault.code) in {
            (False, FaultCode.TOOL_UNREACHABLE),
            (False, FaultCode.RESPONSE_INCOMPLETE),
        }


async def test_a_file_that_is_no_program_is_unreachable(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.touch(mode=0o755)
    async with mcp_bench(McpCommandServer(command=(str(program),))) as bench:
        fault = await bench.fault("echo")
        assert (fault.code, "refused" in fault.message) == (FaultCode.TOOL_UNREACHABLE, True)


async def test_a_process_of_another_version_is_refused() -> None:
    async with mcp_bench(McpCommandServer(command=(*HOSTILE, "2024-11-05"))) as bench:
        fault = await bench.fault("write", pin=PIN)
        assert (fault.code, fault.may_have_left) == (FaultCode.TOOL_PROTOCOL_FAULT, False)


async def test_any_bytes_from_a_process_are_one_reply_or_one_fault(command: McpBench) -> None:
    chance = random.Random(20260311)
    for _ in range(15):
        written = chance.randbytes(chance.randrange(40)) + b"\n" + RESULT % b'{"content":[]}' + b"\n"
        assert isinstance(await writes(command, written), Reply)
