"""Connections to tools: a pool of its own for each, whose slots come back whatever becomes of a call."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, Self

import aiohttp
from aiohttp.client_reqrep import ConnectionKey

from taoloop.action.egress.rules import host_of, judge_url
from taoloop.action.transports.egress_guard import Egress, EgressGuard
from taoloop.action.transports.http.answering import AnswerProtocol
from taoloop.action.transports.http.failures import Progress, egress_fault
from taoloop.action.transports.http.plain_answers import HeadLimits
from taoloop.action.transports.http.wire import NO_LIMIT, USER_AGENT, Route
from taoloop.action.transports.http_request import origin_of
from taoloop.core.clock import SystemClock
from taoloop.core.telemetry import names
from taoloop.core.telemetry.metrics import Metrics
from taoloop.tools.contract import Pool

DEFAULT_HEAD: Final = HeadLimits()

_monotonic: Final = SystemClock.monotonic
"""By which the library's connector tells how long a connection was left alone."""

_MAX_JUDGED_ORIGINS: Final = 1000


@dataclass(frozen=True, slots=True)
class TlsIdentity:
    """What a client shows and whom it believes.

    Attributes:
        fingerprint: Changes when the certificate, the key or the authorities do.
        context: For the connections.
    """

    fingerprint: str
    context: ssl.SSLContext


class ToolPool:
    """The connections of one tool.

    Args:
        name: The tool's.
        limits: Size and idle time.
        egress: Where connections may go.
        identity: For TLS; None for the system's authorities and no client certificate.
        head: How large the head of an answer may be.

    Attributes:
        routes: Origin → the way to it, of those that were judged and may be called.
    """

    def __init__(
        self,
        name: str,
        limits: Pool,
        egress: Egress,
        identity: TlsIdentity | None = None,
        head: HeadLimits = DEFAULT_HEAD,
    ) -> None:
        self.name = name
        self.head = head
        self.limits = limits
        self.identity = identity
        self.guard = EgressGuard(egress)
        self.routes: dict[str, Route] = {}
        self._judged: dict[str, str] = {}
        self._busy = 0
        self._calls = 0
        self._is_retired = False
        self._connector = self._opened()
        self._session: aiohttp.ClientSession | None = None

    @property
    def busy(self) -> int:
        """Connections that a call holds now."""
        return self._busy

    @property
    def idle(self) -> int:
        """Connections that are kept for the next call."""
        return max(0, self.guard.open_connections - self._busy)

    @property
    def session(self) -> aiohttp.ClientSession:
        """The library's client on these connections; each of its requests is made inside a `PooledCall` of its own."""
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=self._connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                headers={"User-Agent": USER_AGENT},
                timeout=NO_LIMIT,
                auto_decompress=False,
                trust_env=False,
                max_line_size=self.head.max_header_bytes,
                max_field_size=self.head.max_header_bytes,
                max_headers=self.head.max_headers,
            )
        return self._session

    def kept(self, route: Route, progress: Progress) -> AnswerProtocol | None:
        """Return a connection that an earlier request left, at once; None where there is none.

        It is held until `give_back` or `drop`.
        """
        protocol = self._connector.kept(route)
        if protocol is not None:
            progress.has_connection = progress.reused_connection = True
            self._busy += 1
        return protocol

    async def connection(self, route: Route, progress: Progress) -> AnswerProtocol:
        """Return a connection, kept or new; as many requests as find none wait here. It is held as by `kept`.

        Raises:
            aiohttp.ClientError: None could be made.
        """
        _call.set(PooledCall(self, progress))
        connection = await self._connector.connect(route.wanted, [], NO_LIMIT)
        protocol = connection.protocol
        assert isinstance(protocol, AnswerProtocol)
        connection._protocol = None  # noqa: SLF001 - ours from now on: the library's handle would warn, and close it
        return protocol

    def give_back(self, route: Route, protocol: AnswerProtocol, body: bytes | None, status_code: int) -> None:
        """Keep a connection whose answer was read to its end, unless the rest of its request stands before the next.

        Args:
            route: For which it was held.
            protocol: The connection.
            body: That of the request.
            status_code: That of the answer, which may have come before the request was read.
        """
        self._busy -= 1
        if protocol.holds_back(body, status_code):
            protocol.abort()
            self._connector._release(route.key, protocol, should_close=True)  # noqa: SLF001 - see `drop`
        else:
            self._connector.give_back(route, protocol)

    def drop(self, route: Route, protocol: AnswerProtocol) -> None:
        """Close a connection whose answer was not read to its end."""
        self._busy -= 1
        transport = protocol.transport
        # Closing alone would go on sending what the caller has given up; what TLS has handed on is counted nowhere.
        if transport is not None and (transport.get_write_buffer_size() or transport.get_extra_info("sslcontext")):
            transport.abort()
        self._connector._release(route.key, protocol, should_close=True)  # noqa: SLF001 - the library's handle does so

    def admit(self, url: str, *, is_base: bool) -> Route:
        """Return the way to a URL's origin, which is judged before the first request to it.

        Args:
            url: Absolute.
            is_base: Whether the operator wrote its host, so that a private address in it is meant.

        Raises:
            TransportFault: EGRESS_FORBIDDEN.
        """
        origin = origin_of(url)
        route = self.routes.get(origin)
        return self._new_route(origin, is_base=is_base) if route is None else route

    def _new_route(self, origin: str, *, is_base: bool) -> Route:
        if origin not in self._judged:
            if is_base:
                self.guard.admit_base(host_of(origin))
            if len(self._judged) >= _MAX_JUDGED_ORIGINS:
                self._judged.clear()  # redirects could name ever new ones
                self.routes.clear()
            self._judged[origin] = judge_url(origin, self.guard.rules).reason
        if self._judged[origin]:
            raise egress_fault(self._judged[origin])
        route = self.routes[origin] = Route(origin)
        return route

    async def retire(self) -> None:
        """Close the pool once the calls that use it are over."""
        self._is_retired = True
        if not self._calls:
            await self.aclose()

    async def aclose(self) -> None:
        """Close every connection."""
        if self._session is not None:
            await self._session.close()
        await self._connector.close()

    def enter(self) -> None:
        """Begin a call, which is not cut off when the pool is retired; a `leave` follows."""
        self._calls += 1

    def leave(self) -> bool:
        """End a call; tell whether it was the last one of a retired pool, which is then to be closed."""
        self._calls -= 1
        return self._is_retired and not self._calls

    async def __aenter__(self) -> Self:
        self.enter()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self.leave():
            await self.aclose()

    def _opened(self) -> _CountingConnector:
        return _CountingConnector(
            limit=self.limits.size,
            keepalive_timeout=self.limits.idle_timeout_seconds,
            socket_factory=self.guard.make_socket,
            resolver=self.guard.resolver(),
            ssl=self.identity.context if self.identity is not None else True,
        )

    def __repr__(self) -> str:
        return f"{self.name}: {self.busy} busy, {self.idle} idle of {self.limits.size}"


