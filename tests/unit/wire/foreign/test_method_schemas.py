"""Messages described as the JSON in which they are read and written."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import struct_pb2, timestamp_pb2
from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Field
from google.protobuf.descriptor_pb2 import FileDescriptorProto, MethodOptions

from taoloop.tools.schemas import CompiledSchema
from taoloop.tools.signature import Effect
from taoloop.wire.foreign.errors import MethodUnusable
from taoloop.wire.foreign.method_schemas import describe_service

IMPORTS = [timestamp_pb2, struct_pb2]


def files() -> list[FileDescriptorProto]:
    """Return the files of a small service."""
    file = FileDescriptorProto(name="shop.proto", package="shop", syntax="proto3")
    message = file.message_type.add(name="Order")
    for number, (name, kind, label, type_name) in enumerate(
        [
            ("id", Field.TYPE_INT64, Field.LABEL_OPTIONAL, ""),
            ("tags", Field.TYPE_STRING, Field.LABEL_REPEATED, ""),
            ("placed", Field.TYPE_MESSAGE, Field.LABEL_OPTIONAL, ".google.protobuf.Timestamp"),
            ("parent", Field.TYPE_MESSAGE, Field.LABEL_OPTIONAL, ".shop.Order"),
            ("state", Field.TYPE_ENUM, Field.LABEL_OPTIONAL, ".shop.State"),
            ("raw", Field.TYPE_BYTES, Field.LABEL_OPTIONAL, ""),
        ],
        1,
    ):
        message.field.add(name=name, number=number, type=kind, label=label, type_name=type_name or None)
    state = file.enum_type.add(name="State")
    state.value.add(name="NEW", number=0)
    service = file.service.add(name="Orders")
    for name, level in [("Get", MethodOptions.NO_SIDE_EFFECTS), ("Put", MethodOptions.IDEMPOTENT), ("Add", None)]:
        method = service.method.add(name=name, input_type=".shop.Order", output_type=".shop.Order")
        if level is not None:
            method.options.idempotency_level = level
    service.method.add(name="Watch", input_type=".shop.Order", output_type=".shop.Order", server_streaming=True)
    found = [file]
    for imported in IMPORTS:
        proto = FileDescriptorProto()
        imported.DESCRIPTOR.CopyToProto(proto)
        file.dependency.append(proto.name)
        found.append(proto)
    return found


def test_unary_methods_are_described_with_their_effects() -> None:
    methods = describe_service(files(), "shop.Orders")
    assert [(each.path, each.effect) for each in methods] == [
        ("shop.Orders/Get", Effect.READ),
        ("shop.Orders/Put", Effect.IDEMPOTENT_WRITE),
        ("shop.Orders/Add", None),
    ]
    assert methods[0].exact_fields == ("Order.id",)


def test_the_schema_accepts_messages_as_they_are_read() -> None:
    reply = dict(describe_service(files(), "shop.Orders")[0].reply)
    schema = CompiledSchema.compile(reply)
    good: dict[str, Any] = {
        "id": 2**53 + 1,
        "tags": ["a"],
        "placed": "2026-02-01T00:00:00Z",
        "state": "NEW",
        "raw": "AA==",
    }
    assert schema.violations({**good, "parent": good}) == ()
    assert {each.pointer for each in schema.violations({**good, "id": 2**63, "state": "OLD"})} == {"/id", "/state"}
    assert {each.pointer for each in schema.violations({"id": 1})} == {"/tags", "/state", "/raw"}


def test_a_request_needs_nothing_and_takes_nothing_else() -> None:
    schema = CompiledSchema.compile(dict(describe_service(files(), "shop.Orders")[0].request))
    assert schema.violations({}) == ()
    assert schema.violations({"other": 1}) != ()


def test_a_service_that_is_not_there_is_refused() -> None:
    with pytest.raises(MethodUnusable, match="there is no service"):
        describe_service(files(), "shop.Other")
