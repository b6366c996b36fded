"""The subschema of one place inside the values that a JSON Schema accepts, found without a value at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from taoloop.core import pointers
from taoloop.core.exact_json import JsonValue
from taoloop.tools.schema_paths import types_at
from taoloop.tools.schema_refusals import resolve_local

Schema = Mapping[str, Any] | bool

_ALTERNATIVES: Final = ("anyOf", "oneOf")
_DESCRIBED: Final = ("type", "format", "enum", "const", "pattern", "items")
_MAX_FACETS: Final = 200


def place(schema: Schema, pointer: str) -> Schema | None:
    """Return the schema of what stands at the pointer, `True` where anything may stand, None where nothing can.

    Whether something can stand there is for `types_at` to say; alternatives come back as one `anyOf`.
    """
    if types_at(_json(schema), pointer) is None:
        return None
    node: Schema = schema
    for token in pointers.parse(pointer):
        found = [child for facet in _facets(node, schema) for child in _declared(facet, token)]
        if not found:
            return True
        node = found[0] if len(found) == 1 else {"anyOf": found}
    return node


def is_array(schema: Schema, pointer: str) -> bool:
    """Tell whether only an array can stand at the pointer."""
    shape = types_at(_json(schema), pointer)
    return shape is not None and shape.types - {"null"} == {"array"}


def properties(schema: Schema) -> tuple[str, ...]:
    """Return the names of the declared properties, in order."""
    names: dict[str, None] = {}
    for facet in _facets(schema, schema):
        names.update(dict.fromkeys(facet.get("properties", ())))
    return tuple(names)


def required(schema: Schema, node: Schema) -> tuple[str, ...]:
    """Return the names that every value of the node must have; alternatives require nothing."""
    names: dict[str, None] = {}
    for facet in _facets(node, schema, with_alternatives=False):
        names.update(dict.fromkeys(facet.get("required", ())))
    return tuple(names)


def described(node: Schema) -> JsonValue:
    """Return the part of a schema that says what kind of value it is, for a fault."""
    if isinstance(node, bool):
        return node
    return {key: node[key] for key in _DESCRIBED if key in node} or dict(node)


def _declared(facet: Mapping[str, Any], token: str) -> Iterator[Schema]:
    named = facet.get("properties", {})
    if token in named:
        yield named[token]
        return
    additional = facet.get("additionalProperties")
    if isinstance(additional, Mapping):
        yield additional
    if token.isascii() and token.isdecimal() and len(token) < 10:
        first = facet.get("prefixItems", ())
        if int(token) < len(first):
            yield first[int(token)]
        elif "items" in facet:
            yield facet["items"]


def _facets(node: Schema, root: Schema, *, with_alternatives: bool = True) -> Iterator[Mapping[str, Any]]:
    """Yield every object schema that speaks about the same value: references, `allOf` and the alternatives."""
    pending: list[Schema] = [node]
    for _ in range(_MAX_FACETS):
        if not pending:
            return
        current = pending.pop(0)
        if isinstance(current, bool):
            continue
        yield current
        reference = current.get("$ref")
        if isinstance(reference, str):
            pending.append(_target(reference, root))
        pending.extend(current.get("allOf", ()))
        if with_alternatives:
            for keyword in _ALTERNATIVES:
                pending.extend(current.get(keyword, ()))


def _target(reference: str, root: Schema) -> Schema:
    try:
        target = resolve_local(_json(root), reference)
    except KeyError:
        return True
    return target if isinstance(target, Mapping | bool) else True


def _json(schema: Schema) -> JsonValue:
    return schema if isinstance(schema, bool | dict) else dict(schema)
