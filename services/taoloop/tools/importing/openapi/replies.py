"""From an operation's responses to the response schema and the known errors of a contract."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from taoloop.core import pointers
from taoloop.tools.importing.findings import Notes
from taoloop.tools.importing.naming import shortened
from taoloop.tools.importing.openapi.document import OpenApiDocument, Operation, as_object
from taoloop.tools.importing.openapi.media import media_type
from taoloop.tools.importing.openapi.schemas import Direction, SchemaConverter

_CODES: Final[Mapping[int, str]] = {
    400: "BAD_REQUEST",
    402: "PAYMENT_REQUIRED",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    406: "NOT_ACCEPTABLE",
    409: "CONFLICT",
    410: "GONE",
    412: "PRECONDITION_FAILED",
    413: "TOO_LARGE",
    415: "UNSUPPORTED_TYPE",
    422: "UNPROCESSABLE",
    423: "LOCKED",
    428: "PRECONDITION_REQUIRED",
    451: "UNAVAILABLE_FOR_LEGAL_REASONS",
}
"""Statuses that become known errors.

The others, 401, 403, 408, 429 and 5xx among them, are left to the executor's own reading: a rule here would call a
write that may have happened a known failure, and would hide when a repeat is worth it.
"""


class ReplyReader:
    """Reads the responses of one operation.

    Args:
        document: The whole.
        operation: Whose responses.
        notes: Takes the findings.
    """

    def __init__(self, document: OpenApiDocument, operation: Operation, notes: Notes) -> None:
        self._document, self._operation, self._notes = document, operation, notes
        self._schemas = SchemaConverter(document, notes)
        self._place = f"{operation.pointer}/responses"

    def read(self) -> dict[str, Any]:
        """Return `response`, and `empty` and `errors` where they say something."""
        responses = as_object(self._operation.content.get("responses"))
        errors = list(self._errors(responses))
        return {**self._success(responses), **({"errors": errors} if errors else {})}

    def _success(self, responses: Mapping[str, Any]) -> dict[str, Any]:
        """Read the first success that has JSON."""
        successes = sorted(status for status in responses if status[:1] == "2")
        for status in successes:
            response, reference = self._document.resolved(responses[status])
            for name, media in as_object(as_object(response).get("content")).items():
                if media_type(name) == "json":
                    at = reference.removeprefix("#") or f"{self._place}/{status}"
                    place = at + pointers.join("content", name, "schema")
                    schema = as_object(media).get("schema", True)
                    return {"response": self._schemas.converted(schema, place, Direction.RESPONSE)}
        has_body = any(as_object(self._document.resolved(responses[each])[0]).get("content") for each in successes)
        if successes and not has_body:
            return {"response": True, "empty": "accept"}
        cause = "no success with a JSON body is described" if not has_body else "the body of a success is no JSON"
        self._notes.warn(
            "RESPONSE", self._place, cause, "Write the response schema: plans can only refer to what it declares."
        )
        return {"response": True}

    def _errors(self, responses: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        for status in sorted(responses):
            code = _CODES.get(int(status)) if status.isdecimal() else None
            if code is None:
                continue
            response, _ = self._document.resolved(responses[status])
            said = as_object(response).get("description")
            text = shortened(said, 200) if isinstance(said, str) else ""
            suggestion = {"suggestion": text} if text else {}
            when = {"===": [{"var": "status_code"}, int(status)]}
            yield {"when": when, "code": code, "retriable": False, **suggestion}
