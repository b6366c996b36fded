"""The contract of one tool as a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from taoloop.core import exact_json
from taoloop.core.exact_json import ABSENT, Json
from taoloop.tools.contract.observe import Empty, ErrorRule, Observe
from taoloop.tools.contract.policies import (
    Approval,
    Breaker,
    Cache,
    Fallback,
    Idempotency,
    Limiter,
    Pool,
    Reconcile,
    Retry,
)
from taoloop.tools.contract.transports import HttpTransport, Transport
from taoloop.tools.schemas import CompiledSchema
from taoloop.tools.signature import Effect, Reach, Trust

DEFAULT_TIMEOUT_SECONDS: Final = 10.0
"""Wait for one attempt when the contract does not say."""


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
        transport: How the tool is called; None for a tool that is only known by its signature.
        timeout_seconds: Longest wait for one attempt.
        success: JsonLogic over {status_code, body}; ABSENT leaves it to the status.
        empty: What a success with null data is.
        errors: Known errors, the first match decides.
        observe: How the reply is judged.
        idempotency: The server's promise to honour a key; None forbids a repeat of a write.
        retry: When an attempt is repeated; None repeats a read once, after at most 200 ms, and a write never.
        breaker: When calls stop for a while; None never stops them.
        limiter: How many calls run at a time; None sets no limit.
        pool: The tool's connections; None takes the service's defaults.
        cache: How long a reply may be used again; None never.
        fallback: The tool that answers when this one fails; None for none.
        approval: When a person must agree before the call; None for never.
        reconcile: How an unknown outcome is looked up; None leaves it to a person.
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
    transport: Transport | None = None
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    success: Json = ABSENT
    empty: Empty = Empty.FAIL
    errors: tuple[ErrorRule, ...] = ()
    observe: Observe = field(default_factory=Observe)
    idempotency: Idempotency | None = None
    retry: Retry | None = None
    breaker: Breaker | None = None
    limiter: Limiter | None = None
    pool: Pool | None = None
    cache: Cache | None = None
    fallback: Fallback | None = None
    approval: Approval | None = None
    reconcile: Reconcile | None = None
    answer: Mapping[str, str] = field(default_factory=dict)
    samples: tuple[str, ...] = ()
    document: Mapping[str, Any] = field(default_factory=dict)

    @property
    def http(self) -> HttpTransport | None:
        """Return the request of a tool that is called by one HTTP request, else None."""
        return self.transport if isinstance(self.transport, HttpTransport) else None

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
