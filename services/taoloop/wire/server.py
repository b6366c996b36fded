"""The one way in which a gRPC server is made, hosts components, and stops."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, cast

import grpc.aio

from taoloop.core.clock import Clock
from taoloop.core.errors import ConfigurationError
from taoloop.core.logs import EventLog
from taoloop.core.settings import GrpcSettings
from taoloop.core.telemetry import Telemetry
from taoloop.wire import health as health_service
from taoloop.wire.channel_arguments import server_arguments
from taoloop.wire.component import Component
from taoloop.wire.guard import GuardedMethods
from taoloop.wire.health import ReadinessHealth
from taoloop.wire.reflection import register_reflection

DEFAULT_GRACE_SECONDS: Final = 25.0

_log = EventLog(__name__)


@dataclass(frozen=True, slots=True)
class Serving:
    """A server that takes calls.

    Attributes:
        address: Where, as `host:port`.
        port: The port alone.
        health: What it says of itself.
    """

    address: str
    port: int
    health: ReadinessHealth


@asynccontextmanager
async def serving(
    components: Sequence[Component],
    settings: GrpcSettings,
    listen: str,
    telemetry: Telemetry,
    clock: Clock,
    grace_seconds: float = DEFAULT_GRACE_SECONDS,
) -> AsyncIterator[Serving]:
    """Serve the components on one port until the block is left.

    Then health says NOT_SERVING, no new call is taken, calls in progress have `grace_seconds` to end, and what is
    left is cancelled.

    Args:
        components: What to host; their service names must differ.
        settings: Sizes, keepalive, limits.
        listen: `host:port`; port 0 takes a free one.
        telemetry: Where spans and metrics go.
        clock: Measures deadlines and paces the readiness probes.
        grace_seconds: How long calls in progress may go on.

    Raises:
        ConfigurationError: The address cannot be taken.
    """
    health = ReadinessHealth(components)
    server = _server(components, health, settings, telemetry, clock)
    port = _bind(server, listen)
    await health.refresh()
    await server.start()
    address = f"{listen.rpartition(':')[0]}:{port}"
    _log.info("server_started", address=address, components=",".join(component.name for component in components))
    # Not in a task group, which would wrap what the block raises; owned here, cancelled and awaited below.
    following = asyncio.get_running_loop().create_task(health.follow(clock), name="readiness")
    try:
        yield Serving(address, port, health)
    finally:
        health.stop()
        following.cancel()
        await server.stop(grace_seconds)
        await asyncio.wait([following])
        _log.info("server_stopped", address=address)


def _server(
    components: Sequence[Component],
    health: ReadinessHealth,
    settings: GrpcSettings,
    telemetry: Telemetry,
    clock: Clock,
) -> grpc.aio.Server:
    names = tuple(name for component in components for name in component.service_names)
    methods = GuardedMethods(frozenset(names), settings, telemetry, clock)
    for component in components:
        component.register(cast("grpc.aio.Server", methods))  # which generated code only adds methods to
    server = grpc.aio.server(
        handlers=(methods,),
        options=server_arguments(settings),
        # A wall behind the guard's own limit, which counts and explains: beyond it nothing is even read.
        maximum_concurrent_rpcs=2 * settings.max_concurrent_rpcs,
    )
    health.register(server)
    register_reflection(server, (*names, health_service.SERVICE_NAME))
    return server


def _bind(server: grpc.aio.Server, listen: str) -> int:
    try:
        port = server.add_insecure_port(listen)
    except RuntimeError as exc:
        raise ConfigurationError(f"The address {listen} cannot be taken.", metadata={"listen": listen}) from exc
    if port == 0:
        raise ConfigurationError(f"The address {listen} cannot be taken.", metadata={"listen": listen})
    return port
