"""One schema of a document and what it says of the places right below it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

from taoloop.core import pointers
from taoloop.tools.normalisers.places import STAR, array_index
from taoloop.tools.schema_paths import Shape, types_at
from taoloop.tools.schema_refusals import resolve_local
from taoloop.tools.schemas import CompiledSchema

Schema = dict[str, Any] | bool
"""A schema that is never changed in place: parts are shared between documents."""

_BESIDE: Final = frozenset(
    {"title", "description", "examples", "default", "deprecated", "$comment", "$defs", "$schema"}
)
"""Keywords that judge no value, so that they may stand beside those of another schema."""
_ORIGINAL: Final = "response"


def self_contained(response: Mapping[str, Any] | bool) -> Schema:
    """Return a document in which references name parts of `$defs` alone, so that all else of it can be changed."""
    if isinstance(response, bool):
        return response
    document = dict(response)
    if all(reference.startswith("#/$defs/") for reference in _references(document)):
        return document
    moved = _with_references(document, lambda reference: _moved(reference, _free_name(document)))
    return {**moved, "$defs": {**moved.get("$defs", {}), _free_name(document): moved}}


def inlined(root: Schema, node: Any) -> Schema:
    """Return the schema with its own reference written out."""
    for _ in range(64):  # a chain of references; a ring of them does not compile
        if not isinstance(node, Mapping) or "$ref" not in node:
            break
        target = resolve_local(root, node["$ref"])
        beside = {key: value for key, value in node.items() if key != "$ref"}
        if isinstance(target, Mapping) and beside.keys() <= _BESIDE:
            node = {**target, **beside}
        else:
            node = {**beside, "allOf": [target, *beside.get("allOf", ())]}
    return dict(node) if isinstance(node, Mapping) else bool(node)


def child(root: Schema, node: Any, token: str) -> Schema | None:
    """Return what the schema says of the member or item, of any of them for a star; None when there can be none.

    A property that an object does not declare does not exist, unless the object declares none at all or describes its
    other properties.
    """
    found = _reached(root, node, token)
    if isinstance(found, _Open):
        return True
    return None if found is None or found is False else found


def is_declared(root: Schema, node: Any, token: str) -> bool:
    """Tell whether the schema speaks of the member or item; else there is none, or nothing is known of it."""
    found = _reached(root, node, token)
    return isinstance(found, dict | bool) and found is not False


def place(root: Schema, tokens: Sequence[str]) -> Schema | None:
    """Return what the document says of a place; None when nothing can be there."""
    node: Schema | None = root
    for token in tokens:
        node = None if node is None else child(root, node, token)
    return node


def is_always_there(root: Schema, node: Any, tokens: Sequence[str]) -> bool:
    """Tell whether every valid value has the place below it; a star stands for none at all, so it never is."""
    for token in tokens:
        if token == STAR or not (_requires(root, node, token) and shape(root, node).types == {"object"}):
            return False
        below = child(root, node, token)
        if below is None:
            return False
        node = below
    return True


def shape(root: Schema, node: Any) -> Shape:
    """Return what may stand where a schema of the document holds; no types when nothing may."""
    written = node if isinstance(node, bool) else dict(node)
    definitions = root.get("$defs", {}) if isinstance(root, dict) else {}
    found = types_at({"$defs": definitions, "allOf": [written]}, "")
    return Shape(types=frozenset()) if found is None else found


def together(schemas: Iterable[Schema]) -> Schema:
    """Return the schema that holds where all of them do."""
    parts = [schema for schema in schemas if schema is not True and schema != {}]
    if any(schema is False for schema in parts):
        return False
    if not parts:
        return True
    return parts[0] if len(parts) == 1 else {"allOf": parts}


def either(schemas: Iterable[Schema]) -> Schema:
    """Return the schema that holds where one of them does."""
    parts: list[Schema] = []
    for schema in schemas:
        if schema is True or schema == {}:
            return True
        if schema is not False and schema not in parts:
            parts.append(schema)
    if not parts:
        return False
    return parts[0] if len(parts) == 1 else {"anyOf": parts}


def patterns_of(simple: Mapping[str, Any], token: str) -> list[str]:
    """Return the patterns of `patternProperties` that a member's name matches."""
    # The pattern is judged by the linear engine: `re` backtracks.
    return [
        pattern
        for pattern in simple.get("patternProperties", {})
        if CompiledSchema.compile({"pattern": pattern}).is_valid(token)
    ]


