"""Records as lines of `name: value`, whole and exact, for `--verbose`."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from taoloop.cli.viewing.visible_text import visible
from taoloop.core.exact_json import ABSENT, JsonValue, dumps


def exact_lines(record: Any, indent: str = "") -> Iterator[str]:
    """Yield every field of a record that is set, the fields of inner records below it.

    Nothing is cut. JSON stands on one line with its numbers as they came; characters that a terminal would not show, or
    would obey, are written as escapes, so that what looks the same is the same.

    Args:
        record: A frozen dataclass of the API.
        indent: What each line begins with.
    """
    for field in fields(record):
        value = getattr(record, field.name)
        if not _is_left_out(field, value):
            yield from _field_lines(field.name, value, indent)


def exact_json_text(value: JsonValue) -> str:
    """Return a JSON value on one line, whole, with what a terminal would not show as escapes."""
    return visible(dumps(value))  # such characters stand inside of texts alone, where JSON takes escapes


def _field_lines(name: str, value: Any, indent: str) -> Iterator[str]:
    if is_dataclass(value):
        yield f"{indent}{name}: {type(value).__name__}"
        yield from exact_lines(value, f"{indent}  ")
    elif isinstance(value, tuple) and any(is_dataclass(item) for item in value):
        for number, item in enumerate(value):
            yield f"{indent}{name}[{number}]:"
            yield from exact_lines(item, f"{indent}  ")
    else:
        yield f"{indent}{name}: {_value_text(value)}"


def _value_text(value: Any) -> str:
    match value:
        case Enum():
            return str(value.value)
        case datetime():
            return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        case bytes():
            return _bytes_text(value)
        case str():
            return visible(value)
        case tuple():
            return ", ".join(_value_text(item) for item in value)
        case _:
            return exact_json_text(value)


def _bytes_text(value: bytes) -> str:
    try:
        return visible(value.decode())
    except UnicodeDecodeError:
        return f"base64 {base64.b64encode(value).decode()}"


def _is_left_out(field: Field[Any], value: object) -> bool:
    return value is ABSENT or value is None or value == () or (field.default is not MISSING and value == field.default)
