"""Writes out the function that makes a record of a message."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING
from typing import Any, NoReturn

from taoloop.core.exact_json import loads
from taoloop.core.records import draft_of
from taoloop.wire.records.field_plan import Convert, FieldPlan, Leaf, RecordPlan
from taoloop.wire.records.scalars import json_from_text


def compile_read(record_class: type, fields: tuple[FieldPlan, ...]) -> Callable[[Any], Any]:
    """Return the reader, written out field by field.

    To ask a message for a field costs as much as several lines of Python, but to list those that it has
    (`ListFields`) costs more than to ask for all. Where the message lacks what it must have, the reader raises
    `ValueError` or `KeyError`.
    """
    known: dict[str, Any] = {"missing": _missing, "new": object.__new__, "record_class": record_class}
    values: dict[str, str] = {}
    for number, field in enumerate(fields):
        if field.attribute not in values:
            values[field.attribute] = _union(field, fields, number, known) or _value(field, number, known)
    body = "\n    ".join(_lines(record_class, values, known))
    exec(f"def read(message):\n    {body}\n", known)  # noqa: S102 - made of names of fields alone
    read: Callable[[Any], Any] = known["read"]
    return read


def _lines(record_class: type, values: dict[str, str], known: dict[str, Any]) -> Iterator[str]:
    if any(" has(" in value for value in values.values()):
        yield "has = message.HasField"
    draft = known["draft"] = draft_of(record_class)
    if draft is None:
        yield f"return record_class({', '.join(f'{name}={value}' for name, value in values.items())})"
        return
    yield "record = new(draft)"
    yield from (f"record.{name} = {value}" for name, value in values.items())
    yield "record.__class__ = record_class"
    yield "return record"


def _union(field: FieldPlan, fields: tuple[FieldPlan, ...], number: int, known: dict[str, Any]) -> str:
    """Return the expression of the value of a whole oneof; empty for a field that is none of its members."""
    if not field.is_union_member:
        return ""
    members: dict[str, Convert] = {
        other.wire_name: other.form.read
        for other in fields
        if other.attribute == field.attribute and isinstance(other.form, RecordPlan)
    }
    known[f"members_{number}"] = members
    value = f"members_{number}[name](getattr(message, name))"
    return f"{value} if (name := message.WhichOneof('{field.attribute}')) else {_absent(field, number, known)}"


def _value(field: FieldPlan, number: int, known: dict[str, Any]) -> str:
    """Return the expression of the record's value, which finds in `known` what it needs besides the message."""
    wire, read, convert = f"message.{field.wire_name}", f"read_{number}", field.form.read
    known[read] = convert
    members = field.form.members if isinstance(field.form, Leaf) else None
    if members is not None and not field.has_presence and not field.is_repeated:
        known[f"members_{number}"] = {**members} if field.absent is MISSING else {**members, 0: field.absent}
        return f"members_{number}[{wire}]"  # where 0 says nothing
    absent = _absent(field, number, known)
    if field.is_repeated:
        items = "value" if convert is None else f"[{read}(each) for each in value]"
        return f"tuple({items}) if (value := {wire}) else {absent}"
    if field.has_presence:
        value = wire if convert is None else f"{read}({wire})"
        return f"{value} if has('{field.wire_name}') else {absent}"
    if convert is None:
        return wire if _is_zero(field.absent) else f"{wire} or {absent}"
    if convert is json_from_text:
        known[read] = loads  # of text that is not empty it is the same, and one call less
    return f"{read}(value) if (value := {wire}) else {absent}"


def _absent(field: FieldPlan, number: int, known: dict[str, Any]) -> str:
    if field.absent is MISSING:
        return "missing()"
    known[f"absent_{number}"] = field.absent
    return f"absent_{number}"


def _is_zero(value: Any) -> bool:
    """Whether it is what a message says itself where it has nothing."""
    return type(value) in {str, int, float, bool, bytes} and not value


def _missing() -> NoReturn:
    raise ValueError("must be set")
