"""Typed clients of the four services: records in, records out, errors of our own."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import TypeVar

from taoloop.api.v1 import action_pb2, loop_pb2, observation_pb2, thought_pb2
from taoloop.core.calls import CallContext
from taoloop.core.errors import InternalError
from taoloop.core.settings import GrpcSettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.acting import (
    ActionResult,
    ExecuteRequest,
    ExecuteResponse,
    GetToolRequest,
    GetToolResponse,
    ListToolsRequest,
    ListToolsResponse,
    SwitchToolRequest,
    SwitchToolResponse,
    ToolSummary,
)
from taoloop.plan.answering import CheckAnswerRequest, CheckAnswerResponse
from taoloop.plan.effects import (
    DecideApprovalRequest,
    DecideApprovalResponse,
    EffectRecord,
    ListApprovalsRequest,
    ListApprovalsResponse,
    ListEffectsRequest,
    ListEffectsResponse,
    ReconcileEffectRequest,
    ReconcileEffectResponse,
    ResolveEffectRequest,
    ResolveEffectResponse,
)
from taoloop.plan.observing import (
    ListDriftRequest,
    ListDriftResponse,
    ObservationResult,
    ObserveBatchRequest,
    ObserveBatchResponse,
    ObserveRequest,
    ObserveResponse,
)
from taoloop.plan.running import (
    CancelRunRequest,
    CancelRunResponse,
    GetRunRequest,
    GetRunResponse,
    ListRunsRequest,
    ListRunsResponse,
    LoopServiceDecideApprovalRequest,
    LoopServiceDecideApprovalResponse,
    ProvideInputRequest,
    ProvideInputResponse,
    RunEvent,
    RunRequest,
    RunResponse,
    RunSummary,
    SubmitRequest,
    SubmitResponse,
    WatchRequest,
    WatchResponse,
)
from taoloop.plan.running.handovers import (
    DecideHandoverRequest,
    DecideHandoverResponse,
    GetHandoverRequest,
    GetHandoverResponse,
    Handover,
    ListHandoversRequest,
    ListHandoversResponse,
)
from taoloop.plan.task import Task, ToolAvailability
from taoloop.plan.thinking import CheckPlanRequest, CheckPlanResponse, ThinkRequest, ThinkResponse
from taoloop.wire.channel import Channel, StreamRpc, UnaryRpc, connect

PresentT = TypeVar("PresentT")

_THOUGHT = "taoloop.api.v1.ThoughtService"
_ACTION = "taoloop.api.v1.ActionService"
_OBSERVATION = "taoloop.api.v1.ObservationService"
_LOOP = "taoloop.api.v1.LoopService"


class ThoughtClient:
    """Calls the thought service. Every method raises the `TaoError` that the service raised."""

    def __init__(self, channel: Channel) -> None:
        pb = thought_pb2
        self._think = UnaryRpc(channel, f"{_THOUGHT}/Think", pb.ThinkRequest, ThinkResponse, pb.ThinkResponse)
        self._check_plan = UnaryRpc(
            channel, f"{_THOUGHT}/CheckPlan", pb.CheckPlanRequest, CheckPlanResponse, pb.CheckPlanResponse
        )

    async def think(self, request: ThinkRequest, call: CallContext) -> ThinkResponse:
        """Make one thought; the same run and iteration give the same thought."""
        return await self._think(request, call)

    async def check_plan(self, request: CheckPlanRequest, call: CallContext) -> CheckPlanResponse:
        """Check a plan; a bad one is a reply with faults."""
        return await self._check_plan(request, call)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolListing:
    """The tools of one catalogue.

    Attributes:
        tools: All of them, by name.
        catalogue_digest: The catalogue's digest.
    """

    tools: tuple[ToolSummary, ...]
    catalogue_digest: str


class ActionClient:
    """Calls the action service. Every method raises the `TaoError` that the service raised."""

    def __init__(self, channel: Channel) -> None:
        pb = action_pb2
        self._execute = UnaryRpc(channel, f"{_ACTION}/Execute", pb.ExecuteRequest, ExecuteResponse, pb.ExecuteResponse)
        self._list_tools = UnaryRpc(
            channel, f"{_ACTION}/ListTools", pb.ListToolsRequest, ListToolsResponse, pb.ListToolsResponse
        )
        self._get_tool = UnaryRpc(channel, f"{_ACTION}/GetTool", pb.GetToolRequest, GetToolResponse, pb.GetToolResponse)
        self._decide = UnaryRpc(
            channel,
            f"{_ACTION}/DecideApproval",
            pb.DecideApprovalRequest,
            DecideApprovalResponse,
            pb.DecideApprovalResponse,
        )
        self._list_approvals = UnaryRpc(
            channel,
            f"{_ACTION}/ListApprovals",
            pb.ListApprovalsRequest,
            ListApprovalsResponse,
            pb.ListApprovalsResponse,
        )
        self._reconcile_effect = UnaryRpc(
            channel,
            f"{_ACTION}/ReconcileEffect",
            pb.ReconcileEffectRequest,
            ReconcileEffectResponse,
            pb.ReconcileEffectResponse,
        )
        self._switch_tool = UnaryRpc(
            channel, f"{_ACTION}/SwitchTool", pb.SwitchToolRequest, SwitchToolResponse, pb.SwitchToolResponse
        )
        self._list_effects = UnaryRpc(
            channel, f"{_ACTION}/ListEffects", pb.ListEffectsRequest, ListEffectsResponse, pb.ListEffectsResponse
        )
        self._resolve_effect = UnaryRpc(
            channel,
            f"{_ACTION}/ResolveEffect",
            pb.ResolveEffectRequest,
            ResolveEffectResponse,
            pb.ResolveEffectResponse,
        )

    async def execute(self, request: ExecuteRequest, call: CallContext) -> ActionResult:
        """Call one tool; a tool that fails is a result with a fault."""
        reply = await self._execute(request, call)
        return _present(reply.result, "Execute")

    async def list_tools(self, call: CallContext) -> ToolListing:
        """List all tools of the catalogue, page by page; starts again when it is exchanged in between."""
        tools: tuple[ToolSummary, ...] = ()
        page = ListToolsRequest()
        digest = ""
        while True:
            reply = await self._list_tools(page, call)
            if digest not in {"", reply.catalogue_digest}:
                tools, page, digest = (), ListToolsRequest(), ""
                continue
            tools += reply.tools
            digest = reply.catalogue_digest
            if not reply.next_page_token:
                return ToolListing(tools=tools, catalogue_digest=digest)
            page = ListToolsRequest(page_token=reply.next_page_token)

    async def get_tool(self, name: str, call: CallContext) -> GetToolResponse:
        """Show one tool's contract."""
        return await self._get_tool(GetToolRequest(name=name), call)

    async def switch_tool(self, request: SwitchToolRequest, call: CallContext) -> ToolAvailability:
        """Switch a tool off for all replicas, or on again; return whether it can be called now."""
        reply = await self._switch_tool(request, call)
        return _present(reply.availability, "SwitchTool")

    async def decide_approval(self, request: DecideApprovalRequest, call: CallContext) -> DecideApprovalResponse:
        """Give or deny leave for one call."""
        return await self._decide(request, call)

    async def list_approvals(self, request: ListApprovalsRequest, call: CallContext) -> ListApprovalsResponse:
        """List one page of approvals, newest first."""
        return await self._list_approvals(request, call)

    async def list_effects(self, request: ListEffectsRequest, call: CallContext) -> ListEffectsResponse:
        """List one page of recorded effects, newest first."""
        return await self._list_effects(request, call)

    async def resolve_effect(self, request: ResolveEffectRequest, call: CallContext) -> EffectRecord:
        """Settle an effect whose outcome is unknown."""
        reply = await self._resolve_effect(request, call)
        return _present(reply.effect, "ResolveEffect")

    async def reconcile_effect(self, request: ReconcileEffectRequest, call: CallContext) -> ReconcileEffectResponse:
        """Look an effect whose outcome is unknown up by the contract's tool."""
        return await self._reconcile_effect(request, call)


