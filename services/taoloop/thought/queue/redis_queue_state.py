"""Reads how much is in the queue's streams, and which of the workers' names are of no use any more."""

from __future__ import annotations

from typing import Any, Final

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from taoloop.plan.task import Priority
from taoloop.thought.model import QueueState, StreamState
from taoloop.thought.queue.queue_keys import GROUP, QueueKeys
from taoloop.thought.queue.server_time import ServerTime

PENDING_COUNT: Final = 1_000


async def read_queue_state(client: Redis, keys: QueueKeys, time: ServerTime) -> QueueState:
    """Return how much is in the queue.

    What waits is the stream's length without what is leased: answered entries are deleted. The server's own lag is not
    computable once an entry was taken back while it waited.
    """
    streams = {priority: await _stream_state(client, keys.jobs(priority), time) for priority in Priority}
    return QueueState(streams=streams, dead=int(await client.xlen(keys.dead)))


async def _stream_state(client: Redis, key: str, time: ServerTime) -> StreamState:
    length = int(await client.xlen(key))
    leased, redelivered = await _pending(client, key)
    first: Any = await client.xrange(key, count=1)
    return StreamState(
        waiting=max(0, length - leased),
        leased=leased,
        oldest_seconds=time.age_seconds(first[0][0]) if first else 0.0,
        redelivered=redelivered,
    )


async def _pending(client: Redis, key: str) -> tuple[int, int]:
    """Return how many entries are leased, and how many of them for another time."""
    try:
        summary: Any = await client.xpending(key, GROUP)
        if not summary["pending"]:
            return 0, 0
        rows = await client.xpending_range(key, GROUP, min="-", max="+", count=PENDING_COUNT)
    except ResponseError as error:
        if "NOGROUP" not in str(error):
            raise
        return 0, 0
    return int(summary["pending"]), sum(int(row["times_delivered"]) > 1 for row in rows)


async def idle_consumers(client: Redis, keys: QueueKeys, forget_seconds: float) -> set[str]:
    """Return the names of consumers that hold nothing and were not heard of for so long."""
    names: set[str] = set()
    busy: set[str] = set()
    for priority in Priority:
        try:
            rows: Any = await client.xinfo_consumers(keys.jobs(priority), GROUP)
        except ResponseError as error:
            if "NOGROUP" not in str(error) and "no such key" not in str(error):
                raise
            continue
        for row in rows:
            is_idle = row["pending"] == 0 and row["idle"] / 1000 > forget_seconds
            (names if is_idle else busy).add(row["name"].decode())
    return names - busy
