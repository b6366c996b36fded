"""Hot and warm memory in the process itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable
from taoloop.loop.memory.model import EntryKind, Forgotten, KnowledgeEntry, MemorySpace, SessionMemory


@dataclass(slots=True)
class _Kept:
    memory: SessionMemory
    expires_at: datetime


class InMemoryHotMemory:
    """A `HotMemory` that lives as long as the process. `is_down` makes every call fail, as an outage does.

    Args:
        clock: Tells what has expired.
        ttl_seconds: How long a session is kept.
    """

    def __init__(self, clock: Clock, ttl_seconds: float = 300.0) -> None:
        self.is_down = False
        self._clock = clock
        self._ttl = timedelta(seconds=ttl_seconds)
        self._sessions: dict[MemorySpace, _Kept] = {}

    def __repr__(self) -> str:
        return f"<{type(self).__name__} [{len(self._sessions)} sessions]>"

    async def load(self, space: MemorySpace, deadline: Deadline) -> SessionMemory | None:
        """See `HotMemory.load`."""
        self._check()
        kept = self._current(space)
        return None if kept is None else kept.memory

    async def save(self, space: MemorySpace, memory: SessionMemory, expected: int, deadline: Deadline) -> bool:
        """See `HotMemory.save`."""
        self._check()
        kept = self._current(space)
        if kept is not None and kept.memory.version > expected and kept.memory != memory:
            return False
        self._sessions[space] = _Kept(memory, self._clock.now() + self._ttl)
        return True

    async def forget(self, space: MemorySpace, deadline: Deadline) -> Forgotten:
        """See `HotMemory.forget`."""
        self._check()
        if space.session_id:
            mine = [space] if space in self._sessions else []
        else:
            mine = [known for known in self._sessions if space.user_id and replace(known, session_id="") == space]
        for known in mine:
            del self._sessions[known]
        return Forgotten(sessions=len(mine))

    def _current(self, space: MemorySpace) -> _Kept | None:
        kept = self._sessions.get(space)
        return kept if kept is not None and kept.expires_at > self._clock.now() else None

    def _check(self) -> None:
        if self.is_down:
            raise BackendUnavailable("The memory is away.", metadata={"backend": "memory"}, retry_after_seconds=1.0)


class InMemoryWarmMemory(InMemoryHotMemory):
    """A `WarmMemory` of the same kind.

    Args:
        clock: Tells what has expired.
        ttl_seconds: How long a session is kept.
    """

    def __init__(self, clock: Clock, ttl_seconds: float = 86_400.0) -> None:
        super().__init__(clock, ttl_seconds)
        self._entries: dict[tuple[MemorySpace, str, str], KnowledgeEntry] = {}
        self._sessions_of_runs: dict[tuple[MemorySpace, str, str], str] = {}

    async def forget(self, space: MemorySpace, deadline: Deadline) -> Forgotten:
        """See `HotMemory.forget`."""
        forgotten = await super().forget(space, deadline)
        owner = replace(space, session_id="")
        mine = [
            key
            for key in self._entries
            if key[0] == owner
            and (self._sessions_of_runs.get(key) == space.session_id if space.session_id else bool(space.user_id))
        ]
        for key in mine:
            del self._entries[key]
        return replace(forgotten, entries=len(mine))

    async def keep(self, space: MemorySpace, entries: Sequence[KnowledgeEntry], deadline: Deadline) -> None:
        """See `WarmMemory.keep`."""
        self._check()
        for entry in entries:
            owner = replace(space, user_id=entry.user_id, session_id="")
            if entry.kind is EntryKind.RUN:
                self._sessions_of_runs[owner, entry.kind.value, entry.name] = space.session_id
            self._entries[owner, entry.kind.value, entry.name] = replace(entry, updated_at=self._clock.now())

    async def known(self, space: MemorySpace, limit: int, deadline: Deadline) -> tuple[KnowledgeEntry, ...]:
        """See `WarmMemory.known`."""
        self._check()
        owners = {replace(space, session_id=""), replace(space, session_id="", user_id="")}
        now = self._clock.now()
        found = [
            entry
            for (owner, _, _), entry in self._entries.items()
            if owner in owners and (entry.expires_at is None or entry.expires_at > now)
        ]
        found.sort(key=lambda entry: (entry.updated_at is not None and entry.updated_at, entry.name), reverse=True)
        return tuple(found[:limit])

    async def drop(self, space: MemorySpace, kind: str, name: str, deadline: Deadline) -> Forgotten:
        """See `WarmMemory.drop`."""
        self._check()
        gone = self._entries.pop((replace(space, session_id=""), kind, name), None)
        return Forgotten(entries=int(gone is not None))

    async def sweep(self, moment: datetime, deadline: Deadline) -> Forgotten:
        """See `WarmMemory.sweep`."""
        self._check()
        sessions = [space for space, kept in self._sessions.items() if kept.expires_at <= moment]
        entries = [
            key for key, entry in self._entries.items() if entry.expires_at is not None and entry.expires_at <= moment
        ]
        for space in sessions:
            del self._sessions[space]
        for key in entries:
            del self._entries[key]
        return Forgotten(sessions=len(sessions), entries=len(entries))