class ObservationClient:
    """Calls the observation service. Every method raises the `TaoError` that the service raised."""

    def __init__(self, channel: Channel) -> None:
        pb = observation_pb2
        self._observe = UnaryRpc(
            channel, f"{_OBSERVATION}/Observe", pb.ObserveRequest, ObserveResponse, pb.ObserveResponse
        )
        self._observe_batch = UnaryRpc(
            channel,
            f"{_OBSERVATION}/ObserveBatch",
            pb.ObserveBatchRequest,
            ObserveBatchResponse,
            pb.ObserveBatchResponse,
        )
        self._check_answer = UnaryRpc(
            channel, f"{_OBSERVATION}/CheckAnswer", pb.CheckAnswerRequest, CheckAnswerResponse, pb.CheckAnswerResponse
        )
        self._list_drift = UnaryRpc(
            channel, f"{_OBSERVATION}/ListDrift", pb.ListDriftRequest, ListDriftResponse, pb.ListDriftResponse
        )

    async def observe(self, request: ObserveRequest, call: CallContext) -> ObservationResult:
        """Judge one result; a bad one is a verdict with failures."""
        reply = await self._observe(request, call)
        return _present(reply.result, "Observe")

    async def observe_batch(self, items: Sequence[ObserveRequest], call: CallContext) -> tuple[ObservationResult, ...]:
        """Judge up to 256 results; the n-th verdict belongs to the n-th item."""
        reply = await self._observe_batch(ObserveBatchRequest(items=tuple(items)), call)
        return reply.results

    async def check_answer(self, request: CheckAnswerRequest, call: CallContext) -> CheckAnswerResponse:
        """Say which claims of an answer the observations support."""
        return await self._check_answer(request, call)

    async def list_drift(self, request: ListDriftRequest, call: CallContext) -> ListDriftResponse:
        """List one page of what the tools began to answer that was never seen of them."""
        return await self._list_drift(request, call)


