"""The loop's domain behind its RPCs: starts, follows, resumes and ends runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.errors import DeadlineExceeded, InvalidRequest, RunConflict, UnknownRun
from taoloop.core.ids import new_id
from taoloop.loop.acceptance import accept
from taoloop.loop.host import RunHost
from taoloop.loop.hosting.open_run import OpenRun
from taoloop.loop.limits import RunLimits
from taoloop.loop.people.approvals import too_long
from taoloop.loop.ports import NewRun, RunLog, RunsWanted
from taoloop.loop.runlog.watching import watch
from taoloop.loop.runlog.writer import RunWriter
from taoloop.loop.state import RunState
from taoloop.plan.effects import MAX_COMMENT_CHARACTERS
from taoloop.plan.running import (
    CancelRunRequest,
    ListRunsRequest,
    ListRunsResponse,
    RunEvent,
    RunSummary,
    SubmitResponse,
)
from taoloop.plan.task import Outcome, Task


class Runs:
    """What callers may do with runs: those that this host drives, and by the log those of all others.

    Args:
        host: Drives runs.
        log: Holds the events of every run.
        limits: The most that a run may have.
        clock: Tells the time.
    """

    def __init__(self, host: RunHost, log: RunLog, limits: RunLimits, clock: Clock) -> None:
        self._host = host
        self._log = log
        self._admission = host.admission
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
        writer = self._host.writer(state, call.tenant)
        events = writer.listen()
        try:
            opened = await self._start(writer, call, is_bound=True) if is_new else None
            while opened is not None and (written := await events.get()) is not None:
                yield written
        finally:
            await self._host.leave(writer, call.deadline)
        if opened is None:
            async for event in self.watch(state.run_id, 1, call):
                yield event
            return
        if isinstance(opened.failure, RunConflict):  # another host drives it on
            async for event in self.watch(state.run_id, state.last_sequence + 1, call):
                yield event
            return
        if opened.failure is not None:
            raise opened.failure
        if call.deadline.is_expired:
            raise DeadlineExceeded(f"The caller's deadline passed during run {state.run_id}.")

    async def submit(self, task: Task | None, digest: str, call: CallContext) -> SubmitResponse:
        """Start a run that goes on without the caller, or name the one with the same request id."""
        state, is_new = await self._enter(task, digest, call)
        opened: OpenRun | None = None
        if is_new:
            # A caller whose connection breaks just now asks again under the same id, and must find its run.
            opened = await asyncio.shield(self._start(self._host.writer(state, call.tenant), call, is_bound=False))
        return SubmitResponse(run_id=state.run_id, attached=opened is None)

    async def watch(
        self, run_id: str, from_sequence: int, call: CallContext, *, through_waits: bool = False
    ) -> AsyncGenerator[RunEvent]:
        """Yield a run's events from a sequence number on until the run has ended, or rests; see `watching.watch`."""
        async with aclosing(watch(self._log, run_id, from_sequence, call, through_waits=through_waits)) as events:
            async for event in events:
                yield event

    async def get(self, run_id: str, call: CallContext) -> RunSummary:
        """Return where a run stands."""
        return (await self._read(run_id, call)).summary()

    async def list(self, request: ListRunsRequest, call: CallContext) -> ListRunsResponse:
        """Return one page of the tenant's runs, newest first."""
        wanted = RunsWanted.on_page(request.page_size, request.page_token, request.outcome)
        page = await self._log.list_runs(call.tenant, wanted, call.deadline)
        return ListRunsResponse(runs=page.runs, next_page_token=page.next_page_token)

    async def cancel(self, request: CancelRunRequest, call: CallContext) -> Outcome:
        """End a run and return how it ended; ending an ended run changes nothing.

        Raises:
            UnknownRun: No such run for this tenant.
            InvalidRequest: The reason is too long.
        """
        reason = request.reason
        violations = list(too_long(("reason", reason, MAX_COMMENT_CHARACTERS)))
        if violations:
            raise InvalidRequest("The reason is too long.", violations=violations)
        opened = self._host.find(request.run_id, call.tenant)
        if opened is not None:
            opened.work.cancel(reason)
            await asyncio.wait([opened.work])
        while True:
            state = await self._read(request.run_id, call)
            if state.has_ended:
                break
            try:
                # Whoever drives it on another host loses its lease by this, and stops what it is about.
                await self._host.cancel(self._host.writer(state, call.tenant), reason)
            except RunConflict:  # its host wrote meanwhile
                continue
        ended = state.finished.outcome if state.finished is not None else None
        return ended or Outcome.CANCELLED

    async def _enter(self, task: Task | None, digest: str, call: CallContext) -> tuple[RunState, bool]:
        """Accept a task and enter it in the log; return the run and whether it is new."""
        accepted = accept(task, self._limits, self._clock, new_id(self._clock))
        self._host.require_room()
        took_place = await self._admit(accepted.request_id, call)
        try:
            known, is_new = await self._known(accepted.request_id, digest, call)
        except BaseException:
            await self._release(accepted.request_id, call, took_place=took_place)
            raise
        await self._release(accepted.request_id, call, took_place=took_place and not is_new)
        return RunState(known, task=accepted), is_new

    async def _known(self, request_id: str, digest: str, call: CallContext) -> tuple[str, bool]:
        """Enter a request in the log; return the id of its run and whether the run has yet to begin."""
        run_id = new_id(self._clock)
        new = NewRun(
            tenant=call.tenant,
            run_id=run_id,
            request_id=request_id,
            task_digest=digest,
            created_at=self._clock.now(),
        )
        known = await self._log.create(new, call.deadline)
        return known, known == run_id or not await self._has_begun(known, call)

    async def _has_begun(self, run_id: str, call: CallContext) -> bool:
        """Return whether a run has events; one whose host died before the first is begun by who asks again."""
        try:
            await self._log.read(call.tenant, run_id, 1, call.deadline)
        except UnknownRun:
            return False
        return True

    async def _start(self, writer: RunWriter, call: CallContext, *, is_bound: bool) -> OpenRun | None:
        """Begin a run; return None where the same request, sent twice at the same time, has just begun it."""
        try:
            return await self._host.start(writer, call, is_bound=is_bound)
        except RunConflict:  # the place among the tenant's open runs is that run's
            return None
        except BaseException:
            await self._release(writer.state.task.request_id, call, took_place=True)
            raise

    async def _admit(self, request_id: str, call: CallContext) -> bool:
        return self._admission is not None and await self._admission.admit(call.tenant, request_id, call.deadline)

    async def _release(self, request_id: str, call: CallContext, *, took_place: bool) -> None:
        if took_place and self._admission is not None:
            await asyncio.shield(self._admission.release(call.tenant, request_id))

    async def _read(self, run_id: str, call: CallContext) -> RunState:
        return RunState.from_events(run_id, await self._log.read(call.tenant, run_id, 1, call.deadline))
