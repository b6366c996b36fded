"""Values of Python and of databases as exact JSON; what has no exact form is refused, never guessed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal
from enum import Enum
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface, IPv6Network
from typing import Any, Final
from uuid import UUID

from taoloop.core import pointers
from taoloop.core.exact_json import MAX_DEPTH, JsonValue

_TEXTS: Final = (UUID, IPv4Address, IPv6Address, IPv4Network, IPv6Network, IPv4Interface, IPv6Interface)
_TIMES: Final = (datetime, date, time)


class NotJson(ValueError):
    """A value has no exact JSON form.

    Attributes:
        pointer: Where it stands.
        kind: Its type, in one word.
    """

    def __init__(self, pointer: str, kind: str) -> None:
        super().__init__(f"a {kind} at {pointer or 'the top'} has no exact JSON form")
        self.pointer = pointer
        self.kind = kind


def json_value(value: Any) -> JsonValue:
    """Return the JSON of a value.

    Dates and times become ISO 8601, UUIDs and network addresses their text, members of an enum their value; a
    mapping with text keys, a dataclass or a model an object, a list or a tuple an array. Decimals keep their digits.

    >>> json_value({"at": datetime(2026, 3, 1, 9, 30), "sums": (Decimal("0.10"), 2)})
    {'at': '2026-03-01T09:30:00', 'sums': [Decimal('0.10'), 2]}

    Raises:
        NotJson: Bytes, NaN, an infinity, a set, a key that is no text, an object of another class, or nesting
            above the limit of `exact_json`, which a cycle has too.
    """
    return _json(value, ())


def _json(value: Any, path: tuple[str, ...]) -> JsonValue:
    if len(path) > MAX_DEPTH:
        raise NotJson("", "nesting that is too deep")
    if isinstance(value, Enum):
        return _json(value.value, path)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | str):
        return value
    if isinstance(value, Decimal | float):
        if not Decimal(value).is_finite():
            raise NotJson(pointers.join(*path), "number that is not finite")
        return value
    if isinstance(value, _TIMES):
        return value.isoformat()
    if isinstance(value, _TEXTS):
        return str(value)
    return _composed(value, path)


def _composed(value: Any, path: tuple[str, ...]) -> JsonValue:
    if isinstance(value, list | tuple):
        return [_json(item, (*path, str(index))) for index, item in enumerate(value)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    elif hasattr(type(value), "model_dump"):
        value = value.model_dump(mode="python", by_alias=True)
    if not isinstance(value, Mapping):
        raise NotJson(pointers.join(*path), type(value).__name__)
    for key in value:
        if not isinstance(key, str):
            raise NotJson(pointers.join(*path), f"key of the type {type(key).__name__}")
    return {str(key): _json(item, (*path, key)) for key, item in value.items()}
