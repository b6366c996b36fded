"""The attempt loop: switch, breaker, limiter, attempt, verdict, pause, until a call is answered or given up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

from taoloop.action import faulting
from taoloop.action.faulting import Verdict
from taoloop.action.ledger.idempotency import idempotency_key
from taoloop.action.outcomes import CheckedCall, Outcome
from taoloop.action.payload import Payload, read_payload
from taoloop.action.policies.breaker import Permit, Refusal
from taoloop.action.policies.guards import Guards, ToolGuards
from taoloop.action.policies.limiter import Shed
from taoloop.action.policies.retry import Moment, Pause, Stop, StopReason
from taoloop.action.ports import Reply, ToolCall, Transport, TransportFault
from taoloop.action.transports.jobs.handles import ticket_to_json
from taoloop.core import exact_json
from taoloop.core.clock import Clock
from taoloop.core.exact_json import ABSENT
from taoloop.core.faults import Fault, FaultCode
from taoloop.core.logs import EventLog
from taoloop.plan.acting import ActionStatus, Attempt, ServedBy
from taoloop.tools.compiled import CompiledTool
from taoloop.tools.contract import Empty

_log = EventLog(__name__)

_NOT_MADE = frozenset({FaultCode.INVALID_PARAMETER, FaultCode.NOT_YET_SUPPORTED, FaultCode.EGRESS_FORBIDDEN})
"""Faults with which a transport says that it made no attempt, because the call may not be made as it is."""


@dataclass(frozen=True, slots=True)
class SwitchedOff:
    """An operator's word that a tool is not to be called.

    Attributes:
        reason: The operator's words; may be empty.
    """

    reason: str = ""


Switches = Callable[[str], SwitchedOff | None]
"""Tells by its name whether a tool is switched off, from memory: it is asked before each attempt."""


@dataclass(slots=True)
class _Series:
    """The attempts of one call."""

    began: float
    attempts: list[Attempt] = field(default_factory=list)
    pause_seconds: float | None = None
    """The pause before the attempt that comes next."""
    outcome: Outcome | None = None
    """What the last attempt came to."""
    verdict: Verdict | None = None
    """What was wrong with it."""
    is_uncertain: bool = False
    """Whether one of them may have changed something: a later one that surely did not says nothing about it."""


class AttemptLoop:
    """Makes the attempts of a call, one after the other, under the policies of its tool's contract.

    Args:
        transport: The way to the tools.
        guards: Retry policies, breakers and limiters.
        clock: Measures attempts and waits between them.
        random: Draws the pauses.
        switches: The operator's kill switches; None for none.
    """

    def __init__(
        self,
        transport: Transport,
        guards: Guards,
        clock: Clock,
        random: Random,
        switches: Switches | None = None,
    ) -> None:
        self._transport = transport
        self._guards = guards
        self._clock = clock
        self._random = random
        self._switches = switches

    async def run(self, call: CheckedCall) -> Outcome:
        """Make the call until it is answered or given up; whatever happens is one outcome."""
        guards = self._guards.of(call.tool.contract)
        series = _Series(self._clock.monotonic())
        while True:
            limit = await self._guarded(call, guards, series)
            if limit is not None:
                return self._finished(guards, series, _limited(series, limit))
            assert series.outcome is not None
            if series.verdict is None:
                guards.retry.budget.succeeded()
                return self._finished(guards, series, series.outcome)
            decision = self._decision(call, guards, series, series.verdict)
            if isinstance(decision, Stop):
                return self._finished(guards, series, self._stopped(guards, series, series.outcome, decision.reason))
            guards.repeated(decision)
            series.pause_seconds = decision.seconds
            await self._clock.sleep(decision.seconds)

    async def _guarded(self, call: CheckedCall, guards: ToolGuards, series: _Series) -> Fault | None:
        """Make one attempt, or return the fault of the limit that forbids it."""
        tool, now = call.tool.contract.name, self._clock.monotonic()
        if call.deadline.is_expired:
            return faulting.no_time()
        off = None if self._switches is None else self._switches(tool)
        if off is not None:
            guards.switched_off()
            return faulting.switched_off(tool, off.reason)
        permit = guards.admit(now)
        if isinstance(permit, Refusal):
            return faulting.breaker_open(tool, permit.retry_at - now)
        try:
            if guards.limiter is None:
                await self._attempt(call, guards, series, permit)
            else:
                async with guards.limiter.slot(call.deadline):
                    await self._attempt(call, guards, series, permit)
        except Shed as shed:
            guards.shed(shed.reason)
            return faulting.limiter_shed(tool, shed.reason)
        finally:
            if permit is not None:  # cancelled or shed: the breaker gets its probe back without a verdict
                permit.released()
        return None

    async def _attempt(self, call: CheckedCall, guards: ToolGuards, series: _Series, permit: Permit | None) -> None:
        start, began = self._clock.now(), self._clock.monotonic()
        got = await self._got(_wanted(call, len(series.attempts)))
        ended = self._clock.monotonic()
        seconds = max(0.0, ended - began)
        guards.ended(permit, ended, seconds, has_failed=faulting.has_failed(got))
        if isinstance(got, TransportFault) and got.code in _NOT_MADE:
            self._not_made(series, faulting.transport_fault(got))
            return
        name = "answered" if isinstance(got, Reply) else str(got.code)
        guards.attempted(name)
        received = got if isinstance(got, Reply) else got.received
        attempt = Attempt(
            start=start,
            duration_seconds=seconds,
            outcome=name,
            code=received.status_code if received is not None else 0,
            reused_connection=received.reused_connection if received is not None else False,
            wait_before_seconds=series.pause_seconds,
        )
        series.attempts.append(attempt)
        self._judge(call, series, got)
        assert series.outcome is not None
        series.outcome.response_time_seconds = seconds

    def _not_made(self, series: _Series, fault: Fault) -> None:
        failure = faulting.failure_of(fault, "", may_have_left=False)
        series.outcome = Outcome(status=ActionStatus.REJECTED, fault=fault)
        series.verdict = Verdict(fault, failure, is_certain=True)
        if series.is_uncertain:
            _settle(series, series.outcome, series.verdict)

    async def _got(self, wanted: ToolCall) -> Reply | TransportFault:
        try:
            return await self._transport.attempt(wanted)
        except TransportFault as error:
            return error
        except Exception as error:  # noqa: BLE001 - a transport is foreign code: whatever it raises, the write may have left
            _log.exception("transport_failed", tool=wanted.contract.name)
            message = f"The transport failed: {type(error).__name__}."
            return TransportFault(FaultCode.TOOL_PROTOCOL_FAULT, message, may_have_left=True)

    def _judge(self, call: CheckedCall, series: _Series, got: Reply | TransportFault) -> None:
        if isinstance(got, TransportFault):
            outcome = Outcome(status=ActionStatus.FAILED)
            if got.received is not None:
                payload = read_payload(got.received, expects_json=_expects_json(call.tool), is_truncated=True)
                outcome = _with_payload(got.received, payload)
                outcome.served_by = None
            verdict: Verdict | None = faulting.judge_absence(got)
        else:
            payload = read_payload(got, expects_json=_expects_json(call.tool))
            outcome = _with_payload(got, payload)
            now = self._clock.now()
            verdict = faulting.judge_reply(call.tool, got, _or_null(payload.parsed), now, payload.text)
            if verdict is None and _is_refused_empty(call.tool, got, payload):
                verdict = faulting.judge_empty()
            elif verdict is None and payload.fault_message:
                verdict = faulting.judge_malformed(payload.fault_message)
        series.outcome, series.verdict = outcome, verdict
        if verdict is not None:
            series.is_uncertain = series.is_uncertain or (call.writes and not verdict.is_certain)
            _settle(series, outcome, verdict)

    def _decision(self, call: CheckedCall, guards: ToolGuards, series: _Series, verdict: Verdict) -> Pause | Stop:
        now = self._clock.monotonic()
        moment = Moment(
            attempt=len(series.attempts),
            now=now,
            elapsed_seconds=now - series.began,
            left_seconds=call.deadline.remaining_seconds(),
        )
        return guards.retry.decide(verdict.failure, moment, self._random)

    def _stopped(self, guards: ToolGuards, series: _Series, outcome: Outcome, reason: StopReason) -> Outcome:
        """Return the outcome of a failed call with the limit that ended it named in its fault."""
        guards.stopped(reason)
        fault = outcome.fault
        assert fault is not None
        if reason is StopReason.BUDGET:
            outcome.fault = faulting.stopped_by(faulting.retry_budget_exhausted(guards.contract.name), fault)
        elif reason is StopReason.DEADLINE:
            outcome.fault = replace(fault, message=f"{fault.message} No time was left for another attempt.")
        elif reason is StopReason.ATTEMPTS and len(series.attempts) > 1:
            outcome.fault = replace(fault, message=f"{fault.message} It was attempt {len(series.attempts)}, the last.")
        return outcome

    def _finished(self, guards: ToolGuards, series: _Series, outcome: Outcome) -> Outcome:
        outcome.attempts = tuple(series.attempts)
        outcome.breaker = guards.breaker(self._clock.monotonic())
        return outcome

    def __repr__(self) -> str:
        return f"AttemptLoop({self._guards!r})"


def _wanted(call: CheckedCall, attempts_made: int) -> ToolCall:
    contract, request = call.tool.contract, call.request
    key = ""
    if contract.idempotency is not None:
        key = idempotency_key(call.context.tenant, request.run_id, request.step_id, contract.name, call.arguments_hash)
    return ToolCall(
        contract=contract,
        arguments=call.arguments,
        timeout_seconds=call.deadline.bounded(contract.timeout_seconds),
        thought_id=request.thought_id or request.request_id or request.run_id,
        idempotency_key=key,
        resend_count=attempts_made,
        job=call.job,
    )


def _limited(series: _Series, limit: Fault) -> Outcome:
    """Return the outcome of a call that a limit kept from its first attempt, or from a further one."""
    if series.outcome is None:
        is_late = limit.code == FaultCode.DEADLINE_EXCEEDED
        return Outcome(status=ActionStatus.TIMED_OUT if is_late else ActionStatus.REJECTED, fault=limit)
    assert series.outcome.fault is not None
    series.outcome.fault = faulting.stopped_by(limit, series.outcome.fault)
    return series.outcome


def _settle(series: _Series, outcome: Outcome, verdict: Verdict) -> None:
    """Write the failure into the outcome; of a write only when it is certain that it took no effect."""
    if series.is_uncertain:
        outcome.status = ActionStatus.OUTCOME_UNKNOWN
        outcome.fault = faulting.unknown_outcome(verdict.fault)
        return
    is_late = verdict.fault.code == FaultCode.TOOL_TIMEOUT
    outcome.status = ActionStatus.TIMED_OUT if is_late else ActionStatus.FAILED
    outcome.fault = verdict.fault


def _with_payload(reply: Reply, payload: Payload) -> Outcome:
    return Outcome(
        status=ActionStatus.PENDING if reply.status_code == 202 else ActionStatus.SUCCEEDED,
        parsed=payload.parsed,
        raw=payload.raw,
        body=payload.body,
        status_code=reply.status_code,
        served_by=ServedBy.PRIMARY,
        job_handle=ABSENT if reply.job is None else ticket_to_json(reply.job),
    )


def _expects_json(tool: CompiledTool) -> bool:
    """Tell whether the body must be JSON: a response schema of `true` takes anything."""
    return tool.contract.response is not True


def _is_refused_empty(tool: CompiledTool, reply: Reply, payload: Payload) -> bool:
    """Tell whether an answer is null data where the contract asks again for it; a job that goes on has none yet."""
    has_data = payload.parsed is not None and (payload.parsed is not ABSENT or payload.raw is not None)
    return tool.contract.empty is Empty.RETRY and reply.status_code != 202 and not has_data


def _or_null(value: exact_json.Json) -> exact_json.JsonValue:
    return None if isinstance(value, exact_json.Absent) else value
