"""Tools of a real MCP server, made with the protocol's own package, over both transports."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import psutil
import pytest

from taoloop.action.ports import Reply
from taoloop.action.transports.mcp.answers import SAID_IT_FAILED
from taoloop.core.faults import FaultCode
from taoloop.testing.mcp_server import COMMAND, McpHttpMock, mcp_http_server
from taoloop.tools.contract import McpCommandServer
from tests.integration.action.mcp_bench import LIMIT_BYTES, McpBench, mcp_bench, over_http

VERSIONS = ("2026-07-28", "2025-11-25", "2025-06-18")


@pytest.fixture(params=[False, True], ids=["events", "json"])
async def mock(request: pytest.FixtureRequest) -> AsyncIterator[McpHttpMock]:
    async with mcp_http_server(json_response=request.param) as served:
        yield served


@pytest.fixture
async def http(mock: McpHttpMock) -> AsyncIterator[McpBench]:
    async with mcp_bench(over_http(), base=mock.url.removesuffix("/mcp")) as bench:
        yield bench


@pytest.fixture
async def command() -> AsyncIterator[McpBench]:
    server = McpCommandServer(command=COMMAND, environment={"ORDERS_KEY": "SECRET"})
    async with mcp_bench(server, secrets={"SECRET": "hush"}) as bench:
        yield bench


async def speaks_every_version(bench: McpBench) -> None:
    assert (await bench.body("seen"))["protocol_version"] == VERSIONS[0]
    for version in VERSIONS:
        assert (await bench.body("seen", pin=version))["protocol_version"] == version
    fault = await bench.fault("seen", pin="2024-11-05")
    assert (fault.code, fault.may_have_left) == (FaultCode.TOOL_PROTOCOL_FAULT, False)


async def test_every_version_is_spoken_over_http(http: McpBench) -> None:
    await speaks_every_version(http)


async def test_every_version_is_spoken_with_a_process(command: McpBench) -> None:
    await speaks_every_version(command)


async def answers_as_it_should(bench: McpBench) -> None:
    assert await bench.body("echo", order_id="A1", n=12345678901234567890) == {
        "order_id": "A1",
        "n": 12345678901234567890,
    }
    assert await bench.body("text", text="shipped") == {"text": "shipped"}
    assert await bench.body("text", text='{"total": 1}') == {"total": 1}
    failed = await bench.call("fail", text="no such order")
    assert isinstance(failed, Reply)
    assert (failed.status_code, failed.failure, failed.body) == (200, SAID_IT_FAILED, b'{"text":"no such order"}')
    late = await bench.fault("hang", seconds=0.3)
    assert (late.code, late.may_have_left, late.is_retriable) == (FaultCode.TOOL_TIMEOUT, True, True)
    assert await bench.body("echo", after="hang") == {"after": "hang"}
    huge = await bench.fault("huge", bytes=2 * LIMIT_BYTES)
    assert (huge.code, huge.is_retriable) == (FaultCode.RESPONSE_TOO_LARGE, False)
    assert await bench.body("echo", after="huge") == {"after": "huge"}


async def test_a_server_over_http_is_read_as_the_protocol_says(http: McpBench, mock: McpHttpMock) -> None:
    await answers_as_it_should(http)
    assert mock.tools.calls.count("echo") == 3


@pytest.mark.parametrize("pin", VERSIONS)
async def test_a_call_that_is_given_up_is_cancelled_at_the_server(pin: str) -> None:
    # By events: a server that answers the newest version in one JSON document does not see that its caller left.
    async with mcp_http_server() as mock, mcp_bench(over_http(), base=mock.url.removesuffix("/mcp")) as bench:
        await bench.fault("hang", seconds=0.3, pin=pin)
        async with asyncio.timeout(5):
            while not mock.tools.cancelled:
                await bench.body("echo", pin=pin)


async def test_the_trace_travels_in_metadata_and_headers(http: McpBench) -> None:
    for version in VERSIONS:
        seen = await http.body("seen", pin=version)
        trace_id = seen["meta"]["traceparent"].split("-")[1]
        assert seen["headers"]["traceparent"].split("-")[1] == trace_id
        assert seen["headers"]["x-trace-id"] == trace_id
        assert seen["headers"]["x-request-id"] == "f" * 32


async def test_arguments_that_the_server_wants_in_headers_are_sent_there(http: McpBench, mock: McpHttpMock) -> None:
    assert await http.body("regional", pin=VERSIONS[0], region="eu") == {"region": "eu"}
    assert mock.tools.calls == ["regional"]


async def test_a_server_that_forgot_the_session_is_called_again_in_a_new_one() -> None:
    async with AsyncExitStack() as before:
        first = await before.enter_async_context(mcp_http_server())
        port = int(first.url.split(":")[2].split("/")[0])
        async with mcp_bench(over_http(), base=first.url.removesuffix("/mcp")) as bench:
            assert await bench.body("echo", pin="2025-11-25", a=1) == {"a": 1}
            await before.aclose()
            async with mcp_http_server(port=port):
                fault = await bench.fault("echo", pin="2025-11-25")
                assert (fault.code, fault.may_have_left) == (FaultCode.TOOL_UNREACHABLE, False)
                assert fault.is_retriable
                assert await bench.body("echo", pin="2025-11-25", a=2) == {"a": 2}


async def test_a_server_that_is_not_there_is_unreachable_and_nothing_has_left() -> None:
    async with mcp_bench(over_http(), base="http://127.0.0.1:9") as bench:
        fault = await bench.fault("echo")
        assert (fault.code, fault.may_have_left, fault.is_retriable) == (FaultCode.TOOL_UNREACHABLE, False, True)


async def test_a_forbidden_address_is_not_called() -> None:
    async with mcp_bench(over_http(), base="http://169.254.169.254") as bench:
        fault = await bench.fault("echo")
        assert (fault.code, fault.may_have_left) == (FaultCode.EGRESS_FORBIDDEN, False)


async def test_a_base_that_nobody_knows_is_a_fault() -> None:
    server = over_http()
    async with mcp_bench(type(server)(url="{{base.nothing}}/mcp")) as bench:
        assert (await bench.fault("echo")).code == FaultCode.TOOL_UNREACHABLE


async def test_a_server_as_a_process_is_read_as_the_protocol_says(command: McpBench) -> None:
    await answers_as_it_should(command)


async def test_a_process_has_the_declared_environment_and_may_talk_beside_the_protocol(
    command: McpBench, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    found = await command.body("environment", name="ORDERS_KEY")
    assert found == {"names": ["LC_CTYPE", "ORDERS_KEY"], "value": "hush"}  # Python itself sets LC_CTYPE
    assert await command.body("tall_tale") == {}
    await command.body("shout", text="password=hunter2 was refused")
    await command.body("echo")
    said = [record.__dict__ for record in caplog.records if record.getMessage() == "mcp_server_said"]
    assert "hunter2" not in str(said)
    assert "hunter2" not in caplog.text


async def test_a_process_that_crashes_fails_the_call_and_is_started_again(command: McpBench) -> None:
    assert await command.body("echo", a=1) == {"a": 1}
    fault = await command.fault("crash")
    assert (fault.code, fault.may_have_left, fault.is_retriable) == (FaultCode.RESPONSE_INCOMPLETE, True, True)
    assert await command.body("echo", a=2) == {"a": 2}


async def test_processes_end_with_the_service() -> None:
    async with mcp_bench(McpCommandServer(command=COMMAND)) as bench:
        await bench.body("echo")
        (child,) = [each for each in psutil.Process().children() if "mcp_server" in " ".join(each.cmdline())]
    assert not child.is_running()
