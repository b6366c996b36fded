"""What stands on the board, and the store that keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from taoloop.core.deadlines import Deadline


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A tool that an operator has switched off.

    Attributes:
        tool: The tool's name.
        reason: The operator's words; may be empty.
        switched_by: Who it was; may be empty.
        switched_at: When, aware.
    """

    tool: str
    reason: str = ""
    switched_by: str = ""
    switched_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenBreaker:
    """A breaker that some replica has open.

    Attributes:
        tool: The tool's name.
        endpoint: Where the breaker stands, such as `https://orders.example:443`.
        retry_at: When it lets a probe pass, aware; the entry means nothing afterwards.
    """

    tool: str
    endpoint: str
    retry_at: datetime


@dataclass(frozen=True, slots=True)
class BoardContent:
    """Everything on the board at one moment."""

    switches: tuple[Switch, ...] = ()
    open_breakers: tuple[OpenBreaker, ...] = ()


class BoardStore(Protocol):
    """Keeps the board for all replicas.

    Every method raises `BackendUnavailable` when the store does not answer.
    """

    async def read(self, deadline: Deadline) -> BoardContent:
        """Return what stands on the board; breakers whose time is over are left out."""
        ...

    async def switch_off(self, switch: Switch, deadline: Deadline) -> None:
        """Switch a tool off for all replicas; it stays off until somebody switches it on."""
        ...

    async def switch_on(self, tool: str, deadline: Deadline) -> None:
        """Switch a tool on again; switching on what is on changes nothing."""
        ...

    async def publish(self, breakers: tuple[OpenBreaker, ...], deadline: Deadline) -> None:
        """Say which breakers this replica has open; what it said of the same ones before is replaced."""
        ...
