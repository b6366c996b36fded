"""Methods of foreign services described as JSON Schemas, in the JSON in which `messages` reads and writes them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor, MethodDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorProto, MethodOptions

from taoloop.tools.importing.grpc_methods import GrpcMethod
from taoloop.tools.signature import Effect
from taoloop.wire.foreign.descriptors import find_service

_INTEGERS: Final = {
    FieldDescriptor.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_UINT32: (0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT64: (0, 2**64 - 1),
}
_WIDE: Final = frozenset({FieldDescriptor.CPPTYPE_INT64, FieldDescriptor.CPPTYPE_UINT64})
_KNOWN: Final[dict[str, dict[str, Any]]] = {
    "google.protobuf.Timestamp": {"type": "string", "format": "date-time"},
    "google.protobuf.Duration": {"type": "string", "pattern": r"^-?[0-9]+(\.[0-9]+)?s$"},
    "google.protobuf.FieldMask": {"type": "string"},
    "google.protobuf.Struct": {"type": "object"},
    "google.protobuf.ListValue": {"type": "array"},
    "google.protobuf.Value": {},
    "google.protobuf.Any": {"type": "object"},
    "google.protobuf.Empty": {"type": "object"},
    "google.protobuf.BoolValue": {"type": ["boolean", "null"]},
    "google.protobuf.StringValue": {"type": ["string", "null"]},
    "google.protobuf.BytesValue": {"type": ["string", "null"], "contentEncoding": "base64"},
    "google.protobuf.DoubleValue": {"type": ["number", "null"]},
    "google.protobuf.FloatValue": {"type": ["number", "null"]},
    "google.protobuf.Int32Value": {"type": ["integer", "null"]},
    "google.protobuf.UInt32Value": {"type": ["integer", "null"]},
    "google.protobuf.Int64Value": {"type": ["integer", "null"]},
    "google.protobuf.UInt64Value": {"type": ["integer", "null"]},
}
_EFFECTS: Final = {
    MethodOptions.NO_SIDE_EFFECTS: Effect.READ,
    MethodOptions.IDEMPOTENT: Effect.IDEMPOTENT_WRITE,
}


def describe_service(files: Iterable[FileDescriptorProto], service: str) -> tuple[GrpcMethod, ...]:
    """Return the unary methods of a service in their order; those that stream are no tools.

    Args:
        files: All that the service is made of.
        service: `package.Service`.

    Raises:
        MethodUnusable: There is no such service, or the files are not whole.
    """
    return tuple(
        _described(f"{service}/{method.name}", method)
        for method in find_service(files, service).methods
        if not method.client_streaming and not method.server_streaming
    )


def _described(path: str, method: MethodDescriptor) -> GrpcMethod:
    wide = dict.fromkeys([*_wide_fields(method.input_type), *_wide_fields(method.output_type)])
    return GrpcMethod(
        path=path,
        request=_root(method.input_type, is_reply=False),
        reply=_root(method.output_type, is_reply=True),
        effect=_EFFECTS.get(method.GetOptions().idempotency_level),
        exact_fields=tuple(wide),
    )


def _root(message: Descriptor, *, is_reply: bool) -> dict[str, Any]:
    """Return the schema of a message with those that it holds as `$defs`, since messages may hold themselves."""
    definitions = {each.full_name: _message(each, is_reply=is_reply) for each in _messages(message)}
    return {"$ref": f"#/$defs/{message.full_name}", "$defs": definitions}


def _messages(message: Descriptor) -> Iterator[Descriptor]:
    """Yield a message and every message that it can hold, each once."""
    seen = {message.full_name}
    pending = [message]
    while pending:
        here = pending.pop(0)
        yield here
        for field in here.fields:
            below = field.message_type
            if below is not None and below.full_name not in seen:
                seen.add(below.full_name)
                pending.append(below)


def _message(message: Descriptor, *, is_reply: bool) -> dict[str, Any]:
    if message.full_name in _KNOWN:
        return _KNOWN[message.full_name]
    properties = {field.name: _field(field) for field in message.fields}
    # A reply always has the fields without presence; of a request none must be there.
    always = [field.name for field in message.fields if not field.has_presence] if is_reply else []
    required = {"required": always} if always else {}
    closed = {} if is_reply else {"additionalProperties": False}
    return {"type": "object", **required, **closed, "properties": properties}


def _field(field: FieldDescriptor) -> dict[str, Any]:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return {"type": "object", "additionalProperties": _single(field.message_type.fields_by_name["value"])}
    one = _single(field)
    return {"type": "array", "items": one} if field.is_repeated else one


def _single(field: FieldDescriptor) -> dict[str, Any]:
    kind = field.cpp_type
    if kind in _INTEGERS:
        low, high = _INTEGERS[kind]
        return {"type": "integer", "minimum": low, "maximum": high}
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return {"type": "boolean"}
    if kind in {FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT}:
        return {"type": "number"}
    if field.enum_type is not None:
        return {"type": "string", "enum": [value.name for value in field.enum_type.values]}
    if field.message_type is not None:
        return {"$ref": f"#/$defs/{field.message_type.full_name}"}
    if field.type == FieldDescriptor.TYPE_BYTES:
        return {"type": "string", "contentEncoding": "base64"}
    return {"type": "string"}


def _wide_fields(message: Descriptor) -> Iterator[str]:
    for each in _messages(message):
        for field in each.fields:
            if field.cpp_type in _WIDE and each.full_name not in _KNOWN:
                yield f"{each.name}.{field.name}"
