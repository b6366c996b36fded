"""Asks a server of any make how it is, by the standard health service."""

from __future__ import annotations

import grpc
import grpc.aio
from grpc_health.v1 import health_pb2, health_pb2_grpc

from taoloop.core.calls import CallContext
from taoloop.core.errors import InvalidRequest
from taoloop.wire.status import from_rpc_error

_METHOD = "grpc.health.v1.Health/Check"


async def check_health(address: str, service: str, call: CallContext) -> str:
    """Return what a server says of one of its services: `SERVING`, `NOT_SERVING` or `UNKNOWN`.

    Args:
        address: `host:port`.
        service: Full name such as `taoloop.api.v1.LoopService`; empty asks for the server as a whole.
        call: Until when.

    Raises:
        InvalidRequest: The server has no such service.
        BackendUnavailable: Nothing answers at the address.
        DeadlineExceeded: No answer came in time.
    """
    async with grpc.aio.insecure_channel(address) as channel:
        stub = health_pb2_grpc.HealthStub(channel)
        request = health_pb2.HealthCheckRequest(service=service)
        try:
            reply = await stub.Check(request, timeout=call.deadline.remaining_seconds())
        except grpc.aio.AioRpcError as exc:
            if exc.code() is grpc.StatusCode.NOT_FOUND:
                raise InvalidRequest(
                    f"The server at {address} has no service {service}.",
                    metadata={"address": address, "service": service},
                ) from exc
            raise from_rpc_error(exc, _METHOD, address) from exc
    return str(health_pb2.HealthCheckResponse.ServingStatus.Name(reply.status))
