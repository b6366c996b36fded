"""The loop's domain behind its RPCs: starts, follows, resumes and ends runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Final, Self

from opentelemetry.context import Context
from opentelemetry.trace import Span

from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import (
    BackendUnavailable,
    DeadlineExceeded,
    RunConflict,
    TaoError,
    TooManyRuns,
    UnknownRun,
)
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.core.ids import new_id
from taoloop.core.logs import EventLog, log_context
from taoloop.core.telemetry import Telemetry, names
from taoloop.core.telemetry.names import Attribute, Operation
from taoloop.core.telemetry.tracing import current_traceparent, link_to
from taoloop.loop.acceptance import accept
from taoloop.loop.driver import DriverServices, RunDriver, fault_of
from taoloop.loop.inputs import accept_input, find_repeat
from taoloop.loop.late_end import write_end_late
from taoloop.loop.limits import RunLimits
from taoloop.loop.ports import NewRun, RunLog
from taoloop.loop.state import RunState
from taoloop.loop.writer import RunWriter
from taoloop.plan.running import (
    CancelRunRequest,
    ListRunsRequest,
    ListRunsResponse,
    ProvideInputRequest,
    ProvideInputResponse,
    RunEvent,
    RunFinished,
    RunResumed,
    RunStarted,
    RunSummary,
    SubmitResponse,
)
from taoloop.plan.task import Outcome, Task

MAX_PAGE_SIZE: Final = 200
DEFAULT_PAGE_SIZE: Final = 50

_log = EventLog(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsConfig:
    """How runs are driven."""

    limits: RunLimits
    max_parallel_steps: int
    max_open_runs: int
    log_timeout_seconds: float
    """How long one write to the run log may take."""
    drain_seconds: float
    """How long open runs may go on when the host stops."""


@dataclass(slots=True)
class _Open:
    """A run that this host drives."""

    writer: RunWriter
    work: asyncio.Task[None]
    failure: TaoError | None = None
    """Why it was given up without an end in the log."""


class Runs:
    """Every run that this host drives, and the way to the log of all others.

    Use it as an asynchronous context manager: leaving it waits for what is still driven, then cancels it.
    """

    def __init__(
        self, services: DriverServices, log: RunLog, config: RunsConfig, telemetry: Telemetry, clock: Clock
    ) -> None:
        self._services = services
        self._log = log
        self._config = config
        self._telemetry = telemetry
        self._clock = clock
        self._open: dict[str, _Open] = {}
        self._group = asyncio.TaskGroup()

    def __repr__(self) -> str:
        return f"<Runs [{len(self._open)} open of {self._config.max_open_runs}] on {self._log!r}>"

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        works = [run.work for run in self._open.values()]
        if works:
            _, unfinished = await asyncio.wait(works, timeout=self._config.drain_seconds)
            for work in unfinished:
                work.cancel()
        await self._group.__aexit__(None, None, None)

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
        writer = self._writer(state, call.tenant)
        events = writer.listen()
        opened = await self._start(writer, call)
        try:
            while (written := await events.get()) is not None:
                yield written
        finally:
            # Whoever stops reading ends the run; one that has ended is not touched by this, and one that was given up
            # goes on until its end is written.
            if opened.failure is None:
                opened.work.cancel()
                await asyncio.wait([opened.work])
        if opened.failure is not None:
            raise opened.failure
        if call.deadline.is_expired:
            raise DeadlineExceeded(f"The caller's deadline passed during run {state.run_id}.")

    async def submit(self, task: Task | None, digest: str, call: CallContext) -> SubmitResponse:
        """Start a run that goes on without the caller, or name the one with the same request id."""
        state, is_new = await self._enter(task, digest, call)
        if is_new:
            await self._start(self._writer(state, call.tenant), self._detached(call))
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
        writer = self._writer(state, call.tenant)
        await writer.emit(RunResumed(reason="input", input=given))
        await self._drive(writer, self._detached(call), is_resumed=True)
        return ProvideInputResponse(run_id=state.run_id, next_sequence=sequence)

    async def cancel(self, request: CancelRunRequest, call: CallContext) -> Outcome:
        """End a run and return how it ended; ending an ended run changes nothing."""
        opened = self._open.get(request.run_id)
        if opened is not None and opened.writer.tenant == call.tenant:
            opened.work.cancel()
            await asyncio.wait([opened.work])
        state = await self._read(request.run_id, call)
        if state.finished is None or state.finished.outcome is Outcome.NEEDS_INPUT:
            # Nobody here drives it: the word in the log is enough, whoever does drive it meets a conflict and stops.
            fault = Fault(
                code=FaultCode.CANCELLED, stage=FaultStage.LOOP, message=request.reason or "The run was cancelled."
            )
            await self._writer(state, call.tenant).emit(
                RunFinished(outcome=Outcome.CANCELLED, fault=fault, usage=state.usage)
            )
        ended = state.finished.outcome if state.finished is not None else None
        return ended or Outcome.CANCELLED

    async def _enter(self, task: Task | None, digest: str, call: CallContext) -> tuple[RunState, bool]:
        """Accept a task and enter it in the log; return the run and whether it is new."""
        accepted = accept(task, self._config.limits, self._clock, new_id(self._clock))
        if len(self._open) >= self._config.max_open_runs:
            self._telemetry.metrics.counter(names.QUEUE_REFUSED).labels(reason="max_open_runs").inc()
            raise TooManyRuns(
                f"This host drives {len(self._open)} runs, the most it may.",
                metadata={"max_open_runs": str(self._config.max_open_runs)},
                retry_after_seconds=1.0,
            )
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

    async def _start(self, writer: RunWriter, call: CallContext) -> _Open:
        """Write a run's first event, so that it can be watched from now on, and begin to drive it."""
        tools = await self._services.directory.tools(call)
        await writer.emit(_started(writer.state.task, tools.catalogue_digest))
        return await self._drive(writer, call)

    def _writer(self, state: RunState, tenant: str) -> RunWriter:
        return RunWriter(self._log, tenant, state, self._clock, self._config.log_timeout_seconds)

    async def _drive(self, writer: RunWriter, call: CallContext, *, is_resumed: bool = False) -> _Open:
        run_id = writer.state.run_id
        if run_id in self._open:
            raise RunConflict(f"Run {run_id} is driven already.", metadata={"run_id": run_id})
        work = self._group.create_task(self._work(writer, call, is_resumed), name=f"run {run_id}")
        self._open[run_id] = opened = _Open(writer, work)
        self._telemetry.metrics.gauge(names.OPEN_RUNS).set(len(self._open))
        # A task that is cancelled before its first step runs nothing at all, and the run's end would not be written.
        await self._clock.sleep(0)
        return opened

    async def _work(self, writer: RunWriter, call: CallContext, is_resumed: bool) -> None:
        """Drive one run to its end; what goes wrong on the way is told by the log, or to the operator."""
        state = writer.state
        try:
            with log_context(run_id=state.run_id), self._span(state, is_resumed) as span:
                driver = RunDriver(self._services, writer, self._config.limits, self._config.max_parallel_steps)
                await driver.drive(call)
                span.set_attribute(Attribute.RUN_OUTCOME, str(state.finished.outcome) if state.finished else "unknown")
        except TaoError as error:
            # Raising here would end every other run of this host; the caller, if one waits, is told by `run`.
            self._open[state.run_id].failure = error
            writer.close()
            _log.warning("run_abandoned", run_id=state.run_id, reason=error.reason)
            if isinstance(error, BackendUnavailable):
                state = await self._end_late(writer, error) or state
        finally:
            del self._open[state.run_id]
            self._count(state)
            writer.close()

    async def _end_late(self, writer: RunWriter, error: BackendUnavailable) -> RunState | None:
        """Write the end of a run that was given up, as soon as the log takes it."""
        return await write_end_late(
            self._log,
            writer.tenant,
            writer.state.run_id,
            fault_of(error),
            self._clock,
            timeout_seconds=self._config.log_timeout_seconds,
        )

    def _span(self, state: RunState, is_resumed: bool) -> AbstractContextManager[Span]:
        """Open the run's span: in its caller's trace, or in a new one that links to the first where the run goes on."""
        attributes = {
            Attribute.OPERATION_NAME: Operation.INVOKE_AGENT,
            Attribute.AGENT_NAME: names.AGENT_NAME,
            Attribute.RUN_ID: state.run_id,
            Attribute.CONVERSATION_ID: state.task.session_id or None,
        }
        if not is_resumed:
            return self._telemetry.tracing.span(names.RUN_SPAN, attributes)
        links = link_to({"traceparent": state.traceparent})
        return self._telemetry.tracing.span(names.RUN_SPAN, attributes, parent=Context(), links=links)

    def _count(self, state: RunState) -> None:
        metrics = self._telemetry.metrics
        metrics.gauge(names.OPEN_RUNS).set(len(self._open))
        if state.finished is None:
            return
        outcome = str(state.finished.outcome)
        metrics.counter(names.RUNS).labels(outcome=outcome).inc()
        metrics.histogram(names.RUN_DURATION).labels(outcome=outcome).observe(state.active_seconds)
        fault = state.finished.fault
        if state.finished.outcome is Outcome.LIMIT_REACHED and fault is not None:
            metrics.counter(names.LIMIT_REACHED).labels(limit=fault.field).inc()

    async def _read(self, run_id: str, call: CallContext) -> RunState:
        return RunState.from_events(run_id, await self._log.read(call.tenant, run_id, 1, call.deadline))

    def _detached(self, call: CallContext) -> CallContext:
        """Return the context of a run that its caller does not wait for: bounded by its own wall time alone."""
        longest = self._config.limits.max_wall_time_seconds + self._config.log_timeout_seconds
        return replace(call, deadline=Deadline.after(longest, self._clock))


def _started(task: Task, catalogue_digest: str) -> RunStarted:
    return RunStarted(task=task, catalogue_digest=catalogue_digest, traceparent=current_traceparent())
