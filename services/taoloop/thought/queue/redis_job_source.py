"""The worker's side of the thought queue on Redis Streams."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.thought.model import Lease, ThinkFailure, ThinkReply
from taoloop.thought.queue.job_codec import JobCodec, UnreadableEntry
from taoloop.thought.queue.queue_keys import QueueKeys
from taoloop.thought.queue.redis_job_queue import script
from taoloop.wire.redis.redis_link import RedisLink
from taoloop.wire.redis.redis_replies import stream_entries

T = TypeVar("T")

GROUP: Final = "thinkers"
REPLY_LIFE_SECONDS: Final = 300.0
MAX_DEAD_LETTERS: Final = 10_000


@dataclass(frozen=True, slots=True)
class Patience:
    """How long one operation on the queue may take, outages included."""

    seconds: float
    clock: Clock

    def deadline(self) -> Deadline:
        """Return the deadline of an operation that begins now."""
        return Deadline.after(self.seconds, self.clock)


class RedisJobSource:
    """A `JobSource` on one Redis or Valkey.

    Args:
        link: The connection.
        codec: Jobs and replies to bytes and back.
        keys: Names of the keys.
        consumer: This worker's name in the group, unique among the living.
        lease_seconds: After this long an entry that was not answered goes to somebody else.
        patience: How long one operation may take.
    """

    def __init__(
        self,
        link: RedisLink,
        codec: JobCodec,
        keys: QueueKeys,
        *,
        consumer: str,
        lease_seconds: float,
        patience: Patience,
    ) -> None:
        self._link = link
        self._codec = codec
        self._keys = keys
        self._consumer = consumer
        self._lease_ms = int(lease_seconds * 1000)
        self._patience = patience
        self._answer = link.client.register_script(script("answer"))
        self._set_aside = link.client.register_script(script("set_aside"))
        self._claim_from: Any = b"0-0"

    def __repr__(self) -> str:
        return f"<RedisJobSource {self._consumer} of {GROUP} on {self._keys.jobs}>"

    async def take(self, count: int, wait_seconds: float) -> Sequence[Lease]:
        """See `JobSource.take`."""
        lapsed = await self._run(lambda client: self._claim(client, count))
        if lapsed:
            return lapsed
        return await self._run(lambda client: self._read(client, count, wait_seconds))

    async def answer(self, lease: Lease, reply: ThinkReply) -> None:
        """See `JobSource.answer`."""
        if lease.job is None:
            raise ValueError("an entry that cannot be read has no answer")
        job_id = lease.job.job_id
        keys = [self._keys.jobs, self._keys.note(job_id), self._keys.reply(job_id)]
        life_ms = int(REPLY_LIFE_SECONDS * 1000)
        arguments: list[bytes | str | int] = [
            GROUP,
            lease.entry_id,
            job_id,
            self._codec.reply(reply),
            life_ms,
            self._keys.fronts,
        ]
        await self._run(lambda _: self._answer(keys=keys, args=arguments))

    async def set_aside(self, lease: Lease, cause: str, failure: ThinkFailure) -> None:
        """See `JobSource.set_aside`."""
        job_id = lease.job.job_id if lease.job is not None else ""
        keys = [self._keys.jobs, self._keys.dead, self._keys.note(job_id), self._keys.reply(job_id)]
        reply = self._codec.reply(ThinkReply(failure))
        arguments: list[bytes | str | int] = [GROUP, lease.entry_id, cause, lease.deliveries, MAX_DEAD_LETTERS]
        arguments += [job_id, reply, int(REPLY_LIFE_SECONDS * 1000), self._keys.fronts]
        await self._run(lambda _: self._set_aside(keys=keys, args=arguments))

    async def length(self) -> int:
        """See `JobSource.length`."""
        return int(await self._run(lambda client: client.xlen(self._keys.jobs)))

    async def is_ready(self) -> bool:
        """See `JobSource.is_ready`."""
        return await self._link.is_alive()

    async def _run(self, operation: Callable[[Redis], Awaitable[T]]) -> T:
        return await self._link.run(operation, self._patience.deadline())

    async def _claim(self, client: Redis, count: int) -> list[Lease]:
        """Take over entries whose lease has lapsed; the position goes round the pending list."""
        reply = await self._with_group(
            client,
            lambda: client.xautoclaim(
                self._keys.jobs, GROUP, self._consumer, self._lease_ms, start_id=self._claim_from, count=count
            ),
        )
        self._claim_from, entries = reply[0], reply[1]
        # Before Redis 7 an entry that was deleted while pending comes back as nil.
        living = [(entry_id, fields) for entry_id, fields in entries if fields]
        return [await self._lease(client, entry_id, fields, claimed=True) for entry_id, fields in living]

    async def _read(self, client: Redis, count: int, wait_seconds: float) -> list[Lease]:
        reply = await self._with_group(
            client,
            lambda: client.xreadgroup(
                GROUP, self._consumer, {self._keys.jobs: ">"}, count=count, block=max(1, int(wait_seconds * 1000))
            ),
        )
        return [
            await self._lease(client, entry_id, fields, claimed=False) for entry_id, fields in stream_entries(reply)
        ]

    async def _with_group(self, client: Redis, command: Any) -> Any:
        """Run a command of the group; a group that is lost, or was never made, is made at 0: nothing is skipped."""
        try:
            return await command()
        except ResponseError as error:
            if "NOGROUP" not in str(error):
                raise
        try:
            await client.xgroup_create(self._keys.jobs, GROUP, id="0", mkstream=True)
        except ResponseError as error:
            if "BUSYGROUP" not in str(error):
                raise
        return await command()

    async def _lease(self, client: Redis, entry_id: bytes, fields: dict[bytes, bytes], *, claimed: bool) -> Lease:
        deliveries = await self._deliveries(client, entry_id) if claimed else 1
        try:
            job, fault = self._codec.job(fields), ""
        except UnreadableEntry as error:
            job, fault = None, str(error)
        return Lease(
            entry_id=entry_id.decode(),
            job=job,
            waited_seconds=self._waited_seconds(entry_id),
            deliveries=deliveries,
            fault=fault,
        )

    def _waited_seconds(self, entry_id: bytes) -> float:
        """Return how long an entry waited: its id begins with the server's time in milliseconds."""
        added = int(entry_id.partition(b"-")[0]) / 1000
        return max(0.0, self._patience.clock.now().timestamp() - added)

    async def _deliveries(self, client: Redis, entry_id: bytes) -> int:
        """Return how often an entry was handed out: the server's own count, which survives a worker's death."""
        rows = await client.xpending_range(self._keys.jobs, GROUP, min=entry_id, max=entry_id, count=1)
        return int(rows[0]["times_delivered"]) if rows else 1
