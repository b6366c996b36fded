"""Which breakers of this process the other replicas are told of."""

from __future__ import annotations

from datetime import timedelta

from taoloop.action.board.model import OpenBreaker
from taoloop.action.policies.breaker_registry import BreakerRegistry
from taoloop.core.clock import Clock


def open_breakers(breakers: BreakerRegistry, clock: Clock) -> tuple[OpenBreaker, ...]:
    """Return the breakers that refuse calls now, with the moment from which they let a probe pass."""
    now, moment = clock.monotonic(), clock.now()
    return tuple(
        OpenBreaker(
            tool=key.tool,
            endpoint=f"{key.scheme}://{key.host}:{key.port}",
            retry_at=moment + timedelta(seconds=retry_at - now),
        )
        for key, breaker in breakers.not_closed(now)
        if (retry_at := breaker.retry_at(now)) is not None and retry_at > now
    )
