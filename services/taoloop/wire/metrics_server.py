"""A small HTTP server with two pages: `/metrics` for Prometheus and `/healthz` for a look from outside."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST

from taoloop.core.errors import ConfigurationError
from taoloop.core.telemetry import Metrics

READ_SECONDS: Final = 5.0
"""How long a client may take to send its request line and headers."""

_MAX_HEADER_BYTES = 16 * 1024
_TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class MetricsServing:
    """Where the pages are.

    Attributes:
        address: `host:port`.
        port: The port alone.
    """

    address: str
    port: int


@asynccontextmanager
async def metrics_serving(
    metrics: Metrics, host: str, port: int, is_healthy: Callable[[], bool] = lambda: True
) -> AsyncIterator[MetricsServing]:
    """Serve `/metrics` and `/healthz` until the block is left.

    Args:
        metrics: What is shown.
        host: Address to listen on.
        port: 0 takes a free one.
        is_healthy: What `/healthz` says: 200 `ok` or 503 `not ready`.

    Raises:
        ConfigurationError: The address cannot be taken.
    """
    pages = _Pages(metrics, is_healthy)
    try:
        server = await asyncio.start_server(pages.answer, host, port, limit=_MAX_HEADER_BYTES)
    except OSError as exc:
        raise ConfigurationError(
            f"The address {host}:{port} cannot be taken.", metadata={"listen": f"{host}:{port}"}
        ) from exc
    bound = int(server.sockets[0].getsockname()[1])
    try:
        yield MetricsServing(f"{host}:{bound}", bound)
    finally:
        server.close()
        await server.wait_closed()


class _Pages:
    def __init__(self, metrics: Metrics, is_healthy: Callable[[], bool]) -> None:
        self._metrics = metrics
        self._is_healthy = is_healthy

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request and close the connection."""
        try:
            async with asyncio.timeout(READ_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(self._reply(head))
                await writer.drain()
        except (TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            pass  # a client that breaks off or never asks: nothing is owed to it
        finally:
            writer.close()

    def _reply(self, head: bytes) -> bytes:
        method, _, rest = head.partition(b" ")
        path = rest.partition(b" ")[0].partition(b"?")[0]
        if method not in {b"GET", b"HEAD"}:
            status, kind, body = "405 Method Not Allowed", _TEXT, b"only GET\n"
        elif path == b"/metrics":
            status, kind, body = "200 OK", CONTENT_TYPE_LATEST, self._metrics.exposition().encode()
        elif path == b"/healthz" and self._is_healthy():
            status, kind, body = "200 OK", _TEXT, b"ok\n"
        elif path == b"/healthz":
            status, kind, body = "503 Service Unavailable", _TEXT, b"not ready\n"
        else:
            status, kind, body = "404 Not Found", _TEXT, b"/metrics or /healthz\n"
        fields = (
            f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        return fields.encode() + (b"" if method == b"HEAD" else body)
