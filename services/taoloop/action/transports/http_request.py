"""An HTTP request made from a contract's mapping and checked arguments: encoded, never spliced."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final
from urllib.parse import quote, urlencode

from taoloop.action.transports.http_bodies import build_body, takes_rest
from taoloop.action.transports.http_filling import (
    PLACEHOLDER,
    Arguments,
    RequestRefused,
    entries,
    filled,
    first_name,
    text_of,
    texts_of,
    whole,
)
from taoloop.core import exact_json
from taoloop.core.exact_json import Json
from taoloop.tools import placeholders
from taoloop.tools.contract import HttpTransport, Idempotency, KeyLocation

__all__ = [
    "Arguments",
    "HttpRequest",
    "RequestRefused",
    "SentKey",
    "build_request",
    "build_url",
    "is_url_alone",
    "origin_of",
    "path_template",
    "placed_names",
    "with_base",
]

_BASE: Final = re.compile(r"\{\{\s*base\.([A-Za-z0-9_-]+)\s*\}\}")
_ORIGIN: Final = re.compile(r"https?://[^/?#{}]+", re.IGNORECASE)
_FORBIDDEN_IN_HEADERS: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_CONNECTION_HEADERS: Final = frozenset(
    {"connection", "content-length", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"}
)
_DOT_SEGMENTS: Final = frozenset({".", ".."})
_PLAIN_SEGMENT: Final = re.compile(r"[A-Za-z0-9_~-]++(?:\.[A-Za-z0-9_~-]++)*+")
"""Characters that stand for themselves in a path. Source: RFC 3986, 2.3; dots only between others."""


@dataclass(slots=True, kw_only=True)
class HttpRequest:
    """What is sent."""

    method: str
    """Upper case."""
    url: str
    """Fully encoded."""
    headers: dict[str, str]
    """Its own; whoever sends it adds to them."""
    body: bytes | None
    """None for no body."""


@dataclass(frozen=True, slots=True)
class SentKey:
    """An idempotency key, and where the contract wants it."""

    place: Idempotency
    key: str


def build_request(
    template: HttpTransport, arguments: Arguments, key: SentKey | None = None, placed: frozenset[str] | None = None
) -> HttpRequest:
    """Put the arguments where the contract's template says.

    `{parameter}` stands for an argument. In path and query of the URL it is percent-encoded; an entry of the
    query, the form or the headers that is one placeholder is left out without its argument, and an entry of the
    query or the form is repeated for a list; a string of the JSON body that is one placeholder becomes the
    argument itself. Parameters that no placeholder names go to the top level of the JSON body, to the form or
    to parts of their own; to the query for GET, HEAD, DELETE and OPTIONS without a body, and beside a text.

    Args:
        template: The contract's; its base is put in already.
        arguments: Name → checked value.
        key: Put in last, so that no argument replaces it; None for none.
        placed: The template's `placed_names`, from who has worked them out before; None works them out.

    Raises:
        RequestRefused: A placeholder of the path has no argument or an empty one, the path would get a dot
            segment, a header a control character, an argument has no form where it is needed, or the key none.
    """
    try:
        return _built(template, arguments, key, frozenset(placed_names(template)) if placed is None else placed)
    except UnicodeEncodeError as exc:
        raise RequestRefused("", "a lone surrogate cannot be sent") from exc


def build_url(template: str, arguments: Arguments) -> str:
    """Return the URL alone, of a template that has its base; see `build_request`.

    Raises:
        RequestRefused: As there.
    """
    parts = _url_parts(template)
    url = parts.head
    try:
        for segment, name in parts.segments:
            value = arguments.get(name) if name else None
            if type(value) is str and _PLAIN_SEGMENT.fullmatch(value):  # as keys mostly are: it would stay the same
                url += f"/{value}"
            else:
                url += f"/{_segment(segment, arguments) if '{' in segment else segment}"
        return f"{url}{parts.mark}{_encoded(parts.tail, arguments)}" if parts.mark else url
    except UnicodeEncodeError as exc:
        raise RequestRefused("", "a lone surrogate cannot be sent") from exc


def with_base(template: HttpTransport, bases: Mapping[str, str]) -> HttpTransport:
    """Return the template with its `{{base.NAME}}` replaced by the base URL of that name.

    Raises:
        RequestRefused: There is no such base.
    """
    return replace(template, url=url_with_base(template.url, bases))


def url_with_base(url: str, bases: Mapping[str, str]) -> str:
    """Return a URL of a contract with its `{{base.NAME}}` replaced by the base URL of that name.

    Raises:
        RequestRefused: There is no such base.
    """

    def base(found: re.Match[str]) -> str:
        if found[1] not in bases:
            raise RequestRefused("", f"there is no base URL {found[1]}")
        return bases[found[1]].rstrip("/")

    return _BASE.sub(base, url)


def with_query(url: str, query: list[tuple[str, str]]) -> str:
    """Return an encoded URL with more parameters at the end of its query."""
    if not query:
        return url
    return f"{url}{'&' if '?' in url else '?'}{urlencode(query, quote_via=quote, safe='')}"


def origin_of(url: str) -> str:
    """Return scheme, host and port of an absolute URL as they are written.

    >>> origin_of("http://127.0.0.1:8700/orders/{order_id}?full=1")
    'http://127.0.0.1:8700'
    """
    return "/".join(url.partition("?")[0].split("/", 3)[:3])


def path_template(url: str) -> str:
    """Return the path of a contract's URL as it is written, without values; `/` when there is none.

    >>> path_template("http://127.0.0.1:8700/orders/{order_id}?full=1")
    '/orders/{order_id}'
    """
    origin = _ORIGIN.match(url)
    rest = url[origin.end() :] if origin else url
    return re.split(r"[?#]", rest, maxsplit=1)[0] or "/"


def is_url_alone(template: HttpTransport) -> bool:
    """Tell whether a request has nothing but its URL, as most reads have: all else is then passed over."""
    return (
        not (template.query or template.headers)
        and template.json is exact_json.ABSENT
        and template.form is None
        and template.multipart is None
        and template.text is None
    )


def _built(template: HttpTransport, arguments: Arguments, key: SentKey | None, placed: frozenset[str]) -> HttpRequest:
    rest = {name: value for name, value in arguments.items() if name not in placed}
    query = list(entries(template.query, arguments))
    headers = dict(_headers(template.headers, arguments))
    in_body: Arguments = {}
    if takes_rest(template):
        in_body = rest
    else:
        query += [(name, text) for name, value in rest.items() for text in texts_of(name, value)]
    if key is not None:
        in_body = _place_key(key, template, query, headers, in_body)
    body = build_body(template, arguments, in_body)
    if body is not None and not any(name.lower() == "content-type" for name in headers):
        headers["Content-Type"] = body.content_type
    return HttpRequest(
        method=template.method.upper(),
        url=with_query(build_url(template.url, arguments), query),
        headers=headers,
        body=None if body is None else body.content,
    )


def _place_key(
    key: SentKey, template: HttpTransport, query: list[tuple[str, str]], headers: dict[str, str], in_body: Arguments
) -> Arguments:
    """Put the key where it belongs and return what the body takes."""
    name = key.place.name
    if key.place.location is KeyLocation.HEADER:
        for earlier in [header for header in headers if header.lower() == name.lower()]:
            del headers[earlier]
        headers[name] = key.key
    elif key.place.location is KeyLocation.QUERY:
        query[:] = [(entry, text) for entry, text in query if entry != name]
        query.append((name, key.key))
    elif template.text is not None or not isinstance(template.json, exact_json.Absent | Mapping):
        raise RequestRefused("", "the body has no place for the idempotency key")
    else:
        return {**in_body, name: key.key}
    return in_body


def placed_names(template: HttpTransport) -> Iterator[str]:
    """Yield the names of the parameters that have a place in the template, repeats included."""
    yield from placeholders.names(template.url)
    parts: list[Json] = [dict(template.query), dict(template.headers), template.json, template.text]
    parts.append(dict(template.form or {}))
    for part in (template.multipart or {}).values():
        parts += [part.content, part.file_name]
    for each in parts:
        if not isinstance(each, exact_json.Absent):
            for _, text in placeholders.texts(each):
                yield from placeholders.names(text)


@dataclass(frozen=True, slots=True)
class _UrlParts:
    head: str
    """The origin, with the path before its first placeholder."""
    segments: tuple[tuple[str, str], ...]
    """The segments from there on, each with the name of the parameter if it is one placeholder."""
    mark: str
    tail: str


@lru_cache(maxsize=4096)
def _url_parts(template: str) -> _UrlParts:
    origin = _ORIGIN.match(template)
    if origin is None:
        raise RequestRefused("", "the contract's URL is not absolute, or has a placeholder in its host")
    path, mark, tail = template[origin.end() :].partition("#")[0].partition("?")
    segments = tuple(path.split("/"))
    if not _DOT_SEGMENTS.isdisjoint(segments):
        raise RequestRefused("", "the value would become a dot segment of the path")
    fixed = next((number for number, segment in enumerate(segments) if "{" in segment), len(segments))
    named = tuple((segment, whole(segment) or "") for segment in segments[fixed:])
    return _UrlParts(origin[0] + "/".join(segments[:fixed]), named, mark, tail)


def _segment(template: str, arguments: Arguments) -> str:
    segment = _encoded(template, arguments)
    if segment in _DOT_SEGMENTS:
        raise RequestRefused(first_name(template), "the value would become a dot segment of the path")
    return segment


def _encoded(template: str, arguments: Arguments) -> str:
    if "{" not in template:
        return template
    return PLACEHOLDER.sub(lambda found: quote(_required(found[1], arguments), safe=""), template)


def _required(name: str, arguments: Arguments) -> str:
    if arguments.get(name) is None:
        raise RequestRefused(name, "the path needs this parameter")
    text = text_of(name, arguments[name])
    if not text:
        raise RequestRefused(name, "an empty value would change the path")
    return text


def _headers(templates: Mapping[str, str], arguments: Arguments) -> Iterator[tuple[str, str]]:
    for key, template in templates.items():
        if key.lower() in _CONNECTION_HEADERS:
            raise RequestRefused("", f"the header {key} is the connection's own")
        name = whole(template)
        if name is not None and arguments.get(name) is None:
            continue
        text = filled(template, arguments)
        if _FORBIDDEN_IN_HEADERS.search(text):
            raise RequestRefused(first_name(template), "a header cannot hold control characters")
        text.encode()  # raises for a lone surrogate here, not in the middle of the sending
        yield key, text
