"""What is known of the correspondence of two fields, and of two classes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from google.protobuf.descriptor import Descriptor

Convert = Callable[[Any], Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Leaf:
    """A field whose value is one scalar, or a sequence of them.

    Attributes:
        write: From the record's value to the message's; None passes it on.
        read: From the message's value to the record's; None passes it on.
        members: What the numbers of an enum read as; None for all else.
    """

    write: Convert | None
    read: Convert | None
    members: Mapping[int, Any] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class FieldPlan:
    """How one field of a message and one field of a record correspond.

    Attributes:
        wire_name: The field of the message.
        attribute: The field of the record; several members of a oneof share one.
        form: The conversion of one value.
        is_repeated: Whether the value is a sequence.
        has_presence: Whether the message tells a value that says nothing from none.
        absent: What the record has where the message has nothing; `dataclasses.MISSING` when it must have something.
        nothing: The record's value that says nothing: `ABSENT` for JSON, whose None is null, else None.
        is_plain: Whether an empty value (no items, empty text, zero, False) says the same as none.
        record_class: Class of the nested record; None for a leaf.
    """

    wire_name: str
    attribute: str
    form: Leaf | RecordPlan
    is_repeated: bool
    has_presence: bool
    absent: Any
    nothing: Any
    is_plain: bool
    record_class: type | None

    @property
    def is_union_member(self) -> bool:
        """Whether the record has one field for the whole oneof."""
        return self.record_class is not None and self.attribute != self.wire_name


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class RecordPlan:
    """How one record class and one message class correspond.

    Attributes:
        record_class: The dataclass.
        descriptor: The message's type.
        fields: One for each field of the message, in the order of the message.
        write: From a record to the keyword arguments of the message.
        read: From a message to a record.
    """

    record_class: type
    descriptor: Descriptor
    fields: tuple[FieldPlan, ...]
    write: Callable[[Any], dict[str, Any]]
    read: Callable[[Any], Any]
