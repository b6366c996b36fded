"""Runs that wait for people: read from the log, waited for while they are driven, and taken on with what was said."""

from __future__ import annotations

import asyncio

from taoloop.core.calls import CallContext
from taoloop.loop.host import RunHost
from taoloop.loop.ports import RunLog
from taoloop.loop.runlog.watching import watch
from taoloop.loop.state import RunState
from taoloop.plan.running import EventBody


class RestingRuns:
    """Takes runs on that rest, on whatever host they were driven before.

    Args:
        host: Drives what goes on.
        log: Holds the events of every run.
    """

    def __init__(self, host: RunHost, log: RunLog) -> None:
        self._host = host
        self._log = log

    def __repr__(self) -> str:
        return f"<RestingRuns of {self._host!r}>"

    @property
    def may_go_on(self) -> bool:
        """Return whether runs may go on here; a host that stops leaves them to others."""
        return self._host.takes_runs

    async def read(self, run_id: str, call: CallContext) -> RunState:
        """Return a run as it stands.

        Raises:
            UnknownRun: No such run for this tenant.
            BackendUnavailable: The log does not answer in time.
        """
        return RunState.from_events(run_id, await self._log.read(call.tenant, run_id, 1, call.deadline))

    async def at_rest(self, run_id: str, call: CallContext) -> RunState:
        """Return a run once nobody works on it any more.

        Raises:
            UnknownRun: No such run for this tenant.
            DeadlineExceeded: It does not come to rest in time.
        """
        while True:
            opened = self._host.find(run_id, call.tenant)
            if opened is not None:
                await asyncio.wait([opened.work], timeout=call.deadline.remaining_seconds())
            state = await self.read(run_id, call)
            if state.is_at_rest and self._host.find(run_id, call.tenant) is None:
                return state
            async for _ in watch(self._log, run_id, state.last_sequence + 1, call):
                pass

    async def take_on(self, state: RunState, call: CallContext, *bodies: EventBody) -> int:
        """Write events after which the run goes on, without a caller that waits; return the number of the first.

        Whoever is cut off meanwhile has spoken all the same.

        Raises:
            RunConflict: Somebody else wrote to the run meanwhile; nothing was written.
            BackendUnavailable: The log does not answer in time.
        """
        first = state.last_sequence + 1
        await asyncio.shield(self._host.resume(self._host.writer(state, call.tenant), *bodies))
        return first

    async def settle(self, state: RunState, call: CallContext, *bodies: EventBody) -> int:
        """Write events after which the run rests still, or has ended; return the number of the first.

        The last event is a `RunFinished`. Whoever is cut off meanwhile has spoken all the same.

        Raises:
            RunConflict: Somebody else wrote to the run meanwhile; nothing was written.
            BackendUnavailable: The log does not answer in time.
        """
        first = state.last_sequence + 1
        await asyncio.shield(self._host.settle(self._host.writer(state, call.tenant), *bodies))
        return first

    async def note(self, state: RunState, call: CallContext, *bodies: EventBody) -> None:
        """Write events that change nothing about where the run stands.

        Raises:
            RunConflict: Somebody else wrote to the run meanwhile; nothing was written.
            BackendUnavailable: The log does not answer in time.
        """
        await self._host.writer(state, call.tenant).emit(*bodies)
