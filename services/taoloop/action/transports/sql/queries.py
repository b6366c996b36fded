"""One statement to run, and how far it came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Protocol

from taoloop.action.ports import TransportFault
from taoloop.action.transports.sql.rows import Rows
from taoloop.core.exact_json import JsonValue
from taoloop.core.faults import FaultCode
from taoloop.tools.contract import SqlTransport


class Stage(IntEnum):
    """How far a statement came."""

    WAITING = 0
    """For a place in the pool."""
    CONNECTING = 1
    RUNNING = 2
    """In a transaction that was not told to commit: whatever breaks now, the database rolls it back."""
    COMMITTING = 3
    """The commit was sent, and its answer has not come."""
    COMMITTED = 4


@dataclass(slots=True)
class Progress:
    """How far one attempt came."""

    stage: Stage = Stage.WAITING
    rows: Rows | None = None
    """The result, if it was committed before the attempt was given up."""

    def fault(self, code: FaultCode, message: str, *, is_retriable: bool = False, pointer: str = "") -> TransportFault:
        """Return the fault of an attempt that ended here; only a commit that was sent can have taken effect."""
        may_have_left = self.stage >= Stage.COMMITTING
        return TransportFault(code, message, may_have_left=may_have_left, is_retriable=is_retriable, pointer=pointer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A statement with its values.

    Attributes:
        transport: The contract's.
        names: The statement's parameters in the order of their first use.
        values: By name; a parameter without an argument is NULL.
    """

    transport: SqlTransport
    names: tuple[str, ...]
    values: Mapping[str, JsonValue] = field(repr=False)

    def rows(self, columns: tuple[str, ...]) -> Rows:
        """Return an empty result within the contract's limits.

        Raises:
            RowsRefused: The columns cannot be a result.
        """
        transport = self.transport
        return Rows(columns, max_rows=transport.max_rows, max_bytes=transport.max_bytes, mask=transport.mask)


class Database(Protocol):
    """Runs statements for one tool."""

    async def run(self, query: Query, progress: Progress) -> Rows:
        """Run one statement in a transaction of its own; cancelled, it ends in the database too.

        Raises:
            StatementFailed: The database refused the statement and surely rolled back.
            TransportFault: No whole result came.
            RowsRefused: The result breaks a limit of the contract; nothing was committed.
        """
        ...

    async def retire(self) -> None:
        """Close each connection when its statement has ended; nothing new is run."""
        ...

    async def aclose(self) -> None:
        """Close every connection."""
        ...

    @property
    def busy(self) -> int:
        """Connections that a call holds now."""
        ...

    @property
    def idle(self) -> int:
        """Connections that are kept for the next call."""
        ...
