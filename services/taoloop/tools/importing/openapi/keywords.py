"""The keywords of one subschema as JSON Schema 2020-12 has them, without the subschemas below it."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from taoloop.core import exact_json
from taoloop.tools import formats, patterns
from taoloop.tools.importing.findings import Notes
from taoloop.tools.importing.naming import shortened
from taoloop.tools.importing.openapi.document import as_text
from taoloop.tools.schemas import CompiledSchema, SchemaRefused

ANNOTATIONS: Final = frozenset(
    {"title", "description", "default", "example", "examples", "deprecated", "readOnly", "writeOnly"}
)
"""Keywords that describe a value and judge nothing."""

IN_PLACE_LISTS: Final = ("allOf", "anyOf", "oneOf", "prefixItems")
"""Keywords whose value is a list of subschemas."""

SINGLES: Final = (
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
)
"""Keywords whose value is a subschema."""

MAPS: Final = ("properties", "patternProperties", "dependentSchemas")
"""Keywords whose value is an object of subschemas."""

_TYPES: Final = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
_COUNTS: Final = (
    "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains",
)  # fmt: skip
_NUMBERS: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_INT32: Final = 2**31
_SILENT_FORMATS: Final = frozenset({"int32", "int64", "float", "double", "password", "decimal", "unix-time"})
"""Formats of OpenAPI that say something about storage or display and need no check of their own."""

_UNREAD: Final = ("$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$schema")


class ReadKeywords:
    """Reads the keywords of subschemas of one document.

    Args:
        notes: Takes the findings.
        is_3_0: Whether the document has the older dialect of OpenAPI 3.0.
    """

    def __init__(self, notes: Notes, *, is_3_0: bool) -> None:
        self._notes = notes
        self._is_3_0 = is_3_0

    def read(self, node: Mapping[str, Any], place: str, *, is_request: bool) -> dict[str, Any]:
        """Return what the subschema says about its own value.

        Args:
            node: As written, without a reference.
            place: Where it stands.
            is_request: Whether the value is sent; notes for readers matter there, and are kept shorter elsewhere.
        """
        read: dict[str, Any] = {}
        self._type(node, place, read)
        self._values(node, place, read)
        self._numbers(node, place, read)
        self._texts(node, place, read)
        self._object_words(node, place, read)
        self._notes_for_readers(node, read, is_request=is_request)
        for keyword in _UNREAD:
            if keyword in node:
                self._drop(f"{place}/{keyword}", f"{keyword} is not carried", "Write local references.")
        return read

    def refused_names(self, node: Mapping[str, Any], place: str) -> frozenset[str]:
        """Return the patterns of `patternProperties` that cannot be used, and note them."""
        written = node.get("patternProperties")
        refused = {name: why for name in written if (why := _refusal(name))} if isinstance(written, Mapping) else {}
        for name, why in refused.items():
            cause = f"the pattern {name!r} of property names is dropped: {why}"
            self._drop(f"{place}/patternProperties", cause, "Write one that runs in linear time.", "PATTERN")
        return frozenset(refused)

    def _type(self, node: Mapping[str, Any], place: str, read: dict[str, Any]) -> None:
        written = node.get("type")
        names = written if isinstance(written, list) else [written]
        if written is None:
            if "properties" in node:
                read["type"] = "object"
        elif names and all(isinstance(name, str) and name in _TYPES for name in names):
            read["type"] = written
        else:
            self._drop(f"{place}/type", f"the type {written!r} is none of JSON Schema", "Correct the type.")

    def _values(self, node: Mapping[str, Any], place: str, read: dict[str, Any]) -> None:
        if "const" in node:
            read["const"] = node["const"]
        written = node.get("enum")
        if isinstance(written, list) and written:
            read["enum"] = [value for index, value in enumerate(written) if not _is_in(value, written[:index])]
        elif written is not None:
            self._drop(f"{place}/enum", "the enum lists no values", "List the values.")

    def _numbers(self, node: Mapping[str, Any], place: str, read: dict[str, Any]) -> None:
        for keyword in _NUMBERS:
            value = node.get(keyword)
            if _is_number(value):
                read[keyword] = value
            elif value is not None and not (self._is_3_0 and isinstance(value, bool)):
                self._drop(f"{place}/{keyword}", f"{keyword} is {value!r}, no number", "Write a number.")
        for border, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            if node.get(exclusive) is True and border in read:
                read[exclusive] = read.pop(border)
        if node.get("format") == "int32" and read.get("type") == "integer":
            read.setdefault("minimum", -_INT32) if "exclusiveMinimum" not in read else None
            read.setdefault("maximum", _INT32 - 1) if "exclusiveMaximum" not in read else None

    def _texts(self, node: Mapping[str, Any], place: str, read: dict[str, Any]) -> None:
        name = as_text(node.get("format"))
        if name and (name in formats.STANDARD or name in formats.CUSTOM):
            read["format"] = name
        elif name in {"byte", "binary"}:  # a text of JSON and of a contract holds bytes as base64
            read["contentEncoding"] = "base64"
        elif name and name not in _SILENT_FORMATS:
            cause = f"the format {name!r} is not known, and nothing checks it"
            self._drop(f"{place}/format", cause, "Use a known format or a pattern.")
        for keyword in ("contentEncoding", "contentMediaType"):
            if isinstance(node.get(keyword), str):
                read[keyword] = node[keyword]
        pattern = node.get("pattern")
        if isinstance(pattern, str):
            why = _refusal(pattern)
            if why is None:
                read["pattern"] = pattern
            else:
                cause = f"the pattern {pattern!r} is dropped: {why}"
                self._drop(f"{place}/pattern", cause, "Write one of ECMAScript that runs in linear time.", "PATTERN")

    def _object_words(self, node: Mapping[str, Any], place: str, read: dict[str, Any]) -> None:
        required = node.get("required")
        if isinstance(required, list):
            read["required"] = list(dict.fromkeys(name for name in required if isinstance(name, str)))
        elif required is not None:
            cause = f"required is {required!r}, and a list of names is meant"
            self._drop(f"{place}/required", cause, "List the names at the object.")
        for keyword in _COUNTS:
            if isinstance(node.get(keyword), int) and node[keyword] >= 0:
                read[keyword] = int(node[keyword])
        if isinstance(node.get("uniqueItems"), bool):
            read["uniqueItems"] = node["uniqueItems"]
        if isinstance(node.get("dependentRequired"), Mapping):
            read["dependentRequired"] = node["dependentRequired"]

    def _notes_for_readers(self, node: Mapping[str, Any], read: dict[str, Any], *, is_request: bool) -> None:
        text = node.get("description") or node.get("title")
        if isinstance(text, str) and text.strip():
            read["description"] = shortened(text)
        if not is_request:
            return
        if "default" in node:
            read["default"] = node["default"]
        examples = node.get("examples", [node["example"]] if "example" in node else None)
        if isinstance(examples, list) and examples:
            read["examples"] = examples[:3]

    def _drop(self, place: str, cause: str, remedy: str, code: str = "SCHEMA_KEYWORD") -> None:
        self._notes.warn(code, place, cause, remedy)


def _refusal(pattern: str) -> str | None:
    why = patterns.refusal(pattern)
    if why is not None:
        return why
    try:
        CompiledSchema.compile({"pattern": pattern})
    except SchemaRefused as exc:
        return exc.faults[0].message
    return None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _is_in(value: Any, values: list[Any]) -> bool:
    return any(exact_json.equal(value, each) for each in values)
