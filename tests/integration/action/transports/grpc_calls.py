"""A gRPC transport and tools for it, for the tests of both."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from taoloop.action.egress.rules import EgressRules
from taoloop.action.ports import TransportFault
from taoloop.action.secrets import ConfiguredSecrets
from taoloop.action.transports.grpc_methods.transport import GrpcMethodTransport, grpc_transport
from taoloop.core.settings import GrpcSettings
from taoloop.tools.contract import (
    Auth,
    GrpcTransport,
    Idempotency,
    ToolContract,
)
from tests.integration.action.transports.grpc_server import (
    METHOD,
    OrdersServer,
)
from tests.integration.action.transports.tool_calls import attempted, contract
from tests.unit.action.contracts import telemetry

SECRETS = ConfiguredSecrets({"TOKEN": SecretStr("geheim"), "ODD": SecretStr("ge\nheim")})


@asynccontextmanager
async def opened(
    url: str, *, directory: Path = Path(), secrets: ConfiguredSecrets = SECRETS, settings: GrpcSettings | None = None
) -> AsyncIterator[GrpcMethodTransport]:
    async with grpc_transport(
        settings or GrpcSettings(max_message_bytes=64 * 1024),
        {"shop": url},
        secrets,
        telemetry(),
        rules=EgressRules(),
        directory=directory,
    ) as transport:
        yield transport


def tool(
    *,
    method: str = METHOD,
    descriptors: str | None = None,
    auth: Auth | None = None,
    idempotency: Idempotency | None = None,
) -> ToolContract:
    record = GrpcTransport(base="shop", method=method, descriptor_set=descriptors, auth=auth)
    return contract(record, idempotency=idempotency)


def at(server: OrdersServer) -> str:
    return f"http://{server.address}"


async def fault_of(url: str, tool: ToolContract, seconds: float = 10.0, **arguments: Any) -> TransportFault:
    async with opened(url) as transport:
        with pytest.raises(TransportFault) as caught:
            await attempted(transport, tool, seconds, **arguments)
        return caught.value


async def outcome_of(transport: GrpcMethodTransport, tool: ToolContract) -> str | int:
    try:
        return (await attempted(transport, tool, 5.0)).status_code
    except TransportFault as fault:
        return fault.code
