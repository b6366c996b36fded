"""LoopService on the wire: messages in, runs and their events out."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from typing import Any, Final, TypeAlias

import grpc.aio

from taoloop.api.v1 import loop_pb2 as pb
from taoloop.api.v1 import loop_pb2_grpc
from taoloop.loop.people.people import People
from taoloop.loop.runlog.event_form import RunCodec
from taoloop.loop.runs import Runs
from taoloop.plan.running import (
    CancelRunRequest,
    CancelRunResponse,
    GetRunRequest,
    GetRunResponse,
    ListRunsRequest,
    LoopServiceDecideApprovalRequest,
    ProvideInputRequest,
    RunEvent,
    RunRequest,
    RunSummary,
    SubmitRequest,
    WatchRequest,
)
from taoloop.plan.running.handovers import (
    DecideHandoverRequest,
    GetHandoverRequest,
    GetHandoverResponse,
    ListHandoversRequest,
)
from taoloop.wire.context import incoming_call
from taoloop.wire.records.codec import decode, encode, encode_in

SERVICE_NAME: Final = "taoloop.api.v1.LoopService"
# The stubs type the context by the reply of the synchronous API; nothing here depends on it.
Context: TypeAlias = grpc.aio.ServicerContext[Any, Any]


class LoopServicer(loop_pb2_grpc.LoopServiceServicer):
    """Serves the runs of one host.

    Args:
        runs: What callers may do with them.
        people: What people may do with those that wait.
    """

    def __init__(self, runs: Runs, people: People) -> None:
        self._runs = runs
        self._people = people

    async def Run(self, request: pb.RunRequest, context: Context) -> AsyncIterator[pb.RunResponse]:
        """Start a run and stream its events."""
        record = decode(RunRequest, request)
        events = self._runs.run(record.task, _digest(request.task), incoming_call(context))
        async with aclosing(events):
            async for event in events:
                yield encode_in(pb.RunResponse, "event", event, pb.RunEvent)

    async def Submit(self, request: pb.SubmitRequest, context: Context) -> pb.SubmitResponse:
        """Start a run that goes on without the caller."""
        record = decode(SubmitRequest, request)
        response = await self._runs.submit(record.task, _digest(request.task), incoming_call(context))
        return encode(response, pb.SubmitResponse)

    async def Watch(self, request: pb.WatchRequest, context: Context) -> AsyncIterator[pb.WatchResponse]:
        """Stream a run's events."""
        record = decode(WatchRequest, request)
        events = self._runs.watch(
            record.run_id, record.from_sequence, incoming_call(context), through_waits=record.through_waits
        )
        async with aclosing(events):
            async for event in events:
                yield encode_in(pb.WatchResponse, "event", event, pb.RunEvent)

    async def GetRun(self, request: pb.GetRunRequest, context: Context) -> pb.GetRunResponse:
        """Show where a run stands."""
        run = await self._runs.get(decode(GetRunRequest, request).run_id, incoming_call(context))
        return encode(GetRunResponse(run=run), pb.GetRunResponse)

    async def ListRuns(self, request: pb.ListRunsRequest, context: Context) -> pb.ListRunsResponse:
        """List the tenant's runs."""
        page = await self._runs.list(decode(ListRunsRequest, request), incoming_call(context))
        return encode(page, pb.ListRunsResponse)

    async def ProvideInput(
        self,
        request: pb.ProvideInputRequest,
        context: Context,
    ) -> pb.ProvideInputResponse:
        """Answer a run's question."""
        record = decode(ProvideInputRequest, request)
        response = await self._people.desk.provide_input(record, incoming_call(context))
        return encode(response, pb.ProvideInputResponse)

    async def DecideApproval(
        self,
        request: pb.LoopServiceDecideApprovalRequest,
        context: Context,
    ) -> pb.LoopServiceDecideApprovalResponse:
        """Decide about a step, and let the run go on."""
        record = decode(LoopServiceDecideApprovalRequest, request)
        response = await self._people.desk.decide_approval(record, incoming_call(context))
        return encode(response, pb.LoopServiceDecideApprovalResponse)

    async def CancelRun(self, request: pb.CancelRunRequest, context: Context) -> pb.CancelRunResponse:
        """End a run."""
        outcome = await self._runs.cancel(decode(CancelRunRequest, request), incoming_call(context))
        return encode(CancelRunResponse(outcome=outcome), pb.CancelRunResponse)

    async def ListHandovers(self, request: pb.ListHandoversRequest, context: Context) -> pb.ListHandoversResponse:
        """List what persons have to take over."""
        record = decode(ListHandoversRequest, request)
        return encode(await self._people.handovers.list(record, incoming_call(context)), pb.ListHandoversResponse)

    async def GetHandover(self, request: pb.GetHandoverRequest, context: Context) -> pb.GetHandoverResponse:
        """Show all that a person needs who takes over."""
        handover = await self._people.handovers.get(decode(GetHandoverRequest, request), incoming_call(context))
        return encode(GetHandoverResponse(handover=handover), pb.GetHandoverResponse)

    async def DecideHandover(
        self,
        request: pb.DecideHandoverRequest,
        context: Context,
    ) -> pb.DecideHandoverResponse:
        """Take what a person made of a handover."""
        record = decode(DecideHandoverRequest, request)
        return encode(await self._people.handovers.decide(record, incoming_call(context)), pb.DecideHandoverResponse)


def registrar(servicer: LoopServicer) -> Callable[[grpc.aio.Server], None]:
    """Return what adds the servicer to a server."""
    return lambda server: loop_pb2_grpc.add_LoopServiceServicer_to_server(servicer, server)


def run_codec() -> RunCodec:
    """Return events as the bytes of their messages; deterministic, so that a repeated write is seen to be one."""
    return RunCodec(
        encode=lambda event: encode(event, pb.RunEvent).SerializeToString(deterministic=True),
        decode=lambda data: decode(RunEvent, pb.RunEvent.FromString(data)),
        encode_summary=lambda summary: encode(summary, pb.RunSummary).SerializeToString(deterministic=True),
        decode_summary=lambda data: decode(RunSummary, pb.RunSummary.FromString(data)),
    )


def _digest(task: pb.Task) -> str:
    """Return the digest by which a repeated request is told from another one under the same id."""
    return hashlib.sha256(task.SerializeToString(deterministic=True)).hexdigest()
