"""A contract's HTTP template read backwards: which tool a request is for, and with which arguments."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote

from taoloop.core import exact_json
from taoloop.core.exact_json import ABSENT, Json, JsonSyntaxError, JsonValue
from taoloop.tools import placeholders
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.contract import HttpTransport

_BASE: Final = re.compile(r"\{\{\s*base\.[A-Za-z0-9_-]+\s*\}\}")
_ORIGIN: Final = re.compile(r"https?://[^/?#]+", re.IGNORECASE)
_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.-]*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRoute:
    """Where one tool is served."""

    tool: CompiledTool
    http: HttpTransport
    path: re.Pattern[str]
    """Matches the encoded path; one group for each placeholder."""
    names: tuple[str, ...]
    """The placeholders of the path, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentCall:
    """What a request says, as far as it can be read."""

    method: str
    path: str
    """Encoded, without the query."""
    query: Sequence[tuple[str, str]] = ()
    headers: Mapping[str, str]
    body: Json = ABSENT


def routes_of(tools: Iterable[CompiledTool]) -> tuple[ToolRoute, ...]:
    """Return the routes of all tools that are reached over HTTP."""
    return tuple(_route(tool, tool.contract.http) for tool in tools if tool.contract.http is not None)


def match(routes: Iterable[ToolRoute], sent: SentCall) -> Iterator[tuple[ToolRoute, dict[str, JsonValue]]]:
    """Yield every route that the method and the path fit, with the arguments that the request gives it."""
    for route in routes:
        found = route.path.fullmatch(sent.path)
        if found is not None and route.http.method.upper() == sent.method:
            texts = dict(zip(route.names, map(unquote, found.groups()), strict=True))
            yield route, _arguments(route, texts, sent)


def _route(tool: CompiledTool, http: HttpTransport) -> ToolRoute:
    path = re.split(r"[?#]", _ORIGIN.sub("", _BASE.sub("", http.url)), maxsplit=1)[0] or "/"
    literals = _PLACEHOLDER.split(path)
    pattern = "([^/]+)".join(re.escape(literal) for literal in literals[::2])
    return ToolRoute(tool=tool, http=http, path=re.compile(pattern), names=tuple(literals[1::2]))


def _arguments(route: ToolRoute, from_path: Mapping[str, str], sent: SentCall) -> dict[str, JsonValue]:
    properties: Mapping[str, Any] = route.tool.contract.parameters.get("properties", {})
    texts: dict[str, list[str]] = {name: [text] for name, text in from_path.items()}
    for key, text in sent.query:
        texts.setdefault(_parameter(route.http.query, key), []).append(text)
    for key, template in route.http.headers.items():
        name = placeholders.whole(template)
        if name is not None and key.lower() in sent.headers:
            texts.setdefault(name, []).append(sent.headers[key.lower()])
    arguments = {name: _typed(properties.get(name), values) for name, values in texts.items()}
    arguments.update(_from_body(route.http.json, sent.body))
    return arguments


def _parameter(query: Mapping[str, JsonValue], key: str) -> str:
    template = query.get(key)
    return (placeholders.whole(template) if isinstance(template, str) else None) or key


def _from_body(template: Json, body: Json) -> Iterator[tuple[str, JsonValue]]:
    """Yield the arguments that stand in the body; members that the template does not name are parameters."""
    if isinstance(template, str) and not isinstance(body, exact_json.Absent):
        name = placeholders.whole(template)
        if name is not None:
            yield name, body
    elif isinstance(template, Mapping) and isinstance(body, Mapping):
        for key, value in body.items():
            if key in template:
                yield from _from_body(template[key], value)
            else:
                yield key, value
    elif isinstance(template, exact_json.Absent) and isinstance(body, Mapping):
        yield from body.items()


def _typed(schema: Any, texts: list[str]) -> JsonValue:
    """Return what a text means for a parameter of this schema; what cannot be read stays a text."""
    wanted = schema.get("type") if isinstance(schema, Mapping) else None
    if wanted == "array":
        items = schema.get("items")
        return [_typed(items, [text]) for text in texts]
    if wanted in {"integer", "number", "boolean", "null"}:
        try:
            return exact_json.loads(texts[-1])
        except JsonSyntaxError:
            return texts[-1]
    return texts[-1]
