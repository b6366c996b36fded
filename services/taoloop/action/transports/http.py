"""Tools behind HTTP: one attempt on aiohttp, with limits on time and size, and nothing repeated or followed."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, Final

from opentelemetry.trace import SpanKind
from yarl import URL

from taoloop.action.ports import Reply, SecretSource, ToolCall, TransportFault
from taoloop.action.settings import ToolHttpSettings
from taoloop.action.transports.http_request import (
    HttpRequest,
    RequestRefused,
    build_request,
    path_template,
    with_base,
)
from taoloop.core import pointers
from taoloop.core.errors import ConfigurationError
from taoloop.core.faults import FaultCode
from taoloop.core.telemetry import Telemetry, names, tracing
from taoloop.core.telemetry.names import Attribute
from taoloop.tools.contract import HttpTransport, ToolContract

try:
    import aiohttp
except ImportError as exc:
    raise ConfigurationError("The HTTP transport needs the extra `action`.", metadata={"extra": "action"}) from exc

_READ_BYTES: Final = 64 * 1024

SocketFactory = aiohttp.SocketFactoryType


@dataclass(slots=True)
class _Progress:
    """How far one attempt came: what is known when it breaks off."""

    has_connection: bool = False
    """From here on a byte may have left."""
    reused_connection: bool = False
    status_code: int = 0
    content_type: str = ""
    retry_after: str = ""
    received: bytearray = field(default_factory=bytearray)

    def reply(self) -> Reply:
        return Reply(
            status_code=self.status_code,
            content_type=self.content_type,
            body=bytes(self.received),
            retry_after=self.retry_after,
            reused_connection=self.reused_connection,
        )

    def fault(self, code: FaultCode, message: str, *, is_retriable: bool = False) -> TransportFault:
        return TransportFault(
            code,
            message,
            may_have_left=self.has_connection,
            is_retriable=is_retriable,
            received=self.reply() if self.status_code else None,
        )


class AiohttpTransport:
    """A `Transport` with a connection pool of its own for every tool.

    Redirects are not followed, cookies not kept, proxies of the environment not used.

    Args:
        settings: Sizes and limits.
        bases: Name → base URL, from the catalogue and the operator, never from a request.
        secrets: Where bearer tokens come from.
        telemetry: Counts refused responses and makes the client span that the tool's own trace hangs on.
        socket_factory: Makes every socket and sees the address it will connect to, after names were resolved:
            the place for a guard of outgoing connections. None for aiohttp's own.
    """

    def __init__(
        self,
        settings: ToolHttpSettings,
        bases: Mapping[str, str],
        secrets: SecretSource,
        telemetry: Telemetry,
        *,
        socket_factory: SocketFactory | None = None,
    ) -> None:
        self._settings = settings
        self._bases = bases
        self._socket_factory = socket_factory
        self._secrets = secrets
        self._refused = telemetry.metrics.counter(names.RESPONSE_REFUSED)
        self._tracing = telemetry.tracing
        self._sessions: dict[str, aiohttp.ClientSession] = {}

    async def attempt(self, call: ToolCall) -> Reply:
        """Make one attempt; see `Transport.attempt`."""
        template = self._template(call.contract)
        request = await self._request(template, call)
        path = path_template(template.url)
        target = URL(request.url, encoded=True)
        attributes = {
            Attribute.HTTP_METHOD: request.method,
            Attribute.URL_TEMPLATE: path,
            Attribute.URL_SCHEME: target.scheme,
            Attribute.SERVER_ADDRESS: target.host,
            Attribute.SERVER_PORT: target.port,
        }
        name = names.http_span(request.method, path)
        with self._tracing.span(name, attributes, kind=SpanKind.CLIENT) as span:
            headers = {**request.headers, **_trace_headers(call.thought_id)}
            reply = await self._bounded(call, request, target, headers)
            span.set_attribute(Attribute.HTTP_STATUS_CODE, reply.status_code)
            span.set_attribute(Attribute.HTTP_RESPONSE_BODY_BYTES, len(reply.body))
            return reply

    async def aclose(self) -> None:
        """Close every pool."""
        sessions = list(self._sessions.values())
        self._sessions.clear()
        for session in sessions:
            await session.close()

    def _template(self, contract: ToolContract) -> HttpTransport:
        if contract.http is None:
            message = f"The tool {contract.name} has no HTTP transport."
            raise TransportFault(FaultCode.NOT_YET_SUPPORTED, message, may_have_left=False)
        try:
            return with_base(contract.http, self._bases)
        except RequestRefused as exc:
            raise TransportFault(FaultCode.TOOL_UNREACHABLE, _sentence(exc.message), may_have_left=False) from exc

    async def _request(self, template: HttpTransport, call: ToolCall) -> HttpRequest:
        try:
            request = build_request(template, call.arguments)
        except RequestRefused as exc:
            pointer = pointers.join(exc.parameter) if exc.parameter else ""
            raise TransportFault(
                FaultCode.INVALID_PARAMETER, _sentence(exc.message), may_have_left=False, pointer=pointer
            ) from exc
        if template.auth is None:
            return request
        name = template.auth.secret
        token = await self._secrets.secret(name)
        if token is None:
            message = f"The secret {name} is not configured."
            raise TransportFault(FaultCode.CREDENTIAL_MISSING, message, may_have_left=False)
        return replace(request, headers={**request.headers, "Authorization": f"Bearer {token}"})

    async def _bounded(self, call: ToolCall, request: HttpRequest, target: URL, headers: dict[str, str]) -> Reply:
        progress = _Progress()
        with _translated(progress):
            try:
                async with asyncio.timeout(call.timeout_seconds):
                    return await self._exchange(call, request, target, headers, progress)
            except TimeoutError as exc:
                what = "The answer did not end" if progress.status_code else "No answer came"
                raise progress.fault(
                    FaultCode.TOOL_TIMEOUT, f"{what} within {call.timeout_seconds:g} s.", is_retriable=True
                ) from exc

    async def _exchange(
        self, call: ToolCall, request: HttpRequest, target: URL, headers: dict[str, str], progress: _Progress
    ) -> Reply:
        session = self._session(call.contract.name)
        async with session.request(
            request.method,
            target,
            headers=headers,
            data=request.body,
            allow_redirects=False,
            trace_request_ctx=progress,
            middlewares=(_SendOnce(),),
        ) as response:
            progress.status_code = response.status
            progress.content_type = _media_type(response.headers.get("Content-Type", ""))
            progress.retry_after = response.headers.get("Retry-After", "")
            await self._read(call.contract.name, response, progress)
            return progress.reply()

    async def _read(self, tool: str, response: aiohttp.ClientResponse, progress: _Progress) -> None:
        limit = self._settings.max_response_bytes
        while chunk := await response.content.read(_READ_BYTES):
            progress.received += chunk
            if len(progress.received) > limit:
                self._refused.labels(tool=tool, limit="max_response_bytes").inc()
                response.close()
                raise progress.fault(FaultCode.RESPONSE_TOO_LARGE, f"The decoded body is larger than {limit} bytes.")

    def _session(self, tool: str) -> aiohttp.ClientSession:
        session = self._sessions.get(tool)
        if session is None:
            connector = aiohttp.TCPConnector(
                limit=self._settings.pool_size,
                keepalive_timeout=self._settings.pool_idle_timeout_seconds,
                socket_factory=self._socket_factory,
            )
            session = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": "taoloop"},
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
                trace_configs=[_connection_trace()],
                trust_env=False,
            )
            self._sessions[tool] = session
        return session

    def __repr__(self) -> str:
        return f"AiohttpTransport(pools={sorted(self._sessions)})"


@asynccontextmanager
async def http_transport(
    settings: ToolHttpSettings, bases: Mapping[str, str], secrets: SecretSource, telemetry: Telemetry
) -> AsyncIterator[AiohttpTransport]:
    """Open the transport and close its pools at the end."""
    transport = AiohttpTransport(settings, bases, secrets, telemetry)
    try:
        yield transport
    finally:
        await transport.aclose()


class _SendOnce:
    """Keeps aiohttp from sending a request again by itself.

    After a connection broke, aiohttp repeats GET, HEAD, OPTIONS, TRACE, PUT and DELETE once, unseen: a write
    could take effect twice, and a read would be counted once.
    """

    def __init__(self) -> None:
        self._failure: aiohttp.ClientError | None = None

    async def __call__(
        self,
        request: aiohttp.ClientRequest,
        handler: Callable[[aiohttp.ClientRequest], Any],
    ) -> aiohttp.ClientResponse:
        if self._failure is not None:
            raise aiohttp.ClientConnectionError("sent before") from self._failure
        try:
            response: aiohttp.ClientResponse = await handler(request)
        except aiohttp.ClientError as exc:
            self._failure = exc
            raise
        return response


def _connection_trace() -> aiohttp.TraceConfig:
    """Return the hooks that tell an attempt whether it got a connection, and a new one or not."""

    async def made(_session: aiohttp.ClientSession, context: SimpleNamespace, _params: object) -> None:
        context.trace_request_ctx.has_connection = True

    async def reused(_session: aiohttp.ClientSession, context: SimpleNamespace, _params: object) -> None:
        context.trace_request_ctx.has_connection = True
        context.trace_request_ctx.reused_connection = True

    trace_config = aiohttp.TraceConfig()
    trace_config.on_connection_create_end.append(made)
    trace_config.on_connection_reuseconn.append(reused)
    return trace_config


@contextmanager
def _translated(progress: _Progress) -> Iterator[None]:
    """Turn every failure of aiohttp into a `TransportFault`; no text of the library's is passed on."""
    try:
        yield
    except (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError, ssl.SSLError) as exc:
        raise progress.fault(FaultCode.TOOL_UNREACHABLE, "No secure connection to the tool could be made.") from exc
    except aiohttp.ClientConnectorError as exc:
        raise progress.fault(
            FaultCode.TOOL_UNREACHABLE, f"No connection to the tool could be made: {_os_cause(exc)}.", is_retriable=True
        ) from exc
    except aiohttp.ClientPayloadError as exc:
        if isinstance(exc.__cause__, aiohttp.http_exceptions.ContentEncodingError):
            raise progress.fault(FaultCode.RESPONSE_MALFORMED, "The body's encoding is broken.") from exc
        raise progress.fault(
            FaultCode.RESPONSE_INCOMPLETE, "The body ended before its announced length.", is_retriable=True
        ) from exc
    except (aiohttp.ClientResponseError, aiohttp.InvalidURL) as exc:
        raise progress.fault(FaultCode.TOOL_PROTOCOL_FAULT, "The tool did not answer in HTTP.") from exc
    except (aiohttp.ClientError, OSError) as exc:
        if not progress.has_connection:
            raise progress.fault(
                FaultCode.TOOL_UNREACHABLE, "No connection to the tool could be made.", is_retriable=True
            ) from exc
        raise progress.fault(
            FaultCode.RESPONSE_INCOMPLETE, "The tool closed the connection before it had answered.", is_retriable=True
        ) from exc


def _os_cause(error: aiohttp.ClientConnectorError) -> str:
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "the name of the host is not known"
    return (error.os_error.strerror or "the network refused it").lower()


def _trace_headers(thought_id: str) -> dict[str, str]:
    headers = {"X-Request-ID": thought_id, "X-Trace-ID": tracing.current_trace_id()}
    tracing.inject(headers)
    return headers


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _media_type(header: str) -> str:
    return header.partition(";")[0].strip().lower()