class _Open:
    """The type of the schema that says nothing of a member, and declares no other."""


_OPEN: Final = _Open()
_Reached = Schema | _Open | None


def _reached(root: Schema, node: Any, token: str) -> _Reached:
    node = inlined(root, node)
    if isinstance(node, bool):
        return _OPEN if node else None
    parts: list[_Reached] = [_own(node, token), *(_reached(root, part, token) for part in node.get("allOf", ()))]
    parts += [
        _united([_reached(root, part, token) for part in node[keyword]])
        for keyword in ("anyOf", "oneOf")
        if keyword in node
    ]
    declared = [part for part in parts if isinstance(part, dict | bool)]
    if any(part is False for part in declared):
        return None
    if declared:
        return together(declared)
    return None if None in parts else _OPEN


def _united(parts: list[_Reached]) -> _Reached:
    declared = [part for part in parts if isinstance(part, dict | bool) and part is not False]
    if declared:
        return either([*declared, *(True for part in parts if part is _OPEN)])
    return _OPEN if any(part is _OPEN for part in parts) else None


def _own(node: Mapping[str, Any], token: str) -> _Reached:
    """Return what the keywords of one schema say, without its parts."""
    types = _types(node)
    ways: list[_Reached] = []
    if "object" in types:
        ways.append(_own_members(node) if token == STAR else _own_member(node, token))
    if "array" in types and (token == STAR or array_index(token) is not None):
        ways.append(_own_items(node) if token == STAR else _own_item(node, array_index(token) or 0))
    return _united(ways) if ways else False


def _own_member(node: Mapping[str, Any], token: str) -> _Reached:
    declared = [node["patternProperties"][pattern] for pattern in patterns_of(node, token)]
    if token in node.get("properties", {}):
        declared.append(node["properties"][token])
    if declared:
        return together(declared)
    if "additionalProperties" in node:
        written: Schema = node["additionalProperties"]
        return written
    return None if "properties" in node else _OPEN


def _own_members(node: Mapping[str, Any]) -> _Reached:
    declared = [*node.get("properties", {}).values(), *node.get("patternProperties", {}).values()]
    if "additionalProperties" in node:
        declared.append(node["additionalProperties"])
    return either(declared) if declared else (None if "properties" in node else _OPEN)


def _own_item(node: Mapping[str, Any], index: int) -> _Reached:
    prefix = node.get("prefixItems", ())
    if index >= node.get("maxItems", index + 1):
        return False
    if index < len(prefix):
        written: Schema = prefix[index]
        return written
    items: _Reached = node.get("items", _OPEN)
    return items


def _own_items(node: Mapping[str, Any]) -> _Reached:
    declared = [*node.get("prefixItems", ()), *([node["items"]] if "items" in node else [])]
    return either(declared) if declared else _OPEN


def _types(node: Mapping[str, Any]) -> frozenset[str]:
    written = node.get("type", ["object", "array"])
    types = frozenset([written] if isinstance(written, str) else written)
    values = [node["const"]] if "const" in node else node.get("enum")
    if values is None:
        return types
    return types & {
        "object" if isinstance(value, dict) else "array" for value in values if isinstance(value, dict | list)
    }


def _requires(root: Schema, node: Any, token: str) -> bool:
    node = inlined(root, node)
    if isinstance(node, bool):
        return False
    if token in node.get("required", ()) or any(_requires(root, part, token) for part in node.get("allOf", ())):
        return True
    return any(
        all(_requires(root, part, token) for part in node[keyword]) for keyword in ("anyOf", "oneOf") if keyword in node
    )


def _references(value: Any) -> Iterable[str]:
    if isinstance(value, Mapping):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        for member in value.values():
            yield from _references(member)
    elif isinstance(value, list):
        for item in value:
            yield from _references(item)


def _with_references(value: Any, change: Callable[[str], str]) -> Any:
    if isinstance(value, Mapping):
        return {
            key: change(member) if key == "$ref" and isinstance(member, str) else _with_references(member, change)
            for key, member in value.items()
        }
    return [_with_references(item, change) for item in value] if isinstance(value, list) else value


def _moved(reference: str, name: str) -> str:
    if reference.startswith("#/$defs/"):
        return reference
    return f"#/$defs/{name}{reference[1:]}"


def _free_name(document: Mapping[str, Any]) -> str:
    taken = document.get("$defs", {})
    name = _ORIGINAL
    while name in taken:
        name += "_"
    return pointers.join(name)[1:]
