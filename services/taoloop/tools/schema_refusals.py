"""What a JSON Schema must not hold, found before it is compiled: remote or endless references, depth, patterns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from taoloop.core import exact_json, pointers
from taoloop.core.exact_json import JsonValue
from taoloop.tools import patterns

MAX_SCHEMA_DEPTH: Final = 60
"""Deepest nesting of a schema document; a JSON document may have 64, and a contract needs the rest."""

MAX_SUBSCHEMAS: Final = 5000
"""Most subschemas in one schema."""

MAX_REFERENCE_CHAIN: Final = 100
"""Most schemas that apply to one value because each refers to, or contains, the next."""

_IN_PLACE_ONE: Final = ("not", "if", "then", "else")
_IN_PLACE_MANY: Final = ("allOf", "anyOf", "oneOf")
_IN_PLACE_MAP: Final = ("dependentSchemas",)
_DEEPER_ONE: Final = (
    "items",
    "contains",
    "additionalProperties",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contentSchema",
)
_DEEPER_MANY: Final = ("prefixItems",)
_DEEPER_MAP: Final = ("properties", "patternProperties", "$defs", "definitions")
_REFUSED_KEYWORDS: Final = ("$dynamicRef", "$recursiveRef", "$anchor", "$dynamicAnchor")
_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class SchemaFault:
    """One reason why a schema is refused.

    Attributes:
        pointer: Where in the schema.
        code: `INVALID_SCHEMA`, `INVALID_PATTERN` or `UNSAFE_SCHEMA`.
        message: One sentence without the place.
    """

    pointer: str
    code: str
    message: str


class SchemaRefused(ValueError):
    """The schema must not be used.

    Attributes:
        faults: Every reason that was found, at least one, in the order of the document.
    """

    def __init__(self, faults: tuple[SchemaFault, ...]) -> None:
        super().__init__("; ".join(f"{fault.pointer or '(root)'}: {fault.message}" for fault in faults))
        self.faults = faults


def subschemas(schema: object, pointer: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every object subschema with its pointer, the schema itself first; `const` and the like are not entered."""
    pending: list[tuple[str, object]] = [(pointer, schema)]
    while pending:
        here, node = pending.pop()
        if isinstance(node, Mapping):
            yield here, node
            pending.extend(reversed(list(_children(node, here))))


def refusals(schema: JsonValue) -> tuple[SchemaFault, ...]:
    """Return every fault that can be seen without compiling the schema."""
    try:
        exact_json.dumps(schema, max_depth=MAX_SCHEMA_DEPTH)
    except exact_json.JsonEncodeError as exc:
        return (_unsafe("", str(exc)),)
    faults: list[SchemaFault] = []
    for number, (pointer, node) in enumerate(_reachable(schema)):
        if number >= MAX_SUBSCHEMAS:
            return (_unsafe("", f"there are more than {MAX_SUBSCHEMAS} subschemas"),)
        faults.extend(_node_faults(node, pointer, schema))
    if not faults:
        faults.extend(_endless(schema))
    return tuple(faults)


def resolve_local(root: JsonValue, reference: str) -> JsonValue:
    """Return what a local reference such as `#/$defs/order` names.

    Raises:
        KeyError: It names nothing, or it is not a local pointer.
    """
    if not is_local(reference):
        raise KeyError(reference)
    try:
        return pointers.lookup(root, unquote(reference[1:]))
    except pointers.PointerSyntaxError as exc:
        raise KeyError(reference) from exc


def is_local(reference: str) -> bool:
    """Tell whether the reference is `#` or `#/…`, which never needs a fetch."""
    return reference == "#" or reference.startswith("#/")


