"""The MCP transport: one `tools/call` from a contract to a reply."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx2
from mcp.client import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    HEADER_MISMATCH,
    CallToolRequest,
    CallToolRequestParams,
    PaginatedRequestParams,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from opentelemetry.trace import SpanKind
from pydantic import RootModel, ValidationError

from taoloop.action.ports import Reply, SecretSource, ToolCall, TransportFault
from taoloop.action.transports.http import AiohttpTransport
from taoloop.action.transports.http.secret_texts import required_secret
from taoloop.action.transports.http_request import RequestRefused, url_with_base
from taoloop.action.transports.mcp.answers import malformed_answer, read_message, reply_of, reply_of_error, sendable
from taoloop.action.transports.mcp.command import BROKEN_ANSWER, ServerCommand, command_streams
from taoloop.action.transports.mcp.exchange import CURRENT, Exchange
from taoloop.action.transports.mcp.http_bridge import GuardedHttp
from taoloop.action.transports.mcp.links import Connection, OpenSession, ServerLink, ServerLinks
from taoloop.action.transports.mcp.negotiation import CLIENT, negotiate
from taoloop.action.transports.secret_echoes import masked
from taoloop.core.clock import Clock
from taoloop.core.exact_json import JsonSyntaxError, JsonValue
from taoloop.core.faults import FaultCode
from taoloop.core.telemetry import Telemetry, names
from taoloop.core.telemetry.names import Attribute
from taoloop.tools.contract import McpCommandServer, McpHttpServer, McpTransport, Pool

_METHOD: Final = "tools/call"
_MAX_PAGES: Final = 100
_AFTERMATH_SECONDS: Final = 1.0
"""How long after its call a request may still hold a connection, if the server does not let go of it."""

_FROM_BODY: Final = frozenset({200, 400, 404})
"""Statuses beside which a JSON-RPC error counts for more than the status."""


class _Result(RootModel[dict[str, Any]]):
    """A result as it came, once the library has found that it is of the protocol."""


class McpClientTransport:
    """A `Transport` with one session for each server, whatever the number of its tools.

    Args:
        http: Connections and credentials of servers behind HTTP.
        bases: Name → base URL.
        secrets: What goes into the environment of servers that are processes.
        links: The sessions.
        telemetry: Makes the client span.
        limit_bytes: Largest answer.
    """

    def __init__(
        self,
        http: AiohttpTransport,
        bases: Mapping[str, str],
        secrets: SecretSource,
        links: ServerLinks,
        telemetry: Telemetry,
        *,
        limit_bytes: int,
    ) -> None:
        self._http = http
        self._bases = bases
        self._secrets = secrets
        self._links = links
        self._tracing = telemetry.tracing
        self._limit = limit_bytes

    async def attempt(self, call: ToolCall) -> Reply:
        """Make one attempt; see `Transport.attempt`. A call that is given up is cancelled at the server."""
        form = call.contract.transport
        if not isinstance(form, McpTransport):
            message = f"The tool {call.contract.name} is no tool of an MCP server."
            raise TransportFault(FaultCode.NOT_YET_SUPPORTED, message, may_have_left=False)
        arguments = sendable(call.arguments)
        now = asyncio.get_running_loop().time()
        exchange = Exchange(ends_at=now + call.timeout_seconds + _AFTERMATH_SECONDS, thought_id=call.thought_id)
        attributes: dict[Attribute, str | int | None] = {
            Attribute.MCP_METHOD: _METHOD,
            Attribute.TOOL_NAME: call.contract.name,
            Attribute.HTTP_RESEND_COUNT: call.resend_count or None,
        }
        token = CURRENT.set(exchange)
        try:
            with self._tracing.span(names.mcp_span(_METHOD, form.tool), attributes, kind=SpanKind.CLIENT) as span:
                link = self._link(form, call.contract.pool)
                async with asyncio.timeout(call.timeout_seconds):
                    session, connection = await link.session()
                    span.set_attribute(Attribute.MCP_PROTOCOL_VERSION, session.protocol_version or "")
                    is_process = isinstance(form.server, McpCommandServer)
                    exchange.progress.has_connection = exchange.progress.has_connection or is_process
                    reply = await self._called(session, connection, form.tool, arguments, exchange)
                    return masked(reply, exchange.progress.secrets)
        except TimeoutError as exc:
            message = f"No answer came within {call.timeout_seconds:g} s."
            has_left = exchange.progress.has_connection
            raise TransportFault(FaultCode.TOOL_TIMEOUT, message, may_have_left=has_left, is_retriable=True) from exc
        finally:
            CURRENT.reset(token)

    async def _called(
        self, session: ClientSession, connection: Connection, tool: str, arguments: JsonValue, exchange: Exchange
    ) -> Reply:
        assert isinstance(arguments, dict)
        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=arguments))
        try:
            try:
                result = await session.send_request(request, _Result)
            except MCPError as error:
                if error.code != HEADER_MISMATCH:
                    raise
                # The server wants arguments in headers too, which its list of tools names: it has not called the tool.
                await _read_list(session)
                result = await session.send_request(request, _Result)
        except MCPError as error:
            return _failed(error, session, connection, exchange)
        except ValidationError as exc:
            message = "The result of the call is not of the form that the protocol gives it."
            raise TransportFault(FaultCode.TOOL_PROTOCOL_FAULT, message, may_have_left=True) from exc
        if not exchange.progress.status_code:
            return reply_of(result.root)
        return reply_of((_exact(exchange) or {}).get("result"))

    def _link(self, form: McpTransport, pool: Pool | None) -> ServerLink:
        server, pin = form.server, form.protocol_version
        if isinstance(server, McpHttpServer):
            return self._links.get((server, pin), server.url, self._over_http(server, pin, pool))
        key = (server.command, tuple(sorted(server.environment.items())), pin)
        return self._links.get(key, _name(server), self._by_command(server, pin))

    def _over_http(self, server: McpHttpServer, pin: str | None, pool: Pool | None) -> OpenSession:
        @asynccontextmanager
        async def opened(_connection: Connection) -> AsyncIterator[ClientSession]:
            try:
                url = url_with_base(server.url, self._bases)
            except RequestRefused as exc:
                raise TransportFault(FaultCode.TOOL_UNREACHABLE, f"{exc}.", may_have_left=False) from exc
            async with (
                self._http.channel(server.url, url, server.auth, pool) as channel,
                httpx2.AsyncClient(transport=GuardedHttp(channel, self._limit), timeout=None) as client,
                streamable_http_client(url, http_client=client, max_sse_event_size=self._limit) as (incoming, outgoing),
                ClientSession(incoming, outgoing, client_info=CLIENT) as session,
            ):
                await negotiate(session, pin)
                yield session

        return opened

    def _by_command(self, server: McpCommandServer, pin: str | None) -> OpenSession:
        @asynccontextmanager
        async def opened(connection: Connection) -> AsyncIterator[ClientSession]:
            environment = {
                name: await required_secret(self._secrets, secret) for name, secret in server.environment.items()
            }
            command = ServerCommand(
                name=_name(server),
                command=server.command,
                environment=environment,
                limit_bytes=self._limit,
            )
            async with (
                command_streams(command, connection.end) as (incoming, outgoing),
                ClientSession(incoming, outgoing, client_info=CLIENT) as session,
            ):
                await negotiate(session, pin)
                yield session

        return opened

    def __repr__(self) -> str:
        return f"McpClientTransport({self._links!r})"


@asynccontextmanager
async def mcp_transport(
    http: AiohttpTransport,
    bases: Mapping[str, str],
    secrets: SecretSource,
    telemetry: Telemetry,
    clock: Clock,
    *,
    limit_bytes: int,
) -> AsyncIterator[McpClientTransport]:
    """Open the transport, and end every session and process at the end.

    Args:
        http: Connections and credentials of servers behind HTTP; outlives this one.
        bases: Name → base URL, from the catalogue and the operator.
        secrets: What goes into the environment of servers that are processes.
        telemetry: Counts sessions and makes client spans.
        clock: Measures the pauses before a server is started again.
        limit_bytes: Largest answer of a server.
    """
    for name in ("mcp", "httpx2"):
        # Their messages hold parts of answers, session ids and whole URLs; what matters of them is told by faults.
        logging.getLogger(name).setLevel(logging.CRITICAL)
    async with asyncio.TaskGroup() as tasks:
        links = ServerLinks(tasks, clock, telemetry.metrics)
        try:
            yield McpClientTransport(http, bases, secrets, links, telemetry, limit_bytes=limit_bytes)
        finally:
            links.end()


def _name(server: McpCommandServer) -> str:
    """Return the name of a process for log and metrics: the last word of its command that is no option."""
    return next((word for word in reversed(server.command) if not word.startswith("-")), server.command[0])[-80:]


async def _read_list(session: ClientSession) -> None:
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        cursor = (await session.list_tools(params=PaginatedRequestParams(cursor=cursor))).next_cursor
        if cursor is None:
            return


def _failed(error: MCPError, session: ClientSession, connection: Connection, exchange: Exchange) -> Reply:
    """Return what an error of the library's stands for, by what was seen of the connection."""
    if exchange.fault is not None:
        raise exchange.fault
    if error.code == BROKEN_ANSWER:
        raise malformed_answer()
    if exchange.progress.status_code:
        return _failed_over_http(error, session, connection, exchange)
    if error.code == CONNECTION_CLOSED:
        connection.end()
        raise _cut_off(connection)
    return reply_of_error(error.error.model_dump(exclude_none=True))


