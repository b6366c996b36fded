"""Rules of the health service: readiness follows the components, liveness does not."""

from typing import Any

from grpc_health.v1 import health_pb2

from taoloop.wire.component import Component
from taoloop.wire.health import LIVENESS, ReadinessHealth

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


async def _not_ready() -> bool:
    return False


def _health_without_redis() -> ReadinessHealth:
    component = Component(name="thought", service_names=("a.Thought",), register=lambda _: None, is_ready=_not_ready)
    return ReadinessHealth([component])


async def _status(health: ReadinessHealth, name: str) -> Any:
    context: Any = None  # used for a name that is not served only
    return (await health.Check(health_pb2.HealthCheckRequest(service=name), context)).status


async def test_liveness_serves_while_a_component_is_not_ready() -> None:
    health = _health_without_redis()
    await health.refresh()
    assert await _status(health, "") == NOT_SERVING
    assert await _status(health, "a.Thought") == NOT_SERVING
    assert await _status(health, LIVENESS) == SERVING
    assert not health.is_serving


async def test_liveness_serves_while_the_server_drains() -> None:
    health = _health_without_redis()
    health.stop()
    assert await _status(health, "") == NOT_SERVING
    assert await _status(health, LIVENESS) == SERVING
