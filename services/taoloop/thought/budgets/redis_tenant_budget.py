"""Budgets of token-seconds on Redis or Valkey, shared by all workers."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable
from taoloop.core.ids import new_id
from taoloop.thought.budgets.model import Reservation, Spent
from taoloop.wire.redis.redis_errors import refusals_told
from taoloop.wire.redis.redis_link import RedisLink
from taoloop.wire.redis.script_batch import Script, run_script

_LIFE_SECONDS: Final = 600.0
"""How long a reservation that nobody settles is known; it counts as spent, and the bucket fills all the same."""
_MINUTE: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetSizes:
    """How much each tenant may use.

    Attributes:
        token_seconds_per_minute: What a bucket holds, and gains in a minute, above 0.
        tenants: The same for tenants that have their own figure.
    """

    token_seconds_per_minute: float
    tenants: Mapping[str, float] = field(default_factory=dict)

    def of(self, tenant: str) -> float:
        """Return the size of a tenant's bucket."""
        return self.tenants.get(tenant, self.token_seconds_per_minute)


class RedisTenantBudget:
    """A `TenantBudget` on one Redis or Valkey, by its clock.

    Args:
        link: The connection.
        key_prefix: What the names of the keys begin with.
        sizes: How much each tenant may use.
        clock: For ids.
    """

    def __init__(self, link: RedisLink, key_prefix: str, sizes: BudgetSizes, clock: Clock) -> None:
        self._link = link
        self._prefix = key_prefix
        self._sizes = sizes
        self._clock = clock

    def __repr__(self) -> str:
        return f"<RedisTenantBudget {self._sizes.token_seconds_per_minute:g} token-seconds a minute>"

    async def reserve(self, tenant: str, token_seconds: float, deadline: Deadline) -> Reservation | Spent:
        """See `TenantBudget.reserve`."""
        size = self._sizes.of(tenant)
        wanted = min(token_seconds, size)
        reservation = Reservation(new_id(self._clock), tenant, wanted)
        arguments = [repr(size / _MINUTE), repr(size), repr(wanted), str(int(_LIFE_SECONDS * 1000))]
        verdict = await self._run("reserve", reservation, arguments, deadline)
        return reservation if verdict[0] == b"held" else Spent(float(verdict[1]))

    async def settle(self, reservation: Reservation, token_seconds: float, deadline: Deadline) -> None:
        """See `TenantBudget.settle`."""
        size = self._sizes.of(reservation.tenant)
        await self._run("settle", reservation, [repr(size / _MINUTE), repr(size), repr(token_seconds)], deadline)

    async def _run(self, name: str, reservation: Reservation, arguments: Sequence[str], deadline: Deadline) -> Any:
        keys = self._keys(reservation)
        try:
            # A server that hangs would hold the caller up for as long as a command may take.
            async with asyncio.timeout(deadline.remaining_seconds()):
                with refusals_told():
                    return await self._link.run(
                        lambda client: run_script(client, _script(name), keys, arguments), deadline
                    )
        except TimeoutError as exc:
            raise BackendUnavailable("Redis did not answer in time.", metadata={"backend": "redis"}) from exc

    def _keys(self, reservation: Reservation) -> list[str]:
        # By hash: a tenant's name may hold braces, which would choose the slot.
        tenant = hashlib.sha256(reservation.tenant.encode()).hexdigest()[:32]
        base = f"{self._prefix}:budget:{{{tenant}}}"
        return [f"{base}:bucket", f"{base}:held:{reservation.reservation_id}"]


@cache
def _script(name: str) -> Script:
    return Script(files("taoloop.thought.budgets").joinpath("scripts", f"{name}.lua").read_text(encoding="utf-8"))
