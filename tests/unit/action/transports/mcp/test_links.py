"""Rules of the one session that all calls to a server share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError

from taoloop.action.ports import TransportFault
from taoloop.action.transports.http.failures import Progress
from taoloop.action.transports.mcp.exchange import CURRENT, Exchange
from taoloop.action.transports.mcp.links import (
    STABLE_SECONDS,
    Connection,
    ServerLink,
    ServerLinks,
    connection_fault,
)
from taoloop.core.faults import FaultCode
from taoloop.testing.clock import FakeClock
from tests.unit.action.contracts import telemetry

LOST = TransportFault(FaultCode.RESPONSE_INCOMPLETE, "Gone.", may_have_left=True, is_retriable=True)


class Server:
    """Opens sessions that are plain objects, or fails as it is told."""

    def __init__(self) -> None:
        self.failure: BaseException | None = None
        self.opened: list[Connection] = []
        self.is_closed = asyncio.Event()
        self.gate = asyncio.Event()
        self.gate.set()

    @asynccontextmanager
    async def __call__(self, connection: Connection) -> AsyncIterator[Any]:
        self.opened.append(connection)
        await self.gate.wait()
        if self.failure is not None:
            raise self.failure
        try:
            yield f"session {len(self.opened)}"
        finally:
            self.is_closed.set()


@pytest.fixture
async def tasks() -> AsyncIterator[asyncio.TaskGroup]:
    async with asyncio.TaskGroup() as group:
        yield group


class Bench:
    def __init__(self, tasks: asyncio.TaskGroup) -> None:
        self.server = Server()
        self.clock = FakeClock()
        self.telemetry = telemetry()
        self.link = ServerLink("mock", self.server, tasks, self.clock, self.telemetry.metrics)

    async def lose(self) -> None:
        """End the session and wait until it is closed."""
        self.server.is_closed.clear()
        self.link.end()
        await self.server.is_closed.wait()
        for _ in range(5):
            await asyncio.sleep(0)

    async def fault(self) -> TransportFault:
        with pytest.raises(TransportFault) as caught:
            await self.link.session()
        return caught.value


async def test_callers_share_one_session_and_one_connecting(tasks: asyncio.TaskGroup) -> None:
    bench = Bench(tasks)
    assert bench.server.opened == []
    bench.server.gate.clear()
    waiting = [tasks.create_task(bench.link.session()) for _ in range(3)]
    await asyncio.sleep(0)
    bench.server.gate.set()
    assert [str((await task)[0]) for task in waiting] == ["session 1"] * 3
    assert repr(bench.link) == "ServerLink(mock, open, failures=0)"
    bench.link.end()


async def test_a_caller_that_leaves_does_not_end_the_connecting(tasks: asyncio.TaskGroup) -> None:
    bench = Bench(tasks)
    bench.server.gate.clear()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await bench.link.session()
    bench.server.gate.set()
    session, _ = await bench.link.session()
    assert (str(session), len(bench.server.opened)) == ("session 1", 1)
    bench.link.end()


async def test_a_session_that_was_lost_is_made_anew_at_once_and_then_with_growing_pauses(
    tasks: asyncio.TaskGroup,
) -> None:
    bench = Bench(tasks)
    await bench.link.session()
    await bench.lose()
    assert str((await bench.link.session())[0]) == "session 2"
    await bench.lose()
    refused = await bench.fault()
    assert (refused.code, refused.may_have_left, refused.is_retriable) == (FaultCode.TOOL_UNREACHABLE, False, True)
    assert "0.5 s" in refused.message
    bench.clock.advance(0.5)
    await bench.link.session()
    await bench.lose()
    bench.clock.advance(0.5)
    assert "0.5 s" in (await bench.fault()).message
    bench.clock.advance(0.5)
    await bench.link.session()
    bench.clock.advance(STABLE_SECONDS)
    await bench.lose()
    await bench.link.session()
    bench.link.end()


async def test_a_server_that_cannot_be_reached_is_told_to_everybody_who_waited(tasks: asyncio.TaskGroup) -> None:
    bench = Bench(tasks)
    bench.server.failure = ExceptionGroup("g", [ValueError(), LOST])
    bench.server.gate.clear()
    waiting = [tasks.create_task(bench.fault()) for _ in range(2)]
    await asyncio.sleep(0)
    bench.server.gate.set()
    told = [await task for task in waiting]
    assert [(fault.code, fault.may_have_left) for fault in told] == [(FaultCode.RESPONSE_INCOMPLETE, False)] * 2
    assert told[0] is not told[1]
    labels = {"server": "mock", "outcome": "failed"}
    assert bench.telemetry.metrics.registry.get_sample_value("taoloop_action_mcp_sessions_total", labels) == 1


async def test_the_calls_own_exchange_is_not_that_of_the_connection(tasks: asyncio.TaskGroup) -> None:
    bench = Bench(tasks)
    own = Exchange(ends_at=1.0)
    token = CURRENT.set(own)
    await bench.link.session()
    assert CURRENT.get() is own
    CURRENT.reset(token)
    bench.link.end()


async def test_a_link_that_is_cancelled_tells_who_waits() -> None:
    faults: list[str] = []

    async def wait(link: ServerLink) -> None:
        with pytest.raises(TransportFault) as caught:
            await link.session()
        faults.append(caught.value.message)

    async with asyncio.TaskGroup() as outer:
        with pytest.raises(RuntimeError, match="stop"):  # noqa: PT012 - the group ends by the error
            try:
                async with asyncio.TaskGroup() as inner:
                    bench = Bench(inner)
                    bench.server.gate.clear()
                    outer.create_task(wait(bench.link))
                    await asyncio.sleep(0.01)
                    raise RuntimeError("stop")
            except ExceptionGroup as group:
                raise group.exceptions[0] from None
    assert "given up" in faults[0]
    assert "closed" in repr(bench.link)


async def test_links_are_one_for_each_server(tasks: asyncio.TaskGroup) -> None:
    links = ServerLinks(tasks, FakeClock(), telemetry().metrics)
    server = Server()
    first = links.get("a", "a", server)
    assert links.get("a", "a", server) is first
    assert links.get("b", "b", server) is not first
    await first.session()
    links.end()
    assert "ServerLink(a, closed" in repr(links)


@pytest.mark.parametrize(
    ("error", "status", "code", "is_retriable"),
    [
        (MCPError(code=1, message="m"), 0, FaultCode.TOOL_PROTOCOL_FAULT, False),
        (MCPError(code=1, message="m"), 401, FaultCode.UPSTREAM_REFUSED, False),
        (MCPError(code=1, message="m"), 429, FaultCode.UPSTREAM_UNAVAILABLE, True),
        (MCPError(code=1, message="m"), 503, FaultCode.UPSTREAM_UNAVAILABLE, True),
        (TimeoutError(), 0, FaultCode.TOOL_UNREACHABLE, True),
        (ValueError(), 0, FaultCode.TOOL_UNREACHABLE, True),
    ],
)
def test_why_there_is_no_session_is_told(error: Exception, status: int, code: FaultCode, *, is_retriable: bool) -> None:
    exchange = Exchange(ends_at=0.0, progress=Progress(status_code=status))
    fault = connection_fault(ExceptionGroup("g", [error]), Connection(), exchange)
    assert (fault.code, fault.is_retriable, fault.may_have_left) == (code, is_retriable, False)


def test_the_cause_nearest_to_the_network_counts() -> None:
    exchange = Exchange(ends_at=0.0, fault=LOST)
    assert connection_fault(ValueError(), Connection(), exchange).code == FaultCode.RESPONSE_INCOMPLETE
    connection = Connection()
    connection.end(LOST)
    connection.end(None)
    assert connection_fault(ValueError(), connection, Exchange(ends_at=0.0)).code == FaultCode.RESPONSE_INCOMPLETE
