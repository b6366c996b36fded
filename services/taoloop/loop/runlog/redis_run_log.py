"""The run log on Redis Streams: one stream a run, the sequence number is the entry's id."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Final

from redis.asyncio import Redis

from taoloop.core.deadlines import Deadline
from taoloop.core.errors import RequestIdReused, RunConflict, UnknownRun
from taoloop.loop.ports import NewRun
from taoloop.plan.running import RunEvent
from taoloop.wire.redis.redis_link import RedisLink
from taoloop.wire.redis.redis_replies import stream_entries

FOLLOW_BLOCK_SECONDS: Final = 1.0
READ_COUNT: Final = 256
# A follower asks for a run that is created and has no event yet; its first event comes at once or never.
FIRST_EVENT_SECONDS: Final = 2.0


@dataclass(frozen=True, slots=True)
class EventCodec:
    """How an event becomes bytes and back; the bytes of equal events are equal."""

    encode: Callable[[RunEvent], bytes]
    decode: Callable[[bytes], RunEvent]


class RedisRunLog:
    """A `RunLog` on one Redis or Valkey.

    Durability is the server's: with AOF and `appendfsync everysec` a crash of the server may lose the last second.

    Args:
        link: The connection.
        codec: Event to bytes and back.
        prefix: What every key starts with.
        retention_seconds: How long a run is kept after its last event.
    """

    def __init__(self, link: RedisLink, codec: EventCodec, prefix: str, retention_seconds: float) -> None:
        self._link = link
        self._codec = codec
        self._prefix = prefix
        self._retention_ms = int(retention_seconds * 1000)
        self._append = link.client.register_script(_script("append_event"))
        self._create = link.client.register_script(_script("create_run"))

    def __repr__(self) -> str:
        return f"<RedisRunLog {self._prefix} on {self._link!r}>"

    async def create(self, run: NewRun, deadline: Deadline) -> str:
        """See `RunLog.create`."""
        keys = [f"{self._tenant_key(run.tenant)}:request:{run.request_id}", f"{self._tenant_key(run.tenant)}:runs"]
        arguments: list[bytes | str | int] = [
            run.run_id,
            run.task_digest,
            int(run.created_at.timestamp() * 1000),
            self._retention_ms,
        ]
        reply = await self._link.run(lambda _: self._create(keys=keys, args=arguments), deadline)
        known = _text(reply)
        if known == "reused":
            raise RequestIdReused.of(run.request_id)
        return known

    async def append(self, tenant: str, event: RunEvent, deadline: Deadline) -> None:
        """See `RunLog.append`."""
        arguments: list[bytes | str | int] = [
            event.sequence,
            event.host_epoch,
            self._codec.encode(event),
            self._retention_ms,
        ]
        keys = [self._stream_key(tenant, event.run_id), self._head_key(tenant, event.run_id)]
        reply = _text(await self._link.run(lambda _: self._append(keys=keys, args=arguments), deadline))
        if reply in ("conflict", "stale"):
            raise RunConflict(
                f"Event {event.sequence} of run {event.run_id} was not written: {reply}.",
                metadata={"run_id": event.run_id, "sequence": str(event.sequence), "cause": reply},
            )

    async def read(self, tenant: str, run_id: str, from_sequence: int, deadline: Deadline) -> tuple[RunEvent, ...]:
        """See `RunLog.read`."""
        key, first = self._stream_key(tenant, run_id), max(1, from_sequence)
        entries: Any = await self._link.run(lambda client: client.xrange(key, min=f"{first}-0"), deadline)
        if not entries and not await self._link.run(lambda client: client.exists(key), deadline):
            raise UnknownRun.of(run_id)
        return tuple(self._codec.decode(fields[b"event"]) for _, fields in entries)

    async def follow(
        self, tenant: str, run_id: str, from_sequence: int, deadline: Deadline
    ) -> AsyncGenerator[RunEvent]:
        """See `RunLog.follow`."""
        key, last = self._stream_key(tenant, run_id), max(0, from_sequence - 1)
        first_by = deadline.shortened(FIRST_EVENT_SECONDS)
        while not deadline.is_expired:
            block_ms = max(1, int(deadline.bounded(FOLLOW_BLOCK_SECONDS) * 1000))
            for event in await self._read_on(key, last, block_ms, deadline):
                last = event.sequence
                yield event
            if last < from_sequence and first_by.is_expired and not await self._exists(key, deadline):
                raise UnknownRun.of(run_id)

    async def list_runs(self, tenant: str, limit: int, before: str, deadline: Deadline) -> tuple[str, ...]:
        """See `RunLog.list_runs`."""
        key = f"{self._tenant_key(tenant)}:runs"

        async def page(client: Redis) -> Any:
            rank: Any = await client.zrevrank(key, before) if before else -1
            start = 0 if rank is None else int(rank) + 1
            return await client.zrevrange(key, start, start + limit - 1)

        return tuple(_text(member) for member in await self._link.run(page, deadline))

    async def is_ready(self) -> bool:
        """See `RunLog.is_ready`."""
        return await self._link.is_alive()

    async def _read_on(self, key: str, last: int, block_ms: int, deadline: Deadline) -> tuple[RunEvent, ...]:
        reply: Any = await self._link.run(
            lambda client: client.xread({key: f"{last}-0"}, count=READ_COUNT, block=block_ms), deadline
        )
        return tuple(self._codec.decode(fields[b"event"]) for _, fields in stream_entries(reply))

    async def _exists(self, key: str, deadline: Deadline) -> bool:
        return bool(await self._link.run(lambda client: client.exists(key), deadline))

    def _tenant_key(self, tenant: str) -> str:
        return f"{self._prefix}:{{tenant:{tenant}}}"

    # Braces make the stream and its head share a slot, so that one script may touch both in a cluster.
    def _stream_key(self, tenant: str, run_id: str) -> str:
        return f"{self._prefix}:{{run:{tenant}:{run_id}}}:events"

    def _head_key(self, tenant: str, run_id: str) -> str:
        return f"{self._prefix}:{{run:{tenant}:{run_id}}}:head"


def _script(name: str) -> str:
    return files("taoloop.loop.runlog").joinpath("scripts", f"{name}.lua").read_text(encoding="utf-8")


def _text(reply: Any) -> str:
    return reply.decode() if isinstance(reply, bytes) else str(reply)
