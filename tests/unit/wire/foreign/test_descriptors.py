"""Which methods are found in which files."""

from __future__ import annotations

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from taoloop.wire.foreign.descriptors import files_of_set, find_method
from taoloop.wire.foreign.errors import MethodUnusable

METHOD = "shop.Orders/Find"


def file(name: str = "a.proto", **parts: object) -> FileDescriptorProto:
    made = FileDescriptorProto(name=name, package="shop", syntax="proto3", **parts)  # type: ignore[arg-type]
    made.message_type.add(name="Order")
    made.service.add(name="Orders").method.add(name="Find", input_type=".shop.Order", output_type=".shop.Order")
    return made


def test_a_method_is_found_with_its_messages() -> None:
    found = find_method(files_of_set(FileDescriptorSet(file=[file()]).SerializeToString()), METHOD)
    assert (found.path, found.request.full_name) == ("/shop.Orders/Find", "shop.Order")
    assert found.read_reply(b"").DESCRIPTOR.full_name == "shop.Order"


def test_two_servers_may_mean_different_things_by_one_name() -> None:
    other = file()
    other.message_type[0].field.add(name="id", number=1, type=9, label=1)
    assert [len(find_method([each], METHOD).request.fields) for each in (file(), other)] == [0, 1]


def invalid() -> FileDescriptorProto:
    made = file()
    made.message_type[0].field.add(name="id", number=0, type=9, label=1)
    return made


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ([], "no service"),
        ([file(dependency=["b.proto"])], "b.proto is imported and missing"),
        ([file(dependency=["a.proto"])], "imports itself"),
        ([invalid()], "not valid"),
    ],
)
def test_files_that_are_not_whole_or_not_valid_are_refused(files: list[FileDescriptorProto], message: str) -> None:
    with pytest.raises(MethodUnusable, match=message):
        find_method(files, METHOD)


def test_a_set_that_is_none_is_refused() -> None:
    with pytest.raises(MethodUnusable):
        files_of_set(b"\xff")
