"""The runs that this host drives: each a task of its own, with a lease, a span, a count, and an end in the log."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final, Self

from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, RunConflict, TaoError, TooManyRuns
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.core.ids import new_id
from taoloop.core.logs import EventLog, log_context
from taoloop.core.telemetry import Telemetry, names
from taoloop.core.telemetry.names import Attribute
from taoloop.core.telemetry.tracing import current_traceparent
from taoloop.loop.admission.open_runs import Admission
from taoloop.loop.driver import DriverServices, RunDriver
from taoloop.loop.ending import CANCELLED, last_events
from taoloop.loop.hosting.measuring import RunMeasures
from taoloop.loop.hosting.open_run import OpenRun
from taoloop.loop.limits import RunLimits
from taoloop.loop.people.approvals import withdraw
from taoloop.loop.ports import RunKey, RunLeases, RunLog
from taoloop.loop.runlog.writer import RunWriter
from taoloop.loop.state import RunState
from taoloop.loop.steps.jobs_let_go import let_jobs_go
from taoloop.plan.running import EventBody, RunFinished, RunStarted
from taoloop.plan.task import Outcome

_log = EventLog(__name__)

CLOCKS_DIFFER_SECONDS: Final = 0.1
"""A caller that leaves so long before its deadline, by this host's clock, leaves because of it."""


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
    admission: Admission | None = None
    """How many runs a tenant may have open on all hosts; None sets no bound."""


