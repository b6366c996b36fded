"""A real server whose runs are scripted: it breaks off, refuses, and remembers what it was asked."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from taoloop.api.v1 import loop_pb2 as pb
from taoloop.api.v1 import loop_pb2_grpc
from taoloop.core import errors
from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.settings import GrpcSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.running import (
    CancelRunRequest,
    CancelRunResponse,
    EventBody,
    GetRunResponse,
    HandoverDecision,
    HandoverOutcome,
    ListRunsRequest,
    ListRunsResponse,
    LoopServiceDecideApprovalRequest,
    ProvideInputRequest,
    RunEvent,
    RunFinished,
    RunStarted,
    RunSummary,
    SubmitRequest,
    WaitingBegan,
    WatchRequest,
)
from taoloop.plan.running.handovers import (
    DecideHandoverRequest,
    DecideHandoverResponse,
    GetHandoverResponse,
    Handover,
    ListHandoversResponse,
    OpenHandover,
)
from taoloop.plan.task import Outcome
from taoloop.plan.thinking import Answer
from taoloop.wire.component import Component
from taoloop.wire.context import incoming_call
from taoloop.wire.records.codec import decode, encode
from taoloop.wire.server import serving

MOMENT = datetime(2026, 3, 1, tzinfo=UTC)
RUN_ID = "0" * 31 + "1"
ANSWERED = (RunStarted(), WaitingBegan(reason="queue"), Answer(text="42"), RunFinished(outcome=Outcome.ANSWERED))


def events_of(bodies: tuple[EventBody, ...]) -> list[RunEvent]:
    """Return the bodies as events of one run."""
    return [RunEvent(run_id=RUN_ID, sequence=number, time=MOMENT, body=body) for number, body in enumerate(bodies, 1)]


@dataclass
class Script:
    """What the service does, and what it was asked.

    Attributes:
        events: The run's events.
        failures: By RPC, the errors that the next calls of it end with; None lets one pass.
        break_after: Of `Watch`, after how many events the next calls break off.
        holds: Whether `Watch` stays open after the last event, until it is released.
        submitted: The request ids of `Submit`, in the order in which they came.
        watched: From which number on was watched.
        cancelled: Reasons of `CancelRun`.
        inputs: What `ProvideInput` was given.
        decisions: What `DecideApproval` and `DecideHandover` were given.
        calls: Who called, and with what time left.
        metadata: What came with the calls.
        arrived: Set by `Submit`, and by `Watch` that stays open.
        released: Lets `Watch` that stays open go on with what there is then.
    """

    events: list[RunEvent] = field(default_factory=lambda: events_of(ANSWERED))
    failures: dict[str, deque[errors.TaoError | None]] = field(default_factory=dict)
    break_after: deque[int] = field(default_factory=deque)
    holds: bool = False
    submitted: list[str] = field(default_factory=list)
    watched: list[int] = field(default_factory=list)
    cancelled: list[str] = field(default_factory=list)
    inputs: list[ProvideInputRequest] = field(default_factory=list)
    decisions: list[LoopServiceDecideApprovalRequest | DecideHandoverRequest] = field(default_factory=list)
    calls: list[CallContext] = field(default_factory=list)
    metadata: list[dict[str, Any]] = field(default_factory=list)
    arrived: asyncio.Event = field(default_factory=asyncio.Event)
    released: asyncio.Event = field(default_factory=asyncio.Event)

    def fail(self, rpc: str, *failures: errors.TaoError | None) -> None:
        """Let the next calls of an RPC fail."""
        self.failures.setdefault(rpc, deque()).extend(failures)

    def summary(self) -> RunSummary:
        """Return where the run stands."""
        last = self.events[-1].body
        answer = next((event.body for event in self.events if isinstance(event.body, Answer)), None)
        return RunSummary(
            run_id=RUN_ID,
            outcome=last.outcome if isinstance(last, RunFinished) else None,
            answer=answer,
            last_sequence=len(self.events),
        )

    def take(self, rpc: str, context: Any) -> None:
        """Note a call, and fail if it is to."""
        self.calls.append(incoming_call(context))
        self.metadata.append(dict(context.invocation_metadata()))
        waiting = self.failures.get(rpc)
        failure = waiting.popleft() if waiting else None
        if failure is not None:
            raise failure


class ScriptedLoop(loop_pb2_grpc.LoopServiceServicer):
    """Serves one run as the script says."""

    def __init__(self, script: Script) -> None:
        self._script = script

    async def Submit(self, request: Any, context: Any) -> Any:  # noqa: N802 - RPC
        task = decode(SubmitRequest, request).task
        assert task is not None
        self._script.submitted.append(task.request_id)
        self._script.arrived.set()
        self._script.take("Submit", context)
        return pb.SubmitResponse(run_id=RUN_ID, attached=len(self._script.submitted) > 1)

    async def Watch(self, request: Any, context: Any) -> AsyncIterator[Any]:  # noqa: N802 - RPC
        script, wanted = self._script, decode(WatchRequest, request).from_sequence
        script.watched.append(wanted)
        script.take("Watch", context)
        left = script.break_after.popleft() if script.break_after else None
        sent = max(wanted, 1) - 1
        for event in script.events[sent:]:
            if left == 0:
                raise errors.BackendUnavailable("The host is gone.")
            left = None if left is None else left - 1
            sent += 1
            yield pb.WatchResponse(event=encode(event, pb.RunEvent))
        if script.holds:
            script.arrived.set()
            await script.released.wait()
            for event in script.events[sent:]:
                yield pb.WatchResponse(event=encode(event, pb.RunEvent))

    async def GetRun(self, request: Any, context: Any) -> Any:  # noqa: N802 - RPC
        self._script.take("GetRun", context)
        return encode(GetRunResponse(run=self._script.summary()), pb.GetRunResponse)

    async def ListRuns(self, request: Any, context: Any) -> Any:  # noqa: N802 - RPC
        record = decode(ListRunsRequest, request)
        self._script.take("ListRuns", context)
        first = int(record.page_token or 0)
        runs = tuple(RunSummary(run_id=f"{number:032x}") for number in range(first, min(first + record.page_size, 7)))
        token = str(first + len(runs)) if first + len(runs) < 7 else ""
        return encode(ListRunsResponse(runs=runs, next_page_token=token), pb.ListRunsResponse)

    async def ProvideInput(self, request: Any, context: Any) -> Any:  # noqa: N802 - RPC
        self._script.inputs.append(decode(ProvideInputRequest, request))
        self._script.take("ProvideInput", context)
        return pb.ProvideInputResponse(run_id=RUN_ID, next_sequence=5)

    async def DecideApproval(self, request: Any, context: Any) -> Any:  # noqa: N802 - RPC
        self._script.decisions.append(decode(LoopServiceDecideApprovalRequest, request))
        self._script.take("DecideApproval", context)
        return pb.LoopServiceDecideApprovalResponse(run_id=RUN_ID, decision=request.decision)

    async def ListHandovers(self, request: Any, context: Any) -> Any:  # noqa: N802 - RPC
        self._script.take("ListHandovers", context)
        handovers = tuple(OpenHandover(run_id=request.run_id, request_id=f"{request.page_token}{n}") for n in range(2))
        token = "" if request.page_token else "next"
        return encode(ListHandoversResponse(handovers=handovers, next_page_token=token), pb.ListHandoversResponse)

    async def GetHandover(self, request: Any, context: Any) -> Any:  # noqa: N802 - RPC
        self._script.take("GetHandover", context)
        return encode(GetHandoverResponse(handover=Handover(run_id=request.run_id)), pb.GetHandoverResponse)

    async def DecideHandover(self, request: Any, context: Any) -> Any:  # noqa: N802 - RPC
        wanted = decode(DecideHandoverRequest, request)
        self._script.decisions.append(wanted)
        self._script.take("DecideHandover", context)
        outcome = HandoverOutcome(handover_id=wanted.handover_id or "h1", decision=HandoverDecision.CLOSED)
        return encode(DecideHandoverResponse(run_id=RUN_ID, outcome=outcome), pb.DecideHandoverResponse)

    async def CancelRun(self, request: Any, context: Any) -> Any:  # noqa: N802 - RPC
        self._script.cancelled.append(decode(CancelRunRequest, request).reason)
        self._script.take("CancelRun", context)
        return encode(CancelRunResponse(outcome=Outcome.CANCELLED), pb.CancelRunResponse)


@asynccontextmanager
async def scripted(script: Script, listen: str = "127.0.0.1:0") -> AsyncIterator[str]:
    """Serve the script, and give its address."""

    def register(server: Any) -> None:
        loop_pb2_grpc.add_LoopServiceServicer_to_server(ScriptedLoop(script), server)  # type: ignore[abstract]

    telemetry = Telemetry.build(TelemetrySettings(), "taoloop-test")
    component = Component("loop", ("taoloop.api.v1.LoopService",), register)
    settings = GrpcSettings(is_tenant_metadata_trusted=True)
    async with serving((component,), settings, listen, telemetry, SystemClock(), grace_seconds=0.2) as running:
        yield running.address
