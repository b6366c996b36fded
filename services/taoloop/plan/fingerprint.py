"""What a thought comes to, as a hash by which a later thought can be told to be the same."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum
from typing import Any

from taoloop.core.exact_json import ABSENT, JsonEncodeError, JsonValue, digest
from taoloop.plan.model import PlanStep, ThoughtPlan
from taoloop.plan.thinking import NeedInput

_NOT_COMPARED = frozenset({"step_id", "description"})


def thought_fingerprint(outcome: object) -> str:
    """Return the SHA-256 of what a thought comes to, 64 hex characters; empty for what is neither plan nor question.

    Of a plan the steps count in their order: tools, where each argument comes from, and what they wait for. Ids and
    words of explanation do not, nor does the iteration, so that the same plan made again has the same fingerprint.
    Of a question count the values that are asked for and why.
    """
    match outcome:
        case ThoughtPlan(steps=steps) if steps:
            own = {step.step_id: f"#{place}" for place, step in enumerate(steps)}
            what: JsonValue = {"plan": [_step(step, own) for step in steps]}
        case NeedInput(fields=fields) if fields:
            asked = sorted((field.tool, field.pointer, field.reason.value) for field in fields)
            what = {"ask": [[*each] for each in asked]}
        case _:
            return ""
    try:
        return digest(what)
    except JsonEncodeError:  # a value that is no JSON cannot come from a request; such a plan is like no other
        return ""


def _step(step: PlanStep, own: Mapping[str, str]) -> JsonValue:
    parts = {field.name: getattr(step, field.name) for field in dataclasses.fields(step)}
    parts["bindings"] = sorted(step.bindings, key=lambda binding: binding.pointer)
    return {name: _plain(value, own) for name, value in parts.items() if name not in _NOT_COMPARED}


def _plain(value: Any, own: Mapping[str, str]) -> JsonValue:
    """Return records as objects that name their class, and the plan's own steps by their place in it."""
    if value is ABSENT:
        return {"": "absent"}
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, str):
        return own.get(value, value)
    if isinstance(value, list | tuple):
        return [_plain(item, own) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item, own) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: _plain(getattr(value, field.name), own) for field in dataclasses.fields(value)}
        return {"": type(value).__name__, **parts}
    return value  # type: ignore[no-any-return]  # numbers, booleans and None are JSON
