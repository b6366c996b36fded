"""Which argument a tool means when it refuses a request, and what it wants instead."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from taoloop.core import pointers
from taoloop.core.exact_json import ABSENT, Absent, Json, JsonValue
from taoloop.core.faults import Fault, FaultCode
from taoloop.core.pointers import PointerNotFound, PointerSyntaxError
from taoloop.core.redaction import redact_text
from taoloop.tools.contract import HttpTransport, ToolContract
from taoloop.tools.signature import Trust

MAX_CANDIDATES: Final = 20
_LONGEST_WORDS: Final = 200
_MOST_ENTRIES: Final = 50

_LISTS: Final = ("errors", "detail", "details", "invalid-params", "invalidParams", "violations", "fieldViolations")
_PLACES: Final = ("field", "param", "parameter", "propertyPath", "name", "path")
_WORDS: Final = ("detail", "msg", "message", "reason", "description", "title", "error")
_ALLOWED: Final = (
    "candidates",
    "allowed",
    "allowedValues",
    "allowed_values",
    "permitted",
    "enum",
    "enum_values",
    "options",
)
_WRAPPERS: Final = (("data", "attributes"), ("body",), ("query",), ("path",), ("header",), ("cookie",))
_ONE_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_QUOTED: Final = re.compile(r"'([^']*)'")
_ABOUT_THE_CALLER: Final = frozenset({401, 403, 407})


@dataclass(frozen=True, slots=True, kw_only=True)
class Complaint:
    """What a tool says is wrong with one part of a request.

    Attributes:
        path: Where, in the tool's own names; empty when it does not say.
        words: The tool's sentence; may be empty.
        expected: What it says that it wants; absent when it does not say.
        candidates: The values that it says it takes.
    """

    path: tuple[str, ...] = ()
    words: str = ""
    expected: Json = ABSENT
    candidates: tuple[str, ...] = ()


def pointed(fault: Fault, contract: ToolContract, status_code: int, body: JsonValue) -> Fault:
    """Return the fault of a 4xx with the argument that it is about, as far as the body says; else as it is.

    Understood are problem details with `errors` (RFC 9457) or `invalid-params` (RFC 7807), the `detail` of FastAPI,
    JSON:API's `source`, Google's `fieldViolations`, and the plain forms `{"field": …}`, `{"errors": [{"field": …}]}`
    and `{"errors": {"name": ["…"]}}`. The words of a tool whose output is untrusted are left out.

    Args:
        fault: What the status or the contract made of the answer.
        contract: The tool's.
        status_code: The answer's.
        body: The parsed body; None when it is no JSON.
    """
    if not 400 <= status_code < 500 or status_code in _ABOUT_THE_CALLER or not isinstance(body, Mapping):
        return fault
    found = [(argument_of(each.path, contract), each) for each in complaints(body)]
    field, first = next(((field, each) for field, each in found if field), found[0] if found else ("", None))
    if first is None or not (field or fault.code == FaultCode.UPSTREAM_REFUSED):
        return fault
    words = "" if contract.trust is Trust.UNTRUSTED else _one_line(first.words)
    if not field and not words:
        return fault
    schema = _schema_of(field, contract)
    about = ": ".join(part for part in (field, words) if part)
    return replace(
        fault,
        message=f"{fault.message} {about}{'' if about.endswith('.') else '.'}",
        field=field,
        expected=_expected(schema) if isinstance(first.expected, Absent) else first.expected,
        candidates=(first.candidates or _texts(schema.get("enum")))[:MAX_CANDIDATES],
    )


def complaints(body: Mapping[str, JsonValue]) -> Iterator[Complaint]:
    """Yield what a body complains about, what it says most precisely first."""
    nodes = [node for node in (body, body.get("error")) if isinstance(node, Mapping)]
    for node in nodes:
        for name in _LISTS:
            yield from _listed(node.get(name))
    for node in nodes:
        complaint = _entry(node)
        if complaint.path or complaint.words:
            yield complaint


def argument_of(path: tuple[str, ...], contract: ToolContract) -> str:
    """Return the pointer of the argument that travels at a place of a request; empty when none is known to."""
    if not path:
        return ""
    properties = contract.parameters.get("properties", {})
    sent = _sent_from(path, contract)
    if sent in properties:
        return pointers.join(sent)
    if path[0] in properties:
        return pointers.join(*path)
    folded = {_folded(name): name for name in properties}
    for token in (path[-1], path[0]):
        if _folded(token) in folded:
            return pointers.join(folded[_folded(token)])
    return ""


def _listed(value: JsonValue | None) -> Iterator[Complaint]:
    if isinstance(value, Mapping):
        for name, said in list(value.items())[:_MOST_ENTRIES]:
            words = said[0] if isinstance(said, list) and said else said
            yield Complaint(path=_tokens(name), words=words if isinstance(words, str) else "")
    elif isinstance(value, list):
        for each in value[:_MOST_ENTRIES]:
            if isinstance(each, Mapping):
                nested = each.get("fieldViolations")
                yield from _listed(nested) if nested else iter((_entry(each),))
            elif isinstance(each, str):
                yield Complaint(words=each)


def _entry(entry: Mapping[str, JsonValue]) -> Complaint:
    context = entry.get("ctx")
    told = {**context, **entry} if isinstance(context, Mapping) else entry
    words = next((said for name in _WORDS if isinstance(said := entry.get(name), str) and said), "")
    expected = told.get("expected")
    listed = next((values for name in _ALLOWED if (values := _texts(told.get(name)))), ())
    if not listed and isinstance(expected, str):
        listed = tuple(_QUOTED.findall(expected))
    return Complaint(
        path=_without_wrapper(_place(entry)),
        words=words,
        expected=ABSENT if expected is None else expected,
        candidates=listed,
    )


def _place(entry: Mapping[str, JsonValue]) -> tuple[str, ...]:
    source = entry.get("source")
    places = [entry.get("loc"), entry.get("pointer")]
    if isinstance(source, Mapping):
        places += [source.get("pointer"), source.get("parameter")]
    places += [entry.get(name) for name in _PLACES]
    return next((tokens for place in places if (tokens := _tokens(place))), ())


def _tokens(place: JsonValue | None) -> tuple[str, ...]:
    """Read a place as it is written: a list of steps, a pointer, or names with dots and indices."""
    if isinstance(place, list):
        return tuple(str(step) for step in place if isinstance(step, str | int))
    if not isinstance(place, str) or len(place) > _LONGEST_WORDS:
        return ()
    text = place.removeprefix("#")
    if text.startswith("/"):
        try:
            return pointers.parse(text)
        except PointerSyntaxError:
            return ()
    return tuple(re.findall(r"[^.\[\]$]+", text))


def _without_wrapper(path: tuple[str, ...]) -> tuple[str, ...]:
    for wrapper in _WRAPPERS:
        if len(path) > len(wrapper) and path[: len(wrapper)] == wrapper:
            return path[len(wrapper) :]
    return path


def _sent_from(path: tuple[str, ...], contract: ToolContract) -> str:
    """Return the parameter whose placeholder stands at a place of the request; empty for none."""
    transport = contract.http
    for template in () if transport is None else _templates(transport):
        for length in range(len(path), 0, -1):
            try:
                value = pointers.lookup(template, pointers.join(*path[:length]))
            except PointerNotFound:
                continue
            matched = _ONE_PLACEHOLDER.fullmatch(value) if isinstance(value, str) else None
            if matched is not None:
                return matched[1]
    return ""


def _templates(transport: HttpTransport) -> Iterator[Any]:
    if isinstance(transport.json, Mapping | list):
        yield transport.json
    yield from (template for template in (transport.form, transport.query) if template)


def _schema_of(field: str, contract: ToolContract) -> Mapping[str, Any]:
    """Return the schema of a parameter, or of a property within one; empty when it is not that plain."""
    schema: Any = contract.parameters
    for token in pointers.parse(field):
        here = schema.get("items") if token.isdecimal() else schema.get("properties", {}).get(token)
        if not isinstance(here, Mapping):
            return {}
        schema = here
    return schema if field else {}


def _expected(schema: Mapping[str, Any]) -> Json:
    said = {name: value for name, value in schema.items() if name != "description" and not name.startswith("x-")}
    return said or ABSENT


def _texts(value: Any) -> tuple[str, ...]:
    if not isinstance(value, Sequence) or isinstance(value, str):
        return ()
    return tuple(str(each) for each in value if isinstance(each, str | int))


def _folded(name: str) -> str:
    return name.replace("_", "").replace("-", "").casefold()


def _one_line(text: str) -> str:
    return redact_text(" ".join(text.split())[:_LONGEST_WORDS])
