"""Which record field each message field becomes, and by which conversion: compiled once for each pair of classes."""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor, OneofDescriptor

from taoloop.core.exact_json import ABSENT
from taoloop.wire.records import scalars

Convert = Callable[[Any], Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Leaf:
    """A field whose value is one scalar, or a sequence of them.

    Attributes:
        write: From the record's value to the message's; None passes it on.
        read: From the message's value to the record's; None passes it on.
    """

    write: Convert | None
    read: Convert | None


@dataclasses.dataclass(frozen=True, slots=True)
class FieldPlan:
    """How one field of a message and one field of a record correspond.

    Attributes:
        wire_name: The field of the message.
        attribute: The field of the record; several members of a oneof share one.
        form: The conversion of one value.
        is_repeated: Whether the value is a sequence.
        is_required: Whether the record has no default for it.
        nothing: The record's value that says nothing: `ABSENT` for JSON, whose None is null, else None.
        is_plain: Whether an empty value (no items, empty text, zero, False) says the same as none.
        zero: What a required field reads as when the message does not have it; `...` when it must.
        record_class: Class of the nested record; None for a leaf.
    """

    wire_name: str
    attribute: str
    form: Leaf | RecordPlan
    is_repeated: bool
    is_required: bool
    nothing: Any
    is_plain: bool
    zero: Any
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


def record_plan(record_class: type, descriptor: Descriptor) -> RecordPlan:
    """Return the plan for a pair of classes; it and those of nested pairs are compiled at the first call.

    Raises:
        TypeError: The record and the message do not have the same fields by the naming rule.
    """
    return _compiled(record_class, descriptor)


@cache
def _compiled(record_class: Any, descriptor: Descriptor) -> RecordPlan:
    hints = typing.get_type_hints(record_class)
    defaults = {field.name: field for field in dataclasses.fields(record_class)}
    fields = tuple(_field_plan(field, hints, defaults) for field in descriptor.fields)
    unmatched = hints.keys() - {field.attribute for field in fields}
    if unmatched:
        raise TypeError(f"{descriptor.full_name} has nothing for {record_class.__name__}.{sorted(unmatched)}")
    write = _compile_write(record_class, fields)
    return RecordPlan(record_class, descriptor, fields, write, _compile_read(record_class, descriptor, fields))


def _field_plan(
    field: FieldDescriptor, hints: Mapping[str, Any], defaults: Mapping[str, dataclasses.Field[Any]]
) -> FieldPlan:
    attribute = _attribute(field)
    if attribute not in hints:
        raise TypeError(f"no record field {attribute} for {field.full_name}")
    default = defaults[attribute]
    is_required = default.default is dataclasses.MISSING and default.default_factory is dataclasses.MISSING
    form, record_class = _form(field, hints[attribute])
    is_exact = isinstance(form, Leaf) and form.read is None
    return FieldPlan(
        wire_name=field.name,
        attribute=attribute,
        form=form,
        is_repeated=field.is_repeated,
        is_required=is_required,
        nothing=ABSENT if isinstance(form, Leaf) and form.write is scalars.json_to_text else None,
        is_plain=field.is_repeated or (is_exact and not field.has_presence),
        zero=field.default_value if is_exact and not field.is_repeated else ...,
        record_class=record_class,
    )


def _attribute(field: FieldDescriptor) -> str:
    """Return the name of the record's field by the naming rule."""
    oneof = field.containing_oneof
    if oneof is not None and _is_union(oneof):
        return oneof.name
    if field.type == FieldDescriptor.TYPE_STRING and field.name.endswith("_json"):
        return field.name.removesuffix("_json")
    if _message_name(field) == "google.protobuf.Duration":
        return f"{field.name}_seconds"
    return field.name


def _is_union(oneof: OneofDescriptor) -> bool:
    """Whether the oneof is one field of the record: all its members are messages."""
    return all(member.message_type is not None for member in oneof.fields)


def _message_name(field: FieldDescriptor) -> str:
    return "" if field.message_type is None else field.message_type.full_name


def _form(field: FieldDescriptor, hint: Any) -> tuple[Leaf | RecordPlan, type | None]:
    if field.enum_type is not None:
        enum_class = _only(hint, lambda part: issubclass(part, StrEnum))
        numbers = scalars.enum_numbers(enum_class, field.enum_type)
        return Leaf(numbers.__getitem__, scalars.enum_reader(enum_class, field.enum_type)), None
    name = _message_name(field)
    if name == "google.protobuf.Duration":
        return Leaf(scalars.duration_fields, scalars.duration_seconds), None
    if name == "google.protobuf.Timestamp":
        return Leaf(scalars.timestamp_fields, scalars.timestamp_moment), None
    if field.message_type is not None:
        message_type = field.message_type
        nested = _only(hint, lambda part: part.__name__ == message_type.name)
        return record_plan(nested, message_type), nested
    if field.type == FieldDescriptor.TYPE_STRING and field.name.endswith("_json"):
        return Leaf(scalars.json_to_text, scalars.json_from_text), None
    return Leaf(None, None), None


def _only(hint: Any, fits: Callable[[type], bool]) -> Any:
    """Return the one class in a hint such as `tuple[Turn, ...]` or `Turn | None` that fits."""
    is_composed = typing.get_origin(hint) in {tuple, typing.Union, types.UnionType}
    parts = typing.get_args(hint) if is_composed else (hint,)
    found = [part for part in parts if isinstance(part, type) and fits(part)]
    if len(found) != 1:
        raise TypeError(f"{hint} does not name the class of the message field")
    return found[0]


def _compile_write(record_class: type, fields: tuple[FieldPlan, ...]) -> Callable[[Any], dict[str, Any]]:
    """Return the writer: one conversion for each field that says something, without a call for the others.

    It is written out field by field, as `dataclasses` does for a constructor: a walk over the fields takes twice as
    long, and it is made for every message.
    """
    known: dict[str, Any] = {"record_class": record_class, "ABSENT": ABSENT}
    lines = [f"if type(record) is not record_class: raise TypeError('is no {record_class.__name__}')", "members = {}"]
    for number, field in enumerate(field for field in fields if not field.is_union_member):
        known[f"convert_{number}"] = field.form.write
        lines += [f"value = record.{field.attribute}", f"if {_says_something(field)}:"]
        lines += [f"    members['{field.wire_name}'] = {_written(field, f'convert_{number}')}"]
    for number, (attribute, choices) in enumerate(_union_writers(fields)):
        known[f"choices_{number}"] = choices
        lines += [f"value = record.{attribute}", "if value is not None:"]
        lines += [f"    name, convert = choices_{number}[type(value)]", "    members[name] = convert(value)"]
    body = "\n    ".join([*lines, "return members"])
    exec(f"def write(record):\n    {body}\n", known)  # noqa: S102 - made of names of fields alone
    write: Callable[[Any], dict[str, Any]] = known["write"]
    return write


def _says_something(field: FieldPlan) -> str:
    nothing = "ABSENT" if field.nothing is ABSENT else "None"
    if not field.is_plain:
        return f"value is not {nothing}"
    return "value" if field.nothing is None else f"value is not {nothing} and value"


def _written(field: FieldPlan, convert: str) -> str:
    if field.form.write is None:
        return "value"
    return f"[{convert}(each) for each in value]" if field.is_repeated else f"{convert}(value)"


def _union_writers(fields: tuple[FieldPlan, ...]) -> tuple[tuple[str, dict[type, tuple[str, Convert]]], ...]:
    """Return, for each union, the member of the message and its writer by the record's class."""
    unions: dict[str, dict[type, tuple[str, Convert]]] = {}
    for field in fields:
        if field.is_union_member and isinstance(field.form, RecordPlan):
            unions.setdefault(field.attribute, {})[field.form.record_class] = (field.wire_name, field.form.write)
    return tuple(unions.items())


def _reader(field: FieldPlan) -> Convert | None:
    convert = field.form.read
    if not field.is_repeated:
        return convert
    if convert is None:
        return tuple
    return lambda values: tuple([convert(value) for value in values])


def _compile_read(record_class: type, descriptor: Descriptor, fields: tuple[FieldPlan, ...]) -> Callable[[Any], Any]:
    """Return the reader: it visits only the fields that the message has."""
    zeros = {f.attribute: f.zero for f in fields if f.is_required and f.zero is not ...}
    # By the descriptor itself, which is cheaper than its name and lives as long as this table.
    steps = {descriptor.fields_by_name[f.wire_name]: (f.attribute, _reader(f)) for f in fields}

    def read(message: Any) -> Any:
        values = zeros.copy()
        for field, value in message.ListFields():
            attribute, convert = steps[field]
            values[attribute] = value if convert is None else convert(value)
        return record_class(**values)

    return read
