"""Events of runs that `--json` wrote, read back from a file."""

from __future__ import annotations

import base64
import binascii
import re
import types
import typing
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from datetime import datetime
from decimal import Decimal
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from taoloop.core.errors import FieldViolation, InvalidRequest
from taoloop.core.exact_json import JsonSyntaxError, JsonValue, loads
from taoloop.plan.running import RunEvent

RecordT = TypeVar("RecordT")

_WORD_START: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class NotRecorded(ValueError):
    """A JSON object is no record of the kind that is wanted."""


def read_events(path: Path) -> Iterator[RunEvent]:
    """Yield the events of a file, one a line, as `taoloop run --json` and `taoloop watch --json` write them.

    Raises:
        InvalidRequest: The file cannot be read, or a line is no event; the message says which.
    """
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    yield _event(path, number, line)
    except OSError as exc:
        raise _unusable(f"{path}: {exc.strerror or exc}") from exc


def record_of(kind: type[RecordT], written: JsonValue) -> RecordT:
    """Return the record that `record_json` wrote; members that it does not know are left alone.

    Raises:
        NotRecorded: The object is none of its kind.
    """
    if not isinstance(written, dict):
        raise NotRecorded(f"a {kind.__name__} is an object")
    known = _fields(cast(Any, kind))
    given = {name: _value(hint, written[name], name) for name, hint in known.items() if name in written}
    try:
        return kind(**given)
    except TypeError as exc:
        raise NotRecorded(f"a {kind.__name__} lacks a member: {exc}") from exc


def _event(path: Path, number: int, line: bytes) -> RunEvent:
    try:
        return record_of(RunEvent, loads(line))
    except JsonSyntaxError as exc:
        raise _unusable(f"{path}:{number}:{exc.column}: {exc.message}") from exc
    except NotRecorded as exc:
        raise _unusable(f"{path}:{number}: no event of a run: {exc}") from exc


def _value(hint: Any, written: JsonValue, name: str) -> Any:
    if _is_union(hint):
        return _chosen(typing.get_args(hint), written, name)
    if typing.get_origin(hint) is tuple:
        return tuple(_value(typing.get_args(hint)[0], item, name) for item in _list(written, name))
    if isinstance(hint, type) and is_dataclass(hint):
        return record_of(hint, written)
    if hint is datetime or (isinstance(hint, type) and issubclass(hint, Enum | bytes)):
        return _scalar(hint, written, name)
    # What JSON has by itself stays as it is; a number that is to be binary was read as a decimal.
    return float(written) if hint is float and isinstance(written, Decimal | int) else written


def _chosen(kinds: tuple[Any, ...], written: JsonValue, name: str) -> Any:
    """Return the value of a field that may hold several kinds of things; a record says which it is in `type`."""
    records: list[Any] = [kind for kind in kinds if is_dataclass(kind)]
    if len(records) > 1 and isinstance(written, dict):
        said = written.get("type")
        kind = next((each for each in records if _WORD_START.sub("_", each.__name__).lower() == said), None)
        if kind is None:
            raise NotRecorded(f"{name} has the unknown type {said!r}")
        return record_of(kind, written)
    if written is None:
        return None
    return _value(next(kind for kind in kinds if kind is not types.NoneType), written, name)


def _scalar(hint: Any, written: JsonValue, name: str) -> Any:
    if not isinstance(written, str):
        raise NotRecorded(f"{name} is a text")
    try:
        if hint is datetime:
            return datetime.fromisoformat(written)
        return base64.b64decode(written, validate=True) if hint is bytes else hint(written)
    except (ValueError, binascii.Error) as exc:
        raise NotRecorded(f"{name} cannot be {written[:60]!r}") from exc


def _list(written: JsonValue, name: str) -> list[JsonValue]:
    if not isinstance(written, list):
        raise NotRecorded(f"{name} is a list")
    return written


def _is_union(hint: Any) -> bool:
    return typing.get_origin(hint) in {typing.Union, types.UnionType}


@cache
def _fields(kind: Any) -> dict[str, Any]:
    """Return the fields of a record with their types."""
    hints = typing.get_type_hints(kind)
    return {field.name: hints[field.name] for field in fields(kind)}


def _unusable(cause: str) -> InvalidRequest:
    return InvalidRequest(f"The recorded events cannot be used: {cause}.", violations=(FieldViolation("file", cause),))
