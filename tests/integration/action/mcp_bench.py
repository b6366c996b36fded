"""The MCP transport as the action service has it, for tests against real servers."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from taoloop.action.ports import Reply, ToolCall, TransportFault
from taoloop.action.secrets import ConfiguredSecrets
from taoloop.action.settings import ToolHttpSettings
from taoloop.action.transports.http import http_transport
from taoloop.action.transports.mcp import McpClientTransport, mcp_transport
from taoloop.core import exact_json
from taoloop.core.clock import SystemClock
from taoloop.core.telemetry import Telemetry
from taoloop.tools.contract import Auth, McpCommandServer, McpHttpServer, McpTransport
from tests.unit.action.contracts import LOOK_UP, telemetry

HOSTILE = (sys.executable, str(Path(__file__).with_name("hostile_mcp_server.py")))
LIMIT_BYTES = 256 * 1024


@dataclass
class McpBench:
    """A transport and the server that its calls go to."""

    transport: McpClientTransport
    telemetry: Telemetry
    server: McpHttpServer | McpCommandServer

    async def call(
        self, tool: str, *, pin: str | None = None, seconds: float = 20.0, **arguments: Any
    ) -> Reply | TransportFault:
        """Return what one attempt came to."""
        form = McpTransport(server=self.server, tool=tool, protocol_version=pin)
        wanted = ToolCall(
            contract=replace(LOOK_UP, transport=form),
            arguments=arguments,
            timeout_seconds=seconds,
            thought_id="f" * 32,
        )
        try:
            return await self.transport.attempt(wanted)
        except TransportFault as fault:
            return fault

    async def body(self, tool: str, **more: Any) -> Any:
        """Return the body of a call that was answered well."""
        reply = await self.call(tool, **more)
        assert isinstance(reply, Reply), reply.message
        assert (reply.status_code, reply.failure) == (200, "")
        return exact_json.loads(reply.body)

    async def fault(self, tool: str, **more: Any) -> TransportFault:
        """Return the fault of a call that was not answered."""
        fault = await self.call(tool, **more)
        assert isinstance(fault, TransportFault), fault
        return fault


@asynccontextmanager
async def mcp_bench(
    server: McpHttpServer | McpCommandServer, *, base: str = "", secrets: dict[str, str] | None = None
) -> AsyncIterator[McpBench]:
    """Open the transport for one server."""
    bases = {"mock": base}
    configured = ConfiguredSecrets({name: SecretStr(value) for name, value in (secrets or {}).items()})
    found = telemetry()
    settings = ToolHttpSettings()
    async with (
        http_transport(settings, bases, configured, found) as http,
        mcp_transport(http, bases, configured, found, SystemClock(), limit_bytes=LIMIT_BYTES) as transport,
    ):
        yield McpBench(transport, found, server)


def over_http(auth: Auth | None = None) -> McpHttpServer:
    """Return the server at the bench's base."""
    return McpHttpServer(url="{{base.mock}}/mcp", auth=auth)
