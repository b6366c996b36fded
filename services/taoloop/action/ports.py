"""What the executor needs from outside: tools and secrets; the ledger of effects has ports of its own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from taoloop.core.exact_json import JsonValue
from taoloop.core.records import quickly_made
from taoloop.tools.contract import JobState, ToolContract


class SecretSource(Protocol):
    """Holds the secrets that contracts refer to by name."""

    async def secret(self, name: str) -> str | None:
        """Return the secret's value, or None when it is not configured."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTicket:
    """A job that a tool has accepted, as far as it is known.

    Attributes:
        job_id: The tool's name for it.
        created_at: When it was created, aware.
        state: Its last known state.
        misses: Queries in a row that got no answer.
        effect_id: The ledger's entry of its creation; empty for a read.
    """

    job_id: str
    created_at: datetime
    state: JobState = JobState.PENDING
    misses: int = 0
    effect_id: str = ""


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One attempt to make, checked and allowed."""

    contract: ToolContract
    arguments: dict[str, JsonValue]
    timeout_seconds: float
    """Total time for the attempt, connecting and reading included."""
    thought_id: str
    """Sent to the tool as `X-Request-ID`."""
    idempotency_key: str = ""
    """The same for every attempt of one step; sent only where the contract declares a place for it."""
    resend_count: int = 0
    """Attempts already made of the same call."""
    job: JobTicket | None = None
    """The job to ask about; None for a new call."""


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a tool answered, undecided."""

    status_code: int
    content_type: str = ""
    """Lower case, without parameters; empty when none was announced."""
    body: bytes = b""
    """Decoded bytes, whole."""
    retry_after: str = ""
    """The `Retry-After` header as sent; empty when there was none."""
    reused_connection: bool = False
    job: JobTicket | None = None
    """The job that is not over yet; only with the status 202."""
    failure: str = ""
    """One sentence, redacted, when the tool said in its own way that it failed; empty when only the status says so."""
    is_aftermath: bool = False
    """Whether it came behind a redirect with which the tool may have carried the request out: no refusal of that."""
    has_masked: bool = False
    """Whether the tool had sent a credential of ours back, which is taken out."""


class TransportFault(Exception):
    """No whole answer came.

    Attributes:
        code: A `FaultCode` value.
        message: One sentence, without secrets or payload.
        may_have_left: Whether a byte of the request can have reached the tool.
        is_retriable: Whether the same call may succeed later, its effect left aside.
        received: What had arrived until then; None when no status had.
        pointer: The argument at fault; empty when it is none.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        may_have_left: bool,
        is_retriable: bool = False,
        received: Reply | None = None,
        pointer: str = "",
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.may_have_left = may_have_left
        self.is_retriable = is_retriable
        self.received = received
        self.pointer = pointer


class Transport(Protocol):
    """Reaches a tool in one technology."""

    async def attempt(self, call: ToolCall) -> Reply:
        """Make one attempt and return the answer, whatever its status.

        Never repeats by itself: an attempt sends the request at most once.

        Raises:
            TransportFault: No whole answer came.
        """
        ...
