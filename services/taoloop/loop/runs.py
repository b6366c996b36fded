"""The loop's domain behind its RPCs: starts, follows, resumes and ends runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Final

from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.errors import (
    DeadlineExceeded,
    RunConflict,
    UnknownRun,
)
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.core.ids import new_id
from taoloop.core.logs import EventLog
from taoloop.loop.acceptance import accept
from taoloop.loop.decisions import decided, forwarded, require_open
from taoloop.loop.host import RunHost
from taoloop.loop.inputs import accept_input, find_repeat
from taoloop.loop.limits import RunLimits
from taoloop.loop.ports import ActionPort, NewRun, RunLog
from taoloop.loop.state import RunState
from taoloop.plan.running import (
    ApprovalOutcome,
    CancelRunRequest,
    ListRunsRequest,
    ListRunsResponse,
    LoopServiceDecideApprovalRequest,
    LoopServiceDecideApprovalResponse,
    ProvideInputRequest,
    ProvideInputResponse,
    RunEvent,
    RunFinished,
    RunResumed,
    RunSummary,
    SubmitResponse,
)
from taoloop.plan.task import Outcome, Task

MAX_PAGE_SIZE: Final = 200
DEFAULT_PAGE_SIZE: Final = 50

_log = EventLog(__name__)


class Runs:
    """What callers may do with runs: those that this host drives, and by the log those of all others.

    Args:
        host: Drives runs.
        log: Holds the events of every run.
        action: Keeps what persons decide.
        limits: The most that a run may have.
        clock: Tells the time.
    """

    def __init__(self, host: RunHost, log: RunLog, action: ActionPort, limits: RunLimits, clock: Clock) -> None:
        self._host = host
        self._log = log
        self._action = action
        self._limits = limits
        self._clock = clock

    def __repr__(self) -> str:
        return f"<Runs of {self._host!r} on {self._log!r}>"

    async def run(self, task: Task | None, digest: str, call: CallContext) -> AsyncGenerator[RunEvent]:
        """Start a run, or attach to the one with the same request id, and yield its events to its end.

        The caller's deadline and cancellation bound a run that this call started.

        Args:
            task: What to do.
            digest: Digest of the task as it was received.
            call: Who calls, and until when.

        Raises:
            InvalidRequest: The task cannot be run.
            RequestIdReused: The request id stands for another task.
            BackendUnavailable: A service or the log does not answer.
            DeadlineExceeded: The caller's time is up.
        """
        state, is_new = await self._enter(task, digest, call)
        if not is_new:
            async for event in self.watch(state.run_id, 1, call):
                yield event
            return
        writer = self._host.writer(state, call.tenant)
        events = writer.listen()
        try:
            opened = await self._host.start(writer, call)
            while (written := await events.get()) is not None:
                yield written
        finally:
            await self._host.leave(state.run_id)
        if opened.failure is not None:
            raise opened.failure
        if call.deadline.is_expired:
            raise DeadlineExceeded(f"The caller's deadline passed during run {state.run_id}.")

    async def submit(self, task: Task | None, digest: str, call: CallContext) -> SubmitResponse:
        """Start a run that goes on without the caller, or name the one with the same request id."""
        state, is_new = await self._enter(task, digest, call)
        if is_new:
            await self._host.start(self._host.writer(state, call.tenant), self._host.detached(call))
        return SubmitResponse(run_id=state.run_id, attached=not is_new)

    async def watch(self, run_id: str, from_sequence: int, call: CallContext) -> AsyncGenerator[RunEvent]:
        """Yield a run's events from a sequence number on until the run has ended or rests.

        Raises:
            UnknownRun: No such run for this tenant.
            DeadlineExceeded: The caller's time is up before the run's.
        """
        written = await self._log.read(call.tenant, run_id, 1, call.deadline)
        last = max(from_sequence, 1) - 1
        for event in written:
            if event.sequence > last:
                last = event.sequence
                yield event
        if isinstance(written[-1].body, RunFinished):
            return
        async for event in self._log.follow(call.tenant, run_id, last + 1, call.deadline):
            yield event
            if isinstance(event.body, RunFinished):
                return
        raise DeadlineExceeded(f"The caller's deadline passed while run {run_id} went on.")

    async def get(self, run_id: str, call: CallContext) -> RunSummary:
        """Return where a run stands."""
        return (await self._read(run_id, call)).summary()

    async def list(self, request: ListRunsRequest, call: CallContext) -> ListRunsResponse:
        """Return one page of the tenant's runs, newest first."""
        size = min(request.page_size or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)
        run_ids = await self._log.list_runs(call.tenant, size, request.page_token, call.deadline)
        runs = [await self._summary(run_id, call) for run_id in run_ids]
        wanted = tuple(run for run in runs if run and (request.outcome is None or run.outcome is request.outcome))
        return ListRunsResponse(runs=wanted, next_page_token=run_ids[-1] if len(run_ids) == size else "")

    async def _summary(self, run_id: str, call: CallContext) -> RunSummary | None:
        """Return where a listed run stands; None between its entry and its first event, and past its retention."""
        try:
            return await self.get(run_id, call)
        except UnknownRun:
            return None

    async def provide_input(self, request: ProvideInputRequest, call: CallContext) -> ProvideInputResponse:
        """Take the answer to a run's question; the run goes on without the caller.

        Raises:
            UnknownRun: No such run for this tenant.
            NotWaiting: The run waits for no such answer.
            InvalidRequest: The values do not fit what was asked for.
            RunConflict: Another answer came at the same time.
        """
        state = await self._read(request.run_id, call)
        repeated = find_repeat(state, request)
        if repeated is not None:
            return ProvideInputResponse(run_id=state.run_id, next_sequence=repeated)
        given = accept_input(state, request)
        sequence = state.last_sequence + 1
        writer = self._host.writer(state, call.tenant)
        await writer.emit(RunResumed(reason="input", input=given))
        await self._host.go_on(writer, call)
        return ProvideInputResponse(run_id=state.run_id, next_sequence=sequence)

    async def decide_approval(
        self, request: LoopServiceDecideApprovalRequest, call: CallContext
    ) -> LoopServiceDecideApprovalResponse:
        """Take a decision about a step; the run goes on without the caller, and others of its questions stay open.

        A run that is being driven is waited for. The executor keeps the decision: its word holds, whoever says
        something else later.

        Raises:
            UnknownRun: No such run for this tenant.
            NotWaiting: The run waits for no such approval.
            DeadlineExceeded: The run did not come to rest in time.
        """
        while True:
            state = await self._at_rest(request.run_id, call)
            earlier = next((known for known in state.decisions if known.approval_id == request.approval_id), None)
            if earlier is not None:
                return decided(state.run_id, state.last_sequence + 1, earlier)
            require_open(state, request.approval_id)
            reply = await self._action.decide_approval(forwarded(request), call)
            outcome = ApprovalOutcome(
                approval_id=request.approval_id, decision=reply.decision, decided_by=request.decided_by
            )
            sequence = state.last_sequence + 1
            writer = self._host.writer(state, call.tenant)
            try:
                await writer.emit(RunResumed(reason="approval", approval=outcome))
            except RunConflict:  # another decision was faster; the run goes on, and this one has its turn later
                continue
            await self._host.go_on(writer, call)
            return decided(state.run_id, sequence, outcome)

    async def _at_rest(self, run_id: str, call: CallContext) -> RunState:
        """Return a run once nobody works on it any more."""
        while True:
            opened = self._host.find(run_id, call.tenant)
            if opened is not None:
                await asyncio.wait([opened.work], timeout=call.deadline.remaining_seconds())
            state = await self._read(run_id, call)
            if state.is_at_rest and self._host.find(run_id, call.tenant) is None:
                return state
            async for _ in self.watch(run_id, state.last_sequence + 1, call):
                pass

    async def cancel(self, request: CancelRunRequest, call: CallContext) -> Outcome:
        """End a run and return how it ended; ending an ended run changes nothing."""
        opened = self._host.find(request.run_id, call.tenant)
        if opened is not None:
            opened.work.cancel()
            await asyncio.wait([opened.work])
        state = await self._read(request.run_id, call)
        if state.finished is None or state.finished.outcome in {Outcome.NEEDS_INPUT, Outcome.NEEDS_APPROVAL}:
            # Nobody here drives it: the word in the log is enough, whoever does drive it meets a conflict and stops.
            fault = Fault(
                code=FaultCode.CANCELLED, stage=FaultStage.LOOP, message=request.reason or "The run was cancelled."
            )
            await self._host.writer(state, call.tenant).emit(
                RunFinished(outcome=Outcome.CANCELLED, fault=fault, usage=state.usage)
            )
        await self._host.withdraw(state, call.tenant)
        ended = state.finished.outcome if state.finished is not None else None
        return ended or Outcome.CANCELLED

    async def _enter(self, task: Task | None, digest: str, call: CallContext) -> tuple[RunState, bool]:
        """Accept a task and enter it in the log; return the run and whether it is new."""
        accepted = accept(task, self._limits, self._clock, new_id(self._clock))
        self._host.require_room()
        run_id = new_id(self._clock)
        new = NewRun(
            tenant=call.tenant,
            run_id=run_id,
            request_id=accepted.request_id,
            task_digest=digest,
            created_at=self._clock.now(),
        )
        known = await self._log.create(new, call.deadline)
        is_new = known == run_id or not await self._has_begun(known, call)
        return RunState(known, task=accepted), is_new

    async def _has_begun(self, run_id: str, call: CallContext) -> bool:
        """Return whether a run has events; one whose host died before the first is begun by who asks again."""
        try:
            await self._log.read(call.tenant, run_id, 1, call.deadline)
        except UnknownRun:
            return False
        return True

    async def _read(self, run_id: str, call: CallContext) -> RunState:
        return RunState.from_events(run_id, await self._log.read(call.tenant, run_id, 1, call.deadline))
