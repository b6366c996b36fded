"""The pages of a process: metrics and health."""

import asyncio

import pytest

from taoloop.core.errors import ConfigurationError
from taoloop.core.telemetry import Metrics, names
from taoloop.wire.metrics_server import metrics_serving


async def _get(port: int, request: bytes) -> tuple[str, str]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    answer = (await reader.read()).decode()
    writer.close()
    await writer.wait_closed()
    head, _, body = answer.partition("\r\n\r\n")
    return head, body


async def test_metrics_are_shown() -> None:
    metrics = Metrics()
    metrics.counter(names.RPC_REQUESTS).labels("a/B", "OK").inc()
    async with metrics_serving(metrics, "127.0.0.1", 0) as server:
        head, body = await _get(server.port, b"GET /metrics?x=1 HTTP/1.1\r\nHost: a\r\n\r\n")
    assert head.startswith("HTTP/1.1 200 OK\r\nContent-Type: text/plain")
    assert 'taoloop_rpc_server_requests_total{code="OK",method="a/B"} 1.0' in body


@pytest.mark.parametrize(("is_healthy", "line"), [(True, "200 OK"), (False, "503 Service Unavailable")])
async def test_health_page_says_whether_the_process_is_ready(is_healthy: bool, line: str) -> None:
    async with metrics_serving(Metrics(), "127.0.0.1", 0, lambda: is_healthy) as server:
        head, _ = await _get(server.port, b"GET /healthz HTTP/1.1\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {line}")


@pytest.mark.parametrize(
    ("request_line", "status"),
    [(b"GET /other HTTP/1.1", "404"), (b"POST /metrics HTTP/1.1", "405"), (b"nonsense", "405")],
)
async def test_anything_else_is_refused(request_line: bytes, status: str) -> None:
    async with metrics_serving(Metrics(), "127.0.0.1", 0) as server:
        head, _ = await _get(server.port, request_line + b"\r\n\r\n")
    assert head.startswith(f"HTTP/1.1 {status}")


async def test_head_has_no_body() -> None:
    async with metrics_serving(Metrics(), "127.0.0.1", 0) as server:
        head, body = await _get(server.port, b"HEAD /healthz HTTP/1.1\r\n\r\n")
    assert "Content-Length: 3" in head
    assert body == ""


async def test_taken_address_is_a_configuration_error() -> None:
    async with metrics_serving(Metrics(), "127.0.0.1", 0) as server:
        with pytest.raises(ConfigurationError, match="cannot be taken"):
            async with metrics_serving(Metrics(), "127.0.0.1", server.port):
                pass


async def test_closed_server_takes_no_connection() -> None:
    async with metrics_serving(Metrics(), "127.0.0.1", 0) as server:
        port = server.port
    with pytest.raises(ConnectionError):
        await _get(port, b"GET /metrics HTTP/1.1\r\n\r\n")