def _failed_over_http(error: MCPError, session: ClientSession, connection: Connection, exchange: Exchange) -> Reply:
    progress = exchange.progress
    status = progress.status_code
    if status == 404 and session.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        connection.end()
        message = "The server has forgotten the session; the next call begins a new one."
        raise TransportFault(FaultCode.TOOL_UNREACHABLE, message, may_have_left=False, is_retriable=True)
    message_of_body = _exact(exchange) if status in _FROM_BODY else None
    if message_of_body is not None and "error" in message_of_body:
        return reply_of_error(message_of_body["error"])
    if status >= 300:
        return progress.reply()
    if error.code == CONNECTION_CLOSED:
        raise _cut_off(connection)
    raise malformed_answer(progress.reply())


def _cut_off(connection: Connection) -> TransportFault:
    fault = connection.fault
    if fault is None:
        message = "The connection ended before the answer came."
        return TransportFault(FaultCode.RESPONSE_INCOMPLETE, message, may_have_left=True, is_retriable=True)
    return TransportFault(fault.code, fault.message, may_have_left=True, is_retriable=fault.is_retriable)


def _exact(exchange: Exchange) -> dict[str, JsonValue] | None:
    """Return the message of an HTTP answer as it was written: the library reads decimals into binary floats."""
    progress = exchange.progress
    try:
        return read_message(progress.content_type, bytes(progress.received))
    except JsonSyntaxError as exc:
        raise malformed_answer(progress.reply()) from exc
