"""Admits runs as long as their tenant has fewer open than one tenant may have, on all hosts together."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Final, Protocol

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, TooManyTenantRuns
from taoloop.core.logs import EventLog
from taoloop.core.telemetry import names
from taoloop.core.telemetry.metrics import Metrics

RETRY_AFTER_SECONDS: Final = 1.0

_log = EventLog(__name__)


@dataclass(frozen=True, slots=True)
class Place:
    """What came of entering a request.

    Attributes:
        is_entered: Whether it is among the open runs now.
        is_new: Whether it was not before.
        open_runs: How many its tenant has, this one included where it is entered.
    """

    is_entered: bool
    is_new: bool
    open_runs: int


class OpenRuns(Protocol):
    """Which requests of a tenant have a run that is being driven. Every call may be repeated without a second effect.

    An entry lapses by itself, so that a host that dies does not keep its tenants' places for ever.
    """

    async def enter(self, tenant: str, request_id: str, most: int, hold_seconds: float, deadline: Deadline) -> Place:
        """Enter a request unless the tenant has `most` others; one that is entered keeps its place.

        Args:
            tenant: Whose request it is.
            request_id: The request, unique per tenant.
            most: How many the tenant may have; 0 sets no bound.
            hold_seconds: When the entry lapses.
            deadline: When to give up.

        Raises:
            BackendUnavailable: The store does not answer in time.
        """
        ...

    async def leave(self, tenant: str, request_id: str, deadline: Deadline) -> None:
        """Take a request out.

        Raises:
            BackendUnavailable: The store does not answer in time.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """The rule about a tenant's open runs, and where they are counted.

    Attributes:
        open_runs: Counts them.
        most: How many a tenant may have; 0 sets no bound, and nothing is counted.
        hold_seconds: Longer than any run is driven without a rest.
        timeout_seconds: How long one look may take.
        clock: Measures that.
        metrics: Counts what is refused.
    """

    open_runs: OpenRuns
    most: int
    hold_seconds: float
    timeout_seconds: float
    clock: Clock
    metrics: Metrics

    async def admit(self, tenant: str, request_id: str, deadline: Deadline) -> bool:
        """Enter a request that may begin a run; one whose run is open attaches to it and is always let in.

        Returns:
            Whether it took a place, which has to be released.

        Raises:
            TooManyTenantRuns: The tenant has as many open runs as it may.
            BackendUnavailable: They cannot be counted.
        """
        if not self.most:
            return False
        place = await self.open_runs.enter(tenant, request_id, self.most, self.hold_seconds, deadline)
        if place.is_entered:
            return place.is_new
        self.metrics.counter(names.RUNS_OVER_TENANT_LIMIT).inc()
        raise TooManyTenantRuns(
            f"Tenant {tenant} has {place.open_runs} runs open, and may have {self.most}.",
            metadata={"tenant": tenant, "open_runs": str(place.open_runs), "max_tenant_runs": str(self.most)},
            retry_after_seconds=RETRY_AFTER_SECONDS,
        )

    async def hold(self, tenant: str, request_id: str) -> None:
        """Count a run that goes on after a rest or on another host; it is never refused, since people wait for it."""
        if self.most:
            await self._quietly(
                self.open_runs.enter(tenant, request_id, 0, self.hold_seconds, self._deadline()), "run_not_counted"
            )

    async def release(self, tenant: str, request_id: str) -> None:
        """Give the place of a run back that is driven no more."""
        if self.most:
            await self._quietly(self.open_runs.leave(tenant, request_id, self._deadline()), "run_not_uncounted")

    async def _quietly(self, work: Awaitable[object], event: str) -> None:
        try:
            await work
        except BackendUnavailable as error:  # the entry lapses by itself; no run fails for a count
            _log.warning(event, reason=error.reason)

    def _deadline(self) -> Deadline:
        return Deadline.after(self.timeout_seconds, self.clock)