class LoopClient:
    """Calls the loop service. Every method raises the `TaoError` that the service raised."""

    def __init__(self, channel: Channel) -> None:
        pb = loop_pb2
        self._run = StreamRpc(channel, f"{_LOOP}/Run", pb.RunRequest, RunResponse, pb.RunResponse)
        self._submit = UnaryRpc(channel, f"{_LOOP}/Submit", pb.SubmitRequest, SubmitResponse, pb.SubmitResponse)
        self._watch = StreamRpc(channel, f"{_LOOP}/Watch", pb.WatchRequest, WatchResponse, pb.WatchResponse)
        self._get_run = UnaryRpc(channel, f"{_LOOP}/GetRun", pb.GetRunRequest, GetRunResponse, pb.GetRunResponse)
        self._list_runs = UnaryRpc(
            channel, f"{_LOOP}/ListRuns", pb.ListRunsRequest, ListRunsResponse, pb.ListRunsResponse
        )
        self._provide_input = UnaryRpc(
            channel, f"{_LOOP}/ProvideInput", pb.ProvideInputRequest, ProvideInputResponse, pb.ProvideInputResponse
        )
        self._decide = UnaryRpc(
            channel,
            f"{_LOOP}/DecideApproval",
            pb.LoopServiceDecideApprovalRequest,
            LoopServiceDecideApprovalResponse,
            pb.LoopServiceDecideApprovalResponse,
        )
        self._cancel_run = UnaryRpc(
            channel, f"{_LOOP}/CancelRun", pb.CancelRunRequest, CancelRunResponse, pb.CancelRunResponse
        )
        self._list_handovers = UnaryRpc(
            channel, f"{_LOOP}/ListHandovers", pb.ListHandoversRequest, ListHandoversResponse, pb.ListHandoversResponse
        )
        self._get_handover = UnaryRpc(
            channel, f"{_LOOP}/GetHandover", pb.GetHandoverRequest, GetHandoverResponse, pb.GetHandoverResponse
        )
        self._decide_handover = UnaryRpc(
            channel,
            f"{_LOOP}/DecideHandover",
            pb.DecideHandoverRequest,
            DecideHandoverResponse,
            pb.DecideHandoverResponse,
        )

    async def run(self, task: Task, call: CallContext) -> AsyncGenerator[RunEvent, None]:
        """Start a run and yield its events; closing the iterator cancels the run, as its deadline does."""
        async with aclosing(self._run(RunRequest(task=task), call)) as replies:
            async for reply in replies:
                yield _present(reply.event, "Run")

    async def submit(self, task: Task, call: CallContext) -> SubmitResponse:
        """Start a run that goes on without the caller."""
        return await self._submit(SubmitRequest(task=task), call)

    async def watch(
        self, run_id: str, from_sequence: int, call: CallContext, *, through_waits: bool = False
    ) -> AsyncGenerator[RunEvent, None]:
        """Yield a run's events from a sequence number until it ends; closing the iterator leaves the run alone.

        Args:
            run_id: The run.
            from_sequence: First sequence number wanted.
            call: Who asks, and until when.
            through_waits: Whether to go on while the run waits for people; else a wait ends the events, too.
        """
        request = WatchRequest(run_id=run_id, from_sequence=from_sequence, through_waits=through_waits)
        async with aclosing(self._watch(request, call)) as replies:
            async for reply in replies:
                yield _present(reply.event, "Watch")

    async def get_run(self, run_id: str, call: CallContext) -> RunSummary:
        """Show where a run stands."""
        reply = await self._get_run(GetRunRequest(run_id=run_id), call)
        return _present(reply.run, "GetRun")

    async def list_runs(self, request: ListRunsRequest, call: CallContext) -> ListRunsResponse:
        """List one page of the tenant's runs, newest first."""
        return await self._list_runs(request, call)

    async def provide_input(self, request: ProvideInputRequest, call: CallContext) -> ProvideInputResponse:
        """Answer a question of a run, which then goes on."""
        return await self._provide_input(request, call)

    async def decide_approval(
        self, request: LoopServiceDecideApprovalRequest, call: CallContext
    ) -> LoopServiceDecideApprovalResponse:
        """Give or deny leave for a step of a run, which then goes on."""
        return await self._decide(request, call)

    async def cancel_run(self, request: CancelRunRequest, call: CallContext) -> CancelRunResponse:
        """End a run; ending an ended run changes nothing."""
        return await self._cancel_run(request, call)

    async def list_handovers(self, request: ListHandoversRequest, call: CallContext) -> ListHandoversResponse:
        """List one page of what persons have to take over, newest run first."""
        return await self._list_handovers(request, call)

    async def get_handover(self, run_id: str, handover_id: str, call: CallContext) -> Handover:
        """Show all that a person needs who takes over; an empty id means the only open handover of the run."""
        reply = await self._get_handover(GetHandoverRequest(run_id=run_id, handover_id=handover_id), call)
        return _present(reply.handover, "GetHandover")

    async def decide_handover(self, request: DecideHandoverRequest, call: CallContext) -> DecideHandoverResponse:
        """Tell the run what a person made of a handover."""
        return await self._decide_handover(request, call)


