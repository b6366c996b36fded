"""What a JSON Schema says about the place at a pointer, and whether a value from one place fits into another."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import islice, product
from typing import Any, Final

from taoloop.core import exact_json, pointers
from taoloop.core.exact_json import JsonValue
from taoloop.tools.schema_refusals import resolve_local
from taoloop.tools.schemas import CompiledSchema

ALL_TYPES: Final = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})

_MAX_ALTERNATIVES: Final = 64
_INDEX = re.compile(r"0|[1-9][0-9]*")

_All = tuple[Mapping[str, Any], ...]
"""Schemas that hold together for one value."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What may stand at a place.

    Attributes:
        types: JSON Schema type names; `integer` stands beside `number` wherever numbers are allowed.
        formats: Formats of its text, empty if none is named.
        values: The only values that are allowed; None when they are not listed.
        is_required: Whether every valid document has the place.
    """

    types: frozenset[str] = ALL_TYPES
    formats: frozenset[str] = frozenset()
    values: tuple[JsonValue, ...] | None = None
    is_required: bool = True


def types_at(schema: JsonValue, pointer: str) -> Shape | None:
    """Return what may stand at the pointer in a valid document, or None if nothing can.

    A property that an object does not declare does not exist, unless the object declares none at all or
    describes its other properties. `$ref`, `allOf`, `anyOf`, `oneOf` are followed; conditions are not.

    Args:
        schema: A schema that compiles.
        pointer: JSON pointer; the empty one is the document itself.

    Raises:
        PointerSyntaxError: The text is no pointer.
    """
    ways = _Alternatives(schema)
    alternatives = ways.of(schema)
    is_required = True
    for token in pointers.parse(pointer):
        is_required = is_required and all(_requires(each, token) for each in alternatives)
        alternatives = [
            child for each in alternatives for parts in _children(each, token) for child in ways.together(parts)
        ][:_MAX_ALTERNATIVES]
    return _union([_shape(each) for each in alternatives], is_required=is_required) if alternatives else None


def incompatibility(source: Shape, target: Shape) -> str | None:
    """Return why no value of `source` can be used where `target` is asked for; None if one can.

    Text without a format may turn out to have the target's; two different formats never agree.

    >>> incompatibility(Shape(types=frozenset({"string"})), Shape(types=frozenset({"array"})))
    'it holds string, and array is needed'
    """
    common = source.types & target.types
    if not common:
        return f"it holds {_listed(source.types)}, and {_listed(target.types)} is needed"
    if common == {"string"} and source.formats and target.formats and not source.formats & target.formats:
        return f"it holds {_listed(source.formats)}, and {_listed(target.formats)} is needed"
    if source.values is None or target.values is None:
        return None
    if any(exact_json.equal(left, right) for left in source.values for right in target.values):
        return None
    return "none of its values is among those that are needed"


def is_compatible(source_schema: JsonValue, target_schema: JsonValue) -> bool:
    """Tell whether some value of the first schema, by type, format and listed values, may keep the second."""
    source, target = types_at(source_schema, ""), types_at(target_schema, "")
    return source is not None and target is not None and incompatibility(source, target) is None


def _listed(names: frozenset[str]) -> str:
    shown = names - {"integer"} if "number" in names else names
    return " or ".join(sorted(shown))


class _Alternatives:
    """The ways in which a value can keep a schema, each as schemas that hold together; every schema is asked once."""

    def __init__(self, root: JsonValue) -> None:
        self._root = root
        self._known: dict[int, list[_All]] = {}

    def of(self, node: Any) -> list[_All]:
        """Return at most `_MAX_ALTERNATIVES` ways; none for `false`."""
        if node is False:
            return []
        if not isinstance(node, Mapping):
            return [()]
        if id(node) not in self._known:
            self._known[id(node)] = [()]  # what a schema that reaches itself adds to itself
            self._known[id(node)] = self._combined([[(node,)], *self._parts(node)])
        return self._known[id(node)]

    def together(self, nodes: Sequence[JsonValue]) -> list[_All]:
        """Return the ways in which a value can keep all the schemas."""
        return self._combined([self.of(node) for node in nodes])

    def _parts(self, node: Mapping[str, Any]) -> Iterator[list[_All]]:
        if isinstance(node.get("$ref"), str):
            yield self.of(resolve_local(self._root, node["$ref"]))
        for part in node.get("allOf", ()):
            yield self.of(part)
        for keyword in ("anyOf", "oneOf"):
            if keyword in node:
                yield [each for part in node[keyword] for each in self.of(part)]

    @staticmethod
    def _combined(groups: Sequence[list[_All]]) -> list[_All]:
        combined: list[_All] = []
        for chosen in islice(product(*groups), _MAX_ALTERNATIVES):
            # A schema that several parts share counts once, so that the result cannot outgrow the document.
            schemas = {id(schema): schema for part in chosen for schema in part}
            combined.append(tuple(schemas.values()))
        return combined


def _requires(schemas: _All, token: str) -> bool:
    return any(token in schema.get("required", ()) for schema in schemas)


def _children(schemas: _All, token: str) -> Iterator[list[JsonValue]]:
    """Yield the schemas of the child, once as a property and once as an array's item."""
    types = _types(schemas)
    if "object" in types:
        found = _declared(schemas, "properties", [part for each in schemas for part in _properties(each, token)])
        if found is not None:
            yield found
    if "array" in types and _INDEX.fullmatch(token):
        found = _declared(schemas, "items", [part for each in schemas for part in _items(each, int(token))])
        if found is not None:
            yield found


