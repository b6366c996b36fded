"""JSON Schemas that other programs made, carried into contracts: on their own, bounded, without what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from taoloop.tools.importing.findings import Notes
from taoloop.tools.importing.openapi.document import OpenApiDocument
from taoloop.tools.importing.openapi.schemas import Direction, SchemaConverter


def carried_schema(schema: Mapping[str, Any] | bool, notes: Notes, direction: Direction) -> dict[str, Any] | bool:
    """Return the schema with its references inlined.

    Args:
        schema: JSON Schema of any draft since 6, whose references are local.
        notes: Takes what is not carried.
        direction: Which way its values travel.
    """
    if isinstance(schema, bool):
        return schema
    # A schema by itself follows the rules of one inside a document of OpenAPI 3.1, of which it is the root.
    root = OpenApiDocument(name="", value=schema, version="3.1")
    return SchemaConverter(root, notes).converted(schema, "", direction)


def as_parameters(schema: dict[str, Any] | bool, notes: Notes) -> dict[str, Any]:
    """Return a schema of arguments in the form of a contract: an object, closed unless it says otherwise.

    Args:
        schema: What was carried.
        notes: Takes what is not an object.
    """
    content = {} if isinstance(schema, bool) else dict(schema)
    content.pop("description", None)
    if content.get("type", "object") != "object":
        notes.block("PARAMETERS", "", "the arguments are no object", "Leave the tool out.")
    properties = content.pop("properties", {})
    is_closed = content.pop("additionalProperties", False)
    required = {"required": content.pop("required")} if content.get("required") else {}
    content.pop("required", None)
    rest = {key: value for key, value in content.items() if key != "type"}
    described = {name: _described(name, child) for name, child in properties.items()}
    return {"type": "object", **required, "additionalProperties": is_closed, "properties": described, **rest}


def _described(name: str, schema: Any) -> Any:
    if not isinstance(schema, Mapping) or schema.get("description"):
        return schema
    return {**schema, "description": name.replace("_", " ")}
