"""Replicas of the action service on one Redis: what an operator says to one, and what one has found out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from taoloop.core.errors import BackendUnavailable, UnknownTool
from taoloop.core.faults import FaultCode
from taoloop.plan.acting import ActionResult, ActionStatus, BreakerState, SwitchToolRequest
from taoloop.plan.task import ToolAvailability
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.wire.clients import ActionClient
from tests.e2e.waiting import eventually
from tests.integration.action.replicas import CLOCK, served_action, write_tools
from tests.unit.action.contracts import context, request

BOUND_SECONDS = 3.0
"""How long a switch may take to bind every replica."""

OFF = SwitchToolRequest(tool="steady", off=True, reason="sends twice", switched_by="ana")
ON = SwitchToolRequest(tool="steady", switched_by="ana")
SHAKY = {"retry": {"attempts": 1}, "breaker": {"consecutive_failures": 2, "open_for": "60s"}}


@dataclass
class Pair:
    """Two replicas, the Redis between them, and the tools' server."""

    one: ActionClient
    other: ActionClient
    valkey: EmbeddedValkey
    calls: list[str]

    async def call(self, at: ActionClient, tool: str) -> ActionResult:
        """Call a tool through a replica, as a new step."""
        wanted = request(tool, step_id=f"1.t{len(self.calls) + 1}")
        result: ActionResult = await at.execute(wanted, context(CLOCK))
        return result

    async def availability(self, at: ActionClient, tool: str) -> ToolAvailability:
        """Return what a replica lists of a tool."""
        listed = {each.name: each for each in (await at.list_tools(context(CLOCK))).tools}
        availability = listed[tool].availability
        assert availability is not None
        return availability

    async def is_listed(self, at: ActionClient, tool: str, *, available: bool) -> None:
        """Wait until a replica lists a tool as available, or not."""

        async def condition() -> bool:
            return (await self.availability(at, tool)).available is available

        await eventually(condition, f"{tool} available {available}", BOUND_SECONDS)


@asynccontextmanager
async def tools_server(calls: list[str]) -> AsyncIterator[str]:
    """Serve `steady`, which answers, and `shaky`, which cannot."""

    async def answer(call: web.Request) -> web.Response:
        calls.append(call.match_info["tool"])
        return web.json_response({"ok": True}, status=503 if call.match_info["tool"] == "shaky" else 200)

    app = web.Application()
    app.router.add_get("/{tool}/{key}", answer)
    async with TestServer(app) as server:
        yield str(server.make_url("")).rstrip("/")


@pytest.fixture
async def pair(tmp_path: Path) -> AsyncIterator[Pair]:
    root = write_tools(tmp_path / "catalogue", steady={}, shaky=SHAKY)
    calls: list[str] = []
    async with tools_server(calls) as url, EmbeddedValkey(tmp_path / "valkey") as valkey:
        redis = {"url": valkey.url, "connect_timeout_seconds": 0.5, "outage_tolerance_seconds": 0.5}
        board: dict[str, Any] = {"redis": redis, "every_seconds": 0.2}
        async with (
            served_action(root, url, "one", board=board) as (one, _),
            served_action(root, url, "other", board=board) as (other, _),
        ):
            yield Pair(one, other, valkey, calls)


async def test_a_switch_thrown_at_one_replica_binds_the_other(pair: Pair) -> None:
    said = await pair.one.switch_tool(OFF, context(CLOCK))
    assert said == ToolAvailability(tool="steady", available=False, reason="switched_off: sends twice")
    await pair.is_listed(pair.other, "steady", available=False)

    for replica in (pair.one, pair.other):
        result = await pair.call(replica, "steady")
        assert (result.status, result.attempts) == (ActionStatus.REJECTED, ())
        assert result.fault is not None
        assert (result.fault.code, result.fault.message) == (
            FaultCode.TOOL_SWITCHED_OFF,
            "The tool steady is switched off: sends twice.",
        )
    assert pair.calls == []

    assert (await pair.other.switch_tool(ON, context(CLOCK))).available
    await pair.is_listed(pair.one, "steady", available=True)
    assert (await pair.call(pair.one, "steady")).status is ActionStatus.SUCCEEDED


async def test_a_breaker_that_one_replica_has_opened_is_listed_by_the_other(pair: Pair) -> None:
    for _ in range(2):
        await pair.call(pair.one, "shaky")
    refused = await pair.call(pair.one, "shaky")
    assert refused.fault is not None
    assert refused.fault.code == FaultCode.BREAKER_OPEN
    assert refused.breaker is not None
    assert refused.breaker.state is BreakerState.OPEN

    await pair.is_listed(pair.other, "shaky", available=False)
    listed = await pair.availability(pair.other, "shaky")
    assert listed.reason == "breaker_open"
    assert listed.retry_at is not None
    assert (await pair.availability(pair.other, "steady")).available

    # Advice to planners alone: whether a call is made is for the breaker of the replica that is asked.
    made = await pair.call(pair.other, "shaky")
    assert made.fault is not None
    assert made.fault.code == FaultCode.UPSTREAM_UNAVAILABLE


async def test_what_was_switched_off_stays_off_while_redis_is_away(pair: Pair) -> None:
    await pair.one.switch_tool(OFF, context(CLOCK))
    await pair.is_listed(pair.other, "steady", available=False)
    pair.valkey.kill()
    with pytest.raises(BackendUnavailable):
        await pair.one.switch_tool(ON, context(CLOCK))
    for replica in (pair.one, pair.other):
        result = await pair.call(replica, "steady")
        assert result.fault is not None
        assert result.fault.code == FaultCode.TOOL_SWITCHED_OFF

    await pair.valkey.start()
    await pair.one.switch_tool(ON, context(CLOCK))
    await pair.is_listed(pair.other, "steady", available=True)


async def test_a_replica_starts_and_serves_without_the_redis_that_it_shares(tmp_path: Path) -> None:
    root = write_tools(tmp_path / "catalogue", steady={})
    board = {"redis": {"url": "redis://127.0.0.1:1/0", "outage_tolerance_seconds": 0.2}, "every_seconds": 0.2}
    async with tools_server([]) as url, served_action(root, url, board=board) as (client, _):
        result = await client.execute(request("steady"), context(CLOCK))
    assert result.status is ActionStatus.SUCCEEDED


async def test_a_tool_that_is_not_there_cannot_be_switched(pair: Pair) -> None:
    with pytest.raises(UnknownTool):
        await pair.one.switch_tool(SwitchToolRequest(tool="nothing", off=True), context(CLOCK))