def _declared(schemas: _All, keyword: str, parts: list[JsonValue]) -> list[JsonValue] | None:
    if parts:
        return parts
    return None if any(keyword in schema for schema in schemas) else [True]


def _properties(schema: Mapping[str, Any], token: str) -> Iterator[JsonValue]:
    # The pattern is judged by the linear engine: the token may come from a model, and `re` backtracks.
    matched = [
        part
        for name, part in schema.get("patternProperties", {}).items()
        if CompiledSchema.compile({"pattern": name}).is_valid(token)
    ]
    if token in schema.get("properties", {}):
        matched.append(schema["properties"][token])
    yield from matched
    if not matched and "additionalProperties" in schema:
        yield schema["additionalProperties"]


def _items(schema: Mapping[str, Any], index: int) -> Iterator[JsonValue]:
    prefix = schema.get("prefixItems", [])
    if index >= schema.get("maxItems", index + 1):
        yield False
    elif index < len(prefix):
        yield prefix[index]
    elif "items" in schema:
        yield schema["items"]


def _types(schemas: _All) -> frozenset[str]:
    types = ALL_TYPES
    for schema in schemas:
        if "type" in schema:
            written = schema["type"]
            names = {written} if isinstance(written, str) else set(written)
            types &= names | {"integer"} if "number" in names else names
        values = _values(schema)
        if values is not None:
            types &= frozenset(name for value in values for name in _type_names(value))
    return types


def _type_names(value: JsonValue) -> tuple[str, ...]:
    if value is None:
        return ("null",)
    if isinstance(value, bool):
        return ("boolean",)
    if isinstance(value, int | float | Decimal):
        return ("integer", "number") if value == int(value) else ("number",)
    if isinstance(value, str):
        return ("string",)
    return ("array",) if isinstance(value, list) else ("object",)


def _values(schema: Mapping[str, Any]) -> tuple[JsonValue, ...] | None:
    if "const" in schema:
        return (schema["const"],)
    return tuple(schema["enum"]) if "enum" in schema else None


def _shape(schemas: _All) -> Shape:
    values: tuple[JsonValue, ...] | None = None
    for schema in schemas:
        listed = _values(schema)
        if listed is not None:
            values = (
                listed if values is None else tuple(v for v in values if any(exact_json.equal(v, w) for w in listed))
            )
    formats = frozenset(schema["format"] for schema in schemas if isinstance(schema.get("format"), str))
    return Shape(_types(schemas), formats, values)


def _union(shapes: Sequence[Shape], *, is_required: bool) -> Shape | None:
    possible = [shape for shape in shapes if shape.types]
    if not possible:
        return None
    values: list[JsonValue] | None = []
    for shape in possible:
        values = None if values is None or shape.values is None else [*values, *shape.values]
    texts = [shape for shape in possible if "string" in shape.types]
    # One alternative of text without a format makes any text possible.
    formats = frozenset().union(*(shape.formats for shape in texts)) if all(s.formats for s in texts) else frozenset()
    types = frozenset().union(*(shape.types for shape in possible))
    return Shape(types, formats, None if values is None else tuple(values), is_required)
