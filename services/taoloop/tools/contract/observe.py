"""How a reply is judged and made ready."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from taoloop.core.exact_json import JsonValue

UNTRUSTED_WEIGHT: Final = 0.7
"""Weight of an untrusted source when the contract does not say."""


class Empty(StrEnum):
    """What a success with null data is."""

    FAIL = "fail"
    ACCEPT = "accept"
    RETRY = "retry"


class RuleSeverity(StrEnum):
    """What a failed rule does to the result."""

    HARD = "hard"
    """The result is invalid."""

    SOFT = "soft"
    """The confidence falls."""


class NormaliseAs(StrEnum):
    """What a value is converted to."""

    DATETIME = "datetime"
    """RFC 3339 in UTC."""

    DATE = "date"
    """`YYYY-MM-DD`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorRule:
    """A reply that means a known error.

    Attributes:
        when: JsonLogic over {status_code, body}.
        code: Code of the fault.
        is_retriable: Whether the same call may succeed later.
        suggestion: What the next thought could do; may be empty.
    """

    when: JsonValue
    code: str
    is_retriable: bool = False
    suggestion: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class NormaliseRule:
    """One change to the data.

    Attributes:
        field: Pointer into the response.
        to: Pointer in the output, the same as `field` unless renamed.
        enum: The tool's value to ours; None maps nothing.
        convert: What the value becomes; None leaves it.
        time_zone: IANA zone of times without an offset; empty refuses such times.
    """

    field: str
    to: str
    enum: Mapping[str, JsonValue] | None = None
    convert: NormaliseAs | None = None
    time_zone: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserveRule:
    """One business rule.

    Attributes:
        id: Unique in the contract.
        severity: See `RuleSeverity`.
        when: JsonLogic over {status_code, response_time_seconds, body, data, arguments, expect}.
    """

    id: str
    severity: RuleSeverity
    when: JsonValue


@dataclass(frozen=True, slots=True, kw_only=True)
class Observe:
    """How a reply is judged and made ready.

    Attributes:
        max_latency_seconds: A slower reply fails a soft check; None sets no limit.
        normalise: Changes in order.
        rules: Business rules in order.
        known: Output pointer to the values that are known there.
        weight: How far the source is believed, 0 to 1.
        expose: Output pointers that prompts and answers may see; None exposes everything.
    """

    max_latency_seconds: float | None = None
    normalise: tuple[NormaliseRule, ...] = ()
    rules: tuple[ObserveRule, ...] = ()
    known: Mapping[str, tuple[JsonValue, ...]] = field(default_factory=dict)
    weight: float = 1.0
    expose: tuple[str, ...] | None = None
