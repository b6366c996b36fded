"""The board in Redis: a hash of switches, and a hash of open breakers in which every replica has its own fields."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from redis.asyncio import Redis

from taoloop.action.board.model import BoardContent, OpenBreaker, Switch
from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.exact_json import JsonSyntaxError, dumps, loads
from taoloop.core.logs import EventLog
from taoloop.wire.redis.redis_link import RedisLink

# The hash outlives the longest sensible breaker; each entry has its own time, so that this only clears up.
OPEN_LIFE_SECONDS: Final = 3600
_SEPARATOR: Final = "\x1f"

_log = EventLog(__name__)


class RedisBoardStore:
    """A `BoardStore` on one Redis or Valkey.

    Args:
        link: The connection.
        prefix: What every key starts with.
        replica: This process's name among the replicas.
        clock: Tells which entries are over.
    """

    def __init__(self, link: RedisLink, prefix: str, replica: str, clock: Clock) -> None:
        self._link = link
        self._switches = f"{prefix}:{{action}}:switches"
        self._open = f"{prefix}:{{action}}:open"
        self._replica = replica
        self._clock = clock

    def __repr__(self) -> str:
        return f"<RedisBoardStore {self._switches} on {self._link!r}>"

    async def read(self, deadline: Deadline) -> BoardContent:
        """See `BoardStore.read`."""

        async def both(client: Redis) -> list[Any]:
            pipeline = client.pipeline(transaction=False)
            pipeline.hgetall(self._switches)
            pipeline.hgetall(self._open)
            return list(await pipeline.execute())

        switches, breakers = await self._link.run(both, deadline)
        now = self._clock.now()
        found = (_breaker(field, value) for field, value in breakers.items())
        return BoardContent(
            tuple(_switch(name, value) for name, value in switches.items()),
            tuple(breaker for breaker in found if breaker is not None and breaker.retry_at > now),
        )

    async def switch_off(self, switch: Switch, deadline: Deadline) -> None:
        """See `BoardStore.switch_off`."""
        at = switch.switched_at.isoformat() if switch.switched_at is not None else ""
        text = dumps({"reason": switch.reason, "by": switch.switched_by, "at": at})
        await self._link.run(lambda client: client.hset(self._switches, switch.tool, text), deadline)

    async def switch_on(self, tool: str, deadline: Deadline) -> None:
        """See `BoardStore.switch_on`."""
        await self._link.run(lambda client: client.hdel(self._switches, tool), deadline)

    async def publish(self, breakers: tuple[OpenBreaker, ...], deadline: Deadline) -> None:
        """See `BoardStore.publish`."""
        fields: dict[Any, Any] = {self._field(breaker): str(breaker.retry_at.timestamp()) for breaker in breakers}

        async def replace(client: Redis) -> None:
            names: Any = await client.hkeys(self._open)
            own = [name for name in names if self._is_own(name)]
            pipeline = client.pipeline(transaction=True)
            if own:
                pipeline.hdel(self._open, *own)
            if fields:
                pipeline.hset(self._open, mapping=fields)
            pipeline.expire(self._open, OPEN_LIFE_SECONDS)
            await pipeline.execute()

        await self._link.run(replace, deadline)

    def _field(self, breaker: OpenBreaker) -> str:
        return _SEPARATOR.join((self._replica, breaker.tool, breaker.endpoint))

    def _is_own(self, name: bytes) -> bool:
        return name.startswith(f"{self._replica}{_SEPARATOR}".encode())


def _switch(name: bytes, value: bytes) -> Switch:
    """Return a switch; one whose details cannot be read still switches its tool off."""
    tool = name.decode(errors="replace")
    try:
        details = loads(value)
    except JsonSyntaxError:
        details = None
    if not isinstance(details, Mapping):
        _log.error("switch_unreadable", tool=tool)
        return Switch(tool=tool)
    return Switch(
        tool=tool,
        reason=str(details.get("reason", "")),
        switched_by=str(details.get("by", "")),
        switched_at=_moment(str(details.get("at", ""))),
    )


def _breaker(field: bytes, value: bytes) -> OpenBreaker | None:
    """Return a published breaker; None for what cannot be read, since it is advice only."""
    parts = field.decode(errors="replace").split(_SEPARATOR)
    try:
        retry_at = datetime.fromtimestamp(float(value), UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return OpenBreaker(tool=parts[1], endpoint=parts[2], retry_at=retry_at) if len(parts) == 3 else None


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None
