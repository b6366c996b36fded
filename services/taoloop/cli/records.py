"""Records as JSON, for `--json`: the field names of the API, only what is set, every value exact."""

from __future__ import annotations

import base64
import re
import types
import typing
from collections.abc import Iterable
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from taoloop.core.exact_json import ABSENT, JsonValue

_WORD_START = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def record_json(record: Any) -> dict[str, JsonValue]:
    """Return a record as a JSON object.

    Fields at their default are left out, except those that a record always has. A field that may hold records of
    different kinds says which in `type`:

    ```json
    {"run_id": "…", "sequence": 3, "time": "…Z", "body": {"type": "step_started", "step_id": "1.t1", …}}
    ```
    """
    chosen = _choices(type(record))
    result: dict[str, JsonValue] = {}
    for field in fields(record):
        value = getattr(record, field.name)
        if _is_left_out(field, value):
            continue
        shown = _json(value)
        if field.name in chosen and isinstance(shown, dict):
            shown = {"type": _WORD_START.sub("_", type(value).__name__).lower(), **shown}
        result[field.name] = shown
    return result


def records_json(records: Iterable[Any]) -> list[JsonValue]:
    """Return each record as a JSON object."""
    return [record_json(record) for record in records]


def _is_left_out(field: Field[Any], value: object) -> bool:
    return value is ABSENT or (field.default is not MISSING and value is field.default) or value == ()


def _json(value: Any) -> JsonValue:
    if is_dataclass(value):
        return record_json(value)
    if isinstance(value, tuple):
        return [_json(item) for item in value]
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    result: JsonValue = value
    return result


def _choices(record_class: type[Any]) -> frozenset[str]:
    """Return the names of the fields that may hold records of different kinds."""
    hints = typing.get_type_hints(record_class)
    return frozenset(name for name, hint in hints.items() if _record_kinds(hint) > 1)


def _record_kinds(hint: Any) -> int:
    if typing.get_origin(hint) in {typing.Union, types.UnionType}:
        return sum(is_dataclass(argument) for argument in typing.get_args(hint))
    return 0
