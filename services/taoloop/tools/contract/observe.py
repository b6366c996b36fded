"""How a reply is judged and made ready."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
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

    TEXT = "text"
    """A text: entities resolved, controls out, white space folded, Unicode composed."""

    NUMBER = "number"
    """A number, every digit kept."""

    INTEGER = "integer"
    """A number without a fraction."""

    BOOLEAN = "boolean"
    """true or false."""

    UNIT = "unit"
    """A number in a stated unit."""

    PERCENTAGE = "percentage"
    """A number of per cent."""

    CONFIDENCE = "confidence"
    """A number from 0 to 1."""

    MONEY = "money"
    """An amount in a stated currency."""

    DATE = "date"
    """`YYYY-MM-DD`."""

    DATETIME = "datetime"
    """RFC 3339 in UTC."""

    DATE_RANGE = "date-range"
    """`YYYY-MM-DD~YYYY-MM-DD`."""

    DURATION = "duration"
    """Seconds, or another unit of time."""


class PersonalData(StrEnum):
    """Kinds of what is taken out of texts before a prompt or a person sees them."""

    PHONE = "phone"
    """Telephone numbers."""

    ID_CARD = "id_card"
    """Chinese identity numbers whose check digit is right."""

    EMAIL = "email"
    """Addresses of e-mail."""

    BANK_CARD = "bank_card"
    """Card numbers whose check digit is right."""

    SECRETS = "secrets"
    """Values of members whose name says that they are secret; secrets in texts are always masked."""


class Take(StrEnum):
    """Which hits of a search are kept."""

    ALL = "all"
    """Every hit at or above the lowest score."""

    BEST = "best"
    """The hit with the highest score alone."""


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
    """One change to the data: a move, and at most one of a map of values, a conversion and a plug-in.

    Attributes:
        field: Pointer into the response; `*` stands for every item of an array or member of an object.
        to: Pointer in the output with the same stars, the same as `field` unless renamed.
        enum: The tool's value to ours; None maps nothing.
        vocabulary: Our value to the words for it in all systems; None for none. `enum` comes before it.
        convert: What the value becomes; None leaves it.
        time_zone: IANA zone of times without an offset; empty refuses such times.
        conversion_options: The conversion's other options by name, as the contract writes them.
        plugin: Name of the plug-in that makes the value; empty for none.
        options: The plug-in's options.
    """

    field: str
    to: str
    enum: Mapping[str, JsonValue] | None = None
    vocabulary: Mapping[str, tuple[JsonValue, ...]] | None = None
    convert: NormaliseAs | None = None
    time_zone: str = ""
    conversion_options: Mapping[str, JsonValue] = dataclasses.field(default_factory=dict)
    plugin: str = ""
    options: Mapping[str, JsonValue] = dataclasses.field(default_factory=dict)

    @property
    def is_plain(self) -> bool:
        """Tell whether the value stays as it is and at most its place changes."""
        return self.enum is None and self.vocabulary is None and self.convert is None and not self.plugin


@dataclass(frozen=True, slots=True, kw_only=True)
class MinScore:
    """Which hits of a search count.

    Attributes:
        field: Pointer into the response with one `*`, to the score of each hit; the list of hits stands before it.
        min: The lowest score that counts.
        take: What is kept of the hits that count; with none of them the result is a failure, never an empty list.
    """

    field: str
    min: Decimal
    take: Take = Take.ALL


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactField:
    """A place of the output whose value is never shown.

    Attributes:
        field: Pointer into the output; `*` stands for every item or member.
    """

    field: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RedactPattern:
    """A kind of data that the contract describes itself.

    Attributes:
        name: What stands in its place, in angle brackets and capitals.
        pattern: ECMAScript pattern that runs in linear time.
    """

    name: str
    pattern: str


Redaction = PersonalData | RedactField | RedactPattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """What one goal needs of the result.

    Attributes:
        when: The goal, for planners: what the user wants to know.
        expose: Output pointers that are enough for it; `*` stands for every item or member.
    """

    when: str
    expose: tuple[str, ...]


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
    """How a reply is judged and made ready. In pointers `*` stands for every item of an array or member of an object.

    Attributes:
        max_latency_seconds: A slower reply fails a soft check; None sets no limit.
        min_score: Which hits of a search count; None takes every one.
        pick: Pointers into the response to what stays, besides what `normalise` reads; None keeps everything.
        normalise: Changes in order.
        rules: Business rules in order.
        known: Output pointer to the values that are known there.
        weight: How far the source is believed, 0 to 1.
        redact: What is taken out of what is shown.
        projections: Name to what one goal needs; each is a part of what `expose` shows.
        expose: Output pointers that prompts and answers may see; None exposes everything.
    """

    max_latency_seconds: float | None = None
    min_score: MinScore | None = None
    pick: tuple[str, ...] | None = None
    normalise: tuple[NormaliseRule, ...] = ()
    rules: tuple[ObserveRule, ...] = ()
    known: Mapping[str, tuple[JsonValue, ...]] = dataclasses.field(default_factory=dict)
    weight: float = 1.0
    redact: tuple[Redaction, ...] = ()
    projections: Mapping[str, Projection] = dataclasses.field(default_factory=dict)
    expose: tuple[str, ...] | None = None
