"""A call about a job that is pending: its handle checked, its pace kept, its end recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final, Protocol

from taoloop.action.faulting import action_fault, unknown_outcome
from taoloop.action.ledger.ports import EffectLedger
from taoloop.action.outcomes import CheckedCall, Outcome
from taoloop.action.ports import JobTicket, ToolCall, TransportFault
from taoloop.action.result_text import result_to_text
from taoloop.action.transports.jobs.handles import (
    HandleOwner,
    HandleRefused,
    JobHandles,
    ticket_from_json,
    ticket_to_json,
)
from taoloop.action.transports.jobs.pace import JobTime, JobTimes
from taoloop.core.clock import Clock
from taoloop.core.errors import BackendUnavailable
from taoloop.core.exact_json import ABSENT, Absent
from taoloop.core.faults import Fault, FaultCode
from taoloop.core.logs import EventLog
from taoloop.core.telemetry import names
from taoloop.core.telemetry.metrics import Metrics
from taoloop.plan.acting import ActionResult, ActionStatus, JobCare
from taoloop.plan.effects import EffectState
from taoloop.tools.contract import JobTransport
from taoloop.tools.signature import Effect

_log = EventLog(__name__)

MAX_MISSES: Final = 5
"""Queries in a row that may go unanswered; the next one gives the job up."""

CANCEL_SECONDS: Final = 2.0
"""How long a cancelled caller's job is asked to stop."""

_LATE_SECONDS: Final = 0.5
"""A caller that goes away this shortly before its deadline has run out of time: its job is still wanted."""

_SAID_BY_THE_TOOL: Final = frozenset({FaultCode.JOB_FAILED, FaultCode.JOB_CANCELLED})

Attempts = Callable[[CheckedCall], Awaitable[Outcome]]
"""Asks about the call's job under all policies of its tool; `AttemptLoop.run`."""


class JobCanceller(Protocol):
    """Can ask a tool to cancel a job."""

    async def cancel(self, call: ToolCall) -> bool:
        """Ask the tool to cancel the job of the call's ticket.

        Returns:
            Whether the tool agreed.

        Raises:
            TransportFault: No whole answer came.
        """
        ...


