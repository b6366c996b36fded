"""What is written to a server: the way to its origin, and the head of a request."""

from __future__ import annotations

import asyncio
from typing import Final

import aiohttp
from aiohttp.client_reqrep import ConnectionKey
from yarl import URL

from taoloop.action.ports import TransportFault
from taoloop.action.transports.http_request import HttpRequest
from taoloop.core.faults import FaultCode

NO_LIMIT: Final = aiohttp.ClientTimeout(total=None, sock_connect=None)
"""The attempt has one limit for everything, which is not the connector's."""

USER_AGENT: Final = "taoloop"

_BODILESS: Final = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})
"""Methods whose requests need not say that they have no body. Source: RFC 9110, 8.6."""

_SWITCHING_PROTOCOLS: Final = 101
_MAX_LAYOUTS: Final = 64
"""Sets of headers that a route remembers; a contract has one or two."""


class Route:
    """The way to one origin.

    Args:
        origin: Scheme, host and port of a URL, such as `https://api.example.com`.

    Attributes:
        wanted: What the connector is asked for.
        key: By which the connector keeps connections.
        headers: What every request says, by lower-case name.
    """

    __slots__ = ("_layouts", "headers", "key", "origin", "wanted")

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.wanted = _Wanted("GET", URL(origin, encoded=True), loop=asyncio.get_running_loop())
        self.key = self.wanted.connection_key
        host = self.wanted.headers["Host"]
        self.headers = {"host": f"Host: {host}", "accept": "Accept: */*", "user-agent": f"User-Agent: {USER_AGENT}"}
        self._layouts: dict[tuple[str, ...], tuple[str, int]] = {}

    def head(self, request: HttpRequest) -> bytes:
        """Return the head of a request; a header of its own stands in place of one that every request has.

        Raises:
            TransportFault: INVALID_PARAMETER, it would hold a line end or a null; nothing has left.
        """
        method, headers, body = request.method, request.headers, request.body
        target = request.url[len(self.origin) :].partition("#")[0]
        first = f"{method} {target if target.startswith('/') else '/' + target} HTTP/1.1\r\n"
        names, values = (*headers,), (*headers.values(),)
        if body is not None or method not in _BODILESS:
            names, values = (*names, "Content-Length"), (*values, str(0 if body is None else len(body)))
        known = self._layouts.get(names)
        layout, line_count = self._laid_out(names) if known is None else known
        text = first + layout.format(*values)
        if not text.count("\r") == text.count("\n") == line_count or "\0" in text:
            message = "A header would hold a line end or a null."
            raise TransportFault(FaultCode.INVALID_PARAMETER, message, may_have_left=False)
        return text.encode()

    def _laid_out(self, names: tuple[str, ...]) -> tuple[str, int]:
        """Return what stands behind the first line for headers of these names, and how many lines a head then has."""
        lines = {name: _literal(line) for name, line in self.headers.items()}
        for number, name in enumerate(names):
            lines[name.lower()] = f"{_literal(name)}: {{{number}}}"
        if len(self._layouts) >= _MAX_LAYOUTS:
            self._layouts.clear()
        laid_out = self._layouts[names] = "\r\n".join(lines.values()) + "\r\n\r\n", len(lines) + 2
        return laid_out


def _literal(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def is_interim(status_code: int) -> bool:
    """Tell whether another head follows this one."""
    return 100 <= status_code < 200 and status_code != _SWITCHING_PROTOCOLS


class _Wanted(aiohttp.ClientRequest):
    """Names a server to the connector, again and again; it is never sent itself."""

    connection_key: ConnectionKey = None  # type: ignore[assignment]  # takes the place of a property that works it out

    def __init__(self, method: str, url: URL, *, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(method, url, loop=loop)
        self.connection_key = super().connection_key
