"""Differences between two JSON Schemas, judged from the side of those who send values and those who read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

from taoloop.core import exact_json, pointers
from taoloop.core.exact_json import JsonValue
from taoloop.tools.schema_refusals import resolve_local

MAX_COMPARED_DEPTH: Final = 16
"""How deep two schemas are compared; what lies below counts as changed if it differs at all."""

_ALL_TYPES: Final = ("array", "boolean", "integer", "null", "number", "object", "string")
_LOWER: Final = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties")
_UPPER: Final = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")
_EXACT: Final = ("pattern", "format", "multipleOf", "const", "x-taoloop-source", "x-taoloop-content")
_WHOLE: Final = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "prefixItems", "contains", "dependentRequired")


class SchemaSide(StrEnum):
    """Who the values come from."""

    INPUT = "input"
    """The caller: what becomes narrower breaks it."""

    OUTPUT = "output"
    """The tool: what becomes wider, or goes away, breaks the reader."""


@dataclass(frozen=True, slots=True)
class SchemaChange:
    """One difference.

    Attributes:
        code: Stable UPPER_SNAKE name.
        pointer: Where in the values, as properties and `/*` for items.
        is_breaking: Whether the other side may fail.
        message: One sentence with both values.
    """

    code: str
    pointer: str
    is_breaking: bool
    message: str


def schema_changes(old: JsonValue, new: JsonValue, side: SchemaSide) -> Iterator[SchemaChange]:
    """Yield what differs between two schemas, outer places first.

    What cannot be judged, such as a changed `anyOf`, counts as breaking. Descriptions, examples and defaults that
    change are no difference; local references are followed.

    Args:
        old: As the other side knows it.
        new: As it is now.
        side: Who the values come from.
    """
    yield from _Comparison(old, new, side).at(old, new, "", 0)


@dataclass(frozen=True, slots=True)
class _Comparison:
    old_root: JsonValue
    new_root: JsonValue
    side: SchemaSide

    def at(self, old: Any, new: Any, pointer: str, depth: int) -> Iterator[SchemaChange]:
        old, new = _plain(old, self.old_root), _plain(new, self.new_root)
        if exact_json.equal(old, new) or depth > MAX_COMPARED_DEPTH:
            if not exact_json.equal(old, new):
                yield SchemaChange("SCHEMA_CHANGED", pointer, True, "the schema changed far below")
            return
        yield from self._types(old, new, pointer)
        yield from self._values(old, new, pointer)
        yield from self._bounds(old, new, pointer)
        yield from self._whole(old, new, pointer)
        yield from self._properties(old, new, pointer, depth)
        if "items" in old or "items" in new:
            yield from self.at(old.get("items", {}), new.get("items", {}), pointer + "/*", depth + 1)

    def _change(self, code: str, pointer: str, message: str, *, narrows: bool, widens: bool) -> SchemaChange:
        is_breaking = narrows if self.side is SchemaSide.INPUT else widens
        return SchemaChange(code, pointer, is_breaking, message)

    def _types(self, old: Mapping[str, Any], new: Mapping[str, Any], pointer: str) -> Iterator[SchemaChange]:
        before, after = _types(old), _types(new)
        if before != after:
            message = f"the type was {' or '.join(sorted(before))} and is {' or '.join(sorted(after))}"
            lost, gained = bool(before - after), bool(after - before)
            yield self._change("TYPE_CHANGED", pointer, message, narrows=lost, widens=gained)

    def _values(self, old: Mapping[str, Any], new: Mapping[str, Any], pointer: str) -> Iterator[SchemaChange]:
        before, after = old.get("enum"), new.get("enum")
        if exact_json.equal(before, after):
            return
        lost = _missing(before, after) if after is not None else []
        gained = _missing(after, before) if before is not None else []
        if not lost and not gained and before is not None and after is not None:
            return  # another order
        said = [f"{word} {exact_json.dumps(values)}" for word, values in (("lost", lost), ("gained", gained)) if values]
        message = f"the listed values {' and '.join(said) or 'changed'}"
        # A reader has a place for values that it does not know (observe.known), so a new one is told, not forbidden.
        yield self._change(
            "VALUES_CHANGED",
            pointer,
            message,
            narrows=after is not None and bool(lost or before is None),
            widens=after is None,
        )

    def _bounds(self, old: Mapping[str, Any], new: Mapping[str, Any], pointer: str) -> Iterator[SchemaChange]:
        for keyword in (*_LOWER, *_UPPER):
            before, after = old.get(keyword), new.get(keyword)
            if exact_json.equal(before, after):
                continue
            narrows = after is not None and (before is None or (_above(after, before) is (keyword in _LOWER)))
            message = f"{keyword} was {_said(before)} and is {_said(after)}"
            yield self._change("BOUND_CHANGED", pointer, message, narrows=narrows, widens=False)
        for keyword in _EXACT:
            before, after = old.get(keyword), new.get(keyword)
            if not exact_json.equal(before, after):
                message = f"{keyword} was {_said(before)} and is {_said(after)}"
                is_new_format = keyword == "format" and before is not None
                yield self._change(
                    "CONSTRAINT_CHANGED", pointer, message, narrows=after is not None, widens=is_new_format
                )

    def _whole(self, old: Mapping[str, Any], new: Mapping[str, Any], pointer: str) -> Iterator[SchemaChange]:
        for keyword in _WHOLE:
            before, after = _bare(old.get(keyword)), _bare(new.get(keyword))
            if not exact_json.equal(before, after):
                message = f"{keyword} changed, and what it allows cannot be compared"
                yield self._change(
                    "SCHEMA_CHANGED", pointer, message, narrows=after is not None, widens=before is not None
                )

    def _properties(
        self, old: Mapping[str, Any], new: Mapping[str, Any], pointer: str, depth: int
    ) -> Iterator[SchemaChange]:
        before, after = old.get("properties", {}), new.get("properties", {})
        for name in before:
            here = pointer + pointers.join(name)
            if name not in after:
                is_open = self.side is SchemaSide.INPUT and new.get("additionalProperties", True) is not False
                yield SchemaChange("FIELD_REMOVED", here, not is_open, f"the field {name!r} is gone")
            else:
                yield from self.at(before[name], after[name], here, depth + 1)
        for name in after:
            if name not in before:
                yield self._added(name, new, pointer + pointers.join(name))
        yield from self._required(old, new, pointer)
        was_open, is_open = (each.get("additionalProperties", True) is not False for each in (old, new))
        if was_open is not is_open:
            message = (
                f"undeclared fields {'were' if was_open else 'are'} allowed, and {'are' if is_open else 'no longer'}"
            )
            yield self._change("OPENNESS_CHANGED", pointer, message, narrows=was_open, widens=False)

    def _added(self, name: str, new: Mapping[str, Any], pointer: str) -> SchemaChange:
        is_required = name in new.get("required", ())
        message = f"the field {name!r} is new{' and required' if is_required else ''}"
        return self._change("FIELD_ADDED", pointer, message, narrows=is_required, widens=False)

    def _required(self, old: Mapping[str, Any], new: Mapping[str, Any], pointer: str) -> Iterator[SchemaChange]:
        both = old.get("properties", {}).keys() & new.get("properties", {}).keys()
        before, after = set(old.get("required", ())), set(new.get("required", ()))
        for name in sorted((before ^ after) & both):
            is_required = name in after
            here = pointer + pointers.join(name)
            message = f"the field {name!r} is {'now' if is_required else 'no longer'} required"
            yield self._change("REQUIRED_CHANGED", here, message, narrows=is_required, widens=not is_required)


def _plain(schema: Any, root: JsonValue) -> Mapping[str, Any]:
    """Return the schema as an object, with its references followed; False allows nothing."""
    for _ in range(20):
        if isinstance(schema, Mapping) and isinstance(schema.get("$ref"), str):
            rest = {key: value for key, value in schema.items() if key != "$ref"}
            target = resolve_local(root, schema["$ref"])
            schema = {**target, **rest} if isinstance(target, Mapping) else target
    if isinstance(schema, Mapping):
        return schema
    return {} if schema is True else {"not": {}}


def _types(schema: Mapping[str, Any]) -> frozenset[str]:
    written = schema.get("type", _ALL_TYPES)
    names = {written} if isinstance(written, str) else set(written)
    return frozenset(names | {"integer"} if "number" in names else names)


def _missing(values: list[Any] | None, others: list[Any] | None) -> list[Any]:
    return [value for value in values or () if not any(exact_json.equal(value, each) for each in others or ())]


def _above(value: float | Decimal, other: float | Decimal) -> bool:
    return Decimal(str(value)) > Decimal(str(other))


def _said(value: JsonValue) -> str:
    return "not set" if value is None else exact_json.dumps(value)


def _bare(value: Any) -> Any:
    """Return a part of a schema without what is only for readers."""
    if isinstance(value, Mapping):
        notes = {"description", "title", "examples", "default", "deprecated"}
        return {key: _bare(item) for key, item in value.items() if key not in notes or not isinstance(item, str | list)}
    return [_bare(item) for item in value] if isinstance(value, list) else value
