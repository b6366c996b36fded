"""A warm memory whose store may be away when the process starts: it is opened by the first call that finds it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from datetime import datetime
from typing import Self

from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable
from taoloop.core.logs import EventLog
from taoloop.loop.memory.model import Forgotten, KnowledgeEntry, MemorySpace, SessionMemory
from taoloop.loop.memory.ports import WarmMemory

_log = EventLog(__name__)


class LateWarmMemory:
    """A `WarmMemory` in front of one that has to be opened. Use it as an asynchronous context manager.

    Args:
        opener: Opens the store.
    """

    def __init__(self, opener: Callable[[], AbstractAsyncContextManager[WarmMemory]]) -> None:
        self._opener = opener
        self._opening = asyncio.Lock()
        self._opened: WarmMemory | None = None
        self._stack = AsyncExitStack()

    def __repr__(self) -> str:
        return f"<LateWarmMemory {self._opened!r}>"

    async def __aenter__(self) -> Self:
        """Open the store if it answers.

        Raises:
            ConfigurationError: It can never be opened.
        """
        try:
            await self._store()
        except BackendUnavailable as error:
            _log.warning("warm_memory_absent_at_start", reason=error.reason)
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self._stack.aclose()

    async def load(self, space: MemorySpace, deadline: Deadline) -> SessionMemory | None:
        """See `HotMemory.load`."""
        return await (await self._store()).load(space, deadline)

    async def save(self, space: MemorySpace, memory: SessionMemory, expected: int, deadline: Deadline) -> bool:
        """See `HotMemory.save`."""
        return await (await self._store()).save(space, memory, expected, deadline)

    async def forget(self, space: MemorySpace, deadline: Deadline) -> Forgotten:
        """See `HotMemory.forget`."""
        return await (await self._store()).forget(space, deadline)

    async def keep(self, space: MemorySpace, entries: Sequence[KnowledgeEntry], deadline: Deadline) -> None:
        """See `WarmMemory.keep`."""
        await (await self._store()).keep(space, entries, deadline)

    async def known(self, space: MemorySpace, limit: int, deadline: Deadline) -> tuple[KnowledgeEntry, ...]:
        """See `WarmMemory.known`."""
        return await (await self._store()).known(space, limit, deadline)

    async def drop(self, space: MemorySpace, kind: str, name: str, deadline: Deadline) -> Forgotten:
        """See `WarmMemory.drop`."""
        return await (await self._store()).drop(space, kind, name, deadline)

    async def sweep(self, moment: datetime, deadline: Deadline) -> Forgotten:
        """See `WarmMemory.sweep`."""
        return await (await self._store()).sweep(moment, deadline)

    async def _store(self) -> WarmMemory:
        if self._opened is None:
            async with self._opening:
                if self._opened is None:
                    self._opened = await self._stack.enter_async_context(self._opener())
        return self._opened
