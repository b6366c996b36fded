"""The parameters of a drafted tool: one flat object, whatever places of the request they come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from taoloop.tools.importing.naming import one_line, shortened, snake_case, unique

_SEPARATORS: Final = {"pipeDelimited": "|", "spaceDelimited": " "}


@dataclass(slots=True)
class ParameterSet:
    """Collects parameters under unique names.

    Attributes:
        properties: Name to schema, in the order in which they came.
        required: Names of those that a call needs.
    """

    properties: dict[str, Any] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)

    def add(self, written: str, schema: dict[str, Any] | bool, *, is_required: bool, origin: str) -> str:
        """Add a parameter and return the name that it got.

        Args:
            written: Its name in the source; it becomes snake_case, and gets a number if it is taken.
            schema: Its schema.
            is_required: Whether a call needs it.
            origin: What kind of thing it is, for its description when it has none, such as `query`.
        """
        name = unique(snake_case(written), self.properties)
        content = dict(schema) if isinstance(schema, Mapping) else {}
        text = content.pop("description", "") or f"{one_line(written)}, sent in the {origin}"
        self.properties[name] = {**content, "description": text}
        if is_required:
            self.required.append(name)
        return name

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of the arguments."""
        required = {"required": self.required} if self.required else {}
        return {"type": "object", **required, "additionalProperties": False, "properties": self.properties}


def as_joined_text(schema: dict[str, Any], style: str) -> dict[str, Any]:
    """Return the schema of a list that travels as one text, its items joined by the style's separator."""
    separator = _SEPARATORS.get(style, ",")
    said = schema.get("description", "")
    items = schema.get("items")
    values = items.get("enum") if isinstance(items, Mapping) else None
    listed = f" of {', '.join(map(str, values))}" if values else ""
    text = f"{said + '; ' if said else ''}values{listed} joined by '{separator}'"
    return {"type": "string", "description": shortened(text)}


def has_type(schema: dict[str, Any] | bool, wanted: str) -> bool:
    """Tell whether a value of the schema can be of the type."""
    if not isinstance(schema, Mapping):
        return False
    written = schema.get("type")
    names = written if isinstance(written, list) else [written]
    if wanted in names:
        return True
    branches = [each for keyword in ("allOf", "anyOf", "oneOf") for each in schema.get(keyword, ())]
    return any(has_type(each, wanted) for each in branches)


def object_view(schema: dict[str, Any] | bool) -> tuple[dict[str, Any], list[str]] | None:
    """Return the properties and required names of a schema that is plainly one object; None for another.

    Branches of `allOf` that are plain objects are joined.
    """
    if not isinstance(schema, Mapping) or any(keyword in schema for keyword in ("anyOf", "oneOf", "not", "if")):
        return None
    properties: dict[str, Any] = dict(schema.get("properties", {}))
    required: list[str] = list(schema.get("required", ()))
    for branch in schema.get("allOf", ()):
        view = object_view(branch)
        if view is None:
            return None
        properties.update(view[0])
        required += view[1]
    if not properties or ("type" in schema and schema["type"] != "object"):
        return None
    return properties, [name for name in dict.fromkeys(required) if name in properties]
