"""HTTP/1.1 on a connection of aiohttp's: a request written whole, the head of its answer, the body as it arrives.

The connector with its pool, its hook at the connection and its TLS is the library's, and so is the parser; the client
around them is not used. It costs twice what they do, and repeats requests unasked.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Final

import aiohttp
from aiohttp.client_proto import ResponseHandler
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

_ONE_WRITE_BYTES: Final = 64 * 1024
"""A longer body is not copied behind its head."""

_SWITCHING_PROTOCOLS: Final = 101


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadLimits:
    """How large the head of an answer may be.

    Attributes:
        max_header_bytes: Of its first line, and of each header.
        max_headers: Most headers.
    """

    max_header_bytes: int = 8190
    max_headers: int = 128


DEFAULT_HEAD: Final = HeadLimits()


class Route:
    """The way to one origin.

    Args:
        origin: Scheme, host and port of a URL, such as `https://api.example.com`.

    Attributes:
        wanted: What the connector is asked for.
        headers: What every request says, by lower-case name.
    """

    __slots__ = ("headers", "origin", "wanted")

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.wanted = _Wanted("GET", URL(origin, encoded=True), loop=asyncio.get_running_loop())
        host = self.wanted.headers["Host"]
        self.headers = {"host": f"Host: {host}", "accept": "Accept: */*", "user-agent": f"User-Agent: {USER_AGENT}"}

    def head(self, request: HttpRequest) -> bytes:
        """Return the head of a request; a header of its own stands in place of one that every request has.

        Raises:
            TransportFault: INVALID_PARAMETER, it would hold a line end or a null; nothing has left.
        """
        target = request.url[len(self.origin) :].partition("#")[0]
        first = f"{request.method} {target if target.startswith('/') else '/' + target} HTTP/1.1"
        lines = {"": first, **self.headers}
        for name, value in request.headers.items():
            lines[name.lower()] = f"{name}: {value}"
        if request.body is not None:
            lines["content-length"] = f"Content-Length: {len(request.body)}"
        elif request.method not in _BODILESS:
            lines["content-length"] = "Content-Length: 0"
        text = "\r\n".join(lines.values()) + "\r\n\r\n"
        if not text.count("\r") == text.count("\n") == len(lines) + 1 or "\0" in text:
            message = "A header would hold a line end or a null."
            raise TransportFault(FaultCode.INVALID_PARAMETER, message, may_have_left=False)
        return text.encode()


def drop(connection: aiohttp.connector.Connection) -> None:
    """Close a connection whose answer was not read to its end."""
    transport = connection.transport
    if transport is not None and transport.get_write_buffer_size():
        transport.abort()  # closing alone would go on sending what the caller has given up
    connection.close()


def spare(connection: aiohttp.connector.Connection, body: bytes | None, status_code: int) -> None:
    """Keep a connection whose answer was read to its end, unless the rest of its request stands before the next one.

    Args:
        connection: The connection.
        body: That of the request.
        status_code: That of the answer, which may have come before the request was read.
    """
    transport = connection.transport
    if transport is None or not _holds_back(transport, body, status_code):
        connection.release()
        return
    transport.abort()
    connection.close()


def _holds_back(transport: asyncio.Transport, body: bytes | None, status_code: int) -> bool:
    if transport.get_write_buffer_size():
        return True
    if body is None or len(body) <= _ONE_WRITE_BYTES or 200 <= status_code < 300:
        return False
    # What TLS has handed on is counted nowhere: a long request that was refused may be on its way still.
    return transport.get_extra_info("sslcontext") is not None


def sent(
    connection: aiohttp.connector.Connection,
    method: str,
    head: bytes,
    body: bytes | None,
    limits: HeadLimits = DEFAULT_HEAD,
) -> ResponseHandler:
    """Send a request; what is returned reads the heads of its answers, each with the body to come, undecoded.

    Raises:
        aiohttp.ClientError: The connection is closed.
    """
    protocol = connection.protocol
    transport = None if protocol is None else protocol.transport
    if protocol is None or transport is None or transport.is_closing():
        raise aiohttp.ClientConnectionResetError("closed before the request")
    protocol.set_response_params(
        skip_payload=method == "HEAD",
        read_until_eof=True,
        auto_decompress=False,
        max_line_size=limits.max_header_bytes,
        max_field_size=limits.max_header_bytes,
        max_headers=limits.max_headers,
    )
    if body is not None and len(body) > _ONE_WRITE_BYTES:
        transport.write(head)
        transport.write(body)
    else:
        transport.write(head if body is None else head + body)
    return protocol


def is_interim(status_code: int) -> bool:
    """Tell whether another head follows this one."""
    return 100 <= status_code < 200 and status_code != _SWITCHING_PROTOCOLS


class _Wanted(aiohttp.ClientRequest):
    """Names a server to the connector, again and again; it is never sent itself."""

    connection_key: ConnectionKey = None  # type: ignore[assignment]  # takes the place of a property that works it out

    def __init__(self, method: str, url: URL, *, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(method, url, loop=loop)
        self.connection_key = super().connection_key
