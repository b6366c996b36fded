"""The standard health service, driven by what the components say of themselves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any, Final

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from taoloop.core.clock import Clock
from taoloop.core.logs import EventLog
from taoloop.wire.component import Component

POLL_SECONDS: Final = 1.0
PROBE_SECONDS: Final = 2.0
"""A component that does not say in this time that it is ready is not."""

SERVICE_NAME: Final[str] = health_pb2.DESCRIPTOR.services_by_name["Health"].full_name
LIVENESS: Final = "liveness"
"""Name under which the process itself is asked for: serving from start to end, whatever its components say.

An orchestrator that starts processes again asks for this one, since a new process brings no lost Redis back.
"""
_OVERALL = ""
_SERVING = health_pb2.HealthCheckResponse.SERVING
_NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
_UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN

_log = EventLog(__name__)


class ReadinessHealth:
    """Serves `grpc.health.v1.Health`: a status for each service, for all under the empty name, and for the process.

    Unlike the library's servicer it ends its streams when the server stops, which would else wait for them.

    Args:
        components: What the server hosts.
    """

    def __init__(self, components: Sequence[Component]) -> None:
        self._components = tuple(components)
        names = [name for component in components for name in component.service_names]
        self._statuses = dict.fromkeys((_OVERALL, *names), _NOT_SERVING) | {LIVENESS: _SERVING}
        self._is_stopping = False
        self._changed = asyncio.Event()

    def __repr__(self) -> str:
        statuses = self._statuses.items()
        serving = [name or "(all)" for name, status in statuses if status == _SERVING and name != LIVENESS]
        return f"ReadinessHealth(serving={serving}, is_stopping={self._is_stopping})"

    @property
    def is_serving(self) -> bool:
        """Whether every component is ready and the server is not stopping."""
        return bool(self._statuses[_OVERALL] == _SERVING)

    def register(self, server: grpc.aio.Server) -> None:
        """Add the service to the server."""
        health_pb2_grpc.add_HealthServicer_to_server(self, server)

    async def Check(self, request: Any, context: grpc.aio.ServicerContext[Any, Any]) -> Any:  # noqa: N802 - RPC
        """Return the status of one service; NOT_FOUND if the server does not have it."""
        status = self._statuses.get(request.service)
        if status is None:
            await context.abort(grpc.StatusCode.NOT_FOUND, f"There is no service {request.service}.")
        return health_pb2.HealthCheckResponse(status=status)

    async def List(self, _request: Any, _context: grpc.aio.ServicerContext[Any, Any]) -> Any:  # noqa: N802 - RPC
        """Return the status of every service."""
        statuses = {name: health_pb2.HealthCheckResponse(status=status) for name, status in self._statuses.items()}
        return health_pb2.HealthListResponse(statuses=statuses)

    async def Watch(  # noqa: N802 - RPC
        self, request: Any, _context: grpc.aio.ServicerContext[Any, Any]
    ) -> AsyncIterator[Any]:
        """Stream the status of one service, now and after each change, until the server stops."""
        last = None
        while True:
            changed = self._changed
            status = self._statuses.get(request.service, _UNKNOWN)
            if status != last:
                yield health_pb2.HealthCheckResponse(status=status)
                last = status
                continue  # it may have changed while it was sent
            if self._is_stopping:
                return
            await changed.wait()

    async def follow(self, clock: Clock) -> None:
        """Ask the components again and again, until `stop`: a probe may lose the cancellation of its task."""
        while not self._is_stopping:
            await clock.sleep(POLL_SECONDS)
            await self.refresh()

    async def refresh(self) -> None:
        """Ask every component once."""
        answers = [(component, await _is_ready(component)) for component in self._components]
        if self._is_stopping:
            return
        statuses = {_OVERALL: _status(all(ready for _, ready in answers))}
        for component, ready in answers:
            statuses |= dict.fromkeys(component.service_names, _status(ready))
        self._publish(statuses)

    def stop(self) -> None:
        """Say NOT_SERVING from now on, and end the streams."""
        self._is_stopping = True
        self._publish(dict.fromkeys(self._statuses, _NOT_SERVING))

    def _publish(self, statuses: dict[str, Any]) -> None:
        statuses = statuses | {LIVENESS: _SERVING}
        if statuses != self._statuses or self._is_stopping:
            self._statuses = statuses
            self._changed.set()
            self._changed = asyncio.Event()


async def _is_ready(component: Component) -> bool:
    if component.is_ready is None:
        return True
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            return await component.is_ready()
    except Exception as exc:  # noqa: BLE001 - whatever breaks a probe must not end the server, and is a "no"
        _log.warning("readiness_probe_failed", component=component.name, error_type=type(exc).__name__)
        return False


def _status(is_ready: bool) -> Any:
    return _SERVING if is_ready else _NOT_SERVING
