"""Asks a server's reflection for the files that a service is made of: version 1, then v1alpha."""

from __future__ import annotations

from typing import Any, Final

import grpc
import grpc.aio
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import DecodeError
from grpc_reflection.v1alpha import reflection_pb2

from taoloop.wire.foreign.errors import MethodUnusable

_SERVICES: Final = ("grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection")
_MAX_FILES: Final = 500


async def reflected_files(channel: grpc.aio.Channel, service: str, metadata: Any) -> tuple[FileDescriptorProto, ...]:
    """Return every file that a service is made of.

    Args:
        channel: To the server.
        service: `package.Service`.
        metadata: Sent along; a server may want credentials here too.

    Raises:
        MethodUnusable: The server does not reflect, does not know the service, or answers nonsense.
        grpc.aio.AioRpcError: The call failed in another way.
    """
    for name in _SERVICES:
        try:
            return await _files(channel, name, service, metadata)
        except grpc.aio.AioRpcError as exc:
            if exc.code() is not grpc.StatusCode.UNIMPLEMENTED:
                raise
    raise MethodUnusable("the server does not serve reflection; name a descriptor set")


async def _files(
    channel: grpc.aio.Channel, reflection: str, service: str, metadata: Any
) -> tuple[FileDescriptorProto, ...]:
    invoke = channel.stream_stream(
        f"/{reflection}/ServerReflectionInfo",
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
    )
    stream = invoke(metadata=metadata)
    try:
        files = await _ask(stream, reflection_pb2.ServerReflectionRequest(file_containing_symbol=service))
        wanted = _missing(files)
        while wanted:
            if len(files) > _MAX_FILES:
                raise MethodUnusable(f"the service is made of more than {_MAX_FILES} files")
            request = reflection_pb2.ServerReflectionRequest(file_by_filename=wanted[0])
            found = await _ask(stream, request)
            if not found.keys() - files.keys():
                raise MethodUnusable(f"the server does not give the file {wanted[0]}")
            files |= found
            wanted = _missing(files)
        return tuple(files.values())
    finally:
        stream.cancel()


async def _ask(stream: Any, request: reflection_pb2.ServerReflectionRequest) -> dict[str, FileDescriptorProto]:
    await stream.write(request)
    response = await stream.read()
    if response is grpc.aio.EOF:
        raise MethodUnusable("the server ended its reflection")
    if not response.HasField("file_descriptor_response"):
        raise MethodUnusable("the server's reflection does not know the service or a file of it")
    try:
        files = [FileDescriptorProto.FromString(raw) for raw in response.file_descriptor_response.file_descriptor_proto]
    except DecodeError as exc:
        raise MethodUnusable("the server's reflection gave what is no file") from exc
    return {file.name: file for file in files}


def _missing(files: dict[str, FileDescriptorProto]) -> list[str]:
    return [name for file in files.values() for name in file.dependency if name not in files]
