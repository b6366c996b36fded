"""A run whose host stands still is taken over by another one; what it has sent is sent once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.settings import GrpcSettings, TelemetrySettings, load_settings
from taoloop.core.telemetry import Telemetry
from taoloop.loop.app import loop_component
from taoloop.loop.runlog.run_keys import RunKeys
from taoloop.loop.settings import LoopSettings
from taoloop.plan.running import RunEvent, RunFinished, RunResumed
from taoloop.plan.task import Limits, Outcome, Permissions, Role, Task, Turn
from taoloop.testing.stack import DevStack, StackOptions, dev_stack
from taoloop.tools.signature import Effect
from taoloop.wire.clients import loop_client
from taoloop.wire.server import serving

CLOCK = SystemClock()
CATALOGUE = Path(__file__).parents[3] / "examples" / "customer-service"
WRITE = "Send the message 'The lift is out of order' to zhang.wei@example.com"
SENT = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"


@dataclass
class SlowServer:
    """A tool's server that counts what it gets, and answers when it is told to."""

    base_url: str = ""
    requests: int = 0
    has_arrived: asyncio.Event = field(default_factory=asyncio.Event)
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)


@asynccontextmanager
async def slow_server() -> AsyncIterator[SlowServer]:
    seen = SlowServer()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        seen.requests += 1
        seen.has_arrived.set()
        await seen.may_answer.wait()
        writer.write(SENT)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    seen.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield seen
        seen.may_answer.set()


@asynccontextmanager
async def another_loop(stack: DevStack, telemetry: Telemetry) -> AsyncIterator[str]:
    """Serve a second loop on the same log, and give its address."""
    settings = load_settings(
        LoopSettings,
        {
            "thought_address": stack.thought_address,
            "action_address": stack.action_address,
            "observation_address": stack.observation_address,
            "redis": {"url": stack.valkey.url},
            "memory": {"enabled": False},
            "runs": {"take_over_interval_seconds": 0.1},
            "shutdown_grace_seconds": 1.0,
        },
    )
    async with (
        loop_component(settings, telemetry, CLOCK) as component,
        serving((component,), settings.grpc, "127.0.0.1:0", telemetry, CLOCK, 1.0) as served,
    ):
        yield served.address


def call() -> CallContext:
    return CallContext(deadline=Deadline.after(30.0, CLOCK))


async def let_leases_lapse(stack: DevStack) -> None:
    async with Redis.from_url(stack.valkey.url) as client:
        leases = RunKeys("taoloop").leases
        members: list[Any] = await client.zrange(leases, 0, -1)
        for member in members:
            await client.zadd(leases, {member: 1.0}, xx=True)


async def test_a_write_that_was_on_its_way_when_its_run_was_taken_over_is_sent_once() -> None:
    telemetry = Telemetry.build(TelemetrySettings(), "taoloop-test")
    task = Task(
        turns=(Turn(role=Role.USER, text=WRITE),),
        time_zone="Asia/Shanghai",
        permissions=Permissions(max_effect=Effect.WRITE),
        limits=Limits(max_wall_time_seconds=20.0),
    )
    async with slow_server() as server:
        bases = dict.fromkeys(("orders", "logistics", "billing", "people", "finance", "rooms"), server.base_url)
        bases |= dict.fromkeys(("facts", "warehouse", "knowledge", "messages"), server.base_url)
        settings: dict[str, dict[str, Any]] = {
            "action": {"bases": bases},
            "loop": {"runs": {"take_over_interval_seconds": 5.0}},
        }
        options = StackOptions(catalogue=CATALOGUE, is_mocked=False, settings=settings)
        async with (
            dev_stack(options) as stack,
            loop_client(stack.loop_address, GrpcSettings(), telemetry) as first,
            another_loop(stack, telemetry) as address,
            loop_client(address, GrpcSettings(), telemetry) as second,
        ):
            run_id = (await first.submit(task, call())).run_id
            await asyncio.wait_for(server.has_arrived.wait(), 10.0)
            await let_leases_lapse(stack)
            events: list[RunEvent] = [event async for event in second.watch(run_id, 1, call())]

            assert [event.sequence for event in events] == list(range(1, len(events) + 1))
            resumed = [event for event in events if isinstance(event.body, RunResumed)]
            assert [(event.body.reason, event.host_epoch) for event in resumed] == [("take_over", 2)]  # type: ignore[union-attr]
            last = events[-1].body
            assert isinstance(last, RunFinished)
            assert last.outcome is Outcome.NEEDS_HUMAN, "nobody knows yet what the call on its way came to"
            assert server.requests == 1
            assert (await first.get_run(run_id, call())).outcome is Outcome.NEEDS_HUMAN
            server.may_answer.set()  # so that nothing has to be waited for at the end
    await telemetry.aclose()
