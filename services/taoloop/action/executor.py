"""Executes one call through the stages: checks, ledger, attempt, envelope."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from opentelemetry.trace import Span

from taoloop.action.faulting import (
    action_fault,
    is_refusal,
    known_error,
    status_fault,
    transport_fault,
    unknown_outcome,
)
from taoloop.action.ledger.write_guard import WriteCall, WriteGuard
from taoloop.action.payload import Payload, read_payload
from taoloop.action.policies import objections
from taoloop.action.ports import EffectLedger, Reply, ToolCall, Transport, TransportFault
from taoloop.action.recent import RecentResults
from taoloop.core import exact_json
from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.errors import CatalogueInvalid
from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.core.faults import Fault, FaultCode
from taoloop.core.logs import EventLog, log_context
from taoloop.core.telemetry import Telemetry, names
from taoloop.core.telemetry.names import Attribute, Operation
from taoloop.core.telemetry.tracing import mark_failed
from taoloop.plan.acting import ActionResult, ActionStatus, Attempt, ExecuteRequest, ServedBy
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.signature import Effect, Trust

_log = EventLog(__name__)

_UNKNOWN_TOOL_LABEL = "unknown"
_FAULTS_WITHOUT_A_CALL = frozenset({FaultCode.INVALID_PARAMETER, FaultCode.NOT_YET_SUPPORTED})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    """One request on its way through the stages, refused by none so far."""

    request: ExecuteRequest
    context: CallContext
    tool: CompiledTool
    arguments: dict[str, JsonValue]
    blank: ActionResult

    @property
    def writes(self) -> bool:
        return self.tool.contract.effect is not Effect.READ


class Executor:
    """Calls tools by their contracts.

    A call passes: contract → permissions → provenance and taint → ledger intent → attempt → envelope → ledger
    outcome. It has no model, takes no business decision and does not judge the response's schema.

    Args:
        catalogue: The tools.
        transport: The way to them.
        ledger: Where calls that write are recorded.
        telemetry: Counts calls and makes the `execute_tool` span.
        clock: Measures attempts.
        recent: Remembers the results of reads by request id; None for a new one.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        transport: Transport,
        ledger: EffectLedger,
        telemetry: Telemetry,
        clock: Clock,
        recent: RecentResults | None = None,
    ) -> None:
        self._catalogue = catalogue
        self._transport = transport
        self._guard = WriteGuard(ledger)
        self._telemetry = telemetry
        self._clock = clock
        self._recent = RecentResults(clock) if recent is None else recent
        self._calls = telemetry.metrics.counter(names.ACTION_CALLS)
        self._duration = telemetry.metrics.histogram(names.ACTION_DURATION)

    async def execute(self, request: ExecuteRequest, call: CallContext) -> ActionResult:
        """Make the call, or say why not; whatever comes back is one envelope.

        Idempotent by `request_id`: the same id with the same request returns the first result. For writes the
        ledger keeps it; for reads this process does, for a while, and makes the call again afterwards.

        Raises:
            CatalogueInvalid: CATALOGUE_MISMATCH, the request was planned against another catalogue.
            RequestIdReused: The id came before with another request.
            BackendUnavailable: The ledger does not answer; a write was not made.
        """
        if request.catalogue_digest not in {"", self._catalogue.digest}:
            raise CatalogueInvalid(
                "The call was planned against another catalogue.",
                reason=FaultCode.CATALOGUE_MISMATCH,
                metadata={"expected": self._catalogue.digest, "actual": request.catalogue_digest[:64]},
            )
        tool = self._catalogue.compiled(request.tool) if request.tool in self._catalogue else None
        label = request.tool if tool is not None else _UNKNOWN_TOOL_LABEL
        began = self._clock.monotonic()
        with (
            log_context(run_id=request.run_id, thought_id=request.thought_id),
            self._telemetry.tracing.span(names.tool_span(label), _attributes(request, label, tool)) as span,
        ):
            result = await self._checked(request, call, tool)
            result = replace(result, total_time_seconds=max(0.0, self._clock.monotonic() - began))
            self._report(result, label, span)
        return result

    def _report(self, result: ActionResult, label: str, span: Span) -> None:
        fault_code = str(result.fault.code) if result.fault is not None else ""
        seconds = result.total_time_seconds or 0.0
        span.set_attribute(Attribute.ACTION_STATUS, result.status)
        if fault_code:
            span.set_attribute(Attribute.FAULT_CODE, fault_code)
            mark_failed(span, fault_code)
        self._calls.labels(tool=label, status=result.status).inc()
        self._duration.labels(tool=label).observe(seconds)
        _log.info("tool_call_ended", tool=label, status=result.status, fault_code=fault_code, seconds=seconds)

    async def _checked(self, request: ExecuteRequest, context: CallContext, tool: CompiledTool | None) -> ActionResult:
        arguments: Json = {} if request.arguments is ABSENT else request.arguments
        blank = _blank(request, tool, arguments)
        if tool is None:
            return _rejected(blank, objections.unknown_tool(request, self._catalogue))
        objection = objections.objection(request, tool, arguments)
        if objection is not None:
            return _rejected(blank, objection)
        assert isinstance(arguments, dict)
        call = _Call(request=request, context=context, tool=tool, arguments=arguments, blank=blank)
        if call.writes:
            guarded = WriteCall(request=request, context=context, blank=blank)
            return await self._guard.once(guarded, lambda: self._attempt(call))
        earlier = self._recent.find(context.tenant, request)
        if earlier is not None:
            return replace(earlier, served_by=ServedBy.DUPLICATE)
        result = await self._attempt(call)
        self._recent.add(context.tenant, request, result)
        return result

    async def _attempt(self, call: _Call) -> ActionResult:
        timeout = call.context.deadline.bounded(
            min(call.tool.contract.timeout_seconds, call.request.timeout_seconds or float("inf"))
        )
        if timeout <= 0:
            fault = action_fault(FaultCode.DEADLINE_EXCEEDED, "No time was left for the call; it was not made.")
            return replace(call.blank, status=ActionStatus.TIMED_OUT, fault=fault)
        wanted = ToolCall(
            contract=call.tool.contract,
            arguments=call.arguments,
            timeout_seconds=timeout,
            thought_id=call.request.thought_id or call.request.request_id or call.request.run_id,
        )
        start, began = self._clock.now(), self._clock.monotonic()
        got = await self._reply(wanted)
        result = self._answered(call, got) if isinstance(got, Reply) else _failed(call, got)
        if result.status is ActionStatus.REJECTED:
            return result
        seconds = max(0.0, self._clock.monotonic() - began)
        return replace(result, attempts=(_attempt_made(got, start, seconds),), response_time_seconds=seconds)

    async def _reply(self, wanted: ToolCall) -> Reply | TransportFault:
        try:
            return await self._transport.attempt(wanted)
        except TransportFault as error:
            return error
        except Exception as error:  # noqa: BLE001 - a transport is foreign code: whatever it raises, the write may have left
            _log.exception("transport_failed", tool=wanted.contract.name)
            message = f"The transport failed: {type(error).__name__}."
            return TransportFault(FaultCode.TOOL_PROTOCOL_FAULT, message, may_have_left=True)

    def _answered(self, call: _Call, reply: Reply) -> ActionResult:
        payload = read_payload(reply, expects_json=_expects_json(call.tool))
        result = replace(_with_payload(call, reply, payload), served_by=ServedBy.PRIMARY)
        known = known_error(call.tool, reply.status_code, _or_null(payload.parsed))
        if known is not None:
            return replace(result, status=ActionStatus.FAILED, fault=known)
        fault_by_status = status_fault(reply, self._clock.now())
        if fault_by_status is not None:
            return _settled(call, result, fault_by_status, is_certain=is_refusal(reply.status_code))
        if payload.fault_message:
            malformed = action_fault(FaultCode.RESPONSE_MALFORMED, payload.fault_message)
            return _settled(call, result, malformed, is_certain=False)
        return replace(result, status=ActionStatus.PENDING if reply.status_code == 202 else ActionStatus.SUCCEEDED)

    def __repr__(self) -> str:
        return f"Executor(tools={len(self._catalogue)}, guard={self._guard!r})"


