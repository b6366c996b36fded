"""What a response schema lists by name at one place: properties, values, null."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from taoloop.core.exact_json import JsonValue
from taoloop.tools.schema_refusals import resolve_local

_MAX_SCHEMAS: Final = 64
_FORM_KEYWORDS: Final = ("format", "pattern")


@dataclass(frozen=True, slots=True)
class Declared:
    """What the schemas of one place list, all of them together whatever joins them.

    Attributes:
        root: The whole schema, for references.
        properties: Schemas of each property.
        member_schemas: Schemas of members that are not listed by name.
        items: Schemas of the items.
        values: Texts of `enum` and `const`.
        allows_null: Whether null is named, as a type or a value.
        has_form: Whether a text has a format or a pattern, which says that it is no word of an enumeration.
    """

    root: JsonValue
    properties: Mapping[str, list[JsonValue]] = field(default_factory=dict)
    member_schemas: tuple[JsonValue, ...] = ()
    items: tuple[JsonValue, ...] = ()
    values: frozenset[str] = frozenset()
    allows_null: bool = False
    has_form: bool = False

    @property
    def is_map(self) -> bool:
        """Tell whether the names of the members are data: none is listed, and all have one schema."""
        return bool(self.member_schemas) and not self.properties

    def of_property(self, name: str) -> Declared:
        """Return what is listed for one property."""
        return declared_by(self.root, self.properties.get(name, []))

    def of_members(self) -> Declared:
        """Return what is listed for the members of a map."""
        return declared_by(self.root, self.member_schemas)

    def of_items(self) -> Declared:
        """Return what is listed for the items."""
        return declared_by(self.root, self.items)


def declared_by(root: Any, schemas: Sequence[Any]) -> Declared:
    """Return what the schemas list, following references and alternatives inside `root`."""
    properties: dict[str, list[JsonValue]] = {}
    members: list[JsonValue] = []
    items: list[JsonValue] = []
    values: set[str] = set()
    allows_null = has_form = False
    for schema in _parts(root, schemas):
        for name, below in schema.get("properties", {}).items():
            properties.setdefault(name, []).append(below)
        members += [*schema.get("patternProperties", {}).values(), *_objects(schema.get("additionalProperties"))]
        items += [*schema.get("prefixItems", ()), *_objects(schema.get("items"))]
        listed = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else [])]
        values |= {value for value in listed if isinstance(value, str)}
        allows_null = allows_null or None in listed or "null" in _type_names(schema)
        has_form = has_form or any(keyword in schema for keyword in _FORM_KEYWORDS)
    return Declared(root, properties, tuple(members), tuple(items), frozenset(values), allows_null, has_form)


def _parts(root: Any, schemas: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
    """Yield each schema and those that it is made of, once each and not more than `_MAX_SCHEMAS`."""
    pending, known = list(schemas), set[int]()
    while pending and len(known) < _MAX_SCHEMAS:
        schema = pending.pop(0)
        if not isinstance(schema, Mapping) or id(schema) in known:
            continue
        known.add(id(schema))
        yield schema
        if isinstance(schema.get("$ref"), str):
            pending.append(resolve_local(root, schema["$ref"]))
        for keyword in ("allOf", "anyOf", "oneOf"):
            pending += schema.get(keyword, ())


def _objects(schema: Any) -> list[Any]:
    return [schema] if isinstance(schema, Mapping) else []


def _type_names(schema: Mapping[str, Any]) -> Sequence[str]:
    written = schema.get("type", ())
    return (written,) if isinstance(written, str) else written
