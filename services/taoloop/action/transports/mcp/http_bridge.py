"""The library's HTTP client on our own connections: guarded, bounded, with credentials, and never raising."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Final

import aiohttp
import httpx2
from mcp_types import JSONRPCRequest, jsonrpc_message_adapter
from yarl import URL

from taoloop.action.ports import TransportFault
from taoloop.action.transports.http.channel import Channel
from taoloop.action.transports.http.decoding import ACCEPTED_ENCODINGS, BodyDecoder, BodyTooLarge, EncodingBroken
from taoloop.action.transports.http.failures import translated
from taoloop.action.transports.http.pools import PooledCall
from taoloop.action.transports.http_request import HttpRequest
from taoloop.action.transports.mcp.exchange import CURRENT, Exchange
from taoloop.core.faults import FaultCode
from taoloop.core.telemetry import tracing

FAILED_STATUS: Final = 599
"""Stands for an answer that never came. An exception would tear down the session, and every other call with it."""

UNASKED_SECONDS: Final = 5.0
"""How long a message may take that is no call's: a notification, an answer to the server, a farewell."""

_READ_BYTES: Final = 64 * 1024
_OURS: Final = frozenset({"host", "content-length", "accept-encoding", "connection", "user-agent"})
"""Request headers that belong to the connection, not to the message."""

_NOT_PASSED: Final = frozenset({"content-encoding", "content-length", "transfer-encoding", "location"})
"""Response headers that hold no more: the body is decoded, and redirects are not followed."""


class GuardedHttp(httpx2.AsyncBaseTransport):
    """Sends what the library wants to send over a channel of the HTTP transport.

    A failure becomes a status of its own, or a body that ends, and is told by the exchange.

    Args:
        channel: The way to the server.
        limit_bytes: Largest decoded body.
    """

    def __init__(self, channel: Channel, limit_bytes: int) -> None:
        self._channel = channel
        self._limit = limit_bytes

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request and return the head of its answer."""
        if request.method == "GET" and "last-event-id" not in request.headers:
            # The stream of what a server says unasked: nothing of it is of use here, and it would hold a connection.
            return httpx2.Response(405)
        body = await request.aread()
        exchange = _exchange(request.method, body)
        try:
            return await self._sent(request, body, exchange)
        except TransportFault as fault:
            exchange.fault = fault
            return httpx2.Response(FAILED_STATUS)

    async def _sent(self, request: httpx2.Request, body: bytes, exchange: Exchange) -> httpx2.Response:
        headers = {name: value for name, value in request.headers.items() if name.lower() not in _OURS}
        headers |= {"Accept-Encoding": ACCEPTED_ENCODINGS, "X-Request-ID": exchange.thought_id}
        headers["X-Trace-ID"] = tracing.current_trace_id()
        tracing.inject(headers)
        wanted = HttpRequest(method=request.method, url=str(request.url), headers=headers, body=body)
        authorisation = await self._channel.authorise()
        exchange.progress.secrets = authorisation.secrets
        response, held = await self._opened(authorisation.applied(wanted), exchange)
        if response.status == 401 and self._channel.forget(authorisation):
            await held.aclose()
            authorisation = await self._channel.authorise()
            exchange.progress.secrets += authorisation.secrets
            response, held = await self._opened(authorisation.applied(wanted), exchange)
        try:
            decoder = BodyDecoder(response.headers.get("Content-Encoding", ""), self._limit)
        except EncodingBroken as exc:
            await held.aclose()
            raise _broken(exchange, exc) from exc
        exchange.progress.received = decoder.body
        passed = [(name, value) for name, value in response.headers.items() if name.lower() not in _NOT_PASSED]
        return httpx2.Response(response.status, headers=passed, stream=_Body(response.content, decoder, exchange, held))

    async def _opened(self, request: HttpRequest, exchange: Exchange) -> tuple[aiohttp.ClientResponse, AsyncExitStack]:
        progress, pool = exchange.progress, self._channel.pool
        progress.begin_hop()
        async with AsyncExitStack() as held:
            call = held.enter_context(PooledCall(pool, progress))
            try:
                with translated(progress):
                    async with asyncio.timeout_at(exchange.ends_at):
                        response = await held.enter_async_context(
                            pool.session.request(
                                request.method,
                                URL(request.url, encoded=True),
                                headers=request.headers,
                                data=request.body,
                                allow_redirects=False,
                                trace_request_ctx=call,
                            )
                        )
            except TransportFault as fault:
                raise fault if not isinstance(fault.__cause__, TimeoutError) else _late(exchange) from fault
            progress.status_code = response.status
            progress.content_type = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
            progress.retry_after = response.headers.get("Retry-After", "")
            return response, held.pop_all()


class _Body(httpx2.AsyncByteStream):
    """A body that is decoded and bounded while it arrives, and ends where it breaks."""

    def __init__(
        self, content: aiohttp.StreamReader, decoder: BodyDecoder, exchange: Exchange, held: AsyncExitStack
    ) -> None:
        self._content = content
        self._decoder = decoder
        self._exchange = exchange
        self._held = held

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while True:
            before = len(self._decoder.body)
            try:
                chunk = await self._read()
                self._decoder.feed(chunk) if chunk else self._decoder.finish()
            except TransportFault as fault:
                self._exchange.fault = fault
                return
            except (BodyTooLarge, EncodingBroken) as exc:
                self._exchange.fault = _broken(self._exchange, exc)
                return
            if not chunk:
                return
            yield bytes(self._decoder.body[before:])

    async def aclose(self) -> None:
        """Give the connection back, or close it if the body did not end."""
        await self._held.aclose()

    async def _read(self) -> bytes:
        try:
            with translated(self._exchange.progress):
                async with asyncio.timeout_at(self._exchange.ends_at):
                    return await self._content.read(_READ_BYTES)
        except TransportFault as fault:
            raise fault if not isinstance(fault.__cause__, TimeoutError) else _late(self._exchange) from fault


def _exchange(method: str, body: bytes) -> Exchange:
    """Return the exchange of the call that a message belongs to: requests and their resumption alone report to it.

    Notifications and answers to the server travel meanwhile, and must not be taken for the call's own progress.
    """
    current = CURRENT.get()
    if current is not None and (method == "GET" or (method == "POST" and _is_request(body))):
        return current
    return Exchange(ends_at=asyncio.get_running_loop().time() + UNASKED_SECONDS)


def _is_request(body: bytes) -> bool:
    return isinstance(jsonrpc_message_adapter.validate_json(body), JSONRPCRequest)


def _late(exchange: Exchange) -> TransportFault:
    return exchange.progress.fault(FaultCode.TOOL_TIMEOUT, "No whole answer came in time.", is_retriable=True)


def _broken(exchange: Exchange, error: BodyTooLarge | EncodingBroken) -> TransportFault:
    if isinstance(error, BodyTooLarge):
        return exchange.progress.fault(FaultCode.RESPONSE_TOO_LARGE, str(error))
    return exchange.progress.fault(FaultCode.RESPONSE_MALFORMED, f"The body's encoding is broken: {error}.")
