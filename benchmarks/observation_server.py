"""The observation service in a process of its own: as it is served, or with nothing around its servicer."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from typing import Final

import grpc.aio

from benchmarks.observation_work import CATALOGUE
from taoloop.core.clock import SystemClock
from taoloop.core.settings import GrpcSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.observation.app import observation_component
from taoloop.observation.settings import ObservationSettings
from taoloop.testing.ports import LOOPBACK
from taoloop.wire.event_loop import run as run_loop
from taoloop.wire.server import serving

METHOD: Final = "taoloop.api.v1.ObservationService/Observe"
BATCH_METHOD: Final = "taoloop.api.v1.ObservationService/ObserveBatch"


async def _serve(mode: str, port: int) -> None:
    settings = ObservationSettings(catalogue=CATALOGUE)
    sample_ratio = 1.0 if mode == "sampled" else 0.0
    telemetry = Telemetry.build(TelemetrySettings(sample_ratio=sample_ratio), "taoloop-benchmark")
    clock = SystemClock()
    async with telemetry.tracing, observation_component(settings, telemetry, clock) as component:
        if mode == "bare":
            server = grpc.aio.server()
            component.register(server)
            server.add_insecure_port(f"{LOOPBACK}:{port}")
            await server.start()
            print("serving", flush=True)
            await server.wait_for_termination()
            return
        async with serving((component,), GrpcSettings(), f"{LOOPBACK}:{port}", telemetry, clock):
            print("serving", flush=True)
            await asyncio.Event().wait()


def main(arguments: Sequence[str]) -> None:
    """Serve until the process is ended.

    Args:
        arguments: `bare` (no interceptor), `unsampled` (as served, no trace kept) or `sampled`, and the port.
    """
    run_loop(_serve(arguments[0], int(arguments[1])))


if __name__ == "__main__":
    main(sys.argv[1:])
