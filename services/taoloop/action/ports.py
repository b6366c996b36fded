"""What the executor needs from outside: tools, secrets and a durable ledger of effects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from taoloop.action.ledger.effects import Claim, EffectIntent, EffectQuery, LedgerEntry, Resolution
from taoloop.core.exact_json import JsonValue
from taoloop.plan.acting import EffectRecord, EffectState
from taoloop.tools.contract import ToolContract


class EffectLedger(Protocol):
    """Records every call that writes, before it leaves and after it came back.

    Durability: when a method returns, what it recorded survives the death of the process and of the machine
    if `is_durable` is true. A store that acknowledges before it has written, or that can lose acknowledged
    writes when it fails over, must say false.

    At most one entry per tenant, run, tool and arguments hash stands in a state that blocks (any but FAILED
    and RECONCILED as not taken place). The store itself enforces this, whatever the number of processes.

    Every method raises `BackendUnavailable` when the store does not answer; nothing was recorded then as far
    as the caller knows, so a call must not leave on it.
    """

    @property
    def is_durable(self) -> bool:
        """Whether an acknowledged entry survives a crash of the process and of the machine."""
        ...

    async def plan(self, intent: EffectIntent) -> Claim:
        """Record an intent, or return the entry that blocks it.

        At first sight of a STARTED entry that another process owns, that process is taken for dead: the entry
        becomes UNKNOWN. A PLANNED entry of another process is taken over, since nothing has left.

        Raises:
            RequestIdReused: The request id came before with another digest.
        """
        ...

    async def start(self, effect_id: str) -> bool:
        """Record that the call may leave from now on; call it before the first byte does.

        Returns:
            False when the entry is no longer PLANNED by this process: the call must not be made.
        """
        ...

    async def finish(self, effect_id: str, state: EffectState, result_text: str) -> bool:
        """Record the outcome: SUCCEEDED, FAILED or UNKNOWN, with the envelope that a repeat returns.

        Returns:
            False when the entry is already settled; it stays as it is.
        """
        ...

    async def get(self, tenant: str, effect_id: str) -> LedgerEntry:
        """Return one entry.

        Raises:
            UnknownEffect: The tenant has no such entry.
        """
        ...

    async def list(self, tenant: str, query: EffectQuery) -> tuple[EffectRecord, ...]:
        """Return the tenant's effects that the query wants, newest first."""
        ...

    async def resolve(self, tenant: str, resolution: Resolution) -> EffectRecord:
        """Settle an UNKNOWN entry, or a STARTED one of another process, by the word of a person.

        Raises:
            UnknownEffect: The tenant has no such entry.
            EffectSettled: The outcome is known, or another decision came first.
        """
        ...


class SecretSource(Protocol):
    """Holds the secrets that contracts refer to by name."""

    async def secret(self, name: str) -> str | None:
        """Return the secret's value, or None when it is not configured."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """One attempt to make, checked and allowed."""

    contract: ToolContract
    arguments: dict[str, JsonValue]
    timeout_seconds: float
    """Total time for the attempt, connecting and reading included."""
    thought_id: str
    """Sent to the tool as `X-Request-ID`."""


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
