"""One server's session: made when it is first needed, shared by all calls, made again after it was lost."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Final

from mcp.client import ClientSession
from mcp.shared.exceptions import MCPError

from taoloop.action.ports import TransportFault
from taoloop.action.transports.mcp.exchange import CURRENT, Exchange
from taoloop.core.clock import Clock
from taoloop.core.faults import FaultCode
from taoloop.core.logs import EventLog
from taoloop.core.telemetry import names
from taoloop.core.telemetry.metrics import Metrics

_log = EventLog(__name__)

CONNECT_SECONDS: Final = 20.0
"""How long a connection may take to be made, whoever waits for it; asking an old server whether it is new takes 10."""

FIRST_PAUSE_SECONDS: Final = 0.5
LONGEST_PAUSE_SECONDS: Final = 30.0
"""Between two starts of a server that ends again and again; the first new start comes at once."""

STABLE_SECONDS: Final = 30.0
"""A session that lasted this long forgives the failures before it."""


@dataclass(slots=True)
class Connection:
    """A connection that is being made, is there, or was lost.

    Attributes:
        is_lost: Set when it can be used no more.
        fault: Why it was lost; None when nobody knows, or it was not.
    """

    is_lost: asyncio.Event = field(default_factory=asyncio.Event)
    fault: TransportFault | None = None

    def end(self, fault: TransportFault | None = None) -> None:
        """Note that the connection is over; the first cause stays."""
        self.fault = self.fault or fault
        self.is_lost.set()


OpenSession = Callable[[Connection], AbstractAsyncContextManager[ClientSession]]
"""Connects and agrees on a version, and ends the connection at the end; tells it when it is lost before."""


class ServerLink:
    """Keeps one session for all calls to one server.

    Args:
        name: What log and metrics call the server.
        open_session: Makes the connection.
        tasks: Runs the session, whose library wants it entered and left by one task.
        clock: Measures pauses.
        metrics: Counts sessions.
    """

    def __init__(
        self, name: str, open_session: OpenSession, tasks: asyncio.TaskGroup, clock: Clock, metrics: Metrics
    ) -> None:
        self._name = name
        self._open = open_session
        self._tasks = tasks
        self._clock = clock
        self._sessions = metrics.counter(names.MCP_SESSIONS)
        self._connection: Connection | None = None
        self._ready: asyncio.Future[ClientSession] | None = None
        self._failures = 0
        self._not_before = 0.0

    async def session(self) -> tuple[ClientSession, Connection]:
        """Return the session and its connection, which is made first if there is none.

        Raises:
            TransportFault: There is no connection; nothing has left.
        """
        if self._connection is None or self._connection.is_lost.is_set():
            self._start()
        assert self._connection is not None
        assert self._ready is not None
        connection = self._connection
        try:
            return await asyncio.shield(self._ready), connection
        except TransportFault as fault:
            raise unsent(fault) from fault  # one that is raised twice gathers two tracebacks

    def end(self) -> None:
        """End the session, if there is one."""
        if self._connection is not None:
            self._connection.end()

    def _start(self) -> None:
        left = self._not_before - self._clock.monotonic()
        if left > 0:
            message = f"The server {self._name} ended too often lately; it is not started again for {left:.1f} s."
            raise TransportFault(FaultCode.TOOL_UNREACHABLE, message, may_have_left=False, is_retriable=True)
        connection = self._connection = Connection()
        ready = self._ready = asyncio.get_running_loop().create_future()
        context = contextvars.copy_context()
        self._tasks.create_task(self._own(connection, ready), name=f"mcp-session-{self._name}", context=context)

    async def _own(self, connection: Connection, ready: asyncio.Future[ClientSession]) -> None:
        """Hold the session from its beginning to its end; whatever happens is told to those who wait."""
        exchange = Exchange(ends_at=asyncio.get_running_loop().time() + CONNECT_SECONDS)
        CURRENT.set(exchange)
        began = self._clock.monotonic()
        fault = _unavailable("its connection was given up")
        try:
            async with asyncio.timeout(CONNECT_SECONDS) as limit, self._open(connection) as session:
                limit.reschedule(None)
                CURRENT.set(None)
                ready.set_result(session)
                self._sessions.labels(server=self._name, outcome="opened").inc()
                await connection.is_lost.wait()
        except Exception as error:  # noqa: BLE001 - what the library's tasks raised comes out here, and must reach the waiting
            fault = connection_fault(error, connection, exchange)
            _log.warning("mcp_session_failed", server=self._name, fault_code=str(fault.code), cause=fault.message)
        finally:
            was_open = ready.done()
            if not was_open:
                ready.set_exception(fault)
                ready.exception()  # marks it as seen: perhaps nobody waits any more
            connection.end(fault)
            self._ended(self._clock.monotonic() - began, was_open=was_open)

    def _ended(self, seconds: float, *, was_open: bool) -> None:
        self._sessions.labels(server=self._name, outcome="lost" if was_open else "failed").inc()
        self._failures = 1 if was_open and seconds >= STABLE_SECONDS else self._failures + 1
        pause = 0.0 if self._failures < 2 else FIRST_PAUSE_SECONDS * 2.0 ** min(self._failures - 2, 10)
        self._not_before = self._clock.monotonic() + min(pause, LONGEST_PAUSE_SECONDS)

    def __repr__(self) -> str:
        is_open = self._connection is not None and not self._connection.is_lost.is_set()
        return f"ServerLink({self._name}, {'open' if is_open else 'closed'}, failures={self._failures})"


class ServerLinks:
    """All links, by what they lead to.

    Args:
        tasks: Runs the sessions.
        clock: Measures pauses.
        metrics: Counts sessions.
    """

    def __init__(self, tasks: asyncio.TaskGroup, clock: Clock, metrics: Metrics) -> None:
        self._tasks = tasks
        self._clock = clock
        self._metrics = metrics
        self._links: dict[object, ServerLink] = {}

    def get(self, key: object, name: str, open_session: OpenSession) -> ServerLink:
        """Return the link of a key, made now if it is new."""
        link = self._links.get(key)
        if link is None:
            link = self._links[key] = ServerLink(name, open_session, self._tasks, self._clock, self._metrics)
        return link

    def end(self) -> None:
        """End all sessions."""
        for link in self._links.values():
            link.end()

    def __repr__(self) -> str:
        return f"<ServerLinks [{', '.join(map(repr, self._links.values()))}]>"


def connection_fault(error: BaseException, connection: Connection, exchange: Exchange) -> TransportFault:
    """Return why a connection could not be made or was lost: the cause nearest to the network, if one was seen."""
    causes = list(_leaves(error))
    known = next((cause for cause in causes if isinstance(cause, TransportFault)), None)
    fault = exchange.fault or known or connection.fault
    if fault is not None:
        return unsent(fault)
    status = exchange.progress.status_code
    if status >= 400:
        received = exchange.progress.reply()
        is_broken = status >= 500 or status == 429
        code = FaultCode.UPSTREAM_UNAVAILABLE if is_broken else FaultCode.UPSTREAM_REFUSED
        message = f"The server answered {status} to the beginning of a session."
        return TransportFault(code, message, may_have_left=False, is_retriable=is_broken, received=received)
    if any(isinstance(cause, TimeoutError) for cause in causes):
        return _unavailable(f"it did not begin a session within {CONNECT_SECONDS:g} s")
    if any(isinstance(cause, MCPError) for cause in causes):
        message = "The server did not begin a session as the protocol says."
        return TransportFault(FaultCode.TOOL_PROTOCOL_FAULT, message, may_have_left=False)
    return _unavailable(f"the session failed ({type(causes[0]).__name__})")


def unsent(fault: TransportFault) -> TransportFault:
    """Return the fault of a connection as that of a call which waited for it and was not sent."""
    return TransportFault(
        fault.code, fault.message, may_have_left=False, is_retriable=fault.is_retriable, received=fault.received
    )


def _unavailable(cause: str) -> TransportFault:
    message = f"There is no session with the server: {cause}."
    return TransportFault(FaultCode.TOOL_UNREACHABLE, message, may_have_left=False, is_retriable=True)


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from _leaves(inner)
    else:
        yield error
