"""What becomes of reflections that answer oddly, on a real server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import grpc
import grpc.aio
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_reflection.v1alpha import reflection_pb2

from taoloop.wire.foreign.errors import MethodUnusable
from taoloop.wire.foreign.reflection_client import reflected_files

Answer = Callable[[Any], Any]


@asynccontextmanager
async def reflecting(answer: Answer) -> AsyncIterator[grpc.aio.Channel]:
    async def reflect(requests: AsyncIterator[Any], context: Any) -> AsyncIterator[Any]:
        async for each in requests:
            answered = answer(each)
            if answered is None:
                return
            yield answered

    handler = grpc.stream_stream_rpc_method_handler(
        reflect,
        request_deserializer=reflection_pb2.ServerReflectionRequest.FromString,
        response_serializer=reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    server = grpc.aio.server()
    name = "grpc.reflection.v1.ServerReflection"
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, {"ServerReflectionInfo": handler}),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield channel
    await server.stop(0)


def gives(*files: FileDescriptorProto | bytes) -> Any:
    raw = [each if isinstance(each, bytes) else each.SerializeToString() for each in files]
    return reflection_pb2.ServerReflectionResponse(
        file_descriptor_response=reflection_pb2.FileDescriptorResponse(file_descriptor_proto=raw)
    )


def file(name: str, *imports: str) -> FileDescriptorProto:
    return FileDescriptorProto(name=name, dependency=imports)


async def test_imports_are_asked_for_one_by_one() -> None:
    known = {"a": file("a", "b", "c"), "b": file("b", "c"), "c": file("c")}

    def answer(request: Any) -> Any:
        return gives(known[request.file_by_filename or "a"])

    async with reflecting(answer) as channel:
        assert {each.name for each in await reflected_files(channel, "s", ())} == {"a", "b", "c"}


def never_ends(request: Any) -> Any:
    asked = int(request.file_by_filename or 0)
    return gives(file(str(asked), str(asked + 1)))


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda _: None, "ended its reflection"),
        (lambda _: reflection_pb2.ServerReflectionResponse(), "does not know"),
        (lambda _: gives(b"\xff"), "no file"),
        (lambda _: gives(file("a", "b")), "does not give the file b"),
        (never_ends, "more than 500 files"),
    ],
)
async def test_nonsense_is_refused(answer: Answer, message: str) -> None:
    async with reflecting(answer) as channel:
        with pytest.raises(MethodUnusable, match=message):
            await reflected_files(channel, "s", ())
