"""Finds runs whose host fell silent, and opens them anew from their log."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final, Protocol

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import RunConflict, TaoError, UnknownRun
from taoloop.core.faults import Fault, FaultCode, FaultStage
from taoloop.core.logs import EventLog
from taoloop.core.telemetry import Telemetry, names
from taoloop.loop.ending import last_events
from taoloop.loop.ports import RunKey, RunLeases, RunLog
from taoloop.loop.runlog.writer import RunWriter
from taoloop.loop.state import RunState
from taoloop.plan.running import EventBody, LimitReached, RunFinished, RunResumed
from taoloop.plan.task import Outcome

_log = EventLog(__name__)

REASON: Final = "take_over"
MOST_AT_ONCE: Final = 16
"""Most runs claimed at once: what one host claims and does not come to, another one waits a whole lease for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TakeOverTerms:
    """When and how often runs are taken over.

    Attributes:
        interval_seconds: How often lapsed leases are looked for.
        max_take_overs: How often one run is taken over that gains nothing in between.
        timeout_seconds: How long one call of the store may take.
    """

    interval_seconds: float
    max_take_overs: int
    timeout_seconds: float


class Host(Protocol):
    """Drives what was taken over."""

    @property
    def room(self) -> int:
        """Return how many runs more the host may drive."""
        ...

    def drives(self, key: RunKey) -> bool:
        """Return whether the host drives a run already."""
        ...

    def is_read(self, tool: str) -> bool:
        """Return whether a tool is known to change nothing."""
        ...

    async def look_up_tools(self, tenant: str) -> None:
        """Have `is_read` know the tools, if anybody tells them."""
        ...

    async def go_on(self, writer: RunWriter) -> None:
        """Begin to drive a run that was opened."""
        ...

    async def settle(self, writer: RunWriter, *bodies: EventBody) -> None:
        """Write the end of a run, and do what follows from it."""
        ...


class TakeOver:
    """Claims lapsed leases for a host.

    Args:
        log: The runs.
        leases: Of this host.
        terms: When and how often.
        telemetry: Where it is counted.
        clock: Paces the looks.
    """

    def __init__(
        self, log: RunLog, leases: RunLeases, terms: TakeOverTerms, telemetry: Telemetry, clock: Clock
    ) -> None:
        self._log = log
        self._leases = leases
        self._terms = terms
        self._metrics = telemetry.metrics
        self._clock = clock

    async def look_again_and_again(self, host: Host) -> None:
        """Claim for a host until cancelled."""
        while True:
            interval = self._terms.interval_seconds
            await self._clock.sleep(random.uniform(interval * 0.5, interval))
            try:
                while await self.look(host):
                    continue
            except TaoError as error:  # the leases that were claimed lapse again
                _log.warning("take_over_failed", reason=error.reason)

    async def look(self, host: Host) -> bool:
        """Claim as many runs as the host has room for, and let it drive them; return whether there may be more.

        Raises:
            BackendUnavailable: The store does not answer in time.
        """
        claimed: tuple[RunKey, ...] = ()
        if host.room > 0:
            claimed = await self._leases.claim(min(host.room, MOST_AT_ONCE), self._soon())
        for key in claimed:
            # A host that could not renew for a while claims its own runs, which is as good.
            if not host.drives(key):
                await self._take(key, host)
        self._metrics.gauge(names.RUNS_ORPHANED).set(await self._leases.lapsed(self._soon()))
        return len(claimed) == MOST_AT_ONCE

    async def _take(self, key: RunKey, host: Host) -> None:
        try:
            writer = await self._opened(key, host)
            if writer is not None:
                await host.go_on(writer)
        except TaoError as error:  # its lease lapses again
            _log.warning("run_not_taken_over", run_id=key.run_id, reason=error.reason)
        except Exception:  # noqa: BLE001 - a log that this host cannot read must not end it with all its runs
            _log.exception("run_not_taken_over", run_id=key.run_id, reason="unexpected")

    async def _opened(self, key: RunKey, host: Host) -> RunWriter | None:
        """Open a run of which this host has the lease; None when there is nothing to drive."""
        try:
            events = await self._log.read(key.tenant, key.run_id, 1, self._soon())
        except UnknownRun:  # its host died before the first event, or the run is past its retention
            await self._leases.release(key, self._soon())
            return None
        state = RunState.from_events(key.run_id, events)
        writer = RunWriter(self._log, key.tenant, state, self._clock, self._terms.timeout_seconds)
        if state.is_at_rest:  # its host died between its last event and the end of its work
            await writer.note()
            await self._release(writer, key)
            return None
        try:
            if state.fruitless_take_overs >= self._terms.max_take_overs:
                await host.look_up_tools(key.tenant)
                await host.settle(writer, *self._ending(state, host))
                return None
            await writer.emit(RunResumed(reason=REASON))
        except RunConflict:  # its host lives, and wrote meanwhile: it takes its lease back
            return None
        self._metrics.counter(names.RUNS_TAKEN_OVER).inc()
        _log.info("run_taken_over", run_id=key.run_id, sequence=state.last_sequence, host_epoch=writer.epoch)
        return writer

    async def _release(self, writer: RunWriter, key: RunKey) -> None:
        if writer.is_noted:
            await self._leases.release(key, self._soon())

    def _ending(self, state: RunState, host: Host) -> tuple[EventBody, ...]:
        """Return the end of a run that no host brings on."""
        most = self._terms.max_take_overs
        fault = Fault(
            code=FaultCode.LIMIT_REACHED,
            stage=FaultStage.LOOP,
            message=f"{most} hosts took the run over, and each of them fell silent before the run had gained anything.",
            field="max_take_overs",
            suggestion="Look at the logs of the hosts: the run itself may be what ends them.",
        )
        _log.error("run_ended_after_take_overs", run_id=state.run_id, take_overs=most)
        limit = LimitReached(limit=fault.field, value=float(most))
        finished = RunFinished(outcome=Outcome.LIMIT_REACHED, fault=fault, usage=state.usage)
        return last_events(state, finished, host.is_read, self._clock, limit, at=state.updated_at)

    def _soon(self) -> Deadline:
        return Deadline.after(self._terms.timeout_seconds, self._clock)
