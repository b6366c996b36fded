"""Argument texts read against a tool's schema: strict JSON, then only the coercions that the schema asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from taoloop.core import exact_json, pointers
from taoloop.core.exact_json import JsonSyntaxError, JsonValue
from taoloop.tools.schema_paths import Shape, types_at
from taoloop.tools.schemas import CompiledSchema, Violation

_INTEGER_TEXT: Final = re.compile(r"[+-]?[0-9]{1,1000}")
_LEADING_WORD: Final = re.compile(r"\s*json\s*(?=[{\[])")
_MAX_ROUNDS: Final = 4


@dataclass(frozen=True, slots=True)
class ArgumentsRead:
    """Arguments that keep the schema.

    Attributes:
        value: The arguments, with exact numbers.
        coerced: Pointer of every value that was changed or dropped to keep the schema, sorted.
        is_repaired: Whether the leading word `json` was taken off, the one repair that is made here.
    """

    value: dict[str, Any]
    coerced: tuple[str, ...]
    is_repaired: bool = False


class ArgumentsRefused(ValueError):
    """The text is no valid set of arguments.

    Attributes:
        violations: What the schema objects to; empty when the text is not JSON.
        syntax: Where and why the text is not JSON, else None.
        schema: The schema, for whoever has to write the arguments again.
    """

    def __init__(
        self,
        message: str,
        *,
        schema: JsonValue,
        violations: tuple[Violation, ...] = (),
        syntax: JsonSyntaxError | None = None,
    ) -> None:
        super().__init__(message)
        self.violations = violations
        self.syntax = syntax
        self.schema = schema


def read_arguments(schema: CompiledSchema, text: str) -> ArgumentsRead:
    """Read the raw argument text of one call.

    Empty text and `null` count as `{}` if the schema accepts that. Coerced, without loss only: `true` and `false`
    in any case to a boolean; ASCII digits with a sign to an integer; text to an object or list by reading it once
    more; a number to its exact text. Null for an optional field that does not allow null is dropped.

    Args:
        schema: The tool's compiled parameters.
        text: As the model wrote it.

    Raises:
        ArgumentsRefused: The text is not JSON, or the value breaks the schema even so.
    """
    is_repaired = _LEADING_WORD.match(text) is not None
    try:
        value = exact_json.loads(_LEADING_WORD.sub("", text)) if text.strip() else None
    except JsonSyntaxError as exc:
        raise ArgumentsRefused(f"the arguments are not JSON: {exc}", schema=schema.schema, syntax=exc) from exc
    return replace(check_arguments(schema, {} if value is None else value), is_repaired=is_repaired)


def check_arguments(schema: CompiledSchema, value: JsonValue) -> ArgumentsRead:
    """Coerce and check arguments that were read before; the value is not changed, the result shares parts of it.

    Raises:
        ArgumentsRefused: The value breaks the schema even when coerced.
    """
    coerced: set[str] = set()
    violations = schema.violations(value)
    for _ in range(_MAX_ROUNDS):  # a decoded object may need coercions inside
        if not violations:
            break
        changed = _coerce(value, violations, schema.schema, coerced)
        if changed is value:
            break
        value = changed
        violations = schema.violations(value)
    if violations or not isinstance(value, dict):
        message = "; ".join(f"{each.pointer or '(root)'}: {each.message}" for each in violations)
        raise ArgumentsRefused(message or "the arguments are no object", schema=schema.schema, violations=violations)
    return ArgumentsRead(value, tuple(sorted(coerced)))


class _Drop:
    """Says that a value is left out."""


_DROP: Final = _Drop()


def _coerce(value: JsonValue, violations: tuple[Violation, ...], schema: JsonValue, coerced: set[str]) -> JsonValue:
    """Return the value with every violation of a type mended that can be; the same object if none can."""
    for violation in violations:
        if violation.keyword not in {"type", "anyOf", "oneOf", "enum", "const"}:
            continue
        try:
            shape = types_at(schema, violation.pointer)
            actual = pointers.lookup(value, violation.pointer)
        except KeyError:  # gone with something around it
            continue
        mended = _DROP if shape is None else _mended(actual, shape)
        if shape is None or isinstance(mended, _Drop):
            if shape is not None and actual is None and not shape.is_required:
                value = _without(value, pointers.parse(violation.pointer))
                coerced.add(violation.pointer)
            continue
        value = _with(value, pointers.parse(violation.pointer), mended)
        coerced.add(violation.pointer)
    return value


def _mended(actual: JsonValue, shape: Shape) -> JsonValue | _Drop:
    """Return the value in one of the wanted types, or `_DROP` if there is no way without loss."""
    if isinstance(actual, int | float | Decimal) and not isinstance(actual, bool) and "string" in shape.types:
        text = exact_json.dumps(actual)
        return text if "E" not in text.upper() else _DROP  # the spelling of an exponent is not kept
    if not isinstance(actual, str):
        return _DROP
    candidates: list[JsonValue] = []
    if "boolean" in shape.types and actual.lower() in {"true", "false"} and actual.isascii():
        candidates.append(actual.lower() == "true")
    if "integer" in shape.types and _INTEGER_TEXT.fullmatch(actual):
        candidates.append(int(actual))
    if shape.types & {"object", "array"}:
        candidates.extend(_decoded(actual, shape))
    return candidates[0] if len(candidates) == 1 else _DROP


def _decoded(text: str, shape: Shape) -> list[JsonValue]:
    try:
        value = exact_json.loads(text)
    except JsonSyntaxError:
        return []
    is_wanted = (isinstance(value, dict) and "object" in shape.types) or (
        isinstance(value, list) and "array" in shape.types
    )
    return [value] if is_wanted else []


def _with(value: JsonValue, tokens: tuple[str, ...], new: JsonValue) -> JsonValue:
    """Return a copy with another value at the place; untouched parts are shared."""
    if not tokens:
        return new
    if isinstance(value, list):
        index = int(tokens[0])
        return [*value[:index], _with(value[index], tokens[1:], new), *value[index + 1 :]]
    assert isinstance(value, Mapping)
    return {key: _with(item, tokens[1:], new) if key == tokens[0] else item for key, item in value.items()}


def _without(value: JsonValue, tokens: tuple[str, ...]) -> JsonValue:
    """Return a copy without the object member at the place; items of lists stay."""
    if isinstance(value, list) and len(tokens) > 1:
        index = int(tokens[0])
        return [*value[:index], _without(value[index], tokens[1:]), *value[index + 1 :]]
    if not isinstance(value, Mapping):
        return value
    if len(tokens) == 1:
        return {key: item for key, item in value.items() if key != tokens[0]}
    return {key: _without(item, tokens[1:]) if key == tokens[0] else item for key, item in value.items()}
