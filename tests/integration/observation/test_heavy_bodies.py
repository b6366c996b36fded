"""The service answers while large bodies are judged, and refuses what is too much."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from grpc.aio import insecure_channel
from grpc_health.v1 import health_pb2, health_pb2_grpc

from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import QueueFull
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.observation.app import observation_component
from taoloop.observation.settings import HeavyWorkSettings, ObservationSettings
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.plan.observing import ObserveRequest
from taoloop.wire.channel import connect
from taoloop.wire.clients import ObservationClient
from taoloop.wire.server import serving

CATALOGUE = Path("examples/customer-service")
ANSWER_SECONDS = 1.0
"""How long a health check may take beside large bodies; a probe of Kubernetes waits a second by default."""


def large_request() -> ObserveRequest:
    """A body of about 1 MB that costs much: 45 000 small objects, each unlike the contract."""
    rooms: Any = [{"room_id": f"R-{number:05}", "name": None} for number in range(24_000)]
    body = {"date": "2026-03-12", "free": 1, "suggested_room": "x", "rooms": rooms}
    result = ActionResult(
        step_id="1.t1", tool="list_meeting_rooms", status=ActionStatus.SUCCEEDED, status_code=200, parsed=body
    )
    return ObserveRequest(result=result)


def call(seconds: float = 60.0) -> CallContext:
    return CallContext(deadline=Deadline.after(seconds, SystemClock()))


@pytest.fixture
async def served() -> AsyncIterator[tuple[str, ObservationClient]]:
    settings = ObservationSettings(catalogue=CATALOGUE, observation_heavy=HeavyWorkSettings(max_waiting=3))
    telemetry = Telemetry.build(TelemetrySettings(), "taoloop-observation")
    async with (
        observation_component(settings, telemetry, SystemClock()) as component,
        serving([component], settings.grpc, "127.0.0.1:0", telemetry, SystemClock(), grace_seconds=1.0) as server,
        connect(server.address, settings.grpc, telemetry) as channel,
    ):
        yield server.address, ObservationClient(channel)
    await telemetry.aclose()


async def test_health_is_answered_while_bodies_of_a_megabyte_are_judged(
    served: tuple[str, ObservationClient],
) -> None:
    address, client = served
    waits: list[float] = []
    async with insecure_channel(address) as channel, asyncio.TaskGroup() as group:
        health = health_pb2_grpc.HealthStub(channel)
        await health.Check(health_pb2.HealthCheckRequest())
        judging = [group.create_task(client.observe(large_request(), call()), name=f"large {n}") for n in range(3)]
        while not all(task.done() for task in judging):
            began = time.perf_counter()
            reply = await health.Check(health_pb2.HealthCheckRequest(), timeout=10.0)
            waits.append(time.perf_counter() - began)
            assert reply.status == health_pb2.HealthCheckResponse.SERVING

    assert len(waits) > 3
    assert max(waits) < ANSWER_SECONDS


async def test_more_large_bodies_than_may_wait_are_refused_and_small_ones_are_not(
    served: tuple[str, ObservationClient],
) -> None:
    _, client = served
    verdicts = await asyncio.gather(
        *(client.observe(large_request(), call()) for _ in range(8)), return_exceptions=True
    )

    refused = [verdict for verdict in verdicts if isinstance(verdict, QueueFull)]
    assert 0 < len(refused) < 8
    assert all(error.retry_after_seconds for error in refused)
    small = ObserveRequest(result=ActionResult(step_id="1.t1", tool="get_weather", status=ActionStatus.FAILED))
    assert not (await client.observe(small, call())).valid
