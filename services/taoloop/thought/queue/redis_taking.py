"""How a worker comes by entries of the queue's streams: waiting ones in order of priority, lapsed ones, lost ones."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from taoloop.core.deadlines import Deadline
from taoloop.plan.task import Priority
from taoloop.thought.queue.claim_replies import END, read_claimed
from taoloop.thought.queue.queue_access import QueueAccess
from taoloop.thought.queue.queue_keys import GROUP
from taoloop.thought.queue.queue_scripts import queue_script
from taoloop.thought.queue.server_time import ServerTime
from taoloop.wire.redis.redis_errors import LIBRARY_ERRORS
from taoloop.wire.redis.redis_replies import entries_by_stream, raw_entries
from taoloop.wire.redis.script_batch import run_script

T = TypeVar("T")

CLAIM_COUNT: Final = 100
"""Pending entries that one look goes over: what lapsed is far back only where hundreds of workers are at work."""
HANDED_BACK: Final = "handed-back"
"""The consumer that holds what workers gave back."""


@dataclass(frozen=True, slots=True)
class Taken:
    """An entry that was handed out.

    Attributes:
        priority: Whose stream it is in.
        entry_id: Its id there.
        fields: Its fields.
        deliveries: How often it was handed out, this time included: the server's own count.
    """

    priority: Priority
    entry_id: bytes
    fields: dict[bytes, bytes]
    deliveries: int = 1


class BackgroundShare:
    """How many of the next entries are the background's, so that it gets its share while both wait.

    Args:
        share: Of all that is handed out while both wait, 0 to 1.
    """

    def __init__(self, share: float) -> None:
        self._earned_by_one = share / (1.0 - share)
        self._earned = 0.0

    def due(self, count: int) -> int:
        """Return how many of `count` entries are the background's before any other."""
        return min(count, int(self._earned))

    def note(self, interactive: int, background: int) -> None:
        """Take into account what was handed out; what the background does not need is not saved up."""
        earned = self._earned + interactive * self._earned_by_one - background
        self._earned = min(max(0.0, earned), 1.0 + (interactive + background) * self._earned_by_one)


