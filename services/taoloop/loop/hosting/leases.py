"""Keeps the leases of the runs that a host drives, and finds those that it lost."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, RunConflict
from taoloop.core.logs import EventLog
from taoloop.core.telemetry import Telemetry, names
from taoloop.loop.hosting.open_run import OpenRun
from taoloop.loop.ports import RunKey, RunLeases, RunLog
from taoloop.plan.running import RunFinished
from taoloop.plan.task import Outcome

_log = EventLog(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTerms:
    """How leases are kept.

    Attributes:
        lease_seconds: How long one lasts; it is renewed each third of that.
        timeout_seconds: How long one call of the store may take.
    """

    lease_seconds: float
    timeout_seconds: float


class LeaseKeeper:
    """Renews the leases of a host's runs.

    A lease that another host has is no proof that the run is another's: the store may have lost it, and somebody who
    wanted to resume the run may have held it for nothing. The log's epoch is the proof.

    Args:
        log: Says whose a run is.
        leases: Of this host.
        terms: How they are kept.
        telemetry: Where lost leases are counted.
        clock: Paces the renewals.
    """

    def __init__(self, log: RunLog, leases: RunLeases, terms: LeaseTerms, telemetry: Telemetry, clock: Clock) -> None:
        self._log = log
        self._leases = leases
        self._terms = terms
        self._lost = telemetry.metrics.counter(names.RUN_LEASES_LOST)
        self._clock = clock

    async def renew_each_third(self, runs: Collection[OpenRun]) -> None:
        """Renew until cancelled.

        Args:
            runs: Those that are open; looked at anew each time.
        """
        while True:
            third = self._terms.lease_seconds / 3
            await self._clock.sleep(random.uniform(third * 0.8, third))
            try:
                await self.renew(tuple(runs))
            except BackendUnavailable as error:  # the events are fenced, so that the runs may go on
                _log.warning("run_leases_not_renewed", reason=error.reason)

    async def renew(self, runs: tuple[OpenRun, ...]) -> None:
        """Renew once, and give up the runs that are another host's now.

        Raises:
            BackendUnavailable: The store does not answer in time.
        """
        if not runs:
            return
        lost = set(await self._leases.renew([run.key for run in runs], self._soon()))
        for run in runs:
            if run.key in lost and not run.writer.state.is_at_rest:
                await self._look_after(run)

    async def _look_after(self, run: OpenRun) -> None:
        """Take back a lease that should be this host's, or give the run up."""
        is_ours = is_cancelled = False
        try:
            position = await self._log.position(run.key.tenant, run.key.run_id, self._soon())
            is_ours = position.host_epoch <= run.writer.epoch
            is_cancelled = not is_ours and await self._is_cancelled(run.key, position.sequence)
        except BackendUnavailable:
            raise
        except Exception as error:  # noqa: BLE001 - a log that is gone, or that only a newer version can read
            _log.warning("run_log_not_read", run_id=run.key.run_id, reason=getattr(error, "reason", "unexpected"))
        if is_ours:
            await self._leases.hold(run.key, self._soon())
            return
        if is_cancelled:
            _log.info("run_cancelled_elsewhere", run_id=run.key.run_id)
        else:
            self._lost.inc()
            _log.warning("run_lost_to_another_host", run_id=run.key.run_id, host_epoch=run.writer.epoch)
        run.give_up(RunConflict(f"Another host drives run {run.key.run_id}.", metadata={"run_id": run.key.run_id}))

    async def _is_cancelled(self, run: RunKey, last: int) -> bool:
        """Return whether a run's last event says that somebody cancelled it, which is done by way of any host."""
        event = (await self._log.read(run.tenant, run.run_id, last, self._soon()))[-1]
        return isinstance(event.body, RunFinished) and event.body.outcome is Outcome.CANCELLED

    def _soon(self) -> Deadline:
        return Deadline.after(self._terms.timeout_seconds, self._clock)
