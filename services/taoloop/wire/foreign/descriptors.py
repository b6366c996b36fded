"""Methods found in file descriptors: from a descriptor set, or from a server's reflection."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor import Descriptor, MethodDescriptor, ServiceDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, Message
from google.protobuf.message_factory import GetMessageClass

from taoloop.wire.foreign.errors import MethodUnusable


@dataclass(frozen=True, slots=True)
class ForeignMethod:
    """One unary method.

    Attributes:
        path: As it is called, `/package.Service/Method`.
        request: Descriptor of its request.
        reply: Descriptor of its reply.
        pool: What both are made of.
    """

    path: str
    request: Descriptor
    reply: Descriptor
    pool: DescriptorPool

    def new_request(self) -> Message:
        """Return an empty request."""
        return GetMessageClass(self.request)()

    def read_reply(self, raw: bytes) -> Message:
        """Return the reply that the bytes hold.

        Raises:
            DecodeError: They hold none.
        """
        reply: Message = GetMessageClass(self.reply).FromString(raw)
        return reply


def files_of_set(raw: bytes) -> tuple[FileDescriptorProto, ...]:
    """Return the files of a serialised FileDescriptorSet, as `protoc --include_imports --descriptor_set_out` writes.

    Raises:
        MethodUnusable: The bytes are no such set.
    """
    try:
        return tuple(FileDescriptorSet.FromString(raw).file)
    except DecodeError as exc:
        raise MethodUnusable("the descriptor set cannot be read") from exc


def find_method(files: Iterable[FileDescriptorProto], method: str) -> ForeignMethod:
    """Return a method of the files.

    Args:
        files: All that the method's messages are made of, in any order.
        method: `package.Service/Method`.

    Raises:
        MethodUnusable: There is no such method, it streams, or the files are not whole.
    """
    pool = _pool({file.name: file for file in files})
    service, _, name = method.partition("/")
    found: MethodDescriptor | None = _service(pool, service).methods_by_name.get(name)
    if found is None:
        raise MethodUnusable(f"the service {service} has no method {name}")
    if found.client_streaming or found.server_streaming:
        raise MethodUnusable(f"the method {name} streams, which a tool cannot")
    return ForeignMethod(f"/{method}", found.input_type, found.output_type, pool)


def find_service(files: Iterable[FileDescriptorProto], service: str) -> ServiceDescriptor:
    """Return a service of the files.

    Args:
        files: All that its messages are made of, in any order.
        service: `package.Service`.

    Raises:
        MethodUnusable: There is no such service, or the files are not whole.
    """
    return _service(_pool({file.name: file for file in files}), service)


def _service(pool: DescriptorPool, name: str) -> ServiceDescriptor:
    try:
        found: ServiceDescriptor = pool.FindServiceByName(name)
    except KeyError as exc:
        raise MethodUnusable(f"there is no service {name}") from exc
    return found


def _pool(files: dict[str, FileDescriptorProto]) -> DescriptorPool:
    """Return a pool of its own: two servers may mean different things by one name."""
    pool = DescriptorPool()
    added: set[str] = set()

    def add(name: str, above: tuple[str, ...]) -> None:
        if name in added:
            return
        if name not in files:
            raise MethodUnusable(f"the file {name} is imported and missing")
        if name in above:
            raise MethodUnusable(f"the file {name} imports itself")
        for each in files[name].dependency:
            add(each, (*above, name))
        added.add(name)
        _add(pool, files[name])

    for name in files:
        add(name, ())
    return pool


def _add(pool: Any, file: FileDescriptorProto) -> None:
    try:
        pool.AddSerializedFile(file.SerializeToString())
    except (TypeError, ValueError, RecursionError) as exc:
        raise MethodUnusable(f"the file {file.name} is not valid") from exc
