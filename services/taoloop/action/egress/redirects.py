"""Whether a redirect is followed, and what of the request goes along."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

MAX_REDIRECTS: Final = 5
"""Hops of one attempt; a chain that is longer is most likely a circle."""

_URL_CHARACTERS: Final = "!#$%&'()*+,-./:;=?@[]_~"
"""What stands in a URL as it is, beside letters and digits (RFC 3986); `%` since what was encoded stays so."""

REDIRECT_STATUSES: Final = frozenset({301, 302, 303, 307, 308})

REPEATING_STATUSES: Final = frozenset({307, 308})
"""Redirects of a request that is still to be made; with another one the server may have carried it out already."""

HARMLESS_HEADERS: Final = frozenset({"accept", "accept-encoding", "accept-language", "user-agent"})
"""What another origin may see; a list of the dangerous ones would miss the next header that somebody invents."""

_WITHOUT_BODY: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_SAFE_METHODS: Final = _WITHOUT_BODY | {"QUERY"}
"""What changes nothing. A QUERY has a body, which is its question: it is repeated with it, or not at all."""
_BODY_HEADERS: Final = frozenset({"content-type", "content-length", "content-encoding", "transfer-encoding"})
_PORTS: Final = {"http": 80, "https": 443}

Headers = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """A request that was answered by a redirect.

    Attributes:
        method: Upper-case method of the request.
        url: Absolute URL of the request.
        headers: Its headers; a name may come twice.
        status: The answer's status.
        location: The answer's `Location`, absolute or relative.
    """

    method: str
    url: str
    headers: Headers
    status: int
    location: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RedirectDecision:
    """What becomes of a redirect.

    Attributes:
        is_followed: Whether the next request is made.
        reason: Why not, in a few words; empty when it is.
        method: Method of the next request.
        url: Its absolute URL, without a fragment.
        headers: Its headers, in order.
        keeps_body: Whether the body is sent again.
        is_other_origin: Whether scheme, host or port change.
        dropped: Names of the headers that stay behind because the origin is another one, as they were written.
    """

    is_followed: bool
    reason: str = ""
    method: str = ""
    url: str = ""
    headers: Headers = ()
    keeps_body: bool = False
    is_other_origin: bool = False
    dropped: tuple[str, ...] = ()


def redirect_decision(hop: Hop, *, allows_other_origins: bool) -> RedirectDecision:
    """Decide about one hop; addresses are judged elsewhere, hop by hop.

    Another origin gets the harmless headers alone, never a body, and no method that changes something: a QUERY,
    whose body holds the arguments, stays at home. From https nothing goes on in plain text, whoever asks for it.

    Args:
        hop: The request and its answer.
        allows_other_origins: Whether the contract lets a redirect leave scheme, host and port.
    """
    # A server may send anything; in a request line a space, a control character or a raw byte would be another request.
    location = quote(hop.location.strip(), safe=_URL_CHARACTERS, errors="surrogateescape")
    url = urljoin(hop.url, location).partition("#")[0]
    method = _next_method(hop)
    is_same = _origin(hop.url) == _origin(url)
    reason = _objection(hop, url, method, is_same=is_same, allows_other_origins=allows_other_origins)
    if reason:
        return RedirectDecision(is_followed=False, reason=reason)
    keeps_body = method == hop.method and method not in _WITHOUT_BODY
    left_out = frozenset() if keeps_body else _BODY_HEADERS
    kept = [(name, value) for name, value in hop.headers if name.lower() not in left_out]
    sent = kept if is_same else [(name, value) for name, value in kept if name.lower() in HARMLESS_HEADERS]
    dropped = dict.fromkeys(name for name, value in kept if (name, value) not in sent)
    return RedirectDecision(
        is_followed=True,
        method=method,
        url=url,
        headers=tuple(sent),
        keeps_body=keeps_body,
        is_other_origin=not is_same,
        dropped=tuple(dropped),
    )


def _objection(hop: Hop, url: str, method: str, *, is_same: bool, allows_other_origins: bool) -> str:
    origin = _origin(url)
    if hop.status not in REDIRECT_STATUSES or not hop.location.strip() or origin is None:
        return "it does not say where to"
    if urlsplit(hop.url).scheme.lower() == "https" and origin[0] != "https":
        return "it leads from https to plain text"
    if not is_same and not allows_other_origins:
        return "it leads to another origin"
    if is_same or method in _WITHOUT_BODY:
        return ""
    return f"it would send a {'query' if method in _SAFE_METHODS else 'write'} to another origin"


def _next_method(hop: Hop) -> str:
    """Return the method that comes next.

    Source: the Fetch standard, HTTP-redirect fetch: 303 becomes GET, and so does POST after 301 and 302.
    """
    becomes_get = hop.status == 303 or (hop.status in {301, 302} and hop.method == "POST")
    return "GET" if becomes_get and hop.method != "HEAD" else hop.method


def _origin(url: str) -> tuple[str, str, int] | None:
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    scheme, host = parts.scheme.lower(), (parts.hostname or "").rstrip(".")
    if scheme not in _PORTS or not host or parts.username is not None:
        return None
    return scheme, host, port or _PORTS[scheme]