def _reachable(root: JsonValue) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the subschemas in their places, then those that only a reference turns into schemas."""
    seen: set[int] = set()
    pending: list[tuple[str, object]] = [("", root)]
    while pending:
        start, schema = pending.pop(0)
        for pointer, node in subschemas(schema, start):
            if id(node) in seen:
                continue
            seen.add(id(node))
            yield pointer, node
            reference = node.get("$ref")
            if isinstance(reference, str) and is_local(reference):
                with suppress(KeyError):
                    pending.append((unquote(reference[1:]), resolve_local(root, reference)))


def _children(node: Mapping[str, Any], pointer: str) -> Iterator[tuple[str, object]]:
    for keyword in (*_IN_PLACE_ONE, *_DEEPER_ONE):
        if keyword in node:
            yield pointer + pointers.join(keyword), node[keyword]
    for keyword in (*_IN_PLACE_MANY, *_DEEPER_MANY):
        if isinstance(node.get(keyword), list):
            for index, item in enumerate(node[keyword]):
                yield pointer + pointers.join(keyword, index), item
    for keyword in (*_IN_PLACE_MAP, *_DEEPER_MAP):
        if isinstance(node.get(keyword), Mapping):
            for name, item in node[keyword].items():
                yield pointer + pointers.join(keyword, name), item


def _node_faults(node: Mapping[str, Any], pointer: str, root: JsonValue) -> Iterator[SchemaFault]:
    yield from _reference_faults(node, pointer, root)
    for keyword in _REFUSED_KEYWORDS:
        if keyword in node:
            yield _unsafe(pointer + pointers.join(keyword), f"{keyword} is not used here; write a local $ref")
    if node.get("$schema", _DIALECT) not in {_DIALECT, _DIALECT + "#"}:
        yield SchemaFault(pointer + "/$schema", "INVALID_SCHEMA", "the dialect is not JSON Schema 2020-12")
    if pointer and "$id" in node:
        yield _unsafe(pointer + "/$id", "an $id inside a schema changes what references mean")
    pattern = node.get("pattern")
    if isinstance(pattern, str):
        yield from _pattern_faults(pattern, pointer + "/pattern")
    named = node.get("patternProperties")
    if isinstance(named, Mapping):
        for name in named:
            yield from _pattern_faults(name, pointer + pointers.join("patternProperties", name))


def _pattern_faults(pattern: str, pointer: str) -> Iterator[SchemaFault]:
    cause = patterns.refusal(pattern)
    if cause is not None:
        yield SchemaFault(pointer, "INVALID_PATTERN", f"the pattern {pattern!r} is refused: {cause}")


def _reference_faults(node: Mapping[str, Any], pointer: str, root: JsonValue) -> Iterator[SchemaFault]:
    reference = node.get("$ref")
    if not isinstance(reference, str):
        return
    if not is_local(reference):
        yield _unsafe(pointer + "/$ref", f"{reference!r} is not a local reference ('#/…'); no schema is ever fetched")
        return
    try:
        target = resolve_local(root, reference)
    except KeyError:
        yield SchemaFault(pointer + "/$ref", "INVALID_SCHEMA", f"{reference!r} names nothing in this schema")
        return
    if not isinstance(target, Mapping | bool):
        yield SchemaFault(pointer + "/$ref", "INVALID_SCHEMA", f"{reference!r} does not name a schema")


def _endless(root: JsonValue) -> Iterator[SchemaFault]:
    """Find a schema that reaches itself without entering the value, or does so only after very many steps."""
    heights: dict[int, int] = {}
    for pointer, node in _reachable(root):
        cause = _endless_from(node, root, heights)
        if cause is not None:
            yield _unsafe(pointer, cause)
            return


def _endless_from(start: Mapping[str, Any], root: JsonValue, heights: dict[int, int]) -> str | None:
    """Walk depth first without recursion; `heights` holds the longest chain below each finished schema."""
    active: set[int] = set()
    pending: list[tuple[Mapping[str, Any], bool]] = [(start, False)]
    while pending:
        node, is_left = pending.pop()
        key = id(node)
        if is_left:
            active.discard(key)
            heights[key] = 1 + max((heights.get(id(child), 0) for child in same_value(node, root)), default=0)
            if heights[key] > MAX_REFERENCE_CHAIN:
                return f"more than {MAX_REFERENCE_CHAIN} schemas apply to one value because each leads to the next"
        elif key in active:
            return "the schema refers to itself for the same value, so that checking would never end"
        elif key not in heights:
            active.add(key)
            pending.append((node, True))
            pending.extend((child, False) for child in same_value(node, root))
    return None


def same_value(node: Mapping[str, Any], root: JsonValue) -> Iterator[Mapping[str, Any]]:
    """Yield the schemas that apply to the value that the node applies to, because it contains or names them."""
    candidates: list[object] = [node.get(keyword) for keyword in _IN_PLACE_ONE]
    for keyword in _IN_PLACE_MANY:
        candidates.extend(node[keyword] if isinstance(node.get(keyword), list) else ())
    for keyword in _IN_PLACE_MAP:
        candidates.extend(node[keyword].values() if isinstance(node.get(keyword), Mapping) else ())
    if isinstance(node.get("$ref"), str):
        candidates.append(resolve_local(root, node["$ref"]))
    yield from (candidate for candidate in candidates if isinstance(candidate, Mapping))


def _unsafe(pointer: str, message: str) -> SchemaFault:
    return SchemaFault(pointer, "UNSAFE_SCHEMA", message)
