"""Server reflection, version 1 and the older v1alpha that some tools still ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import grpc
import grpc.aio
from grpc_reflection.v1alpha import reflection, reflection_pb2

SERVICE_NAME: Final = "grpc.reflection.v1.ServerReflection"
_METHOD = "ServerReflectionInfo"


def register_reflection(server: grpc.aio.Server, service_names: Sequence[str]) -> None:
    """Add reflection for the given services to the server.

    The library ships v1alpha alone; v1 has the same messages under another package name, so one servicer
    answers for both.
    """
    servicer = reflection.aio.ReflectionServicer((*service_names, reflection.SERVICE_NAME))
    handler = grpc.stream_stream_rpc_method_handler(
        servicer.ServerReflectionInfo,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    server.add_generic_rpc_handlers(
        tuple(
            grpc.method_handlers_generic_handler(name, {_METHOD: handler})
            for name in (SERVICE_NAME, reflection.SERVICE_NAME)
        )
    )
