"""From the policies of a contract's document to their records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypedDict

from taoloop.tools.contract import (
    BREAKER_PRESETS,
    DEFAULT_RETRY_ON,
    Approval,
    Breaker,
    Cache,
    ConsecutiveBreaker,
    Fallback,
    Idempotency,
    Jitter,
    KeyLocation,
    Limiter,
    Pool,
    Reconcile,
    Retry,
    SlidingWindowType,
    WindowBreaker,
)
from taoloop.tools.loading.durations import parse_duration

RETRY_ALIASES: Final[Mapping[str, str]] = {
    "attempts": "maximum_attempts",
    "backoff": "initial_interval",
    "multiplier": "backoff_coefficient",
    "max_backoff": "maximum_interval",
    "never": "non_retryable_error_types",
}
"""Our names of the fields of `retry` to Temporal's."""

ROW_FIELDS: Final = frozenset({"consecutive_failures", "open_for", "half_open_calls"})
"""Fields of a breaker that opens after a row of failures."""

WINDOW_FIELDS: Final = frozenset(
    {
        "failureRateThreshold",
        "slidingWindowType",
        "slidingWindowSize",
        "minimumNumberOfCalls",
        "waitDurationInOpenState",
        "permittedNumberOfCallsInHalfOpenState",
        "slowCallRateThreshold",
        "slowCallDurationThreshold",
    }
)
"""Fields of a breaker with a sliding window."""


class Policies(TypedDict):
    """The policies of a contract by the names of their fields; None is off."""

    idempotency: Idempotency | None
    retry: Retry | None
    breaker: Breaker | None
    limiter: Limiter | None
    pool: Pool | None
    cache: Cache | None
    fallback: Fallback | None
    approval: Approval | None
    reconcile: Reconcile | None


def read_policies(spec: Mapping[str, Any]) -> Policies:
    """Return the records of a `spec` that has no form violations."""
    return Policies(
        idempotency=_idempotency(spec["idempotency"]) if "idempotency" in spec else None,
        retry=_retry(spec["retry"]) if "retry" in spec else None,
        breaker=_breaker(spec["breaker"]) if "breaker" in spec else None,
        limiter=_limiter(spec["limiter"]) if "limiter" in spec else None,
        pool=_pool(spec["pool"]) if "pool" in spec else None,
        cache=_cache(spec["cache"]) if "cache" in spec else None,
        fallback=_fallback(spec["fallback"]) if "fallback" in spec else None,
        approval=_approval(spec["approval"]) if "approval" in spec else None,
        reconcile=_reconcile(spec["reconcile"]) if "reconcile" in spec else None,
    )


def _idempotency(written: Mapping[str, Any]) -> Idempotency:
    return Idempotency(
        location=KeyLocation(written["in"]),
        name=written["name"],
        ttl_seconds=parse_duration(written["ttl"]) if "ttl" in written else None,
    )


def _retry(written: Mapping[str, Any]) -> Retry:
    def field(name: str, default: Any) -> Any:
        return written.get(name, written.get(RETRY_ALIASES[name], default))

    return Retry(
        attempts=int(field("attempts", 1)),
        backoff_seconds=parse_duration(field("backoff", "200ms")),
        multiplier=float(field("multiplier", 2)),
        max_backoff_seconds=parse_duration(field("max_backoff", "5s")),
        jitter=Jitter(written.get("jitter", Jitter.FULL)),
        on=frozenset(map(str, written["on"])) if "on" in written else DEFAULT_RETRY_ON,
        never=frozenset(field("never", ())),
        budget_ratio=float(written.get("budget_ratio", 0.2)),
    )


def _breaker(written: Mapping[str, Any]) -> Breaker:
    if "preset" in written:
        return BREAKER_PRESETS[written["preset"]]
    if WINDOW_FIELDS & set(written):
        return _window_breaker(written)
    return ConsecutiveBreaker(
        failures=int(written.get("consecutive_failures", 5)),
        open_for_seconds=_seconds(written, "open_for", 30.0),
        half_open_calls=int(written.get("half_open_calls", 1)),
    )


def _window_breaker(written: Mapping[str, Any]) -> WindowBreaker:
    kind = SlidingWindowType(written.get("slidingWindowType", SlidingWindowType.COUNT_BASED))
    size = int(written.get("slidingWindowSize", 100))
    # The default is resilience4j's: a window that never holds 100 calls decides when it is full.
    default_minimum = min(100, size) if kind is SlidingWindowType.COUNT_BASED else 100
    return WindowBreaker(
        failure_rate_threshold=float(written.get("failureRateThreshold", 50)),
        sliding_window_type=kind,
        sliding_window_size=size,
        minimum_number_of_calls=int(written.get("minimumNumberOfCalls", default_minimum)),
        wait_duration_in_open_state_seconds=_seconds(written, "waitDurationInOpenState", 60.0),
        permitted_number_of_calls_in_half_open_state=int(written.get("permittedNumberOfCallsInHalfOpenState", 10)),
        slow_call_rate_threshold=float(written.get("slowCallRateThreshold", 100)),
        slow_call_duration_threshold_seconds=_seconds(written, "slowCallDurationThreshold", 60.0),
    )


def _limiter(written: Mapping[str, Any]) -> Limiter:
    return Limiter(
        in_flight=int(written["in_flight"]),
        queue=int(written.get("queue", 0)),
        max_wait_seconds=_seconds(written, "max_wait", 0.0),
    )


def _pool(written: Mapping[str, Any]) -> Pool:
    return Pool(size=int(written.get("size", 50)), idle_timeout_seconds=_seconds(written, "idle_timeout", 4.0))


def _cache(written: Mapping[str, Any]) -> Cache:
    return Cache(ttl_seconds=_seconds(written, "ttl", 0.0), last_good_seconds=_seconds(written, "last_good", 0.0))


def _fallback(written: Mapping[str, Any]) -> Fallback:
    return Fallback(tool=written["tool"], arguments=written.get("arguments"))


def _approval(written: Mapping[str, Any]) -> Approval:
    return Approval(when=written.get("when", True), expires_in_seconds=_seconds(written, "expires_in", 86400.0))


def _reconcile(written: Mapping[str, Any]) -> Reconcile:
    return Reconcile(tool=written["tool"], took_place=written["took_place"], arguments=written.get("arguments"))


def _seconds(written: Mapping[str, Any], key: str, default: float) -> float:
    return parse_duration(written[key]) if key in written else default
