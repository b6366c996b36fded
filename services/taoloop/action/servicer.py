"""The action service on the wire."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import grpc.aio

from taoloop.action.board.tool_board import ToolBoard
from taoloop.action.executor import Executor
from taoloop.action.ledger.approvals import DECISION_OF, ApprovalQuery, Decision
from taoloop.action.ledger.effects import EffectQuery, Resolution
from taoloop.action.ledger.ports import EffectLedger
from taoloop.action.ledger.reconciliation import Reconciler
from taoloop.action.listing import cut_page, get_tool, list_tools, page_limit
from taoloop.api.v1 import action_pb2, action_pb2_grpc
from taoloop.core.errors import FieldViolation, InvalidRequest, UnknownTool
from taoloop.plan.acting import (
    ExecuteRequest,
    ExecuteResponse,
    GetToolRequest,
    ListToolsRequest,
    SwitchToolRequest,
    SwitchToolResponse,
)
from taoloop.plan.effects import (
    MAX_COMMENT_CHARACTERS,
    MAX_NAME_CHARACTERS,
    ApprovalDecision,
    DecideApprovalRequest,
    DecideApprovalResponse,
    ListApprovalsRequest,
    ListApprovalsResponse,
    ListEffectsRequest,
    ListEffectsResponse,
    ReconcileEffectRequest,
    ReconcileEffectResponse,
    ResolveEffectRequest,
    ResolveEffectResponse,
)
from taoloop.tools.catalogue import Catalogue
from taoloop.wire.context import incoming_call
from taoloop.wire.records.codec import decode, encode

SERVICE_NAME: Final = "taoloop.api.v1.ActionService"


class ActionServicer(action_pb2_grpc.ActionServiceServicer):
    """Decodes requests, calls the domain, encodes replies."""

    def __init__(
        self,
        catalogue: Catalogue,
        executor: Executor,
        ledger: EffectLedger,
        reconciler: Reconciler,
        board: ToolBoard,
    ) -> None:
        self._catalogue = catalogue
        self._executor = executor
        self._ledger = ledger
        self._reconciler = reconciler
        self._board = board

    async def Execute(
        self, request: action_pb2.ExecuteRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> action_pb2.ExecuteResponse:
        """Call one tool."""
        wanted = decode(ExecuteRequest, request)
        _require(run_id=wanted.run_id, step_id=wanted.step_id, tool=wanted.tool)
        result = await self._executor.execute(wanted, incoming_call(context))
        return encode(ExecuteResponse(result=result), action_pb2.ExecuteResponse)

    async def ListTools(
        self, request: action_pb2.ListToolsRequest, _context: grpc.aio.ServicerContext[Any, Any]
    ) -> action_pb2.ListToolsResponse:
        """List the tools by page."""
        wanted = decode(ListToolsRequest, request)
        listed = list_tools(self._catalogue, wanted.page_size, wanted.page_token, self._board.availability)
        return encode(listed, action_pb2.ListToolsResponse)

    async def GetTool(
        self, request: action_pb2.GetToolRequest, _context: grpc.aio.ServicerContext[Any, Any]
    ) -> action_pb2.GetToolResponse:
        """Show one tool's contract."""
        wanted = decode(GetToolRequest, request)
        return encode(get_tool(self._catalogue, wanted.name, self._board.availability), action_pb2.GetToolResponse)

    async def SwitchTool(
        self, request: action_pb2.SwitchToolRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> action_pb2.SwitchToolResponse:
        """Switch a tool off for all replicas, or on again."""
        wanted = decode(SwitchToolRequest, request)
        _require(tool=wanted.tool)
        if wanted.tool not in self._catalogue:
            raise UnknownTool.of(wanted.tool)
        deadline = incoming_call(context).deadline
        if wanted.off:
            await self._board.switch_off(wanted.tool, wanted.reason, wanted.switched_by, deadline)
        else:
            await self._board.switch_on(wanted.tool, deadline)
        response = SwitchToolResponse(availability=self._board.availability(wanted.tool))
        return encode(response, action_pb2.SwitchToolResponse)

    async def DecideApproval(
        self, request: action_pb2.DecideApprovalRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> action_pb2.DecideApprovalResponse:
        """Give, deny or withdraw leave for one call."""
        wanted = decode(DecideApprovalRequest, request)
        _require(approval_id=wanted.approval_id, decided_by=wanted.decided_by)
        if wanted.decision is ApprovalDecision.EXPIRED:
            violation = FieldViolation("decision", "must be APPROVED, REJECTED or CANCELLED")
            raise InvalidRequest("Nobody can decide that an approval has lapsed.", violations=(violation,))
        _require_short(wanted.request_id, wanted.comment, decided_by=wanted.decided_by)
        decision = Decision(
            approval_id=wanted.approval_id,
            decision=wanted.decision,
            decided_by=wanted.decided_by,
            comment=wanted.comment,
            request_id=wanted.request_id,
        )
        approval = await self._ledger.approvals.decide(incoming_call(context).tenant, decision)
        reply = DecideApprovalResponse(
            approval_id=approval.approval_id,
            decision=DECISION_OF[approval.state],
            decided_by=approval.decided_by,
        )
        return encode(reply, action_pb2.DecideApprovalResponse)

    async def ListApprovals(
        self, request: action_pb2.ListApprovalsRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> action_pb2.ListApprovalsResponse:
        """List approvals by page, newest first; the token is the last id of the page before."""
        wanted = decode(ListApprovalsRequest, request)
        limit = page_limit(wanted.page_size)
        query = ApprovalQuery(
            run_id=wanted.run_id,
            state=wanted.state,
            limit=limit + 1,
            before_approval_id=wanted.page_token,
            approval_id=wanted.approval_id,
        )
        page, last = cut_page(await self._ledger.approvals.list(incoming_call(context).tenant, query), limit)
        token = last.approval_id if last is not None else ""
        reply = ListApprovalsResponse(approvals=page, next_page_token=token)
        return encode(reply, action_pb2.ListApprovalsResponse)

    async def ListEffects(
        self, request: action_pb2.ListEffectsRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> action_pb2.ListEffectsResponse:
        """List recorded effects by page, newest first; the token is the last id of the page before."""
        wanted = decode(ListEffectsRequest, request)
        limit = page_limit(wanted.page_size)
        query = EffectQuery(
            run_id=wanted.run_id,
            state=wanted.state,
            limit=limit + 1,
            before_effect_id=wanted.page_token,
            effect_id=wanted.effect_id,
        )
        found = await self._ledger.list(incoming_call(context).tenant, query)
        page, last = cut_page(found, limit)
        token = last.effect_id if last is not None else ""
        return encode(ListEffectsResponse(effects=page, next_page_token=token), action_pb2.ListEffectsResponse)

    async def ResolveEffect(
        self, request: action_pb2.ResolveEffectRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> action_pb2.ResolveEffectResponse:
        """Settle an unknown effect by the word of a person."""
        wanted = decode(ResolveEffectRequest, request)
        _require(effect_id=wanted.effect_id, resolved_by=wanted.resolved_by)
        _require_short(wanted.request_id, wanted.comment, resolved_by=wanted.resolved_by)
        resolution = Resolution(
            effect_id=wanted.effect_id,
            took_place=wanted.took_place,
            resolved_by=wanted.resolved_by,
            comment=wanted.comment,
            request_id=wanted.request_id,
        )
        effect = await self._ledger.resolve(incoming_call(context).tenant, resolution)
        return encode(ResolveEffectResponse(effect=effect), action_pb2.ResolveEffectResponse)

    async def ReconcileEffect(
        self, request: action_pb2.ReconcileEffectRequest, context: grpc.aio.ServicerContext[Any, Any]
    ) -> action_pb2.ReconcileEffectResponse:
        """Look an unknown effect up by the contract's tool."""
        wanted = decode(ReconcileEffectRequest, request)
        _require(effect_id=wanted.effect_id)
        effect, finding = await self._reconciler.reconcile(incoming_call(context).tenant, wanted.effect_id)
        reply = ReconcileEffectResponse(effect=effect, finding=finding.words)
        return encode(reply, action_pb2.ReconcileEffectResponse)


def registrar(servicer: ActionServicer) -> Callable[[grpc.aio.Server], None]:
    """Return what adds the servicer to a server."""
    return lambda server: action_pb2_grpc.add_ActionServiceServicer_to_server(servicer, server)


def _require(**fields: str) -> None:
    missing = tuple(FieldViolation(name, "must not be empty") for name, value in fields.items() if not value)
    if missing:
        names = ", ".join(violation.field for violation in missing)
        raise InvalidRequest(f"Required fields are empty: {names}.", violations=missing)


def _require_short(request_id: str, comment: str, **who: str) -> None:
    """Check that what was said with a decision may stand in logs, faults and the ledger."""
    given = [("request_id", request_id, MAX_NAME_CHARACTERS), ("comment", comment, MAX_COMMENT_CHARACTERS)]
    given += [(name, value, MAX_NAME_CHARACTERS) for name, value in who.items()]
    violations = tuple(
        FieldViolation(field, f"must have at most {most} characters, not {len(text)}")
        for field, text, most in given
        if len(text) > most
    )
    if violations:
        what = "; ".join(f"{each.field} {each.description}" for each in violations)
        raise InvalidRequest(f"The decision cannot be taken: {what}.", violations=violations)