@dataclass(slots=True)
class PooledCall:
    """One request's hold on a connection of a pool, from its sending to the end of the `with` block."""

    pool: ToolPool
    progress: Progress
    is_holding: bool = False
    was_sent: bool = False
    has_new_connection: bool = False

    def take(self) -> None:
        """Count a connection as held from now on."""
        self.progress.has_connection = self.was_sent = True
        if not self.is_holding:
            self.is_holding = True
            self.pool._busy += 1  # noqa: SLF001 - the pool's other half

    def __enter__(self) -> Self:
        _call.set(self)
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_holding:
            self.is_holding = False
            self.pool._busy -= 1  # noqa: SLF001 - the pool's other half


class ToolPools:
    """All pools: one for each tool, and one for each tool's redirects to other origins.

    Args:
        default: Size and idle time where a contract says nothing.
        egress: Where connections may go.
        metrics: Show the pools' state when they are read.
        head: How large the head of an answer may be.
    """

    def __init__(self, default: Pool, egress: Egress, metrics: Metrics, head: HeadLimits = DEFAULT_HEAD) -> None:
        self._default = default
        self._head = head
        self._egress = egress
        self._gauge = metrics.gauge(names.POOL_CONNECTIONS)
        self._pools: dict[str, ToolPool] = {}
        self._elsewhere: dict[str, ToolPool] = {}

    @property
    def pools(self) -> Mapping[str, ToolPool]:
        """Tool name → pool, of the tools that were called so far."""
        return self._pools

    def known(self, tool: str) -> ToolPool | None:
        """Return the pool of a tool that was called before and has no TLS identity of its own."""
        pool = self._pools.get(tool)
        return None if pool is None or pool.identity is not None else pool

    async def of_tool(self, tool: str, limits: Pool | None, identity: TlsIdentity | None = None) -> ToolPool:
        """Return the tool's pool; one whose TLS identity has changed is replaced and closes after its last call."""
        pool = self._pools.get(tool)
        if pool is not None and _fingerprint(pool.identity) == _fingerprint(identity):
            return pool
        fresh = self._pools[tool] = self._made(tool, limits, identity)
        self._gauge.labels(tool=tool, state="busy").set_function(lambda: fresh.busy)
        self._gauge.labels(tool=tool, state="idle").set_function(lambda: fresh.idle)
        if pool is not None:
            await pool.retire()
        return fresh

    def elsewhere(self, tool: str, limits: Pool | None) -> ToolPool:
        """Return the tool's pool for other origins than its own: no client certificate, no base's private address."""
        if tool not in self._elsewhere:
            self._elsewhere[tool] = self._made(tool, limits, None)
        return self._elsewhere[tool]

    async def aclose(self) -> None:
        """Close every pool."""
        pools = [*self._pools.values(), *self._elsewhere.values()]
        self._pools.clear()
        self._elsewhere.clear()
        for pool in pools:
            await pool.aclose()

    def _made(self, tool: str, limits: Pool | None, identity: TlsIdentity | None) -> ToolPool:
        return ToolPool(tool, self._default if limits is None else limits, self._egress, identity, self._head)

    def __repr__(self) -> str:
        return f"<ToolPools [{'; '.join(map(repr, self._pools.values()))}]>"


