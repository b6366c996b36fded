"""One contract as JSON, with every value that is in effect."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from typing import Any, Final

from taoloop.action.policies.retry import READ_DEFAULT, WRITE_DEFAULT
from taoloop.core.exact_json import Absent, JsonValue
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.contract import HttpTransport, ToolContract
from taoloop.tools.signature import Effect

_AS_WRITTEN: Final = {"convert": "as", "is_retriable": "retriable", "conversion_options": "", "location": "in"}
"""Names of the records that are others in a contract's file; what has an empty name is merged into what holds it."""


def summary_json(contract: ToolContract) -> dict[str, JsonValue]:
    """Return what a list of tools says of one."""
    return {
        "name": contract.name,
        "description": contract.description,
        "use_when": contract.use_when,
        "avoid_when": contract.avoid_when,
        "effect": contract.effect.value,
        "reach": contract.reach.value,
        "trust": contract.trust.value,
        "timeout_seconds": contract.timeout_seconds,
        "contract_digest": contract.digest,
    }


def detail_json(tool: CompiledTool) -> dict[str, JsonValue]:
    """Return the whole contract under the names of its file, durations as `…_seconds`; null where nothing is set.

    A key that a reader looks for is always there, so that a missing limit is seen as none.
    """
    contract = tool.contract
    return {
        **summary_json(contract),
        "transport": _call(contract),
        **_calling(contract),
        **_judging(contract),
        "parameters": dict(contract.parameters),
        "output_schema": tool.output_schema,
        "answer": dict(contract.answer),
        "samples": list(contract.samples),
    }


def _call(contract: ToolContract) -> str:
    transport = contract.transport
    if isinstance(transport, HttpTransport):
        return f"{transport.method} {transport.url}"
    return type(transport).__name__ if transport is not None else ""


def _calling(contract: ToolContract) -> dict[str, JsonValue]:
    retry = contract.retry or (READ_DEFAULT if contract.effect is Effect.READ else WRITE_DEFAULT)
    return {
        "retry": _written(retry),
        "breaker": _written(contract.breaker),
        "limiter": _written(contract.limiter),
        "pool": _written(contract.pool),
        "cache": _written(contract.cache),
        "fallback": _written(contract.fallback),
        "idempotency": _written(contract.idempotency),
        "approval": _written(contract.approval),
        "reconcile": _written(contract.reconcile),
    }


def _judging(contract: ToolContract) -> dict[str, JsonValue]:
    observe = contract.observe
    return {
        "success": _written(contract.success),
        "empty": contract.empty.value,
        "errors": _written(contract.errors),
        "max_latency_seconds": observe.max_latency_seconds,
        "min_score": _written(observe.min_score),
        "pick": ["everything"] if observe.pick is None else list(observe.pick),
        "normalise": _written(observe.normalise),
        "rules": _written(observe.rules),
        "known": _written(observe.known),
        "weight": observe.weight,
        "redact": _written(observe.redact),
        "projections": _written(observe.projections),
        "exposed": ["everything"] if observe.expose is None else list(observe.expose),
    }


def _written(value: Any) -> JsonValue:
    """Return a part of a contract as JSON; fields of a record that are not set are left out."""
    if isinstance(value, Absent):
        return None
    if isinstance(value, Enum):
        return str(value.value)
    if value is None or isinstance(value, bool | int | float | Decimal | str):
        return value
    if isinstance(value, Mapping):
        return {str(_written(key)): _written(item) for key, item in value.items()}
    if dataclasses.is_dataclass(value):
        return _record(value)
    if isinstance(value, frozenset):
        return [_written(item) for item in sorted(value)]
    return [_written(item) for item in value]


def _record(value: Any) -> dict[str, JsonValue]:
    members: dict[str, JsonValue] = {}
    for field in dataclasses.fields(value):
        item = getattr(value, field.name)
        if item is None or item == "" or (field.default_factory is dict and not item):
            continue
        name = _AS_WRITTEN.get(field.name, field.name)
        written = _written(item)
        if name:
            members[name] = written
        elif isinstance(written, dict):
            members.update(written)
    return members
