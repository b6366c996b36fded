"""Opens the transports of every kind that a catalogue uses."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext

from taoloop.action.ports import Transport
from taoloop.action.secrets import ConfiguredSecrets
from taoloop.action.settings import ActionSettings
from taoloop.action.transports.egress_guard import Egress
from taoloop.action.transports.http import AiohttpTransport, http_transport
from taoloop.action.transports.jobs.transport import JobHttpTransport
from taoloop.action.transports.router import OpenTransport, TransportKind, transport_router
from taoloop.core.clock import Clock
from taoloop.core.telemetry import Telemetry
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.contract import (
    GrpcTransport,
    HttpTransport,
    JobTransport,
    McpTransport,
    PythonTransport,
    SqlTransport,
)


@asynccontextmanager
async def tool_transports(
    settings: ActionSettings, catalogue: Catalogue, telemetry: Telemetry, clock: Clock
) -> AsyncIterator[Transport]:
    """Open the ways to a catalogue's tools alone, without ledger, policies and board, for single calls by hand.

    Raises:
        ConfigurationError: The library of a transport is not installed; the message names the extra.
    """
    secrets = ConfiguredSecrets(settings.secrets, settings.secrets_dir)
    egress = Egress(settings.egress.rules())
    async with (
        http_transport(settings.tool_http, catalogue.bases, secrets, telemetry, egress=egress, clock=clock) as http,
        transport_router(catalogue, openers(settings, catalogue, http, secrets, telemetry, clock)) as transport,
    ):
        yield transport


def openers(
    settings: ActionSettings,
    catalogue: Catalogue,
    http: AiohttpTransport,
    secrets: ConfiguredSecrets,
    telemetry: Telemetry,
    clock: Clock,
) -> dict[TransportKind, OpenTransport]:
    """Return how the transport of each kind is opened; a library is imported by its opener alone."""

    def mcp() -> AbstractAsyncContextManager[Transport]:
        from taoloop.action.transports.mcp import mcp_transport

        limit = settings.tool_http.max_response_bytes
        return mcp_transport(http, catalogue.bases, secrets, telemetry, clock, limit_bytes=limit)

    def python() -> AbstractAsyncContextManager[Transport]:
        from taoloop.action.transports.python.transport import python_transport

        return python_transport(settings.tool_python, telemetry, clock)

    def grpc() -> AbstractAsyncContextManager[Transport]:
        from taoloop.action.transports.grpc_methods.transport import grpc_transport

        directory = settings.catalogue if settings.catalogue.is_dir() else settings.catalogue.parent
        rules = settings.egress.rules()
        return grpc_transport(settings.grpc, catalogue.bases, secrets, telemetry, rules=rules, directory=directory)

    def sql() -> AbstractAsyncContextManager[Transport]:
        from taoloop.action.transports.sql.transport import sql_transport

        return sql_transport(settings.tool_sql, secrets, telemetry)

    return {
        HttpTransport: lambda: nullcontext(http),
        JobTransport: lambda: nullcontext(JobHttpTransport(http, clock)),
        McpTransport: mcp,
        PythonTransport: python,
        GrpcTransport: grpc,
        SqlTransport: sql,
    }
