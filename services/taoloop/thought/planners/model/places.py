"""The places of JSON Schemas and of JSON values, under the short names that a model reads and writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from taoloop.core import pointers
from taoloop.core.exact_json import JsonValue
from taoloop.tools.schema_paths import ALL_TYPES, Shape, types_at
from taoloop.tools.schema_refusals import resolve_local

MAX_PLACES: Final = 40
"""Most places of one result, answer or state that a prompt names."""
MAX_DEPTH: Final = 3
"""How deep results and state are named."""
WHOLE: Final = "."
"""The name of a value as a whole."""

_MAX_HOPS: Final = 16

Node = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NamedPlace:
    """A place that a skeleton may point at.

    Attributes:
        name: Tokens joined by points, such as `order.id`; `.` is the whole.
        pointer: The place.
        shape: What may stand there.
    """

    name: str
    pointer: str
    shape: Shape


def facets(location: str, node: Any, root: JsonValue) -> Iterator[tuple[str, Node]]:
    """Yield every object schema that always speaks about the same value, with its pointer in the schema document.

    References and `allOf` are followed, and the one alternative that is not null.
    """
    pending: list[tuple[str, Any]] = [(location, node)]
    for _ in range(_MAX_HOPS):
        if not pending:
            return
        at, current = pending.pop(0)
        if not isinstance(current, Mapping):
            continue
        yield at, current
        reference = current.get("$ref")
        if isinstance(reference, str) and reference.startswith("#"):
            try:
                pending.append((reference[1:], resolve_local(root, reference)))
            except KeyError:
                continue
        pending += [(f"{at}/allOf/{index}", part) for index, part in enumerate(current.get("allOf", ()))]
        for keyword in ("anyOf", "oneOf"):
            real = [
                (f"{at}/{keyword}/{i}", part) for i, part in enumerate(current.get(keyword, ())) if not _is_null(part)
            ]
            pending += real if len(real) == 1 else []


def members(found: list[tuple[str, Node]]) -> dict[str, tuple[str, Any]]:
    """Return the declared properties by name, with the pointer of each in the schema document; required ones first."""
    declared: dict[str, tuple[str, Any]] = {}
    for at, node in found:
        for name, schema in node.get("properties", {}).items():
            declared.setdefault(name, (at + pointers.join("properties", name), schema))
    needed = [name for name in required(found) if name in declared]
    return {name: declared[name] for name in dict.fromkeys([*needed, *declared])}


def required(found: list[tuple[str, Node]]) -> tuple[str, ...]:
    """Return the names of the required properties."""
    return tuple(dict.fromkeys(name for _, node in found for name in node.get("required", ())))


def keyword(found: list[tuple[str, Node]], name: str) -> tuple[str, Any] | None:
    """Return the pointer and value of the first schema that has the keyword."""
    return next(((at + pointers.join(name), node[name]) for at, node in found if name in node), None)


def places_of_schema(schema: Node) -> tuple[NamedPlace, ...]:
    """Return the places of the values that a schema describes, the whole first."""
    root = dict(schema)
    return tuple(_named(pointer, types_at(root, pointer)) for pointer in _walk(root))[:MAX_PLACES]


def places_of_value(value: JsonValue) -> tuple[NamedPlace, ...]:
    """Return the places of a value; what stands there is its only possible value."""
    found: list[NamedPlace] = []
    pending: list[tuple[tuple[str, ...], JsonValue]] = [((), value)]
    while pending and len(found) < MAX_PLACES:
        tokens, current = pending.pop(0)
        if tokens or not isinstance(current, dict):
            found.append(_named(pointers.join(*tokens), types_at({"const": current}, "")))
        if len(tokens) < MAX_DEPTH and isinstance(current, dict):
            pending += [((*tokens, str(key)), member) for key, member in current.items()]
        elif len(tokens) < MAX_DEPTH and isinstance(current, list) and current:
            pending.append(((*tokens, "0"), current[0]))
    return tuple(found)


def _walk(root: dict[str, Any]) -> list[str]:
    walked: list[str] = []
    pending: list[tuple[tuple[str, ...], str, Any]] = [((), "", root)]
    while pending and len(walked) < MAX_PLACES:
        tokens, location, node = pending.pop(0)
        walked.append(pointers.join(*tokens))
        found = list(facets(location, node, root))
        if len(tokens) >= MAX_DEPTH:
            continue
        pending += [((*tokens, name), at, child) for name, (at, child) in members(found).items()]
        if (items := keyword(found, "items")) is not None:
            pending.append(((*tokens, "0"), *items))
    return walked


def _named(pointer: str, shape: Shape | None) -> NamedPlace:
    name = ".".join(pointers.parse(pointer)) or WHOLE
    return NamedPlace(name, pointer, shape or Shape(types=ALL_TYPES))


def _is_null(part: Any) -> bool:
    return isinstance(part, Mapping) and (part.get("type") == "null" or part.get("const", 0) is None)
