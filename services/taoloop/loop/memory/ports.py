"""What memory needs of the world: two stores, and somebody who summarises."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from taoloop.core.deadlines import Deadline
from taoloop.loop.memory.model import Forgotten, KnowledgeEntry, MemorySpace, RememberedTurn, SessionMemory


class HotMemory(Protocol):
    """Sessions for the minutes in which they are active. Every call may be repeated."""

    async def load(self, space: MemorySpace, deadline: Deadline) -> SessionMemory | None:
        """Return what is remembered of the space's session; None for nothing, also for what cannot be read.

        Raises:
            BackendUnavailable: The store does not answer in time.
        """
        ...

    async def save(self, space: MemorySpace, memory: SessionMemory, expected: int, deadline: Deadline) -> bool:
        """Remember a session for as long as the store keeps one, unless it knows a newer one than expected.

        Args:
            space: The session.
            memory: What is remembered; its version is above the expected one.
            expected: The version that this one follows.
            deadline: When the caller stops waiting.

        Returns:
            Whether it was written. False: somebody else wrote since; load, and do it again.

        Raises:
            BackendUnavailable: The store does not answer in time.
        """
        ...

    async def forget(self, space: MemorySpace, deadline: Deadline) -> Forgotten:
        """Delete the space's session, or, where it names none, every session of its user.

        Raises:
            BackendUnavailable: The store does not answer in time.
        """
        ...


class WarmMemory(HotMemory, Protocol):
    """The same for a day, and knowledge beside it: what is known of a session's runs is forgotten with the session."""

    async def keep(self, space: MemorySpace, entries: Sequence[KnowledgeEntry], deadline: Deadline) -> None:
        """Write entries, each in the place of the one of its kind, name and user in the space's line of business.

        Raises:
            BackendUnavailable: The store does not answer in time.
        """
        ...

    async def known(self, space: MemorySpace, limit: int, deadline: Deadline) -> tuple[KnowledgeEntry, ...]:
        """Return what the space's user may be told: entries of the line of business, and the user's own, newest first.

        Args:
            space: The tenant, line of business and user; the session does not matter.
            limit: At most this many.
            deadline: When the caller stops waiting.

        Raises:
            BackendUnavailable: The store does not answer in time.
        """
        ...

    async def drop(self, space: MemorySpace, kind: str, name: str, deadline: Deadline) -> Forgotten:
        """Delete one entry of exactly the space's user, or of the line of business where it names none.

        Raises:
            BackendUnavailable: The store does not answer in time.
        """
        ...

    async def sweep(self, moment: datetime, deadline: Deadline) -> Forgotten:
        """Delete some of what had expired at a moment, of every tenant; nothing deleted means that nothing is left.

        Raises:
            BackendUnavailable: The store does not answer in time.
        """
        ...


class Summariser(Protocol):
    """Summarises turns."""

    async def summarise(self, turns: Sequence[RememberedTurn], max_tokens: int, deadline: Deadline) -> str:
        """Return a summary in the turns' language; it may be longer than wanted, and the caller cuts it.

        Raises:
            ModelFailed: There is none.
        """
        ...
