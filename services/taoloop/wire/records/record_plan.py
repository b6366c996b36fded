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
from taoloop.wire.records.field_plan import FieldPlan, Leaf, RecordPlan
from taoloop.wire.records.reading import compile_read
from taoloop.wire.records.writing import compile_write


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
    write, read = compile_write(record_class, fields), compile_read(record_class, fields)
    return RecordPlan(record_class, descriptor, fields, write, read)


def _field_plan(
    field: FieldDescriptor, hints: Mapping[str, Any], defaults: Mapping[str, dataclasses.Field[Any]]
) -> FieldPlan:
    attribute = _attribute(field)
    if attribute not in hints:
        raise TypeError(f"no record field {attribute} for {field.full_name}")
    form, record_class = _form(field, hints[attribute])
    is_exact = isinstance(form, Leaf) and form.read is None
    return FieldPlan(
        wire_name=field.name,
        attribute=attribute,
        form=form,
        is_repeated=field.is_repeated,
        has_presence=field.has_presence,
        absent=_absent(field, defaults[attribute], is_exact=is_exact),
        nothing=ABSENT if isinstance(form, Leaf) and form.write is scalars.json_to_text else None,
        is_plain=field.is_repeated or (is_exact and not field.has_presence),
        record_class=record_class,
    )


def _absent(field: FieldDescriptor, record_field: dataclasses.Field[Any], *, is_exact: bool) -> Any:
    """Return the record's value where the message has none: its default, or zero where zero is as good as another."""
    if record_field.default_factory is not dataclasses.MISSING:
        raise TypeError(f"{field.full_name} becomes a field whose default is made anew each time")
    if record_field.default is dataclasses.MISSING and is_exact and not field.is_repeated:
        return field.default_value
    return record_field.default


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
        read = scalars.enum_reader(enum_class, field.enum_type)
        return Leaf(numbers.__getitem__, read, {number: member for member, number in numbers.items()}), None
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
