"""A process that is to stop lets its components end their own work while its servers still answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from taoloop.cli.deployables import Deployable, DeployableName
from taoloop.cli.process import hosting
from taoloop.core.clock import Clock, SystemClock
from taoloop.core.settings import GrpcSettings, ServiceSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.testing.ports import LOOPBACK, free_ports
from taoloop.wire.component import Component

NAME = "taoloop.test.v1.Nothing"


async def status_of(address: str) -> int:
    """Return what the server says of the component's readiness."""
    async with grpc.aio.insecure_channel(address) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        reply = await stub.Check(health_pb2.HealthCheckRequest(service=NAME), timeout=5.0)
        return int(reply.status)


async def test_servers_answer_and_say_not_serving_while_components_wind_down() -> None:
    seen: list[int] = []
    loop, other = (f"{LOOPBACK}:{port}" for port in free_ports(2))

    async def wind_down() -> None:
        seen.extend([await status_of(loop), await status_of(other)])

    def deployable(listen: str) -> Deployable:
        @asynccontextmanager
        async def opened(_telemetry: Telemetry, _clock: Clock) -> AsyncIterator[Component]:
            winding = wind_down if listen == loop else None
            yield Component(name="nothing", service_names=(NAME,), register=lambda _: None, wind_down=winding)

        settings = ServiceSettings(telemetry=TelemetrySettings(metrics_port=0), shutdown_grace_seconds=1.0)
        return Deployable(name=DeployableName.LOOP, settings=settings, listen=listen, grpc=GrpcSettings(), open=opened)

    async with hosting([deployable(loop), deployable(other)], SystemClock()) as hosted:
        assert await status_of(loop) == health_pb2.HealthCheckResponse.SERVING
        assert set(hosted.addresses) == {loop, other}

    assert seen == [health_pb2.HealthCheckResponse.NOT_SERVING] * 2
