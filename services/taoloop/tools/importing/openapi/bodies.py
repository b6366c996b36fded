"""From an operation's request body to the body of a request template."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from taoloop.core import pointers
from taoloop.tools.importing.findings import Notes
from taoloop.tools.importing.openapi.document import OpenApiDocument, Operation, as_object
from taoloop.tools.importing.openapi.media import media_type
from taoloop.tools.importing.openapi.parameters import ParameterSet, has_type, object_view
from taoloop.tools.importing.openapi.schemas import Direction, SchemaConverter

MAX_FLAT_PROPERTIES: Final = 40
"""A body with more properties stays one parameter."""

_WITHOUT_BODY: Final = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True)
class _Written:
    """A body in one media type: its schema on its own, how fields are encoded, and where it stands."""

    schema: dict[str, Any] | bool
    encoding: Mapping[str, Any]
    place: str
    is_required: bool


class BodyReader:
    """Reads request bodies: the properties of an object become parameters of the tool, each on its own.

    Args:
        document: The whole.
        schemas: Converts the body's schema.
        parameters: Takes the parameters.
        notes: Takes the findings.
    """

    def __init__(
        self, document: OpenApiDocument, schemas: SchemaConverter, parameters: ParameterSet, notes: Notes
    ) -> None:
        self._document, self._schemas, self._parameters, self._notes = document, schemas, parameters, notes

    def read(self, operation: Operation) -> dict[str, Any]:
        """Return the members of `transport.http` that make the body; empty for none."""
        written, reference = self._document.resolved(operation.content.get("requestBody"))
        content = as_object(as_object(written).get("content"))
        if not content:
            return {}
        place = reference.removeprefix("#") or f"{operation.pointer}/requestBody"
        if operation.method in _WITHOUT_BODY:
            cause = f"the body of a {operation.method} request is left out"
            self._notes.warn("BODY", place, cause, "Send its values in the query.")
            return {}
        is_required = as_object(written).get("required") is True
        return self._best(content, place, is_required=is_required)

    def _best(self, content: Mapping[str, Any], place: str, *, is_required: bool) -> dict[str, Any]:
        """Read the body in the media type that can be sent best."""
        for kind, read in self._readers().items():
            name = next((each for each in content if media_type(each) == kind), None)
            if name is None:
                continue
            media = as_object(content[name])
            at = place + pointers.join("content", name)
            schema = self._schemas.converted(media.get("schema", {}), f"{at}/schema", Direction.REQUEST)
            body = read(_Written(schema, as_object(media.get("encoding")), at, is_required))
            if kind == "json" and name.partition(";")[0].strip().lower() not in {"application/json", "*/*"}:
                body["headers"] = {"Content-Type": name}
            return body
        note = self._notes.block if is_required else self._notes.warn
        cause = f"no body of type {', '.join(content)} can be sent"
        note("BODY", place, cause, "Leave the tool out, or send another type of body.")
        return {}

    def _readers(self) -> dict[str, Callable[[_Written], dict[str, Any]]]:
        return {"json": self._json, "form": self._form, "multipart": self._multipart, "text": self._text}

    def _json(self, body: _Written) -> dict[str, Any]:
        view = object_view(body.schema)
        if view is None or len(view[0]) > MAX_FLAT_PROPERTIES:
            name = self._parameters.add("body", body.schema, is_required=body.is_required, origin="body")
            return {"json": f"{{{name}}}"}
        return {"json": self._flat(*view)}

    def _flat(self, properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
        """Make each property a parameter and return the template of the object."""
        template = {}
        for written, schema in properties.items():
            name = self._parameters.add(written, schema, is_required=written in required, origin="body")
            template[written] = f"{{{name}}}"
        return template

    def _form(self, body: _Written) -> dict[str, Any]:
        properties, required = object_view(body.schema) or ({}, [])
        carried = {}
        for written, child in properties.items():
            is_deep = as_object(body.encoding.get(written)).get("style") == "deepObject"
            if not has_type(child, "object") and not (is_deep and has_type(child, "array")):
                carried[written] = child
                continue
            note = self._notes.block if written in required else self._notes.warn
            cause = f"the field {written!r} of the form is not carried: it may be an object or a list in brackets"
            note("FORM_FIELD", body.place, cause, "Add its parts by hand, each under its full name.")
        if not carried and body.is_required:
            self._notes.block("BODY", body.place, "the form has no field that can be sent", "Leave the tool out.")
        return {"form": self._flat(carried, required)} if carried else {}

    def _multipart(self, body: _Written) -> dict[str, Any]:
        properties, required = object_view(body.schema) or ({}, [])
        template = self._flat(properties, required)
        parts = {written: _part(properties[written], placeholder) for written, placeholder in template.items()}
        if not parts and body.is_required:
            self._notes.block("BODY", body.place, "the multipart body declares no parts", "Leave the tool out.")
        return {"multipart": parts} if parts else {}

    def _text(self, body: _Written) -> dict[str, Any]:
        schema = body.schema if isinstance(body.schema, dict) and "type" in body.schema else {"type": "string"}
        name = self._parameters.add("body", schema, is_required=True, origin="body")
        if not body.is_required:
            self._notes.warn(
                "BODY", body.place, "the text body is optional, and here it is required", "Check the tool."
            )
        return {"text": f"{{{name}}}"}


def _part(schema: object, placeholder: str) -> str | dict[str, Any]:
    content = as_object(schema)
    if content.get("contentEncoding") != "base64" and "contentMediaType" not in content:
        return placeholder
    return {
        "content": placeholder,
        "file_name": placeholder.strip("{}"),
        "content_type": content.get("contentMediaType", "application/octet-stream"),
        "encoding": "base64",
    }
