"""What checking a schema may cost: how often its parts apply to one value, and whether naming errors multiplies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from taoloop.core.exact_json import JsonValue
from taoloop.tools.schema_refusals import same_value

MAX_APPLICATIONS: Final = 10_000
"""Most schemas that may apply on one way into a value; where each refers twice to the next, 13 steps are more."""

_ALTERNATIVES: Final = ("anyOf", "oneOf")
_MEMBERS: Final = ("unevaluatedProperties", "propertyNames")
_ITEMS: Final = ("contains", "unevaluatedItems")
_LOOSENED: Final = (*_ALTERNATIVES, "not", "if", "then", "else", "unevaluatedProperties", "unevaluatedItems")

_Node = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SchemaCosts:
    """What is known of a schema before any value is checked.

    Attributes:
        applications: How many schemas apply at most on one way into a value, references followed; what refers back to
            a schema on its way counts once.
        alternatives: Most alternatives of one `anyOf` or `oneOf`; 0 for none. The library describes why each failed.
        is_recursive: Whether a schema refers back to itself for a part of the value.
    """

    applications: int
    alternatives: int
    is_recursive: bool


def costs_of(root: JsonValue) -> SchemaCosts:
    """Return what checking costs by a schema that `refusals` lets pass."""
    if not isinstance(root, Mapping):
        return SchemaCosts(1, 0, is_recursive=False)
    finished: dict[int, int] = {}
    active: set[int] = set()
    alternatives, is_recursive = 0, False
    pending: list[tuple[_Node, bool]] = [(root, False)]
    while pending:
        node, is_left = pending.pop()
        key = id(node)
        if is_left:
            active.discard(key)
            finished[key] = _applied(node, root, finished)
        elif key in active:
            is_recursive = True
        elif key not in finished:
            alternatives = max(alternatives, *(len(_listed(node, name)) for name in _ALTERNATIVES))
            active.add(key)
            pending.append((node, True))
            pending.extend((child, False) for child in _applying(node, root))
    return SchemaCosts(finished[id(root)], alternatives, is_recursive)


def without_alternatives(schema: Any) -> Any:
    """Return a looser schema: what it refuses the schema refuses too, at the same place and by the same keyword."""
    if not isinstance(schema, dict):
        return schema
    return {name: _loosened(name, member) for name, member in schema.items() if name not in _LOOSENED}


def _loosened(name: str, member: Any) -> Any:
    if name in {"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}:
        return {key: without_alternatives(each) for key, each in member.items()}
    if name in {"allOf", "prefixItems"}:
        return [without_alternatives(each) for each in member]
    return without_alternatives(member) if name in {"items", "additionalProperties"} else member


def _applied(node: _Node, root: JsonValue, finished: Mapping[int, int]) -> int:
    """Add what applies to the value itself and, of its parts, to the one to which most applies."""

    def cost(child: object) -> int:
        return finished.get(id(child), 0) if isinstance(child, Mapping) else 0

    named = [cost(child) for child in (*_members(node, "properties"), node.get("additionalProperties"))]
    placed = [cost(child) for child in (*_listed(node, "prefixItems"), node.get("items"))]
    every_member = sum(map(cost, (*_members(node, "patternProperties"), *map(node.get, _MEMBERS))))
    every_item = sum(map(cost, map(node.get, _ITEMS)))
    parts = max(max(named) + every_member, max(placed) + every_item)
    return 1 + sum(map(cost, same_value(node, root))) + parts


def _applying(node: _Node, root: JsonValue) -> Iterator[_Node]:
    yield from same_value(node, root)
    below = [node.get(name) for name in ("additionalProperties", "items", *_MEMBERS, *_ITEMS)]
    below += [*_members(node, "properties"), *_members(node, "patternProperties"), *_listed(node, "prefixItems")]
    yield from (child for child in below if isinstance(child, Mapping))


def _members(node: _Node, name: str) -> list[Any]:
    found = node.get(name)
    return list(found.values()) if isinstance(found, Mapping) else []


def _listed(node: _Node, name: str) -> list[Any]:
    found = node.get(name)
    return found if isinstance(found, list) else []