class RunHost:
    """Drives runs side by side; one that goes wrong hurts no other.

    Use it as an asynchronous context manager: leaving it waits for what is still driven, then hands it back, so that
    another host goes on with it.
    """

    def __init__(
        self,
        services: DriverServices,
        log: RunLog,
        leases: RunLeases,
        config: RunsConfig,
        telemetry: Telemetry,
        clock: Clock,
    ) -> None:
        self._services = services
        self.admission = config.admission
        self._log = log
        self._leases = leases
        self._config = config
        self._telemetry = telemetry
        self._measures = RunMeasures(telemetry)
        self._clock = clock
        self._open: dict[str, OpenRun] = {}
        self._group = asyncio.TaskGroup()
        self._takes_runs = False

    def __repr__(self) -> str:
        return f"<RunHost [{len(self._open)} open of {self._config.max_open_runs}]>"

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        self._takes_runs = True
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.wind_down()
        await self._group.__aexit__(None, None, None)

    async def wind_down(self) -> None:
        """Take no more runs, wait for those that are driven, and hand back those that take too long."""
        self._takes_runs = False
        patience = Deadline.after(self._config.drain_seconds, self._clock)
        while self._open and not patience.is_expired:
            await asyncio.wait([run.work for run in self._open.values()], timeout=patience.remaining_seconds())
        await self._hand_back(tuple(self._open.values()))

    async def _hand_back(self, runs: Sequence[OpenRun]) -> None:
        """Let other hosts take runs over."""
        if not runs:
            return
        stopping = self._stopping()
        for run in runs:
            run.give_up(stopping)
        await asyncio.wait([run.work for run in runs], timeout=self._config.log_timeout_seconds)
        _log.info("runs_handed_back", runs=len(runs))
        try:
            await self._leases.hand_back([run.key for run in runs], self._soon())
        except BackendUnavailable as error:  # the leases lapse by themselves
            _log.warning("runs_not_handed_back", reason=error.reason)

    def _stopping(self) -> BackendUnavailable:
        return BackendUnavailable(
            "This host of runs stops; another one goes on with what it drove.",
            metadata={"backend": "loop"},
            retry_after_seconds=1.0,
        )

    @property
    def takes_runs(self) -> bool:
        """Return whether this host begins runs and lets them go on; one that stops does neither."""
        return self._takes_runs

    @property
    def room(self) -> int:
        """Return how many runs more this host may drive."""
        return self._config.max_open_runs - len(self._open) if self._takes_runs else 0

    @property
    def open_runs(self) -> Collection[OpenRun]:
        """Return the runs that this host drives, as they are when it is looked at."""
        return self._open.values()

    def drives(self, key: RunKey) -> bool:
        """Return whether this host drives a run."""
        return self.find(key.run_id, key.tenant) is not None

    def is_read(self, tool: str) -> bool:
        """Return whether a tool is known to change nothing."""
        return self._services.directory.is_read(tool)

    async def look_up_tools(self, tenant: str) -> None:
        """Have `is_read` know the tools, if anybody tells them; one that it does not know counts as one that writes."""
        with suppress(TaoError):
            await self._services.directory.tools(CallContext(deadline=self._soon(), tenant=tenant))

    def require_room(self) -> None:
        """Check that another run may be driven.

        Raises:
            TooManyRuns: This host drives as many as it may.
            BackendUnavailable: This host stops.
        """
        if not self._takes_runs:
            raise self._stopping()
        if self.room > 0:
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

    async def start(self, writer: RunWriter, call: CallContext, *, is_bound: bool = True) -> OpenRun:
        """Write a run's first event, so that it can be watched from now on, and begin to drive it.

        Args:
            writer: Of a run that has no event yet.
            call: Who starts it.
            is_bound: Whether the caller's deadline bounds the run, on whichever host.
        """
        tools = await self._services.directory.tools(call)
        memory, task = self._services.memory, writer.state.task
        started = RunStarted(
            task=task if memory is None else await memory.restored(writer.tenant, task),
            catalogue_digest=tools.catalogue_digest,
            traceparent=current_traceparent(),
            deadline=call.deadline.moment() if is_bound else None,
        )
        # Held first: a run without a lease that has an event would be nobody's if this host died now.
        key = RunKey(writer.tenant, writer.state.run_id)
        await self._leases.hold(key, self._soon())
        try:
            await writer.emit(started)
        except asyncio.CancelledError:
            await asyncio.shield(self._end_begun(writer, key))
            raise
        return await self._drive(writer, call if is_bound else self.detached(call), is_resumed=False)

    async def resume(self, writer: RunWriter, *bodies: EventBody) -> None:
        """Write why a run that was at rest goes on, and drive it on without a caller that waits.

        Args:
            writer: Of the run, as it was read.
            bodies: What lets it go on: a `RunResumed`, and what belongs to it.

        Raises:
            RunConflict: The run went on otherwise, or is still driven here.
            BackendUnavailable: The log does not answer, or this host stops.
        """
        if not self._takes_runs:
            raise self._stopping()
        state = writer.state
        opened = self._open.get(state.run_id)
        if opened is not None and opened.writer.state.is_at_rest:  # its host's last steps are under way
            await asyncio.wait([opened.work], timeout=self._config.log_timeout_seconds)
        self._refuse_twice(state.run_id)
        # If the log says no, the lease is left to lapse: it may be that of a host which holds it by right.
        await self._leases.hold(RunKey(writer.tenant, state.run_id), self._soon())
        await writer.emit(*bodies)
        await self.go_on(writer)

    async def settle(self, writer: RunWriter, *bodies: EventBody) -> None:
        """Write events after which a run that nobody drives here rests, or has ended.

        Args:
            writer: Of the run, as it was read.
            bodies: What is written; the last one is a `RunFinished`.

        Raises:
            RunConflict: The run went on otherwise.
            BackendUnavailable: The log does not answer.
        """
        key, known = RunKey(writer.tenant, writer.state.run_id), len(writer.state.waits.handovers)
        await self._leases.hold(key, self._soon())
        await writer.emit(*bodies)
        await self.withdraw(writer.state, writer.tenant)
        await self._remember(writer)
        if writer.is_noted:
            await self._release(key)
        self._measures.count(writer.state, known)

    async def cancel(self, writer: RunWriter, reason: str) -> None:
        """End a run that nobody drives here, and what it is about on another host; raises as `settle` does."""
        state, steps = writer.state, self._services.steps
        await self.look_up_tools(writer.tenant)
        fault = Fault(code=FaultCode.CANCELLED, stage=FaultStage.LOOP, message=reason or CANCELLED)
        ending = RunFinished(outcome=Outcome.CANCELLED, fault=fault, usage=state.usage)
        await self.settle(writer, *last_events(state, ending, self.is_read, self._clock))
        await let_jobs_go(steps.action, state, writer.tenant, self._clock)

    async def go_on(self, writer: RunWriter) -> None:
        """Drive on a run that was opened, without a caller that waits."""
        call = self.detached(CallContext(deadline=self._soon(), tenant=writer.tenant))
        until = writer.state.caller_waits_until
        if until is not None:
            call = replace(call, deadline=call.deadline.shortened((until - self._clock.now()).total_seconds()))
        if self.admission is not None:
            await self.admission.hold(writer.tenant, writer.state.task.request_id)
        await self._drive(writer, call, is_resumed=True)

    async def leave(self, writer: RunWriter, deadline: Deadline) -> None:
        """End a run whose caller reads no further; one that has ended, was given up, or is another's is not touched.

        Args:
            writer: Of the run, as its caller began it.
            deadline: The caller's. When its time is up it leaves, too: that is no cancellation, and the run sees to it.
        """
        opened = self._open.get(writer.state.run_id)
        if opened is None or opened.writer is not writer:
            return
        if opened.failure is None and not writer.state.is_at_rest:
            if deadline.remaining_seconds() > CLOCKS_DIFFER_SECONDS:
                opened.work.cancel()
            await asyncio.wait([opened.work])

    async def withdraw(self, state: RunState, tenant: str) -> None:
        """Take back the questions of a run that has ended."""
        await withdraw(self._services.steps.action, state, CallContext(deadline=self._soon(), tenant=tenant))

    async def _drive(self, writer: RunWriter, call: CallContext, *, is_resumed: bool) -> OpenRun:
        run_id = writer.state.run_id
        self._refuse_twice(run_id)
        work = self._group.create_task(self._work(writer, call, is_resumed), name=f"run {run_id}")
        self._open[run_id] = opened = OpenRun(writer, work)
        self._measures.open_runs(len(self._open))
        # A task that is cancelled before its first step runs nothing at all, and the run's end would not be written.
        await self._clock.sleep(0)
        return opened

    def _refuse_twice(self, run_id: str) -> None:
        if run_id in self._open:
            raise RunConflict(f"Run {run_id} is driven already.", metadata={"run_id": run_id})

    async def _work(self, writer: RunWriter, call: CallContext, is_resumed: bool) -> None:
        """Drive one run until it rests; what goes wrong on the way is told by the log, or to the operator."""
        opened, known = self._open[writer.state.run_id], len(writer.state.waits.handovers)
        try:
            await self._until_it_rests(opened, call, is_resumed)
        finally:  # of a run that was cancelled as well; who cancels it twice cuts nothing of this off
            await asyncio.shield(self._put_away(opened, known))

    async def _put_away(self, opened: OpenRun, known_handovers: int) -> None:
        """Do what follows from a run's end or rest, and drive it no more."""
        writer, state = opened.writer, opened.writer.state
        try:
            if self.admission is not None:  # first: whoever sees the run's end may begin the next one
                await self.admission.release(writer.tenant, state.task.request_id)
            if opened.failure is None:
                await self.withdraw(state, writer.tenant)
                await self._remember(writer)
            if opened.failure is None and state.is_at_rest and writer.is_noted:
                await self._release(opened.key)
        finally:
            del self._open[state.run_id]
            self._measures.open_runs(len(self._open))
            self._measures.count(state, known_handovers)
            writer.close()

    async def _remember(self, writer: RunWriter) -> None:
        if self._services.memory is None or not writer.state.is_at_rest:
            return
        try:
            await self._services.memory.remember(writer.tenant, writer.state)
        except Exception:  # noqa: BLE001 - the run has its end; a fault of ours must not end the host with all others
            _log.exception("run_not_remembered", run_id=writer.state.run_id)

    async def _until_it_rests(self, opened: OpenRun, call: CallContext, is_resumed: bool) -> None:
        """Drive a run; one that goes wrong is given up, and taken over from its log once its lease lapses."""
        writer, state = opened.writer, opened.writer.state
        try:
            with log_context(run_id=state.run_id), self._measures.span(state, is_resumed=is_resumed) as span:
                driver = RunDriver(self._services, writer, self._config.limits, self._config.max_parallel_steps)
                await driver.drive(call)
                span.set_attribute(Attribute.RUN_OUTCOME, str(state.finished.outcome) if state.finished else "unknown")
        except TaoError as error:
            # Raising here would end every other run of this host; the caller, if one waits, is told by `failure`.
            opened.failure = opened.failure or error
            _log.warning("run_abandoned", run_id=state.run_id, reason=opened.failure.reason)
        except Exception:  # noqa: BLE001 - a fault of ours must not end the host with all its other runs
            await self._end_broken(writer)

    async def _end_broken(self, writer: RunWriter) -> None:
        """Write the end of a run in which this program failed; the cause is in the log of the process alone."""
        incident_id = new_id(self._clock)
        _log.exception("run_failed_unexpectedly", run_id=writer.state.run_id, incident_id=incident_id)
        fault = Fault(
            code=FaultCode.SERVICE_UNAVAILABLE,
            stage=FaultStage.LOOP,
            message=f"Internal error; incident {incident_id}.",
        )
        ending = RunFinished(outcome=Outcome.FAILED, fault=fault, usage=writer.state.usage)
        try:
            await writer.emit(*last_events(writer.state, ending, self.is_read, self._clock))
        except TaoError as error:
            self._open[writer.state.run_id].failure = error

    async def _release(self, key: RunKey) -> None:
        try:
            await self._leases.release(key, self._soon())
        except BackendUnavailable as error:  # it lapses, and whoever claims it finds the run at rest
            _log.warning("run_lease_not_released", run_id=key.run_id, reason=error.reason)

    async def _end_begun(self, writer: RunWriter, key: RunKey) -> None:
        """Write the end of a run whose caller left while its first event was written; it has no end otherwise."""
        await writer.settle()
        if writer.state.last_sequence > 0:
            fault = Fault(code=FaultCode.CANCELLED, stage=FaultStage.LOOP, message=CANCELLED)
            await writer.emit(RunFinished(outcome=Outcome.CANCELLED, fault=fault, usage=writer.state.usage))
        await self._release(key)

    def _soon(self) -> Deadline:
        return Deadline.after(self._config.log_timeout_seconds, self._clock)
