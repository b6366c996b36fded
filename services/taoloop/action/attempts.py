"""The attempt loop: switch, breaker, limiter, attempt, verdict, pause, until a call is answered or given up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from random import Random
from typing import Final

from taoloop.action import faulting
from taoloop.action.faulting import Verdict
from taoloop.action.ledger.idempotency import idempotency_key
from taoloop.action.outcomes import CheckedCall, Outcome
from taoloop.action.payload import Payload, read_payload
from taoloop.action.policies.breaker import Permit, Refusal
from taoloop.action.policies.guards import Guards, ToolGuards
from taoloop.action.policies.limiter import Limiter, Shed
from taoloop.action.policies.retry import Moment, Pause, Stop, StopReason
from taoloop.action.ports import Reply, ToolCall, Transport, TransportFault
from taoloop.action.transports.jobs.handles import ticket_to_json
from taoloop.core.clock import Clock
from taoloop.core.exact_json import ABSENT
from taoloop.core.faults import Fault, FaultCode
from taoloop.core.logs import EventLog
from taoloop.plan.acting import ActionStatus, Attempt, ServedBy
from taoloop.tools.contract import Empty

_log = EventLog(__name__)

_NOT_MADE = frozenset({FaultCode.INVALID_PARAMETER, FaultCode.NOT_YET_SUPPORTED, FaultCode.EGRESS_FORBIDDEN})
"""Faults with which a transport says that it made no attempt, because the call may not be made as it is."""


_NOT_YET: Final = datetime.min.replace(tzinfo=UTC)


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

    call: CheckedCall
    guards: ToolGuards
    began: float
    start: datetime = _NOT_YET
    """When the attempt that is made began, aware."""
    started: float = 0.0
    """The same in monotonic seconds."""
    attempts: list[Attempt] = field(default_factory=list)
    pause_seconds: float | None = None
    """The pause before the attempt that comes next."""
    permit: Permit | None = None
    """The breaker's leave for the attempt that is made; None where there is no breaker."""
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
        limiter = guards.limiter
        series = _Series(call, guards, self._clock.monotonic())
        try:
            while True:
                limit = self._admitted(series)
                if limit is None and limiter is not None and not limiter.take():
                    limit = await self._waited(series, limiter)
                if limit is not None:
                    return self._finished(series, _limited(series, limit))
                try:
                    got: Reply | TransportFault = await self._transport.attempt(self._wanted(series))
                except TransportFault as error:
                    got = error
                except Exception as error:  # noqa: BLE001 - foreign code: whatever it raises, the write may have left
                    got = _foreign_fault(call, error)
                finally:
                    if limiter is not None:
                        limiter.release()
                outcome = self._ended(series, got)
                if series.verdict is None:
                    guards.retry.budget.succeeded()
                    return self._finished(series, outcome)
                decision = self._decision(series, series.verdict)
                if isinstance(decision, Stop):
                    return self._finished(series, self._stopped(series, outcome, decision.reason))
                guards.repeated(decision)
                series.pause_seconds = decision.seconds
                await self._clock.sleep(decision.seconds)
        finally:
            permit = series.permit
            if permit is not None and not permit.is_reported:  # cancelled or shed: the breaker gets its probe back
                permit.released()

    async def _waited(self, series: _Series, limiter: Limiter) -> Fault | None:
        """Wait for a free slot; return why the attempt is not to be made, and then there is none to give back."""
        call, guards = series.call, series.guards
        try:
            await limiter.acquire(call.deadline)
        except Shed as shed:
            guards.shed(shed.reason)
            return faulting.limiter_shed(call.tool.contract.name, shed.reason)
        forbidden = self._forbidden(call, guards, self._clock.monotonic())  # meanwhile
        if forbidden is not None:
            limiter.release()
        return forbidden

    def _admitted(self, series: _Series) -> Fault | None:
        """Take the breaker's leave for one attempt, or return what forbids it."""
        call, guards = series.call, series.guards
        now = self._clock.monotonic()
        forbidden = self._forbidden(call, guards, now)
        if forbidden is not None:
            return forbidden
        permit = guards.admit(now)
        if isinstance(permit, Refusal):
            return faulting.breaker_open(call.tool.contract.name, permit.retry_at - now)
        series.permit = permit
        return None

    def _forbidden(self, call: CheckedCall, guards: ToolGuards, now: float) -> Fault | None:
        """Return why no attempt may begin now, whatever the breaker says: no time is left, or the tool is off."""
        if now >= call.deadline.monotonic_seconds:
            return faulting.no_time()
        off = None if self._switches is None else self._switches(guards.contract.name)
        if off is None:
            return None
        guards.switched_off()
        return faulting.switched_off(guards.contract.name, off.reason)

    def _wanted(self, series: _Series) -> ToolCall:
        """Return the attempt that begins now."""
        call = series.call
        contract, request = call.tool.contract, call.request
        key = ""
        if contract.idempotency is not None:
            tenant, run_id, step_id = call.context.tenant, request.run_id, request.step_id
            key = idempotency_key(tenant, run_id, step_id, contract.name, call.arguments_hash)
        now = self._clock.monotonic()
        series.start, series.started = self._clock.now(), now
        left_seconds = max(0.0, call.deadline.monotonic_seconds - now)
        return ToolCall(
            contract=contract,
            arguments=call.arguments,
            timeout_seconds=min(contract.timeout_seconds, left_seconds),
            thought_id=request.thought_id or request.request_id or request.run_id,
            idempotency_key=key,
            resend_count=len(series.attempts),
            job=call.job,
        )

    def _ended(self, series: _Series, got: Reply | TransportFault) -> Outcome:
        """Tell the breaker of an attempt, count it if it was made, and judge what came of it."""
        guards, now = series.guards, self._clock.monotonic()
        seconds = max(0.0, now - series.started)
        guards.ended(series.permit, now, seconds, has_failed=faulting.has_failed(got))
        if isinstance(got, Reply):
            name = "answered"
            received: Reply | None = got
            guards.answered()
        elif got.code in _NOT_MADE:
            return _not_made(series, faulting.transport_fault(got))
        else:
            name, received = str(got.code), got.received
            guards.attempted(name)
        if received is not None and received.has_masked:
            guards.masked()
        attempt = Attempt(
            start=series.start,
            duration_seconds=seconds,
            outcome=name,
            code=received.status_code if received is not None else 0,
            reused_connection=received.reused_connection if received is not None else False,
            wait_before_seconds=series.pause_seconds,
        )
        series.attempts.append(attempt)
        outcome, verdict = self._judged(series, got) if isinstance(got, Reply) else _judged_absence(series.call, got)
        outcome.response_time_seconds = seconds
        series.outcome, series.verdict = outcome, verdict
        if verdict is not None:
            series.is_uncertain = series.is_uncertain or (series.call.writes and not verdict.is_certain)
            _settle(series, outcome, verdict)
        return outcome

    def _judged(self, series: _Series, reply: Reply) -> tuple[Outcome, Verdict | None]:
        """Return what an answer comes to, and what is wrong with it."""
        tool = series.call.tool
        contract = tool.contract
        payload = read_payload(reply, expects_json=contract.response is not True)  # which takes anything
        outcome = _with_payload(reply, payload)
        body = None if payload.parsed is ABSENT else payload.parsed
        # Nothing else in an answer is read against a clock.
        now = self._clock.now() if reply.retry_after else series.start
        verdict = faulting.judge_reply(tool, reply, body, now, payload.text)
        if verdict is None and contract.empty is Empty.RETRY and _is_empty(reply, payload):
            verdict = faulting.judge_empty()
        elif verdict is None and payload.fault_message:
            verdict = faulting.judge_malformed(payload.fault_message)
        return outcome, verdict

    def _decision(self, series: _Series, verdict: Verdict) -> Pause | Stop:
        now = self._clock.monotonic()
        moment = Moment(
            attempt=len(series.attempts),
            now=now,
            elapsed_seconds=now - series.began,
            left_seconds=series.call.deadline.remaining_seconds(),
        )
        return series.guards.retry.decide(verdict.failure, moment, self._random)

    def _stopped(self, series: _Series, outcome: Outcome, reason: StopReason) -> Outcome:
        """Return the outcome of a failed call with the limit that ended it named in its fault."""
        series.guards.stopped(reason)
        fault = outcome.fault
        assert fault is not None
        if reason is StopReason.BUDGET:
            outcome.fault = faulting.stopped_by(faulting.retry_budget_exhausted(series.guards.contract.name), fault)
        elif reason is StopReason.DEADLINE:
            outcome.fault = replace(fault, message=f"{fault.message} No time was left for another attempt.")
        elif reason is StopReason.ATTEMPTS and len(series.attempts) > 1:
            outcome.fault = replace(fault, message=f"{fault.message} It was attempt {len(series.attempts)}, the last.")
        return outcome

    def _finished(self, series: _Series, outcome: Outcome) -> Outcome:
        outcome.attempts = tuple(series.attempts)
        outcome.breaker = series.guards.breaker(self._clock.monotonic(), series.permit)
        return outcome

    def __repr__(self) -> str:
        return f"AttemptLoop({self._guards!r})"


