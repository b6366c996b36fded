"""Turns records into messages and back by one naming rule, and names every field that does not fit.

A message `Task` becomes the dataclass `Task`, field by field: `state_json` is `state` (exact JSON), a `Duration`
`timeout` is `timeout_seconds` (float), a `Timestamp` an aware `datetime` in UTC, a repeated field a tuple, an enum a
`StrEnum`, and a oneof of messages one field with the name of the oneof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import MISSING
from functools import cache
from typing import Any, NoReturn, TypeVar

from google.protobuf.internal.containers import RepeatedCompositeFieldContainer as RepeatedCompositeContainer
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from taoloop.core.errors import FieldViolation, InvalidRequest
from taoloop.wire.records.field_plan import FieldPlan, RecordPlan
from taoloop.wire.records.record_plan import record_plan

MessageT = TypeVar("MessageT", bound=Message)
RecordT = TypeVar("RecordT")

# What conversions, constructors and protobuf itself raise for a value that does not fit.
_MISFIT = (ValueError, TypeError, KeyError, AttributeError)


class RecordNotEncodable(ValueError):
    """A record holds a value that its message cannot carry.

    Attributes:
        violations: Every field at fault, in the order of the message.
    """

    def __init__(self, record_name: str, violations: tuple[FieldViolation, ...]) -> None:
        places = "; ".join(f"{found.field} {found.description}" for found in violations)
        super().__init__(f"{record_name} cannot be written: {places}")
        self.violations = violations


def encode(record: Any, message_class: type[MessageT]) -> MessageT:
    """Return the record as a message.

    Raises:
        RecordNotEncodable: A value does not fit: no exact JSON, a number out of range, a moment without time zone.
        TypeError: The two classes do not correspond.
    """
    return _encoded(record, message_class, message_class)


def encode_in(outer_class: type[MessageT], field: str, record: Any, message_class: type[Message]) -> MessageT:
    """Return a message whose one field holds the record, as one call less does; raises what `encode` does."""
    plan = _plan(type(record), message_class)
    try:
        return outer_class(**{field: plan.write(record)})
    except _MISFIT as exc:
        _refuse(plan, record, message_class, exc)


def append(record: Any, message_class: type[MessageT], messages: RepeatedCompositeContainer[MessageT]) -> None:
    """Add the record as a message to a repeated field, where it is made without a copy; raises what `encode` does."""
    _encoded(record, message_class, messages.add)


def _encoded(record: Any, message_class: type[MessageT], make: Callable[..., MessageT]) -> MessageT:
    plan = _plan(type(record), message_class)
    try:
        return make(**plan.write(record))
    except _MISFIT as exc:
        _refuse(plan, record, message_class, exc)


def _refuse(plan: RecordPlan, record: Any, message_class: Any, found: Exception) -> NoReturn:
    """Raise the error that names the fields at fault; what was found, where none is."""
    violations = tuple(_unwritable(plan, record, message_class, ""))
    if not violations:
        raise found
    raise RecordNotEncodable(type(record).__name__, violations) from found


def decode(record_class: type[RecordT], message: Message) -> RecordT:
    """Return the message as a record; what a message does not have reads as the record's default.

    Raises:
        InvalidRequest: INVALID_REQUEST; one violation for each field at fault, such as `task.turns[2].role`.
        TypeError: The two classes do not correspond.
    """
    plan = _plan(record_class, type(message))
    try:
        record: RecordT = plan.read(message)
    except _MISFIT as exc:
        violations = tuple(_unreadable(plan, message, ""))
        if not violations:
            raise
        raise invalid_request(message.DESCRIPTOR.name, violations) from exc
    return record


def invalid_request(message_name: str, violations: tuple[FieldViolation, ...]) -> InvalidRequest:
    """Return the error that names every field at fault."""
    first = violations[0]
    more = f" (and {len(violations) - 1} more)" if len(violations) > 1 else ""
    text = f"{message_name}: {first.field} {first.description}{more}."
    return InvalidRequest(text, violations=violations, metadata={"field": first.field})


def _compiled(record_class: Any, message_class: Any) -> RecordPlan:
    return record_plan(record_class, message_class.DESCRIPTOR)


# By the class of the message, which is cheaper to come by than its descriptor.
_plan: Callable[[Any, Any], RecordPlan] = cache(_compiled)


def _unreadable(plan: RecordPlan, message: Any, path: str) -> Iterator[FieldViolation]:
    """Visit every field again, slowly, to say which ones do not fit; only after the fast way failed."""
    present = {field.name: value for field, value in message.ListFields()}
    for field in plan.fields:
        place = path + field.wire_name
        if field.wire_name not in present:
            if field.absent is MISSING:
                yield FieldViolation(place, "must be set")
            continue
        for where, value in _items(field, present[field.wire_name], place):
            if isinstance(field.form, RecordPlan):
                yield from _unreadable(field.form, value, f"{where}.")
            elif field.form.read is not None:
                yield from _attempt(field.form.read, value, where)


def _unwritable(plan: RecordPlan, record: Any, message_class: Any, path: str) -> Iterator[FieldViolation]:
    """Visit every field again, slowly, to say which ones do not fit; only after the fast way failed."""
    for field in plan.fields:
        value = getattr(record, field.attribute)
        place = path + field.wire_name
        if value is field.nothing:
            continue
        if field.record_class and not field.is_repeated and type(value) is not field.record_class:
            yield from _foreign(plan, field, value, place)
            continue
        if isinstance(field.form, RecordPlan):
            nested = GetMessageClass(field.form.descriptor)
            for where, item in _items(field, value, place):
                if type(item) is field.record_class:
                    yield from _unwritable(field.form, item, nested, f"{where}.")
                else:
                    yield FieldViolation(where, f"cannot hold a {type(item).__name__}")
            continue
        for where, item in _items(field, value, place):
            yield from _attempt(lambda one, field=field: _write_alone(field, one, message_class), item, where)


def _write_alone(field: FieldPlan, value: Any, message_class: Any) -> None:
    written = value if field.form.write is None else field.form.write(value)
    message_class(**{field.wire_name: [written] if field.is_repeated else written})


def _foreign(plan: RecordPlan, field: FieldPlan, value: Any, place: str) -> Iterator[FieldViolation]:
    """Report a record of a class that no member of the field takes, once: at the first member."""
    members = [other for other in plan.fields if other.attribute == field.attribute]
    if members[0] is field and all(type(value) is not other.record_class for other in members):
        yield FieldViolation(place, f"cannot hold a {type(value).__name__}")


def _items(field: FieldPlan, value: Any, place: str) -> Iterator[tuple[str, Any]]:
    if not field.is_repeated:
        yield place, value
        return
    for index, item in enumerate(value):
        yield f"{place}[{index}]", item


def _attempt(convert: Any, value: Any, place: str) -> Iterator[FieldViolation]:
    try:
        convert(value)
    except _MISFIT as exc:
        yield FieldViolation(place, str(exc) or "does not fit")
