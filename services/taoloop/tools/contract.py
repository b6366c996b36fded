"""Tool contracts: everything that taoloop knows about one tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

from taoloop.core import exact_json
from taoloop.core.exact_json import ABSENT, Json, JsonValue
from taoloop.tools.schemas import CompiledSchema
from taoloop.tools.signature import Effect, Reach, Trust

DEFAULT_TIMEOUT_SECONDS: Final = 10.0
"""Wait for one attempt when the contract does not say."""

UNTRUSTED_WEIGHT: Final = 0.7
"""Weight of an untrusted source when the contract does not say."""


class Empty(StrEnum):
    """What a success with null data is."""

    FAIL = "fail"
    ACCEPT = "accept"


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
class BearerAuth:
    """A token in the Authorization header.

    Attributes:
        secret: Name of the secret, never the token.
    """

    secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpTransport:
    """One HTTP request as a template.

    Attributes:
        method: Upper-case method.
        url: Begins with `{{base.NAME}}`; `{parameter}` stands for an argument, to be percent-encoded.
        query: Parameter to text with placeholders; what is only one placeholder is left out without its argument.
        headers: Header to text with placeholders.
        json: Body with placeholders in its texts; ABSENT sends none.
        auth: Credentials; None sends none.
    """

    method: str
    url: str
    query: Mapping[str, JsonValue] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Json = ABSENT
    auth: BearerAuth | None = None


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


@dataclass(frozen=True, kw_only=True)  # no slots: compiled parts are cached in the instance
class ToolContract:
    """One tool, from its file.

    Attributes:
        name: Unique in the catalogue.
        labels: Words for people and dashboards.
        description: What the tool answers or does.
        use_when: What the user says when this is the tool.
        avoid_when: What the user says when it is not.
        effect: What a call changes.
        reach: Who sees what a call sends.
        trust: Whose words the output holds.
        parameters: JSON Schema of the arguments.
        response: JSON Schema of the parsed body.
        http: How the tool is called; None for a tool that is only known by its signature.
        timeout_seconds: Longest wait for one attempt.
        success: JsonLogic over {status_code, body}; ABSENT leaves it to the status.
        empty: What a success with null data is.
        errors: Known errors, the first match decides.
        observe: How the reply is judged.
        answer: Language to sentence with `{arguments.x}` and `{data.y}`.
        samples: Globs of recorded replies, relative to the catalogue.
        document: The contract as written, without its samples; what digests and bundles are made of.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    response: Mapping[str, Any] | bool
    effect: Effect
    labels: Mapping[str, str] = field(default_factory=dict)
    use_when: str = ""
    avoid_when: str = ""
    reach: Reach = Reach.INTERNAL
    trust: Trust = Trust.TRUSTED
    http: HttpTransport | None = None
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    success: Json = ABSENT
    empty: Empty = Empty.FAIL
    errors: tuple[ErrorRule, ...] = ()
    observe: Observe = field(default_factory=Observe)
    answer: Mapping[str, str] = field(default_factory=dict)
    samples: tuple[str, ...] = ()
    document: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        """Return the SHA-256 of the canonical contract without its samples, 64 hex characters."""
        return exact_json.digest(self.document)

    @cached_property
    def compiled_parameters(self) -> CompiledSchema:
        """Return the compiled schema of the arguments.

        Raises:
            SchemaRefused: The schema must not be used; a contract of a catalogue has none such.
        """
        return CompiledSchema.compile(dict(self.parameters))

    @cached_property
    def compiled_response(self) -> CompiledSchema:
        """Return the compiled schema of the body.

        Raises:
            SchemaRefused: The schema must not be used; a contract of a catalogue has none such.
        """
        return CompiledSchema.compile(self.response if isinstance(self.response, bool) else dict(self.response))
