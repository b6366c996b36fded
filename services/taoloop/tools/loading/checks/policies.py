"""Checks of what bounds and protects a call: whether each policy makes sense, alone and for this tool's effect."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from taoloop.core.exact_json import ABSENT
from taoloop.tools.contract import (
    ConsecutiveBreaker,
    Empty,
    GrpcTransport,
    HttpTransport,
    JobTransport,
    KeyLocation,
    PythonTransport,
    SlidingWindowType,
    SqlTransport,
    ToolContract,
    WindowBreaker,
)
from taoloop.tools.loading.checks.faults import ContractFault, reserved_header_faults, rule_faults
from taoloop.tools.loading.policy_document import RETRY_ALIASES, ROW_FIELDS, WINDOW_FIELDS
from taoloop.tools.signature import Effect

_HEALING_4XX: Final = frozenset({"408", "409", "423", "425", "429"})
"""Refusals that the same call may outlive; every other 4xx says that the call itself is wrong."""

_NEVER_LEFT: Final = frozenset({"connect"})
"""Failures after which surely no byte left: even a write may be repeated."""


def policy_faults(contract: ToolContract) -> Iterator[ContractFault]:
    """Yield what is wrong with the policies of a contract."""
    yield from _idempotency_faults(contract)
    yield from _retry_faults(contract)
    yield from _breaker_faults(contract)
    yield from _capacity_faults(contract)
    yield from _cache_faults(contract)
    yield from _person_faults(contract)


def _idempotency_faults(contract: ToolContract) -> Iterator[ContractFault]:
    key, pointer = contract.idempotency, "/spec/idempotency"
    if key is None:
        return
    transport = contract.transport
    request = transport.create if isinstance(transport, JobTransport) else transport
    if isinstance(request, HttpTransport):
        if key.location is KeyLocation.BODY and not _takes_key(request):
            cause = "the key travels in the body, and the request has no body of properties"
            yield ContractFault(pointer + "/in", "IDEMPOTENCY", cause, "Use header or query, or a json or form body.")
    elif key.location not in _KEY_PLACES.get(type(request), frozenset()):
        cause = f"this transport cannot carry a key in its {key.location}"
        yield ContractFault(pointer, "IDEMPOTENCY", cause, "Remove it: a repeat is forbidden then.")
    if key.location is KeyLocation.HEADER:
        yield from reserved_header_faults(key.name, pointer + "/name")
    if contract.effect is Effect.READ:
        cause = "the effect is read, and a read needs no key"
        yield ContractFault(pointer, "IDEMPOTENCY", cause, "Check the effect, or remove the key.", is_warning=True)


_KEY_PLACES: Final[Mapping[type, frozenset[KeyLocation]]] = {
    GrpcTransport: frozenset({KeyLocation.HEADER, KeyLocation.BODY}),
    PythonTransport: frozenset({KeyLocation.BODY}),
    SqlTransport: frozenset({KeyLocation.BODY}),
}
"""Where transports other than HTTP carry a key: in gRPC's metadata or request, as an argument, as a parameter."""


def _takes_key(request: HttpTransport) -> bool:
    """Tell whether the key can be a property of the body; without a template the arguments make up a JSON object."""
    if request.method in {"GET", "HEAD", "OPTIONS", "DELETE"}:
        return isinstance(request.json, Mapping) or request.form is not None
    has_other = request.multipart is not None or request.text is not None
    return not has_other and (request.json is ABSENT or isinstance(request.json, Mapping))


def _retry_faults(contract: ToolContract) -> Iterator[ContractFault]:
    retry, pointer = contract.retry, "/spec/retry"
    is_repeatable = contract.effect is Effect.READ or contract.idempotency is not None
    if contract.empty is Empty.RETRY and not is_repeatable:
        cause = f"the effect is {contract.effect} without idempotency: a repeat is forbidden"
        yield ContractFault("/spec/empty", "RETRY_WRITE", cause, "Use fail or accept, or declare idempotency.")
    if retry is None:
        return
    written = contract.document["spec"]["retry"]
    yield from _alias_faults(written)
    if retry.attempts > 1 and not is_repeatable and not retry.on <= _NEVER_LEFT:
        cause = f"the effect is {contract.effect} without idempotency: a repeat is forbidden"
        remedy = "Declare idempotency if the server honours keys, or write attempts: 1, or on: [connect]."
        yield ContractFault(pointer, "RETRY_WRITE", cause, remedy)
    if retry.attempts == 1 and set(written) - {"attempts", "maximum_attempts"}:
        cause = "attempts is 1, so that nothing is repeated"
        yield ContractFault(pointer, "RETRY", cause, "Raise attempts, or remove the rest.", is_warning=True)
    for status in sorted(each for each in retry.on if each.startswith("4") and each not in _HEALING_4XX):
        cause = f"a repeat cannot heal the status {status}"
        yield ContractFault(pointer + "/on", "RETRY_ON", cause, f"Remove {status}.")
    if retry.backoff_seconds <= 0:
        yield ContractFault(_named(written, "backoff"), "RETRY", "the backoff is zero", "Give a pause above zero.")
    elif retry.max_backoff_seconds < retry.backoff_seconds:
        cause = f"max_backoff ({retry.max_backoff_seconds:g} s) is below backoff ({retry.backoff_seconds:g} s)"
        yield ContractFault(_named(written, "max_backoff"), "RETRY", cause, "Raise max_backoff or lower backoff.")


