"""Hot memory on Redis: a hash for each session, which the server itself forgets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib.resources import files
from typing import Any, Final, TypeVar

from redis.asyncio import Redis

from taoloop.core.deadlines import Deadline
from taoloop.loop.memory.model import Forgotten, MemorySpace, SessionMemory, key_part
from taoloop.loop.memory.session_form import read, written
from taoloop.wire.redis.redis_errors import refusals_told
from taoloop.wire.redis.redis_link import RedisLink

T = TypeVar("T")

_FORGET_AT_ONCE: Final = 500
"""Sessions that one command deletes at most."""


class RedisHotMemory:
    """A `HotMemory` on one Redis or Valkey, with the server's clock.

    Args:
        link: The connection.
        prefix: What every key starts with.
        ttl_seconds: How long a session is kept after it was last written.
    """

    def __init__(self, link: RedisLink, prefix: str, ttl_seconds: float) -> None:
        self._link = link
        self._prefix = f"{prefix}:memory"
        self._ttl_ms = int(ttl_seconds * 1000)
        script = files("taoloop.loop.memory").joinpath("scripts/save_session.lua").read_text(encoding="utf-8")
        self._save = link.client.register_script(script)

    def __repr__(self) -> str:
        return f"<RedisHotMemory {self._prefix} for {self._ttl_ms / 1000:g} s on {self._link!r}>"

    async def load(self, space: MemorySpace, deadline: Deadline) -> SessionMemory | None:
        """See `HotMemory.load`."""
        key = self._session_key(space)
        text: Any = await self._run(lambda client: _awaited(client.hget(key, "text")), deadline)
        return None if text is None else read(text)

    async def save(self, space: MemorySpace, memory: SessionMemory, expected: int, deadline: Deadline) -> bool:
        """See `HotMemory.save`."""
        keys = [self._session_key(space), *([self._user_key(space)] if space.user_id else [])]
        arguments: list[bytes | str | int] = [
            expected,
            memory.version,
            written(memory),
            self._ttl_ms,
            key_part(space.session_id),
        ]
        reply: Any = await self._run(lambda _: self._save(keys=keys, args=arguments), deadline)
        return int(reply) == 1

    async def forget(self, space: MemorySpace, deadline: Deadline) -> Forgotten:
        """See `HotMemory.forget`."""
        names = [key_part(space.session_id)] if space.session_id else await self._names(space, deadline)
        deleted = 0
        for first in range(0, len(names), _FORGET_AT_ONCE):
            deleted += await self._delete(space, names[first : first + _FORGET_AT_ONCE], deadline)
        return Forgotten(sessions=deleted)

    async def _names(self, space: MemorySpace, deadline: Deadline) -> list[str]:
        """Return the sessions of a user; of nobody, whose sessions have nothing in common, none."""
        if not space.user_id:
            return []
        members: Any = await self._run(lambda client: client.zrange(self._user_key(space), 0, -1), deadline)
        return [member.decode() for member in members]

    async def _delete(self, space: MemorySpace, names: list[str], deadline: Deadline) -> int:
        keys = [f"{self._base(space, name)}:session:{name}" for name in names]

        async def delete(client: Redis) -> int:
            pipeline = client.pipeline(transaction=False)
            pipeline.delete(*keys)
            if space.user_id:
                pipeline.zrem(self._user_key(space), *names)
            replies: Any = await pipeline.execute()
            return int(replies[0])

        return await self._run(delete, deadline)

    async def _run(self, operation: Callable[[Redis], Awaitable[T]], deadline: Deadline) -> T:
        """Run an operation; a server that refuses it is away like a silent one."""
        with refusals_told():
            return await self._link.run(operation, deadline)

    def _base(self, space: MemorySpace, session: str) -> str:
        """Return what a session's key begins with; a user's share a slot of a cluster, and nobody's spread."""
        owner = (space.user_id, "") if space.user_id else ("", session)
        parts = (space.tenant, space.business_line, *owner)
        return f"{self._prefix}:{{{':'.join(map(key_part, parts))}}}"

    def _session_key(self, space: MemorySpace) -> str:
        session = key_part(space.session_id)
        return f"{self._base(space, session)}:session:{session}"

    def _user_key(self, space: MemorySpace) -> str:
        return f"{self._base(space, '')}:sessions"


async def _awaited(reply: Any) -> Any:
    """Await what the library's types say may come at once."""
    return await reply
