"""How single values cross between records and messages: JSON text, durations, timestamps and enums."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any, Final

from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

from taoloop.core.exact_json import ABSENT, Absent, JsonValue, dumps, loads

MAX_DURATION_SECONDS: Final = 315_576_000_000
"""Largest magnitude of a `google.protobuf.Duration`: about 10 000 years."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NANOS = 1_000_000_000


def json_to_text(value: object) -> str:
    """Return the text of a `…_json` field; the empty string for `ABSENT`.

    Raises:
        JsonEncodeError: The value has no exact JSON form.
    """
    return "" if value is ABSENT else dumps(value)


def json_from_text(text: str) -> JsonValue | Absent:
    """Return the value of a `…_json` field; `ABSENT` for the empty string.

    Raises:
        JsonSyntaxError: The text is not JSON, or JSON that is refused.
    """
    return loads(text) if text else ABSENT


def duration_fields(seconds: float) -> dict[str, int]:
    """Return the members of the `Duration` that is nearest to `seconds`, to the nanosecond.

    >>> duration_fields(-1.5)
    {'seconds': -1, 'nanos': -500000000}

    Raises:
        ValueError: The number is not finite or beyond `MAX_DURATION_SECONDS`.
    """
    if not -MAX_DURATION_SECONDS <= seconds <= MAX_DURATION_SECONDS:  # also false for NaN
        raise ValueError("is not a finite duration within 10 000 years")
    fraction, whole = math.modf(seconds)
    nanos = round(fraction * _NANOS)
    carry = int(nanos / _NANOS)  # -1, 0 or 1: a fraction that rounds up to a whole second
    return {"seconds": int(whole) + carry, "nanos": nanos - carry * _NANOS}


def duration_seconds(duration: Duration) -> float:
    """Return the float that is nearest to the duration.

    Raises:
        ValueError: The members are out of range or have different signs.
    """
    seconds, nanos = duration.seconds, duration.nanos
    if not nanos and abs(seconds) <= MAX_DURATION_SECONDS:
        return float(seconds)
    if abs(nanos) >= _NANOS or abs(seconds) > MAX_DURATION_SECONDS or seconds * nanos < 0:
        raise ValueError("is not a valid duration")
    # Division of integers rounds once; adding two floats would round twice and miss a nanosecond now and then.
    return (seconds * _NANOS + nanos) / _NANOS


def timestamp_fields(moment: datetime) -> dict[str, int]:
    """Return the members of the `Timestamp` of an aware moment, exact to the microsecond.

    Raises:
        ValueError: The moment has no time zone.
    """
    if moment.tzinfo is None:
        raise ValueError("is a moment without a time zone")
    since = moment - _EPOCH
    return {"seconds": since.days * 86_400 + since.seconds, "nanos": since.microseconds * 1_000}


def timestamp_moment(timestamp: Timestamp) -> datetime:
    """Return the moment in UTC; nanoseconds below a microsecond are cut.

    Raises:
        ValueError: The timestamp is outside of the years 1 to 9999.
    """
    if not 0 <= timestamp.nanos < _NANOS:
        raise ValueError("is not a valid timestamp")
    try:
        return _EPOCH + timedelta(seconds=timestamp.seconds, microseconds=timestamp.nanos // 1_000)
    except OverflowError as exc:
        raise ValueError("is not a timestamp of the years 1 to 9999") from exc


def enum_numbers(enum_class: type[StrEnum], descriptor: EnumDescriptor) -> Mapping[Any, int]:
    """Return the number of each member by the naming rule: `EFFECT_READ` is `Effect("read")`.

    Raises:
        TypeError: Members and values do not correspond one to one.
    """
    unspecified, *values = sorted(descriptor.values, key=lambda value: value.number)
    prefix = unspecified.name.removesuffix("UNSPECIFIED")
    by_text = {value.name.removeprefix(prefix).lower(): value.number for value in values}
    if by_text.keys() != {member.value for member in enum_class}:
        raise TypeError(f"{enum_class.__name__} does not have the values of {descriptor.full_name}")
    return {member: by_text[member.value] for member in enum_class}


def enum_reader(enum_class: type[StrEnum], descriptor: EnumDescriptor) -> Callable[[int], StrEnum]:
    """Return the function from number to member; it raises `ValueError` for a number that has none."""
    members: dict[int, StrEnum] = {number: member for member, number in enum_numbers(enum_class, descriptor).items()}

    def read(number: int) -> StrEnum:
        try:
            return members[number]
        except KeyError:
            raise ValueError(f"has the unknown value {number}") from None

    return read
