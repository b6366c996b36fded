"""The runs that this host drives: each a task of its own, with a span, a count, and an end in the log."""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Self

from opentelemetry.context import Context
from opentelemetry.trace import Span

from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, RunConflict, TaoError, TooManyRuns
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.core.logs import EventLog, log_context
from taoloop.core.telemetry import Telemetry, names
from taoloop.core.telemetry.names import Attribute, Operation
from taoloop.core.telemetry.tracing import current_traceparent, link_to
from taoloop.loop.decisions import withdraw
from taoloop.loop.driver import DriverServices, RunDriver, fault_of
from taoloop.loop.limits import RunLimits
from taoloop.loop.ports import RunLog
from taoloop.loop.runlog.late_end import write_end_late
from taoloop.loop.runlog.writer import RunWriter
from taoloop.loop.state import RunState
from taoloop.plan.running import RunFinished, RunStarted
from taoloop.plan.task import Outcome

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
class OpenRun:
    """A run that this host drives."""

    writer: RunWriter
    work: asyncio.Task[None]
    failure: TaoError | None = None
    """Why it was given up without an end in the log."""


class RunHost:
    """Drives runs side by side; one that goes wrong hurts no other.

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
        self._open: dict[str, OpenRun] = {}
        self._group = asyncio.TaskGroup()

    def __repr__(self) -> str:
        return f"<RunHost [{len(self._open)} open of {self._config.max_open_runs}]>"

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

    def require_room(self) -> None:
        """Check that another run may be driven.

        Raises:
            TooManyRuns: This host drives as many as it may.
        """
        if len(self._open) < self._config.max_open_runs:
            return
        self._telemetry.metrics.counter(names.QUEUE_REFUSED).labels(reason="max_open_runs").inc()
        raise TooManyRuns(
            f"This host drives {len(self._open)} runs, the most it may.",
            metadata={"max_open_runs": str(self._config.max_open_runs)},
            retry_after_seconds=1.0,
        )

    def writer(self, state: RunState, tenant: str) -> RunWriter:
        """Return a writer of a run's events."""
        return RunWriter(self._log, tenant, state, self._clock, self._config.log_timeout_seconds)

    def find(self, run_id: str, tenant: str) -> OpenRun | None:
        """Return a run of the tenant that is driven here."""
        opened = self._open.get(run_id)
        return opened if opened is not None and opened.writer.tenant == tenant else None

    def detached(self, call: CallContext) -> CallContext:
        """Return the context of a run that its caller does not wait for: bounded by its own wall time alone."""
        longest = self._config.limits.max_wall_time_seconds + self._config.log_timeout_seconds
        return replace(call, deadline=Deadline.after(longest, self._clock))

    async def start(self, writer: RunWriter, call: CallContext) -> OpenRun:
        """Write a run's first event, so that it can be watched from now on, and begin to drive it."""
        tools = await self._services.directory.tools(call)
        started = RunStarted(
            task=writer.state.task, catalogue_digest=tools.catalogue_digest, traceparent=current_traceparent()
        )
        try:
            await writer.emit(started)
        except asyncio.CancelledError:
            await asyncio.shield(_end_begun(writer))
            raise
        return await self._drive(writer, call, is_resumed=False)

    async def go_on(self, writer: RunWriter, call: CallContext) -> None:
        """Drive a run that was at rest on from where it stands, without a caller that waits."""
        await self._drive(writer, self.detached(call), is_resumed=True)

    async def leave(self, run_id: str) -> None:
        """End a run whose caller reads no further.

        One that has ended is not touched; one that was given up goes on until its end is written.
        """
        opened = self._open.get(run_id)
        if opened is not None and opened.failure is None:
            opened.work.cancel()
            await asyncio.wait([opened.work])

    async def withdraw(self, state: RunState, tenant: str) -> None:
        """Take back the questions of a run that has ended."""
        deadline = Deadline.after(self._config.log_timeout_seconds, self._clock)
        await withdraw(self._services.steps.action, state, CallContext(deadline=deadline, tenant=tenant))

    async def _drive(self, writer: RunWriter, call: CallContext, *, is_resumed: bool) -> OpenRun:
        run_id = writer.state.run_id
        if run_id in self._open:
            raise RunConflict(f"Run {run_id} is driven already.", metadata={"run_id": run_id})
        work = self._group.create_task(self._work(writer, call, is_resumed), name=f"run {run_id}")
        self._open[run_id] = opened = OpenRun(writer, work)
        self._telemetry.metrics.gauge(names.OPEN_RUNS).set(len(self._open))
        # A task that is cancelled before its first step runs nothing at all, and the run's end would not be written.
        await self._clock.sleep(0)
        return opened

    async def _work(self, writer: RunWriter, call: CallContext, is_resumed: bool) -> None:
        """Drive one run to its end; what goes wrong on the way is told by the log, or to the operator."""
        state = writer.state
        try:
            state = await self._to_its_end(writer, call, is_resumed)
            await self.withdraw(state, writer.tenant)
        finally:
            del self._open[state.run_id]
            self._count(state)
            writer.close()

    async def _to_its_end(self, writer: RunWriter, call: CallContext, is_resumed: bool) -> RunState:
        state = writer.state
        try:
            with log_context(run_id=state.run_id), self._span(state, is_resumed) as span:
                driver = RunDriver(self._services, writer, self._config.limits, self._config.max_parallel_steps)
                await driver.drive(call)
                span.set_attribute(Attribute.RUN_OUTCOME, str(state.finished.outcome) if state.finished else "unknown")
        except TaoError as error:
            # Raising here would end every other run of this host; the caller, if one waits, is told by `failure`.
            self._open[state.run_id].failure = error
            writer.close()
            _log.warning("run_abandoned", run_id=state.run_id, reason=error.reason)
            if isinstance(error, BackendUnavailable):
                return await self._end_late(writer, error) or state
        return state

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


async def _end_begun(writer: RunWriter) -> None:
    """Write the end of a run whose caller left while its first event was written; it has no end otherwise."""
    await writer.settle()
    if writer.state.last_sequence > 0:
        fault = Fault(code=FaultCode.CANCELLED, stage=FaultStage.LOOP, message="The run was cancelled.")
        await writer.emit(RunFinished(outcome=Outcome.CANCELLED, fault=fault, usage=writer.state.usage))
