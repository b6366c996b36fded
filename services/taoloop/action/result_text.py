"""Envelopes as text for the ledger, and back, without loss: the ledger's format does not depend on the wire's."""

from __future__ import annotations

import base64
from collections.abc import Hashable, Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from decimal import Decimal
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, Union, cast, get_args, get_origin, get_type_hints

from taoloop.core import exact_json
from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.plan.acting import ActionResult, ExecuteRequest

MAX_RESULT_BYTES: Final = 256 * 1024
"""Longest text of an envelope with its payload: the ledger keeps every one of them for weeks."""

_AS_THEY_ARE: Final = frozenset({str, int, float, bool, NoneType, dict, list, Decimal})
_MAX_DEPTH = exact_json.MAX_DEPTH + 4  # a payload of full depth stands inside the envelope


def result_to_text(result: ActionResult, max_bytes: int = MAX_RESULT_BYTES) -> str:
    """Return the envelope as one line of JSON; fields at their default are left out.

    Args:
        result: The envelope.
        max_bytes: A longer text is written without the payload, which the body then says by `truncated`.
    """
    text = exact_json.dumps(_plain(result), max_depth=_MAX_DEPTH)
    if len(text.encode()) <= max_bytes:
        return text
    body = replace(result.body, truncated=True) if result.body is not None else None
    return exact_json.dumps(_plain(replace(result, parsed=ABSENT, raw=None, body=body)), max_depth=_MAX_DEPTH)


def result_from_text(text: str) -> ActionResult:
    """Return the envelope that `result_to_text` wrote.

    Raises:
        JsonSyntaxError: The text is not JSON.
    """
    return cast(ActionResult, _record(ActionResult, exact_json.loads(text, max_depth=_MAX_DEPTH)))


def request_digest(request: ExecuteRequest) -> str:
    """Return the digest of what a request asks for: everything but how long its caller waits."""
    asked = _plain(request)
    asked.pop("timeout_seconds", None)
    return exact_json.digest(asked)


def _plain(record: Any) -> dict[str, JsonValue]:
    written: dict[str, JsonValue] = {}
    layout: tuple[tuple[str, Any], ...] = _layout(type(record))  # type: ignore[arg-type]  # a class is hashable
    for name, default in layout:
        value = getattr(record, name)
        kind = type(value)
        if kind is bool or not (value is ABSENT or value is default or value == default):
            written[name] = value if kind in _AS_THEY_ARE else _written(value)
    return written


@cache
def _layout(record: Hashable) -> tuple[tuple[str, Any], ...]:
    return tuple((field.name, field.default) for field in fields(cast(Any, record)))


def _written(value: Any) -> JsonValue:
    written: JsonValue = value
    if isinstance(value, Enum):
        written = value.value
    elif isinstance(value, bytes):
        written = base64.b64encode(value).decode()
    elif isinstance(value, datetime):
        written = value.isoformat()
    elif is_dataclass(value):
        written = _plain(value)
    elif isinstance(value, tuple):
        written = [_written(item) for item in value]
    return written


def _record(cls: type[Any], data: JsonValue) -> Any:
    assert isinstance(data, Mapping)
    hints = _hints(cast("Hashable", cls))
    return cls(**{name: _read(hints[name], value) for name, value in data.items() if name in hints})


@cache
def _hints(cls: Hashable) -> dict[str, Any]:
    return get_type_hints(cls)


def _read(hint: Any, value: JsonValue) -> Any:
    if hint is Json or value is None:
        return value
    if get_origin(hint) in {Union, UnionType}:
        hint = next(choice for choice in get_args(hint) if choice is not NoneType)
    if get_origin(hint) is tuple:
        return tuple(_read(get_args(hint)[0], item) for item in cast(list[JsonValue], value))
    if hint is bytes:
        return base64.b64decode(cast(str, value))
    if hint is datetime:
        return datetime.fromisoformat(cast(str, value))
    if hint is float:
        return float(cast(str, value))
    if is_dataclass(hint):
        return _record(cast(type[Any], hint), value)
    return hint(value)
