"""Writes out the function that makes a message's keyword arguments of a record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from taoloop.core.exact_json import ABSENT
from taoloop.wire.records.field_plan import Convert, FieldPlan, RecordPlan


def compile_write(record_class: type, fields: tuple[FieldPlan, ...]) -> Callable[[Any], dict[str, Any]]:
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
