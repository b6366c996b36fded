"""Real peers for the contract suite of transports: each can succeed, refuse, hang, say too much and talk nonsense."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

import grpc
from aiohttp import web
from pydantic import SecretStr

from taoloop.action.egress.rules import EgressRules
from taoloop.action.ports import Transport
from taoloop.action.secrets import ConfiguredSecrets
from taoloop.action.settings import ToolHttpSettings, ToolPythonSettings, ToolSqlSettings
from taoloop.action.transports.grpc_methods.transport import grpc_transport
from taoloop.action.transports.http import http_transport
from taoloop.action.transports.python.transport import python_transport
from taoloop.action.transports.sql.transport import sql_transport
from taoloop.core.clock import SystemClock
from taoloop.core.exact_json import JsonValue
from taoloop.core.settings import GrpcSettings
from taoloop.tools.contract import GrpcTransport, HttpTransport, Pool, PythonTransport, SqlTransport, ToolContract
from tests.integration.action.transports.databases import sqlite_file
from tests.integration.action.transports.grpc_server import METHOD, message, orders_server
from tests.integration.action.transports.tool_calls import contract
from tests.unit.action.contracts import telemetry

BIG = 9007199254740993
"""The first integer that a double does not hold."""

LIMIT_BYTES = 64 * 1024

FUNCTIONS = str(Path(__file__).parents[1] / "integration" / "action" / "transports")
"""Where the functions of Python tools are."""


class Act(StrEnum):
    """What a peer is asked to do."""

    SUCCEED = "succeed"
    EXACT = "exact"
    """Answer with `BIG` and 0.1 somewhere."""
    REFUSE = "refuse"
    """Answer that it failed, in its own structured way."""
    HANG = "hang"
    HUGE = "huge"
    """Answer with more than `LIMIT_BYTES`."""
    GARBAGE = "garbage"
    """Answer with what is no answer."""


@dataclass(frozen=True, slots=True)
class Peer:
    """A transport with tools that make its peer act.

    Attributes:
        transport: Under test.
        acts: Act → the tool and its arguments; HANG and SUCCEED are acts of one tool whose pool has one place.
        bases: For a catalogue.
    """

    transport: Transport
    acts: Mapping[Act, tuple[ToolContract, dict[str, JsonValue]]]
    bases: Mapping[str, str] = field(default_factory=dict)


OpenPeer = Callable[[Path], AbstractAsyncContextManager[Peer]]

_ONE_PLACE = Pool(size=1, idle_timeout_seconds=60.0)


def _acts(tool: ToolContract, parameter: str) -> dict[Act, tuple[ToolContract, dict[str, JsonValue]]]:
    """Return acts that are told apart by one argument."""
    return {act: (tool, {parameter: act.value}) for act in Act}


@asynccontextmanager
async def http_peer(_folder: Path) -> AsyncIterator[Peer]:
    """Serve the acts over HTTP."""

    async def act(request: web.Request) -> web.StreamResponse:
        wanted = request.match_info["act"]
        if wanted == Act.HANG:
            await asyncio.Event().wait()
        if wanted == Act.GARBAGE:
            assert request.transport is not None
            request.transport.write(b"SSH-2.0-x\r\n\r\n")
            request.transport.close()
        if wanted == Act.REFUSE:
            return web.json_response({"error": {"code": "LOCKED"}}, status=409)
        if wanted == Act.HUGE:
            return web.json_response({"text": "x" * (2 * LIMIT_BYTES)})
        return web.Response(text=f'{{"number":{BIG},"price":0.1}}', content_type="application/json")

    app = web.Application()
    app.router.add_get("/{act}", act)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    bases = {"peer": f"http://127.0.0.1:{runner.addresses[0][1]}"}
    tool = contract(HttpTransport(method="GET", url="{{base.peer}}/{act}"), pool=_ONE_PLACE)
    settings = ToolHttpSettings(max_response_bytes=LIMIT_BYTES)
    try:
        async with http_transport(settings, bases, ConfiguredSecrets({}), telemetry()) as transport:
            yield Peer(transport, _acts(tool, "act"), bases)
    finally:
        await runner.cleanup()


@asynccontextmanager
async def python_peer(_folder: Path) -> AsyncIterator[Peer]:
    """Act in functions."""
    settings = ToolPythonSettings(search_path=(FUNCTIONS,), max_result_bytes=LIMIT_BYTES)
    tool = contract(PythonTransport(entry_point="functions_under_test:act"), pool=_ONE_PLACE)
    async with python_transport(settings, telemetry(), SystemClock()) as transport:
        yield Peer(transport, _acts(tool, "wanted"))


@asynccontextmanager
async def grpc_peer(_folder: Path) -> AsyncIterator[Peer]:
    """Serve the acts over gRPC."""

    async def act(request: Any, context: Any) -> bytes:
        wanted = request.order_id
        if wanted == Act.HANG:
            await asyncio.Event().wait()
        if wanted == Act.GARBAGE:
            return b"\xff\xff\xff"
        if wanted == Act.REFUSE:
            await context.abort(grpc.StatusCode.ABORTED, "locked")
        text = "x" * (2 * LIMIT_BYTES) if wanted == Act.HUGE else "one"
        raw: bytes = message("Order", order_id=text, number=BIG, price=0.1).SerializeToString()
        return raw

    async with orders_server(act) as server:
        bases = {"peer": f"http://{server.address}"}
        tool = contract(GrpcTransport(base="peer", method=METHOD), pool=_ONE_PLACE)
        settings = GrpcSettings(max_message_bytes=LIMIT_BYTES)
        async with grpc_transport(
            settings, bases, ConfiguredSecrets({}), telemetry(), rules=EgressRules(), directory=Path()
        ) as transport:
            yield Peer(transport, _acts(tool, "order_id"), bases)


@asynccontextmanager
async def sqlite_peer(folder: Path) -> AsyncIterator[Peer]:
    """Act in statements."""
    secrets = ConfiguredSecrets({"DB": SecretStr(f"sqlite:///{sqlite_file(folder)}")})

    def tool(name: str, statement: str) -> ToolContract:
        transport = SqlTransport(database="DB", statement=statement, max_bytes=LIMIT_BYTES)
        return contract(transport, name=name, pool=_ONE_PLACE)

    counts = tool(
        "counts",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :top) SELECT count(i) AS n FROM n",
    )
    acts: dict[Act, tuple[ToolContract, dict[str, JsonValue]]] = {
        Act.SUCCEED: (counts, {"top": 3}),
        Act.HANG: (counts, {"top": 10**12}),
        Act.EXACT: (tool("exact", f"SELECT {BIG} AS number, 0.1 AS price"), {}),
        Act.REFUSE: (tool("refuse", "DELETE FROM orders"), {}),
        Act.HUGE: (tool("huge", f"SELECT printf('%.{2 * LIMIT_BYTES}c', 'x') AS text"), {}),
        Act.GARBAGE: (tool("garbage", "SELECT x'ff' AS bytes"), {}),
    }
    async with sql_transport(ToolSqlSettings(), secrets, telemetry()) as transport:
        yield Peer(transport, acts)


PEERS: Mapping[str, OpenPeer] = {
    "http": http_peer,
    "python": python_peer,
    "grpc": grpc_peer,
    "sqlite": sqlite_peer,
}
