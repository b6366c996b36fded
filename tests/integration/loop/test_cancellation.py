"""A run that ends early lets go of its tools: the connection is dropped, and a write that may have left is unknown."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.settings import GrpcSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.acting import ActionStatus
from taoloop.plan.effects import EffectState, ListEffectsRequest
from taoloop.plan.running import ActionReturned, CancelRunRequest, RunEvent, RunFinished
from taoloop.plan.task import Limits, Outcome, Permissions, Role, Task, Turn
from taoloop.testing.stack import DevStack, StackOptions, dev_stack
from taoloop.tools.signature import Effect
from taoloop.wire.clients import LoopClient, action_client, loop_client

CATALOGUE = Path(__file__).parents[3] / "examples" / "customer-service"
READ = "What is the weather in Beijing tomorrow?"
WRITE = "Send the message 'The lift is out of order' to zhang.wei@example.com"
GIVEN_UP_SECONDS = 5.0


@dataclass
class SilentServer:
    """A tool's server that takes requests and never answers.

    Attributes:
        base_url: Where it listens.
        has_arrived: Set once a request is there.
        is_dropped: Set once its caller has closed the connection.
    """

    base_url: str = ""
    has_arrived: asyncio.Event = field(default_factory=asyncio.Event)
    is_dropped: asyncio.Event = field(default_factory=asyncio.Event)


@asynccontextmanager
async def silent_server() -> AsyncIterator[SilentServer]:
    seen = SilentServer()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        seen.has_arrived.set()
        while await reader.read(4096):
            pass
        seen.is_dropped.set()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    seen.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield seen


@asynccontextmanager
async def stack_with(server: SilentServer) -> AsyncIterator[DevStack]:
    bases = dict.fromkeys(("orders", "logistics", "billing", "people", "finance", "rooms", "facts"), server.base_url)
    bases |= dict.fromkeys(("warehouse", "knowledge", "messages"), server.base_url)
    options = StackOptions(catalogue=CATALOGUE, is_mocked=False, settings={"action": {"bases": bases}})
    async with dev_stack(options) as stack:
        yield stack


def call(seconds: float = 30.0) -> CallContext:
    return CallContext(deadline=Deadline.after(seconds, SystemClock()))


def task(text: str, wall_seconds: float = 20.0) -> Task:
    return Task(
        turns=(Turn(role=Role.USER, text=text),),
        time_zone="Asia/Shanghai",
        permissions=Permissions(max_effect=Effect.WRITE),
        limits=Limits(max_wall_time_seconds=wall_seconds),
    )


async def ended(loop: LoopClient, run_id: str) -> list[RunEvent]:
    return [event async for event in loop.watch(run_id, 1, call())]


CASES: tuple[tuple[str, float, Outcome, ActionStatus, list[EffectState]], ...] = (
    (READ, 20.0, Outcome.CANCELLED, ActionStatus.FAILED, []),
    (READ, 1.5, Outcome.LIMIT_REACHED, ActionStatus.FAILED, []),
    (WRITE, 20.0, Outcome.CANCELLED, ActionStatus.OUTCOME_UNKNOWN, [EffectState.UNKNOWN]),
)
"""What is asked, how long its run may take, and how run, step and effect end; who may take long is cancelled."""


async def test_the_end_of_a_run_reaches_its_tool() -> None:
    telemetry = Telemetry.build(TelemetrySettings(), "taoloop-test")
    async with (
        silent_server() as server,
        stack_with(server) as stack,
        loop_client(stack.loop_address, GrpcSettings(), telemetry) as loop,
        action_client(stack.action_address, GrpcSettings(), telemetry) as action,
    ):
        for text, wall_seconds, outcome, status, effects in CASES:
            server.has_arrived.clear()
            server.is_dropped.clear()
            run_id = (await loop.submit(task(text, wall_seconds), call())).run_id
            await asyncio.wait_for(server.has_arrived.wait(), GIVEN_UP_SECONDS)
            if outcome is Outcome.CANCELLED:
                await loop.cancel_run(CancelRunRequest(run_id=run_id), call())
            await asyncio.wait_for(server.is_dropped.wait(), GIVEN_UP_SECONDS)

            events = await ended(loop, run_id)
            last = events[-1].body
            assert isinstance(last, RunFinished)
            assert last.outcome is outcome
            (cut,) = [event.body for event in events if isinstance(event.body, ActionReturned)]
            assert cut.result is not None
            assert cut.result.status is status
            listed = await action.list_effects(ListEffectsRequest(run_id=run_id), call())
            assert [effect.state for effect in listed.effects] == effects
    await telemetry.aclose()
