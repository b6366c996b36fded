"""What bounds and protects a call: keys, retries, breakers, limits, pools, caches, fallbacks, approvals, look-ups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from taoloop.core.exact_json import JsonValue

RETRY_CONDITIONS: Final = frozenset({"timeout", "connect", "reset"})
"""What `Retry.on` may hold beside status codes."""

DEFAULT_RETRY_ON: Final = frozenset({"timeout", "connect", "reset", "429", "502", "503", "504"})
"""What is repeated when the contract does not say: failures that can heal by themselves."""


class KeyLocation(StrEnum):
    """Where an idempotency key travels."""

    HEADER = "header"
    QUERY = "query"
    BODY = "body"
    """A property at the top level of the JSON or form body."""


class Jitter(StrEnum):
    """How a pause is drawn."""

    FULL = "full"
    """Evenly between zero and the backoff."""

    NONE = "none"
    """The backoff itself."""


class SlidingWindowType(StrEnum):
    """What a window of a breaker counts, in resilience4j's words."""

    COUNT_BASED = "COUNT_BASED"
    """The last calls."""

    TIME_BASED = "TIME_BASED"
    """The calls of the last seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Idempotency:
    """The server's promise to honour a key: a repeat with the same key does nothing more.

    Attributes:
        location: Where the key travels.
        name: Name of the header, query parameter or body property.
        ttl_seconds: How long the server remembers a key; None when it does not say.
    """

    location: KeyLocation
    name: str
    ttl_seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """When a failed attempt is repeated, and how long the pauses are.

    Attributes:
        attempts: Most attempts, the first included, 1 to 10.
        backoff_seconds: Longest pause before the second attempt.
        multiplier: What the pause grows by with each attempt, at least 1.
        max_backoff_seconds: Longest pause of all.
        jitter: How a pause is drawn.
        on: Failures that are repeated: `timeout`, `connect`, `reset` and status codes as texts (`"503"`).
        never: Codes of faults that are never repeated, whatever `on` says.
        budget_ratio: Most repeats per first attempt over all calls of the tool, 0 to 1.
    """

    attempts: int = 1
    backoff_seconds: float = 0.2
    multiplier: float = 2.0
    max_backoff_seconds: float = 5.0
    jitter: Jitter = Jitter.FULL
    on: frozenset[str] = DEFAULT_RETRY_ON
    never: frozenset[str] = frozenset()
    budget_ratio: float = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsecutiveBreaker:
    """Opens after a row of failures.

    Attributes:
        failures: Failures in a row that open it, at least 1.
        open_for_seconds: How long it stays open before it probes.
        half_open_calls: Probes at a time while half open, at least 1.
    """

    failures: int = 5
    open_for_seconds: float = 30.0
    half_open_calls: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowBreaker:
    """Opens when too many calls of a window failed or were slow; words and defaults are resilience4j's.

    Attributes:
        failure_rate_threshold: Percentage of failures that opens it, above 0 to 100.
        sliding_window_type: What the window counts.
        sliding_window_size: Calls, or whole seconds, of the window.
        minimum_number_of_calls: Calls before a rate is worked out.
        wait_duration_in_open_state_seconds: How long it stays open before it probes.
        permitted_number_of_calls_in_half_open_state: Probes whose rate then decides.
        slow_call_rate_threshold: Percentage of slow calls that opens it, above 0 to 100.
        slow_call_duration_threshold_seconds: A call that takes longer is slow.
    """

    failure_rate_threshold: float = 50.0
    sliding_window_type: SlidingWindowType = SlidingWindowType.COUNT_BASED
    sliding_window_size: int = 100
    minimum_number_of_calls: int = 100
    wait_duration_in_open_state_seconds: float = 60.0
    permitted_number_of_calls_in_half_open_state: int = 10
    slow_call_rate_threshold: float = 100.0
    slow_call_duration_threshold_seconds: float = 60.0


Breaker = ConsecutiveBreaker | WindowBreaker

BREAKER_PRESETS: Final[Mapping[str, ConsecutiveBreaker]] = MappingProxyType(
    {
        "mesh": ConsecutiveBreaker(failures=5, open_for_seconds=30.0),
        "strict": ConsecutiveBreaker(failures=3, open_for_seconds=60.0),
    }
)
"""Breakers by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limiter:
    """How many calls of the tool run at a time in one process.

    Attributes:
        in_flight: Most calls at a time, at least 1.
        queue: Most calls that wait for a place; 0 sheds at once.
        max_wait_seconds: Longest wait for a place.
    """

    in_flight: int
    queue: int = 0
    max_wait_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pool:
    """Connections kept for the tool alone.

    Attributes:
        size: Most connections, at least 1.
        idle_timeout_seconds: A connection that rests longer is closed; above 0 and below the server's keep-alive.
    """

    size: int = 50
    idle_timeout_seconds: float = 4.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cache:
    """How long a reply to the same arguments may stand in for a call; for reads alone.

    Attributes:
        ttl_seconds: A reply no older than this is given without a call; 0 for never.
        last_good_seconds: A reply no older than this is given when the call fails; 0 for never.
    """

    ttl_seconds: float = 0.0
    last_good_seconds: float = 0.0


MAX_STAND_INS: Final = 3
"""Most tools that are tried in the place of one, each the fallback of the one before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fallback:
    """The tool that answers in this one's place.

    Attributes:
        tool: Name of a tool of the same catalogue, whose effect is no stronger.
        arguments: Its parameter to a template over this tool's arguments, `{parameter}`; None passes those
            arguments of the same name that it declares.
    """

    tool: str
    arguments: Mapping[str, JsonValue] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """When a person must agree before the call.

    Attributes:
        when: JsonLogic over {arguments, tenant, effect, reach, provenance}; True for always. What is not surely
            false asks.
        expires_in_seconds: How long the question stays open.
    """

    when: JsonValue = True
    expires_in_seconds: float = 86400.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconcile:
    """How an unknown outcome is looked up.

    Attributes:
        tool: Name of a reading tool of the same catalogue.
        took_place: JsonLogic over {status_code, body, arguments}, where arguments are those of the unknown call:
            passes if the effect took place, fails if it did not; anything else leaves it unknown.
        arguments: Its parameter to a template over the arguments of the unknown call, `{parameter}`, and
            `{idempotency_key}`; None passes those arguments of the same name that it declares.
    """

    tool: str
    took_place: JsonValue
    arguments: Mapping[str, JsonValue] | None = None