@asynccontextmanager
async def thought_client(address: str, settings: GrpcSettings, telemetry: Telemetry) -> AsyncIterator[ThoughtClient]:
    """Give a client of the thought service at an address; the channel is closed with the block."""
    async with connect(address, settings, telemetry) as channel:
        yield ThoughtClient(channel)


@asynccontextmanager
async def action_client(address: str, settings: GrpcSettings, telemetry: Telemetry) -> AsyncIterator[ActionClient]:
    """Give a client of the action service at an address; the channel is closed with the block."""
    async with connect(address, settings, telemetry) as channel:
        yield ActionClient(channel)


@asynccontextmanager
async def observation_client(
    address: str, settings: GrpcSettings, telemetry: Telemetry
) -> AsyncIterator[ObservationClient]:
    """Give a client of the observation service at an address; the channel is closed with the block."""
    async with connect(address, settings, telemetry) as channel:
        yield ObservationClient(channel)


@asynccontextmanager
async def loop_client(address: str, settings: GrpcSettings, telemetry: Telemetry) -> AsyncIterator[LoopClient]:
    """Give a client of the loop service at an address; the channel is closed with the block."""
    async with connect(address, settings, telemetry) as channel:
        yield LoopClient(channel)


def _present(value: PresentT | None, method: str) -> PresentT:
    if value is None:
        raise InternalError(f"The reply of {method} is empty.", metadata={"rpc": method})
    return value