def _failed(call: _Call, error: TransportFault) -> ActionResult:
    """Return the envelope of an attempt that brought no whole answer."""
    result = call.blank
    if error.received is not None:
        payload = read_payload(error.received, expects_json=_expects_json(call.tool), is_truncated=True)
        result = _with_payload(call, error.received, payload)
    if error.code in _FAULTS_WITHOUT_A_CALL:
        return _rejected(result, transport_fault(error))
    was_refused = error.received is not None and is_refusal(error.received.status_code)
    return _settled(call, result, transport_fault(error), is_certain=not error.may_have_left or was_refused)


def _attempt_made(got: Reply | TransportFault, start: datetime, seconds: float) -> Attempt:
    received = got if isinstance(got, Reply) else got.received
    return Attempt(
        start=start,
        duration_seconds=seconds,
        outcome="answered" if isinstance(got, Reply) else str(got.code),
        code=received.status_code if received is not None else 0,
        reused_connection=received.reused_connection if received is not None else False,
    )


def _settled(call: _Call, result: ActionResult, fault: Fault, *, is_certain: bool) -> ActionResult:
    """Return the failure; of a write only when it is certain that it took no effect."""
    if call.writes and not is_certain:
        return replace(result, status=ActionStatus.OUTCOME_UNKNOWN, fault=unknown_outcome(fault))
    status = ActionStatus.TIMED_OUT if fault.code == FaultCode.TOOL_TIMEOUT else ActionStatus.FAILED
    return replace(result, status=status, fault=fault)


def _blank(request: ExecuteRequest, tool: CompiledTool | None, arguments: Json) -> ActionResult:
    return ActionResult(
        run_id=request.run_id,
        thought_id=request.thought_id,
        step_id=request.step_id,
        tool=request.tool,
        contract_digest=tool.contract.digest if tool else "",
        arguments_hash=exact_json.digest(arguments),
        status=ActionStatus.REJECTED,
        trust=tool.contract.trust if tool else Trust.UNTRUSTED,
    )


def _rejected(blank: ActionResult, fault: Fault) -> ActionResult:
    return replace(blank, status=ActionStatus.REJECTED, fault=fault)


def _with_payload(call: _Call, reply: Reply, payload: Payload) -> ActionResult:
    return replace(
        call.blank,
        parsed=payload.parsed,
        raw=payload.raw,
        body=payload.body,
        status_code=reply.status_code,
    )


def _expects_json(tool: CompiledTool) -> bool:
    """Tell whether the body must be JSON: a response schema of `true` takes anything."""
    return tool.contract.response is not True


def _or_null(value: Json) -> JsonValue:
    return None if isinstance(value, exact_json.Absent) else value


def _attributes(request: ExecuteRequest, label: str, tool: CompiledTool | None) -> dict[Attribute, str | int | None]:
    return {
        Attribute.OPERATION_NAME: Operation.EXECUTE_TOOL,
        Attribute.TOOL_NAME: label,
        Attribute.TOOL_TYPE: "function",
        Attribute.RUN_ID: request.run_id,
        Attribute.THOUGHT_ID: request.thought_id,
        Attribute.RUN_ITERATION: request.iteration,
        Attribute.STEP_ID: request.step_id,
        Attribute.ACTION_EFFECT: tool.contract.effect.value if tool else None,
    }
