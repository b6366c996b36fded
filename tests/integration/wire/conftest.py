"""A real server with small servicers, and clients connected to it."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from taoloop.api.v1 import loop_pb2, loop_pb2_grpc, observation_pb2, observation_pb2_grpc
from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.settings import GrpcSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.acting import ActionResult, ActionStatus
from taoloop.plan.observing import ObservationResult, ObserveRequest, ObserveResponse
from taoloop.plan.running import RunEvent, RunRequest, RunResponse
from taoloop.plan.task import Task
from taoloop.wire.channel import Channel, connect
from taoloop.wire.clients import LoopClient, ObservationClient
from taoloop.wire.component import Component
from taoloop.wire.context import incoming_call
from taoloop.wire.records.codec import decode, encode
from taoloop.wire.server import Serving, serving

Observe = Callable[[ObserveRequest, CallContext], Awaitable[ObservationResult]]
Run = Callable[[Task, CallContext], AsyncIterator[RunEvent]]


async def valid(request: ObserveRequest, call: CallContext) -> ObservationResult:
    """Judge every result as valid."""
    assert request.result is not None
    return ObservationResult(step_id=request.result.step_id, tool=request.result.tool, valid=True)


class _Observation(observation_pb2_grpc.ObservationServiceServicer):
    def __init__(self, observe: Observe) -> None:
        self._observe = observe

    async def Observe(self, request: Any, context: Any) -> Any:  # noqa: N802 - RPC
        result = await self._observe(decode(ObserveRequest, request), incoming_call(context))
        return encode(ObserveResponse(result=result), observation_pb2.ObserveResponse)


class _Loop(loop_pb2_grpc.LoopServiceServicer):
    def __init__(self, run: Run) -> None:
        self._run = run

    async def Run(self, request: Any, context: Any) -> AsyncIterator[Any]:  # noqa: N802 - RPC
        task = decode(RunRequest, request).task
        assert task is not None
        async for event in self._run(task, incoming_call(context)):
            yield encode(RunResponse(event=event), loop_pb2.RunResponse)


@dataclass
class Rig:
    """What a test of the wire needs."""

    exporter: InMemorySpanExporter = field(default_factory=InMemorySpanExporter)
    clock: SystemClock = field(default_factory=SystemClock)

    def __post_init__(self) -> None:
        self.telemetry = Telemetry.build(TelemetrySettings(), "taoloop-test", exporter=self.exporter)

    def call(self, seconds: float = 10.0, *, tenant: str = "default", request_id: str = "") -> CallContext:
        return CallContext(deadline=Deadline.after(seconds, self.clock), tenant=tenant, request_id=request_id)

    def request(self, tool: str = "t", *, filler: int = 0) -> ObserveRequest:
        result = ActionResult(step_id="1.a", tool=tool, status=ActionStatus.SUCCEEDED, raw=b"x" * filler)
        return ObserveRequest(result=result)

    def observation(self, observe: Observe = valid, is_ready: Callable[[], Awaitable[bool]] | None = None) -> Component:
        def register(server: Any) -> None:
            observation_pb2_grpc.add_ObservationServiceServicer_to_server(_Observation(observe), server)  # type: ignore[abstract]

        return Component("observation", ("taoloop.api.v1.ObservationService",), register, is_ready)

    def loop(self, run: Run) -> Component:
        def register(server: Any) -> None:
            loop_pb2_grpc.add_LoopServiceServicer_to_server(_Loop(run), server)  # type: ignore[abstract]

        return Component("loop", ("taoloop.api.v1.LoopService",), register)

    def serving(
        self, *components: Component, settings: GrpcSettings | None = None, grace_seconds: float = 1.0
    ) -> AbstractAsyncContextManager[Serving]:
        return serving(components, settings or GrpcSettings(), "127.0.0.1:0", self.telemetry, self.clock, grace_seconds)

    @asynccontextmanager
    async def channel(
        self, *components: Component, settings: GrpcSettings | None = None, client: GrpcSettings | None = None
    ) -> AsyncIterator[Channel]:
        async with (
            self.serving(*components, settings=settings) as server,
            connect(server.address, client or settings or GrpcSettings(), self.telemetry) as channel,
        ):
            yield channel

    @asynccontextmanager
    async def observer(self, observe: Observe, **options: Any) -> AsyncIterator[ObservationClient]:
        async with self.channel(self.observation(observe), **options) as channel:
            yield ObservationClient(channel)

    @asynccontextmanager
    async def runner(self, run: Run, **options: Any) -> AsyncIterator[LoopClient]:
        async with self.channel(self.loop(run), **options) as channel:
            yield LoopClient(channel)


@pytest.fixture
def rig() -> Rig:
    return Rig()
