"""Budgets of token-seconds that are forgotten with their process."""

from __future__ import annotations

from dataclasses import dataclass

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.ids import new_id
from taoloop.thought.budgets.model import Reservation, Spent
from taoloop.thought.budgets.redis_tenant_budget import BudgetSizes

_MINUTE = 60.0


@dataclass(slots=True)
class _Bucket:
    level: float
    at: float


class InMemoryTenantBudget:
    """A `TenantBudget` in dictionaries.

    Args:
        sizes: How much each tenant may use.
        clock: Fills the buckets.
    """

    def __init__(self, sizes: BudgetSizes, clock: Clock) -> None:
        self._sizes = sizes
        self._clock = clock
        self._buckets: dict[str, _Bucket] = {}
        self._held: dict[str, float] = {}

    async def reserve(self, tenant: str, token_seconds: float, deadline: Deadline) -> Reservation | Spent:
        """See `TenantBudget.reserve`."""
        size, bucket = self._sizes.of(tenant), self._filled(tenant)
        wanted = min(token_seconds, size)
        if bucket.level < wanted:
            return Spent((wanted - bucket.level) * _MINUTE / size)
        bucket.level -= wanted
        reservation = Reservation(new_id(self._clock), tenant, wanted)
        self._held[reservation.reservation_id] = wanted
        return reservation

    async def settle(self, reservation: Reservation, token_seconds: float, deadline: Deadline) -> None:
        """See `TenantBudget.settle`."""
        held = self._held.pop(reservation.reservation_id, None)
        if held is None:
            return
        size, bucket = self._sizes.of(reservation.tenant), self._filled(reservation.tenant)
        bucket.level = max(-size, min(size, bucket.level + held - token_seconds))

    def _filled(self, tenant: str) -> _Bucket:
        size, now = self._sizes.of(tenant), self._clock.monotonic()
        bucket = self._buckets.setdefault(tenant, _Bucket(size, now))
        bucket.level = min(size, bucket.level + (now - bucket.at) * size / _MINUTE)
        bucket.at = now
        return bucket