def _alias_faults(written: Mapping[str, Any]) -> Iterator[ContractFault]:
    for ours, theirs in RETRY_ALIASES.items():
        if ours in written and theirs in written:
            cause = f"{ours} and {theirs} are the same field"
            yield ContractFault(f"/spec/retry/{theirs}", "RETRY", cause, "Keep one of the two.")


def _named(written: Mapping[str, Any], ours: str) -> str:
    """Return the pointer of a field of `retry` by the name that the contract uses."""
    return f"/spec/retry/{RETRY_ALIASES[ours] if RETRY_ALIASES[ours] in written else ours}"


def _breaker_faults(contract: ToolContract) -> Iterator[ContractFault]:
    breaker, pointer = contract.breaker, "/spec/breaker"
    if breaker is None:
        return
    written = set(contract.document["spec"]["breaker"])
    kinds = [bool(written & kind) for kind in ({"preset"}, ROW_FIELDS, WINDOW_FIELDS)]
    if sum(kinds) > 1:
        cause = "a preset, a row of failures and a sliding window exclude each other"
        yield ContractFault(pointer, "BREAKER", cause, "Keep the fields of one of them.")
    elif isinstance(breaker, ConsecutiveBreaker):
        if breaker.open_for_seconds <= 0:
            yield ContractFault(pointer + "/open_for", "BREAKER", "open_for is zero", "Give a time above zero.")
    else:
        yield from _window_faults(breaker, pointer)


def _window_faults(breaker: WindowBreaker, pointer: str) -> Iterator[ContractFault]:
    if breaker.wait_duration_in_open_state_seconds <= 0:
        cause = "waitDurationInOpenState is zero"
        yield ContractFault(pointer + "/waitDurationInOpenState", "BREAKER", cause, "Give a time above zero.")
    if breaker.slow_call_duration_threshold_seconds <= 0:
        cause = "slowCallDurationThreshold is zero: every call would be slow"
        yield ContractFault(pointer + "/slowCallDurationThreshold", "BREAKER", cause, "Give a time above zero.")
    counts_calls = breaker.sliding_window_type is SlidingWindowType.COUNT_BASED
    if counts_calls and breaker.minimum_number_of_calls > breaker.sliding_window_size:
        cause = (
            f"minimumNumberOfCalls ({breaker.minimum_number_of_calls}) is above "
            f"slidingWindowSize ({breaker.sliding_window_size}): it would never open"
        )
        yield ContractFault(pointer + "/minimumNumberOfCalls", "BREAKER", cause, "Lower it, or widen the window.")


def _capacity_faults(contract: ToolContract) -> Iterator[ContractFault]:
    limiter = contract.limiter
    if limiter is not None and limiter.queue > 0 and limiter.max_wait_seconds <= 0:
        cause = "queue lets calls wait, and max_wait gives them no time"
        yield ContractFault("/spec/limiter", "LIMITER", cause, "Give max_wait, or remove queue.")
    if limiter is not None and limiter.queue == 0 and limiter.max_wait_seconds > 0:
        cause = "max_wait gives calls time to wait, and queue no place"
        yield ContractFault("/spec/limiter/max_wait", "LIMITER", cause, "Give queue, or remove max_wait.")
    if contract.pool is not None and contract.pool.idle_timeout_seconds <= 0:
        yield ContractFault("/spec/pool/idle_timeout", "POOL", "idle_timeout is zero", "Give a time above zero.")


def _cache_faults(contract: ToolContract) -> Iterator[ContractFault]:
    cache = contract.cache
    if cache is None:
        return
    if contract.effect is not Effect.READ and (cache.ttl_seconds or cache.last_good_seconds):
        cause = f"the effect is {contract.effect}, and only what a read gave may be given again"
        yield ContractFault("/spec/cache", "CACHE", cause, "Remove the cache.")
    if 0 < cache.last_good_seconds < cache.ttl_seconds:
        cause = f"last_good ({cache.last_good_seconds:g} s) is below ttl ({cache.ttl_seconds:g} s)"
        yield ContractFault("/spec/cache/last_good", "CACHE", cause, "Raise last_good or lower ttl.")


def _person_faults(contract: ToolContract) -> Iterator[ContractFault]:
    if contract.approval is not None:
        yield from rule_faults(contract.approval.when, "/spec/approval/when")
        if contract.approval.expires_in_seconds <= 0:
            cause = "expires_in is zero: nobody could agree in time"
            yield ContractFault("/spec/approval/expires_in", "APPROVAL", cause, "Give a time above zero.")
    if contract.reconcile is not None:
        yield from rule_faults(contract.reconcile.took_place, "/spec/reconcile/took_place")
        if contract.effect is Effect.READ:
            cause = "the effect is read, and a read has no outcome to look up"
            yield ContractFault("/spec/reconcile", "RECONCILE", cause, "Remove it.", is_warning=True)
