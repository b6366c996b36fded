"""Makes schemas that were not written for taoloop compile: a keyword that the engine refuses is left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from taoloop.tools.schema_refusals import SchemaRefused
from taoloop.tools.schemas import CompiledSchema

_SUSPECTS: Final = ("pattern", "format", "default", "enum", "required", "additionalProperties")


def compilable(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the schema as it is, or without the keywords by which single subschemas do not compile."""
    whole = dict(schema)
    return whole if _compiles(whole) else _cleaned(whole)


def _compiles(schema: Mapping[str, Any]) -> bool:
    try:
        CompiledSchema.compile(dict(schema))
    except SchemaRefused:
        return False
    return True


def _cleaned(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Clean the subschemas first, then what of the schema's own keywords still stands in the way."""
    made = dict(schema)
    properties = made.get("properties")
    if isinstance(properties, Mapping):
        made["properties"] = {
            name: _cleaned(member) for name, member in properties.items() if isinstance(member, Mapping)
        }
    if isinstance(made.get("items"), Mapping):
        made["items"] = _cleaned(made["items"])
    for keyword in _SUSPECTS:
        if _compiles(made):
            break
        made.pop(keyword, None)
    return made