def _foreign_fault(call: CheckedCall, error: Exception) -> TransportFault:
    _log.exception("transport_failed", tool=call.tool.contract.name)
    message = f"The transport failed: {type(error).__name__}."
    return TransportFault(FaultCode.TOOL_PROTOCOL_FAULT, message, may_have_left=True)


def _not_made(series: _Series, fault: Fault) -> Outcome:
    failure = faulting.failure_of(fault, "", may_have_left=False)
    outcome, verdict = Outcome(status=ActionStatus.REJECTED, fault=fault), Verdict(fault, failure, is_certain=True)
    series.outcome, series.verdict = outcome, verdict
    if series.is_uncertain:
        _settle(series, outcome, verdict)
    return outcome


def _judged_absence(call: CheckedCall, error: TransportFault) -> tuple[Outcome, Verdict]:
    outcome = Outcome(status=ActionStatus.FAILED)
    if error.received is not None:
        expects_json = call.tool.contract.response is not True
        payload = read_payload(error.received, expects_json=expects_json, is_truncated=True)
        outcome = _with_payload(error.received, payload)
        outcome.served_by = None
    return outcome, faulting.judge_absence(error)


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
        text=payload.text,
        body=payload.body,
        status_code=reply.status_code,
        served_by=ServedBy.PRIMARY,
        job_handle=ABSENT if reply.job is None else ticket_to_json(reply.job),
    )


def _is_empty(reply: Reply, payload: Payload) -> bool:
    """Tell whether an answer is null data; a job that goes on has none yet."""
    has_data = payload.parsed is not None and (payload.parsed is not ABSENT or payload.raw is not None)
    return reply.status_code != 202 and not has_data
