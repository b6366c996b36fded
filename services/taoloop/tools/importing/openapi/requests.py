"""From an operation's parameters and body to a request template and the tool's parameters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from taoloop.tools.importing.findings import Notes
from taoloop.tools.importing.naming import shortened
from taoloop.tools.importing.openapi.bodies import BodyReader
from taoloop.tools.importing.openapi.document import OpenApiDocument, Operation, as_list, as_object, as_text
from taoloop.tools.importing.openapi.parameters import ParameterSet, as_joined_text, has_type
from taoloop.tools.importing.openapi.schemas import Direction, SchemaConverter

IDEMPOTENCY_HEADERS: Final = frozenset({"idempotency-key", "x-idempotency-key"})
"""Headers that carry an idempotency key; taoloop fills them itself."""

_SENT_ANYWAY: Final = frozenset(
    {"accept", "authorization", "content-type", "traceparent", "x-request-id", "x-trace-id"}
)
_HEADER_NAME = re.compile(r"[A-Za-z0-9-]+")
_PATH_NAME = re.compile(r"\{([^{}]*)\}")
_DEFAULT_STYLE: Final = {"path": "simple", "header": "simple", "query": "form", "cookie": "form"}


class RequestReader:
    """Reads the request of one operation.

    Args:
        document: The whole.
        operation: Whose request.
        notes: Takes the findings.

    Attributes:
        parameters: The tool's parameters, filled while the request is read.
        idempotency_header: Name of the header that the server takes a key in; empty for none.
    """

    def __init__(self, document: OpenApiDocument, operation: Operation, notes: Notes) -> None:
        self.parameters = ParameterSet()
        self.idempotency_header = ""
        self._document, self._operation, self._notes = document, operation, notes
        self._schemas = SchemaConverter(document, notes)
        self._query: dict[str, Any] = {}
        self._headers: dict[str, str] = {}
        self._path_names: dict[str, str] = {}

    def read(self, base: str) -> dict[str, Any]:
        """Return the contract's `transport.http` without credentials.

        Args:
            base: Name of the base that the url begins with.
        """
        for parameter, place in self._written_parameters():
            self._read_parameter(parameter, place)
        url = f"{{{{base.{base}}}}}" + _PATH_NAME.sub(self._placeholder, self._operation.path)
        body = BodyReader(self._document, self._schemas, self.parameters, self._notes).read(self._operation)
        headers = {**self._headers, **body.pop("headers", {})}
        found = {"query": self._query, "headers": headers}
        return {
            "method": self._operation.method,
            "url": url,
            **{name: content for name, content in found.items() if content},
            **body,
        }

    def _written_parameters(self) -> Iterator[tuple[Mapping[str, Any], str]]:
        """Yield the operation's parameters, then those of its path that it does not replace."""
        seen: set[tuple[object, object]] = set()
        own = self._operation.pointer
        for holder, place in ((self._operation.content, own), (self._operation.shared, own.rpartition("/")[0])):
            for index, written in enumerate(as_list(holder.get("parameters"))):
                parameter, reference = self._document.resolved(written)
                content = as_object(parameter)
                at = reference.removeprefix("#") or f"{place}/parameters/{index}"
                if not as_text(content.get("name")) or not as_text(content.get("in")):
                    cause = f"the parameter {reference or index!r} has no name and place"
                    self._notes.block("PARAMETER", at, cause, "Correct the document.")
                elif (content["name"], content["in"]) not in seen:
                    seen.add((content["name"], content["in"]))
                    yield content, at

    def _read_parameter(self, parameter: Mapping[str, Any], place: str) -> None:
        name, where = parameter["name"], parameter["in"]
        if where == "header" and not self._is_own_header(name, place):
            return
        is_required = parameter.get("required") is True or where == "path"
        why = self._why_not_carried(parameter)
        schema = {} if why else self._schema(parameter, place)
        if why is None and has_type(schema, "object"):
            why = "it is an object, and no placeholder makes one a text"
        if why is not None:
            note = self._notes.block if is_required else self._notes.warn
            cause = f"the {where} parameter {name!r} is not carried: {why}"
            note("PARAMETER", place, cause, "Add it by hand, or leave the tool out.")
            return
        taken = self.parameters.add(name, schema, is_required=is_required, origin=where)
        if where == "path":
            self._path_names[name] = taken
        elif where == "query":
            self._query[name] = f"{{{taken}}}"
        else:
            self._headers[name] = f"{{{taken}}}"

    def _is_own_header(self, name: str, place: str) -> bool:
        """Tell whether a header is for the tool's caller to fill."""
        if name.lower() in IDEMPOTENCY_HEADERS:
            self.idempotency_header = name
            return False
        if name.lower() in _SENT_ANYWAY:
            cause = f"the header {name!r} is left out, since taoloop sends it itself"
            self._notes.warn("HEADER", place, cause, "Write it into transport.http.headers if its value is fixed.")
            return False
        return True

    def _why_not_carried(self, parameter: Mapping[str, Any]) -> str | None:
        where, style = parameter["in"], as_text(parameter.get("style"))
        if where not in {"path", "query", "header"}:
            return f"parameters in {where!r} are not sent"
        if where == "header" and not _HEADER_NAME.fullmatch(parameter["name"]):
            return "its name is no header's"
        if "content" in parameter:
            return "it is a document of its own (content)"
        if style in {"matrix", "label", "deepObject"}:
            return f"its style is {style}"
        return None

    def _schema(self, parameter: Mapping[str, Any], place: str) -> dict[str, Any]:
        converted = self._schemas.converted(parameter.get("schema", {}), f"{place}/schema", Direction.REQUEST)
        schema = converted if isinstance(converted, dict) else {}
        text = parameter.get("description")
        if isinstance(text, str) and text.strip():
            schema["description"] = shortened(text)
        examples = [parameter["example"]] if "example" in parameter else []
        if examples and "examples" not in schema:
            schema["examples"] = examples
        where = parameter["in"]
        style = as_text(parameter.get("style")) or _DEFAULT_STYLE[where]
        explodes = parameter.get("explode", style == "form") is True
        if not has_type(schema, "array") or (where == "query" and style == "form" and explodes):
            return schema
        self._notes.warn(
            "LIST_AS_TEXT",
            place,
            f"the list {parameter['name']!r} travels as one text ({style}), so that its items are not checked",
            "Write a pattern for the text.",
        )
        return as_joined_text(schema, style)

    def _placeholder(self, found: re.Match[str]) -> str:
        written = found[1]
        if written not in self._path_names:
            cause = f"the path names {written!r}, and no usable path parameter declares it"
            self._notes.warn(
                "PATH_PARAMETER", self._operation.pointer, cause, "It is taken as a text; correct its schema."
            )
            self._path_names[written] = self.parameters.add(
                written, {"type": "string", "minLength": 1}, is_required=True, origin="path"
            )
        return f"{{{self._path_names[written]}}}"
