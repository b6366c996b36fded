"""A gRPC server of somebody else's, whose messages taoloop has never seen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import grpc
import grpc.aio
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha import reflection as reflection_v1alpha
from grpc_reflection.v1alpha import reflection_pb2
from grpc_tools import protoc  # type: ignore[import-untyped]

SERVICE = "shop.v1.Orders"
METHOD = f"{SERVICE}/Find"
REFLECTION_V1 = "grpc.reflection.v1.ServerReflection"


@cache
def descriptor_set() -> bytes:
    """Return the compiled orders.proto with all that it imports."""
    here = Path(__file__).parent
    with TemporaryDirectory() as folder:
        out = Path(folder) / "orders.pb"
        google = str(files("grpc_tools") / "_proto")
        arguments = ["protoc", f"-I{here}", f"-I{google}", "--include_imports", f"--descriptor_set_out={out}"]
        assert protoc.main([*arguments, "orders.proto"]) == 0
        return out.read_bytes()


@cache
def pool() -> DescriptorPool:
    """Return the descriptors of the server."""
    made = DescriptorPool()
    for file in FileDescriptorSet.FromString(descriptor_set()).file:
        made.AddSerializedFile(file.SerializeToString())
    return made


def message(name: str, **fields: Any) -> Any:
    """Return a message of the server's package."""
    return GetMessageClass(pool().FindMessageTypeByName(f"shop.v1.{name}"))(**fields)


Handler = Callable[[Any, Any], Awaitable[bytes]]
"""Takes the request and the context, returns the bytes of the reply."""


@dataclass(slots=True)
class OrdersServer:
    """What the tests see of the server."""

    address: str = ""
    handler: Handler | None = None
    requests: list[Any] = field(default_factory=list)
    metadata: list[dict[str, str]] = field(default_factory=list)
    reflections: int = 0
    peers: set[str] = field(default_factory=set)
    was_cancelled: asyncio.Event = field(default_factory=asyncio.Event)
    serves: bool = True
    stop: Callable[[], Awaitable[None]] | None = None


@asynccontextmanager
async def orders_server(
    handler: Handler | None = None,
    *,
    reflects: tuple[str, ...] = (reflection_v1alpha.SERVICE_NAME,),
    reflection: Callable[[Any], Awaitable[None]] | None = None,
    port: int = 0,
    credentials: grpc.ServerCredentials | None = None,
) -> AsyncIterator[OrdersServer]:
    """Serve orders on a free port; without a handler the request comes back as an order."""
    seen = OrdersServer(handler=handler)
    server = grpc.aio.server(options=[("grpc.max_send_message_length", -1), ("grpc.max_receive_message_length", -1)])
    find = pool().FindMessageTypeByName("shop.v1.FindRequest")

    async def answer(request: Any, context: Any) -> bytes:
        seen.requests.append(request)
        seen.metadata.append({str(key): str(value) for key, value in context.invocation_metadata()})
        seen.peers.add(context.peer())
        if not seen.serves:
            await context.abort(grpc.StatusCode.UNIMPLEMENTED, "moved")
        try:
            return await (seen.handler or _echo)(request, context)
        except asyncio.CancelledError:
            seen.was_cancelled.set()
            raise

    method: Any = grpc.unary_unary_rpc_method_handler(answer, request_deserializer=GetMessageClass(find).FromString)
    handlers = [grpc.method_handlers_generic_handler(SERVICE, {"Find": method})]
    servicer = reflection_v1alpha.aio.ReflectionServicer((SERVICE,), pool=pool())

    async def reflect(requests: Any, context: Any) -> AsyncIterator[Any]:
        seen.reflections += 1
        if reflection is not None:
            await reflection(context)
        async for each in servicer.ServerReflectionInfo(requests, context):
            yield each

    info = grpc.stream_stream_rpc_method_handler(
        reflect,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    handlers += [grpc.method_handlers_generic_handler(name, {"ServerReflectionInfo": info}) for name in reflects]
    server.add_generic_rpc_handlers(tuple(handlers))
    listen = f"127.0.0.1:{port}"
    got = server.add_insecure_port(listen) if credentials is None else server.add_secure_port(listen, credentials)
    seen.address = f"127.0.0.1:{got}"
    await server.start()

    async def stop() -> None:
        await server.stop(0)

    seen.stop = stop
    try:
        yield seen
    finally:
        await server.stop(0)


async def _echo(request: Any, context: Any) -> bytes:
    raw: bytes = message(
        "Order", order_id=request.order_id, number=request.number, price=request.price
    ).SerializeToString()
    return raw
