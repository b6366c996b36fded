"""An HTTP request made from a contract's mapping and checked arguments: encoded, never spliced."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import quote, urlencode

from taoloop.core import exact_json
from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.tools import placeholders
from taoloop.tools.contract import HttpTransport

_PLACEHOLDER: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_.-]*)\}")
_BASE: Final = re.compile(r"\{\{\s*base\.([A-Za-z0-9_-]+)\s*\}\}")
_ORIGIN: Final = re.compile(r"https?://[^/?#{}]+", re.IGNORECASE)
_FORBIDDEN_IN_HEADERS: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_DOT_SEGMENTS: Final = frozenset({".", ".."})
_QUERY_METHODS: Final = frozenset({"GET", "HEAD", "DELETE", "OPTIONS"})

Arguments = Mapping[str, JsonValue]


class RequestRefused(ValueError):
    """The arguments cannot be sent this way.

    Attributes:
        parameter: Name of the parameter at fault; empty when it is the contract.
        message: What is wrong, without the value.
    """

    def __init__(self, parameter: str, message: str) -> None:
        super().__init__(message)
        self.parameter = parameter
        self.message = message


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """What is sent."""

    method: str
    """Upper case."""
    url: str
    """Fully encoded."""
    headers: Mapping[str, str]
    body: bytes | None
    """JSON in UTF-8; None for no body."""


def build_request(template: HttpTransport, arguments: Arguments) -> HttpRequest:
    """Put the arguments where the contract's template says.

    `{parameter}` stands for an argument. In path and query of the URL it is percent-encoded; an entry of the
    query or the headers that is one placeholder is left out without its argument, and an entry of the query is
    repeated for a list; a string of the body that is one placeholder becomes the argument itself. Parameters
    that no placeholder names go to the query for GET, HEAD, DELETE and OPTIONS, and to the top level of the
    JSON body for every other method.

    Raises:
        RequestRefused: A placeholder of the path has no argument or an empty one, the path would get a dot
            segment, a header a control character, or an argument has no text form where it is needed.
    """
    method = template.method.upper()
    rest = {name: value for name, value in arguments.items() if name not in set(_placed(template))}
    query = list(_query(template.query, arguments))
    body = _body(template.json, arguments)
    if rest and method not in _QUERY_METHODS and (body is ABSENT or isinstance(body, dict)):
        body = {**(body if isinstance(body, dict) else {}), **rest}
    else:
        query += [(name, text) for name, value in rest.items() for text in _texts(name, value)]
    headers = dict(_headers(template.headers, arguments))
    if not isinstance(body, exact_json.Absent):
        headers.setdefault("Content-Type", "application/json")
    return HttpRequest(
        method=method,
        url=_with_query(_url(template.url, arguments), query),
        headers=headers,
        body=None if isinstance(body, exact_json.Absent) else exact_json.dumps(body).encode(),
    )


def with_base(template: HttpTransport, bases: Mapping[str, str]) -> HttpTransport:
    """Return the template with its `{{base.NAME}}` replaced by the base URL of that name.

    Raises:
        RequestRefused: There is no such base.
    """

    def base(found: re.Match[str]) -> str:
        if found[1] not in bases:
            raise RequestRefused("", f"there is no base URL {found[1]}")
        return bases[found[1]].rstrip("/")

    return replace(template, url=_BASE.sub(base, template.url))


def path_template(url: str) -> str:
    """Return the path of a contract's URL as it is written, without values; `/` when there is none.

    >>> path_template("http://127.0.0.1:8700/orders/{order_id}?full=1")
    '/orders/{order_id}'
    """
    origin = _ORIGIN.match(url)
    rest = url[origin.end() :] if origin else url
    return re.split(r"[?#]", rest, maxsplit=1)[0] or "/"


def _placed(template: HttpTransport) -> Iterator[str]:
    yield from placeholders.names(template.url)
    parts: list[Json] = [dict(template.query), dict(template.headers), template.json]
    for part in parts:
        if not isinstance(part, exact_json.Absent):
            for _, text in placeholders.texts(part):
                yield from placeholders.names(text)


def _whole(template: object) -> str | None:
    return placeholders.whole(template) if isinstance(template, str) else None


def _first_name(template: str) -> str:
    return next(iter(placeholders.names(template)), "")


def _url(template: str, arguments: Arguments) -> str:
    origin = _ORIGIN.match(template)
    if origin is None:
        raise RequestRefused("", "the contract's URL is not absolute, or has a placeholder in its host")
    path, mark, tail = template[origin.end() :].partition("#")[0].partition("?")
    segments = (_segment(segment, arguments) for segment in path.split("/"))
    filled = _PLACEHOLDER.sub(lambda found: quote(_required(found[1], arguments), safe=""), tail)
    return origin[0] + "/".join(segments) + mark + filled


def _segment(template: str, arguments: Arguments) -> str:
    segment = _PLACEHOLDER.sub(lambda found: quote(_required(found[1], arguments), safe=""), template)
    if segment in _DOT_SEGMENTS:
        raise RequestRefused(_first_name(template), "the value would become a dot segment of the path")
    return segment


def _required(name: str, arguments: Arguments) -> str:
    if arguments.get(name) is None:
        raise RequestRefused(name, "the path needs this parameter")
    text = _text(name, arguments[name])
    if not text:
        raise RequestRefused(name, "an empty value would change the path")
    return text


def _query(templates: Mapping[str, JsonValue], arguments: Arguments) -> Iterator[tuple[str, str]]:
    for key, template in templates.items():
        name = _whole(template)
        if name is None:
            yield key, _filled(template, arguments)
        elif name in arguments:
            for text in _texts(name, arguments[name]):
                yield key, text


def _headers(templates: Mapping[str, str], arguments: Arguments) -> Iterator[tuple[str, str]]:
    for key, template in templates.items():
        name = _whole(template)
        if name is not None and arguments.get(name) is None:
            continue
        text = _filled(template, arguments)
        if _FORBIDDEN_IN_HEADERS.search(text):
            raise RequestRefused(_first_name(template), "a header cannot hold control characters")
        yield key, text


def _body(template: Json, arguments: Arguments) -> Json:
    if isinstance(template, Mapping):
        members = ((key, _body(value, arguments)) for key, value in template.items())
        return {key: value for key, value in members if not isinstance(value, exact_json.Absent)}
    if isinstance(template, list | tuple):
        items = (_body(item, arguments) for item in template)
        return [item for item in items if not isinstance(item, exact_json.Absent)]
    name = _whole(template)
    if name is not None:
        return arguments.get(name, ABSENT)
    return _filled(template, arguments) if isinstance(template, str) else template


def _filled(template: JsonValue, arguments: Arguments) -> str:
    if not isinstance(template, str):
        return _text("", template)
    return _PLACEHOLDER.sub(lambda found: _text(found[1], arguments.get(found[1])), template)


def _texts(name: str, value: JsonValue) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield _text(name, item)
    elif value is not None:
        yield _text(name, value)


def _text(name: str, value: JsonValue) -> str:
    """Return a scalar as text, numbers exactly as they were given; null is empty."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, list | dict):
        raise RequestRefused(name, "an array or object has no text form here")
    return exact_json.dumps(value)


def _with_query(url: str, query: list[tuple[str, str]]) -> str:
    if not query:
        return url
    try:
        encoded = urlencode(query, quote_via=quote, safe="")
    except UnicodeEncodeError as exc:
        raise RequestRefused("", "a lone surrogate cannot be sent") from exc
    return f"{url}{'&' if '?' in url else '?'}{encoded}"
