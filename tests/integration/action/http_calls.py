"""A transport under test, contracts for it, and servers that answer it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from aiohttp import web
from pydantic import SecretStr

from taoloop.action.ports import ToolCall, TransportFault
from taoloop.action.secrets import ConfiguredSecrets
from taoloop.action.settings import ToolHttpSettings
from taoloop.action.transports.egress_guard import Egress
from taoloop.action.transports.http import AiohttpTransport
from taoloop.core.clock import Clock
from taoloop.core.exact_json import JsonValue
from taoloop.core.telemetry import Telemetry
from taoloop.tools.contract import HttpTransport, ToolContract
from taoloop.tools.signature import Effect
from tests.unit.action.contracts import LOOK_UP, telemetry

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def contract(
    path: str = "/things", method: str = "GET", *, effect: Effect = Effect.READ, policies: Any = None, **parts: Any
) -> ToolContract:
    """Return a contract of the base `things`; `parts` are those of the transport, `policies` the contract's."""
    http = HttpTransport(method=method, url="{{base.things}}" + path, **parts)
    return replace(LOOK_UP, transport=http, effect=effect, **(policies or {}))


def call(tool: ToolContract, seconds: float = 5.0, idempotency_key: str = "", **arguments: JsonValue) -> ToolCall:
    """Return one attempt to make."""
    return ToolCall(
        contract=tool,
        arguments=arguments,
        timeout_seconds=seconds,
        thought_id="2" * 32,
        idempotency_key=idempotency_key,
    )


@asynccontextmanager
async def transport(
    bases: Mapping[str, str] | str,
    secrets: Mapping[str, str] | None = None,
    *,
    settings: ToolHttpSettings | None = None,
    egress: Egress | None = None,
    clock: Clock | None = None,
    seen: Telemetry | None = None,
) -> AsyncIterator[AiohttpTransport]:
    """Open a transport; a single base is that of `things`."""
    under_test = AiohttpTransport(
        settings or ToolHttpSettings(),
        {"things": bases} if isinstance(bases, str) else bases,
        ConfiguredSecrets({name: SecretStr(value) for name, value in (secrets or {}).items()}),
        seen or telemetry(),
        egress=egress,
        clock=clock,
    )
    try:
        yield under_test
    finally:
        await under_test.aclose()


async def fault_of(under_test: AiohttpTransport, wanted: ToolCall) -> TransportFault:
    """Make the attempt and return its fault."""
    try:
        reply = await under_test.attempt(wanted)
    except TransportFault as fault:
        return fault
    raise AssertionError(f"an answer came: {reply.status_code}")


async def closed(under_test: AiohttpTransport) -> None:
    """Wait until the event loop has closed what was given up: that takes it a round or two."""
    async with asyncio.timeout(2.0):
        while any(pool.idle for pool in under_test.pools.pools.values()):  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0)


@asynccontextmanager
async def server(handler: Handler, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
    """Serve every path by one handler; yields the base URL."""

    async def handled(request: web.Request) -> web.StreamResponse:
        return await handler(request)

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", handled)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
    await site.start()
    try:
        port = runner.addresses[0][1]
        yield f"{'https' if tls else 'http'}://127.0.0.1:{port}"
    finally:
        await runner.cleanup()
