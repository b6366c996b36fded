"""Runs one task at a loop service and tells what became of it."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass

from loadtest.recorder import NO_OUTCOME, Answered, Failed, Result
from taoloop.core.calls import DEFAULT_TENANT, CallContext
from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import TaoError, UnknownRun
from taoloop.core.ids import new_id
from taoloop.core.settings import GrpcSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.running import RunFinished
from taoloop.plan.task import Task
from taoloop.wire.clients import LoopClient, loop_client

REACH_SECONDS = 5.0
"""How long the service may take to answer the first question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where the runs go.

    Attributes:
        address: `host:port` of a loop service, or `dns:///name:port`.
        tenant: Whose runs they are.
        timeout_seconds: The deadline of each run, from when it is sent.
        trace_share: Share of runs whose traces are recorded.
    """

    address: str
    tenant: str = DEFAULT_TENANT
    timeout_seconds: float = 30.0
    trace_share: float = 0.0


class LoopCaller:
    """Sends tasks by the `Run` method of a loop service.

    Args:
        client: Of the service.
        target: Tenant and deadline.
        clock: Measures deadlines.
    """

    def __init__(self, client: LoopClient, target: Target, clock: Clock) -> None:
        self._client = client
        self._target = target
        self._clock = clock

    def __repr__(self) -> str:
        return f"<LoopCaller {self._target.address}>"

    async def reach(self) -> None:
        """Ask for a run that is not there, to see that the service is.

        Raises:
            TaoError: It is not, or it does not serve runs.
        """
        with suppress(UnknownRun):
            await self._client.get_run(new_id(self._clock), self._call(REACH_SECONDS))

    async def send(self, task: Task) -> Result:
        """Run one task to its end or its rest. A cancellation closes the stream, by which the run is cancelled too."""
        try:
            async with aclosing(self._client.run(task, self._call(self._target.timeout_seconds))) as events:
                async for event in events:
                    if isinstance(event.body, RunFinished) and event.body.outcome is not None:
                        return Answered(event.body.outcome)
        except TaoError as error:
            return Failed(error.reason)
        return Failed(NO_OUTCOME)

    def _call(self, seconds: float) -> CallContext:
        return CallContext(
            deadline=Deadline.after(seconds, self._clock), tenant=self._target.tenant, request_id=uuid.uuid4().hex
        )


@asynccontextmanager
async def loop_caller(target: Target, clock: Clock) -> AsyncIterator[LoopCaller]:
    """Open the connection to the service and close it with the block."""
    telemetry = Telemetry.build(TelemetrySettings(sample_ratio=target.trace_share), "taoloop-loadtest")
    try:
        async with loop_client(target.address, GrpcSettings(), telemetry) as client:
            yield LoopCaller(client, target, clock)
    finally:
        await telemetry.aclose()