def _fingerprint(identity: TlsIdentity | None) -> str:
    return "" if identity is None else identity.fingerprint


_call: ContextVar[PooledCall] = ContextVar("taoloop_pooled_call")
"""The call whose request is being made; aiohttp's own hooks would cost a sixth of the request."""


class _CountingConnector(aiohttp.TCPConnector):
    """Tells a `PooledCall` whether it waits for a connection, whether it got one, and a new one or not.

    It gives a call one connection only: after a connection broke, aiohttp's own client repeats GET, HEAD, OPTIONS,
    TRACE, PUT and DELETE once, unseen, so that a write could take effect twice and a read would be counted once.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._idle_seconds = options["keepalive_timeout"]
        self._factory = partial(AnswerProtocol, loop=self._loop)  # type: ignore[assignment]  # as good as its base

    def kept(self, route: Route) -> AnswerProtocol | None:
        """Give a connection that an earlier request left, at once; None leaves it to `connect`.

        What the library's own `_get` does, which nobody has to wait for, and without a handle for each request.
        """
        connections = self._conns.get(route.key)
        while connections:
            protocol, left_at = connections.popleft()
            if not connections:
                del self._conns[route.key]
            assert isinstance(protocol, AnswerProtocol)
            transport = protocol.transport
            is_open = transport is not None and not transport.is_closing()
            if is_open and _monotonic() - left_at <= self._idle_seconds and protocol.is_silent():
                self._acquired.add(protocol)
                return protocol
            protocol.close()
        return None

    def give_back(self, route: Route, protocol: AnswerProtocol) -> None:
        """Keep a connection whose answer was read, if it can take another request."""
        if protocol.rest() and not (self._waiters or self._closed) and self._cleanup_handle is not None:
            self._acquired.discard(protocol)
            self._conns[route.key].append((protocol, _monotonic()))
        else:
            self._release(route.key, protocol)

    async def _wait_for_available_connection(self, key: ConnectionKey, traces: list[Any]) -> None:
        """Wait for a connection; one that was handed to a call as it was given up goes to the next, not to nobody."""
        try:
            await super()._wait_for_available_connection(key, traces)
        except BaseException:
            self._release_waiter()
            raise

    async def connect(
        self, req: aiohttp.ClientRequest, traces: list[Any], timeout: aiohttp.ClientTimeout
    ) -> aiohttp.connector.Connection:
        call = _call.get()
        if call.was_sent:
            raise aiohttp.ClientConnectionError("sent before")
        call.progress.is_queued = True
        connection = await super().connect(req, traces, timeout)
        while not _is_silent(connection):
            connection.close()
            if call.has_new_connection:
                raise aiohttp.ClientConnectionError("the server spoke first")
            connection = await super().connect(req, traces, timeout)
        call.progress.is_queued = False
        call.progress.reused_connection = not call.has_new_connection
        call.take()
        return connection

    async def _create_connection(
        self, req: aiohttp.ClientRequest, traces: list[Any], timeout: aiohttp.ClientTimeout
    ) -> aiohttp.client_proto.ResponseHandler:
        call = _call.get()
        call.progress.is_queued, call.has_new_connection = False, True
        return await super()._create_connection(req, traces, timeout)


def _is_silent(connection: aiohttp.connector.Connection) -> bool:
    protocol = connection.protocol
    return not isinstance(protocol, AnswerProtocol) or protocol.is_silent()