class RedisTaking:
    """Hands out entries to one consumer of the group.

    Args:
        access: The queue.
        consumer: The worker's name in the group, unique among the living.
        lease_seconds: After this long an entry that was neither answered nor renewed is anybody's.
        background: What the background is due.
        time: Learns the server's time.
    """

    def __init__(
        self, access: QueueAccess, consumer: str, lease_seconds: float, background: BackgroundShare, time: ServerTime
    ) -> None:
        self._link = access.link
        self._clock = access.clock
        self._keys = {priority: access.keys.jobs(priority) for priority in Priority}
        self._consumer = consumer
        self._lease_ms = int(lease_seconds * 1000)
        self._look_every_seconds = lease_seconds / 2
        self._background = background
        self._time = time
        self._look_at = access.clock.monotonic()
        self._claim_from = dict.fromkeys(Priority, END)
        self._may_be_more = True
        self._is_reply_lost = False
        self.deleted = 0
        """Entries that were pending and deleted by somebody else, so far."""

    async def take(
        self, count: int, wait_seconds: float, held: Iterable[tuple[Priority, str]], deadline: Deadline
    ) -> list[Taken]:
        """Return up to `count` entries; see `JobSource.take`.

        Args:
            count: Most entries.
            wait_seconds: How long to wait for one.
            held: What this worker has in hand already.
            deadline: Of the whole, outages included.
        """
        if self._is_reply_lost:
            lost = await self._run(lambda client: self._unheld(client, count, frozenset(held)), deadline)
            if lost:
                return lost
        if self._clock.monotonic() >= self._look_at:
            lapsed = await self._run(lambda client: self._lapsed(client, count), deadline)
            if lapsed:
                return lapsed
        if self._may_be_more:
            waiting = await self._run(lambda client: self._waiting(client, count), deadline)
            if waiting:
                return waiting
        return await self._run(lambda client: self._next(client, count, wait_seconds), deadline)

    async def _run(self, operation: Callable[[Redis], Awaitable[T]], deadline: Deadline) -> T:
        async def noted(client: Redis) -> T:
            try:
                return await operation(client)
            except LIBRARY_ERRORS:
                # What the server handed out in a reply that never came is leased to this worker, who does not know it.
                self._is_reply_lost = True
                raise

        return await self._link.run(noted, deadline)

    async def _waiting(self, client: Redis, count: int) -> list[Taken]:
        """Hand out what waits, by one script."""
        due = self._background.due(count)
        streams = (self._keys[Priority.INTERACTIVE], self._keys[Priority.BACKGROUND])
        asked_at = self._clock.monotonic()
        reply = await run_script(client, queue_script("take"), streams, (GROUP, self._consumer, count, due))
        self._time.note(int(reply[0]), int(reply[1]), asked_at)
        taken = [Taken(Priority.INTERACTIVE, *entry) for entry in raw_entries(reply[2])]
        taken += [Taken(Priority.BACKGROUND, *entry) for entry in raw_entries(reply[3])]
        if reply[4]:
            await self._make_groups(client, ResponseError(reply[4].decode(errors="replace")))
        self._note(taken, may_be_more=len(taken) >= count or bool(reply[4]))
        return taken

    async def _next(self, client: Redis, count: int, wait_seconds: float) -> list[Taken]:
        """Wait for entries of either priority; what comes at once in both streams beyond `count` is given back."""
        streams: dict[Any, Any] = dict.fromkeys(self._keys.values(), ">")
        block_ms = max(1, int(wait_seconds * 1000))
        try:
            reply = await client.xreadgroup(GROUP, self._consumer, streams, count=count, block=block_ms)
        except ResponseError as error:
            await self._make_groups(client, error)
            self._may_be_more = True
            return []
        found = entries_by_stream(reply)
        taken = [
            Taken(priority, *entry) for priority, key in self._keys.items() for entry in found.get(key.encode(), ())
        ]
        # The server counts by stream.
        taken, beyond = taken[:count], taken[count:]
        if beyond:
            await self._give_back(client, beyond)
        self._note(taken, may_be_more=len(taken) >= count)
        return taken

    async def _give_back(self, client: Redis, beyond: list[Taken]) -> None:
        keys = [self._keys[entry.priority] for entry in beyond]
        entries = [entry.entry_id for entry in beyond]
        await run_script(client, queue_script("hand_back"), keys, (GROUP, self._consumer, HANDED_BACK, *entries))
        self._look_at = self._clock.monotonic()

    def _note(self, taken: list[Taken], *, may_be_more: bool) -> None:
        background = sum(entry.priority is Priority.BACKGROUND for entry in taken)
        self._background.note(len(taken) - background, background)
        self._may_be_more = may_be_more

    async def _lapsed(self, client: Redis, count: int) -> list[Taken]:
        """Take over entries whose lease has lapsed; the position goes round the pending list."""
        taken: list[Taken] = []
        for priority, key in self._keys.items():
            wanted = min(CLAIM_COUNT, count - len(taken))
            if wanted <= 0:
                return taken
            try:
                reply: Any = await client.xautoclaim(
                    key, GROUP, self._consumer, self._lease_ms, start_id=self._claim_from[priority], count=wanted
                )
            except ResponseError as error:
                await self._make_groups(client, error)
                continue
            claimed = read_claimed(reply)
            self._claim_from[priority] = claimed.next_id
            self.deleted += len(claimed.deleted) + claimed.nameless
            if claimed.nameless:
                await self._bury(client, key)
            taken += [await self._counted(client, priority, *entry) for entry in claimed.entries]
        if not taken and all(position == END for position in self._claim_from.values()):
            self._look_at = self._clock.monotonic() + self._look_every_seconds
        return taken

    async def _counted(self, client: Redis, priority: Priority, entry_id: bytes, fields: dict[bytes, bytes]) -> Taken:
        """Return a claimed entry with the server's count of its deliveries, which survives a worker's death."""
        rows = await client.xpending_range(self._keys[priority], GROUP, min=entry_id, max=entry_id, count=1)
        return Taken(priority, entry_id, fields, int(rows[0]["times_delivered"]) if rows else 1)

    async def _bury(self, client: Redis, key: str) -> None:
        """Acknowledge what is pending here and deleted: before Redis 7 a claim does not name it, and leaves it."""
        for row in await client.xpending_range(
            key, GROUP, min="-", max="+", count=CLAIM_COUNT, consumername=self._consumer
        ):
            entry_id = row["message_id"]
            if not await client.xrange(key, min=entry_id, max=entry_id):
                await client.xack(key, GROUP, entry_id)

    async def _unheld(self, client: Redis, count: int, held: frozenset[tuple[Priority, str]]) -> list[Taken]:
        """Return entries that are leased to this worker by replies that never came."""
        taken: list[Taken] = []
        for priority, key in self._keys.items():
            try:
                rows: Any = await client.xpending_range(
                    key, GROUP, min="-", max="+", count=CLAIM_COUNT, consumername=self._consumer
                )
            except ResponseError as error:
                await self._make_groups(client, error)
                continue
            pending: list[bytes] = [row["message_id"] for row in rows]
            missed = [entry_id for entry_id in pending if (priority, entry_id.decode()) not in held]
            for entry_id in missed[: count - len(taken)]:
                claimed: Any = await client.xclaim(key, GROUP, self._consumer, 0, [entry_id])
                taken += [await self._counted(client, priority, *entry) for entry in claimed if entry[0] is not None]
        self._is_reply_lost = bool(taken)
        return taken

    async def _make_groups(self, client: Redis, error: ResponseError) -> None:
        """Make groups that are lost, or were never made, at 0: nothing is skipped.

        Raises:
            ResponseError: The error says something else.
        """
        if "NOGROUP" not in str(error) and "no longer exists" not in str(error):
            raise error
        for key in self._keys.values():
            try:
                await client.xgroup_create(key, GROUP, id="0", mkstream=True)
            except ResponseError as known:
                if "BUSYGROUP" not in str(known):
                    raise