class JobDesk:
    """Answers for jobs between their creation and their end.

    Args:
        canceller: Asks tools to cancel jobs.
        ledger: Where the outcome of a write is recorded once its job is over.
        handles: Seals what callers hold.
        clock: Keeps the pace.
        metrics: Counts how jobs end.
    """

    def __init__(
        self, canceller: JobCanceller, ledger: EffectLedger, handles: JobHandles, clock: Clock, metrics: Metrics
    ) -> None:
        self._canceller = canceller
        self._ledger = ledger
        self._handles = handles
        self._clock = clock
        self._times = JobTimes(clock)
        self._ended = metrics.counter(names.JOBS_ENDED)

    def opened(self, call: CheckedCall) -> CheckedCall | Fault:
        """Return the call with the job of its handle, or the fault of a handle that is none of this call's."""
        handle = call.request.job_handle
        assert not isinstance(handle, Absent)
        if not isinstance(call.tool.contract.transport, JobTransport):
            return no_jobs()
        try:
            return replace(call, job=self._handles.open(handle, _owner(call)))
        except HandleRefused as exc:
            return action_fault(FaultCode.JOB_HANDLE_REFUSED, exc.message)

    def sealed(self, result: ActionResult, call: CheckedCall) -> ActionResult:
        """Return a result that has a ticket with a handle in its place, which only this call can use."""
        assert isinstance(result.job_handle, dict)
        ticket = replace(ticket_from_json(result.job_handle), effect_id=result.effect_id)
        return replace(result, job_handle=self._handles.seal(ticket, _owner(call)))

    async def ask(self, call: CheckedCall, attempts: Attempts) -> ActionResult:
        """Wait until the job may be asked about, ask once, and return its result or that it is still pending.

        The wait is part of the call and ends with its time; then the last known state is returned unasked, so
        that a caller may come back at once without asking the tool too often.

        A caller that goes away before its deadline cancels the job, if the contract says how, unless it said that the
        job goes on without it; one that says so cancels it at once.
        """
        job, form = call.job, call.tool.contract.transport
        assert job is not None
        assert isinstance(form, JobTransport)
        if call.request.job_care is JobCare.CANCEL:
            await self._cancel(call, job)
            return _still_pending(job).envelope(call)
        times = self._times.of(call.tool.contract.name, form, job)
        try:
            outcome = await self._asked(call, job, times, attempts)
        except asyncio.CancelledError:
            is_in_time = call.context.deadline.remaining_seconds() > _LATE_SECONDS
            if is_in_time and call.request.job_care is not JobCare.KEEP:
                await self._cancel(call, job)
            raise
        outcome = self._given_up(call, job, times, self._settled(call, job, times, outcome))
        return await self._recorded(call, job, outcome)

    async def _asked(self, call: CheckedCall, job: JobTicket, times: JobTime, attempts: Attempts) -> Outcome:
        wanted = min(times.due_at, times.ends_at) - self._clock.monotonic()
        pause = call.deadline.bounded(max(0.0, wanted))
        if pause > 0:
            await self._clock.sleep(pause)
        now = self._clock.monotonic()
        if now < times.due_at or now >= times.ends_at:
            return _still_pending(job)
        times.due_at = now + _form(call).poll_every_seconds
        return await attempts(call)

    def _settled(self, call: CheckedCall, job: JobTicket, times: JobTime, outcome: Outcome) -> Outcome:
        """Return the outcome with a miss taken for what it is: the job goes on whether it was heard of or not."""
        fault = outcome.fault
        if fault is None:
            return outcome
        if fault.code == FaultCode.DEADLINE_EXCEEDED:
            return _still_pending(job)
        if not fault.retriable or job.misses >= MAX_MISSES:
            return outcome
        now = self._clock.monotonic()
        times.due_at = max(times.due_at, now + (fault.retry_after_seconds or 0.0))
        _log.info("job_query_missed", tool=call.tool.contract.name, fault_code=str(fault.code), misses=job.misses + 1)
        missed = _still_pending(replace(job, misses=job.misses + 1))
        missed.attempts, missed.breaker = outcome.attempts, outcome.breaker
        missed.response_time_seconds = outcome.response_time_seconds
        return missed

    def _given_up(self, call: CheckedCall, job: JobTicket, times: JobTime, outcome: Outcome) -> Outcome:
        """Return the outcome of a job whose time is over, or whose end is not known."""
        if outcome.status is ActionStatus.PENDING and self._clock.monotonic() >= times.ends_at:
            outcome = replace(outcome, status=ActionStatus.TIMED_OUT, fault=_timed_out(call, _last(outcome, job)))
        if outcome.status not in {ActionStatus.SUCCEEDED, ActionStatus.PENDING} and outcome.job_handle is ABSENT:
            outcome = replace(outcome, job_handle=ticket_to_json(job))
        fault = outcome.fault
        is_unknown = outcome.status in {ActionStatus.FAILED, ActionStatus.TIMED_OUT} and not _is_said(fault)
        if fault is not None and is_unknown and call.tool.contract.effect is not Effect.READ:
            return replace(outcome, status=ActionStatus.OUTCOME_UNKNOWN, fault=unknown_outcome(fault))
        return outcome

    async def _recorded(self, call: CheckedCall, job: JobTicket, outcome: Outcome) -> ActionResult:
        result = replace(outcome.envelope(call), effect_id=job.effect_id)
        state = EffectState.SUCCEEDED if result.status is ActionStatus.SUCCEEDED else None
        if _is_said(result.fault):
            state = EffectState.FAILED
            result = replace(result, job_handle=ABSENT)
        if result.status is not ActionStatus.PENDING:
            self._ended.labels(tool=result.tool, outcome=_ending(result)).inc()
        if state is not None:
            self._times.forget(call.tool.contract.name, job.job_id)
        if state is not None and job.effect_id:
            await asyncio.shield(self._finish(job.effect_id, state, result))
        return result

    async def _finish(self, effect_id: str, state: EffectState, result: ActionResult) -> None:
        try:
            await self._ledger.finish(effect_id, state, result_to_text(result))
        except BackendUnavailable:
            # The entry stays UNKNOWN, which blocks a repeat; the result itself is not lost on the caller.
            _log.exception("effect_outcome_lost", effect_id=effect_id, state=state)

    async def _cancel(self, call: CheckedCall, job: JobTicket) -> None:
        """Ask the tool once to stop a job that nobody wants any more; whether it does is not waited for."""
        wanted = ToolCall(
            contract=call.tool.contract,
            arguments=call.arguments,
            timeout_seconds=CANCEL_SECONDS,
            thought_id=call.request.thought_id,
            job=job,
        )
        try:
            is_cancelled = await self._canceller.cancel(wanted)
        except TransportFault as fault:
            _log.warning("job_not_cancelled", tool=call.tool.contract.name, fault_code=str(fault.code))
            return
        _log.info("job_cancelled", tool=call.tool.contract.name, is_cancelled=is_cancelled)

    def __repr__(self) -> str:
        return f"JobDesk({self._times!r})"


def no_jobs() -> Fault:
    """Return the fault of a handle for a tool that has no jobs."""
    return action_fault(FaultCode.JOB_HANDLE_REFUSED, "The tool has no jobs, so the handle is none of its own.")


def _form(call: CheckedCall) -> JobTransport:
    assert isinstance(call.tool.contract.transport, JobTransport)
    return call.tool.contract.transport


def _owner(call: CheckedCall) -> HandleOwner:
    return HandleOwner(
        tenant=call.context.tenant,
        run_id=call.request.run_id,
        tool=call.request.tool,
        arguments_hash=call.arguments_hash,
    )


def _still_pending(job: JobTicket) -> Outcome:
    return Outcome(status=ActionStatus.PENDING, job_handle=ticket_to_json(job))


def _last(outcome: Outcome, job: JobTicket) -> JobTicket:
    return ticket_from_json(outcome.job_handle) if isinstance(outcome.job_handle, dict) else job


def _timed_out(call: CheckedCall, job: JobTicket) -> Fault:
    seconds = _form(call).total_seconds
    message = f"The job was not over within {seconds:g} s; its last known state is {job.state}."
    fault = action_fault(FaultCode.JOB_TIMEOUT, message)
    return replace(fault, field="/spec/transport/job/total", actual=job.state.value)


def _is_said(fault: Fault | None) -> bool:
    return fault is not None and fault.code in _SAID_BY_THE_TOOL


def _ending(result: ActionResult) -> str:
    fault = result.fault
    return "succeeded" if fault is None else str(fault.code).lower()
