"""What is left in the server once nobody asks any more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from pydantic import SecretStr
from redis.asyncio import Redis

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.settings import RedisSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.task import Priority
from taoloop.thought.queue.queue_keys import QueueKeys
from taoloop.wire.redis.redis_link import RedisLink, redis_link

SETTLING_SECONDS: Final = 60.0
POLL_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What is left.

    Attributes:
        entries: Jobs in the streams of both priorities.
        pending: Of them, those that the group counts as handed out.
        accounts: Tenants that still have something in the queue.
        deathless: Other keys that never expire.
        dead: Dead letters.
        accepted: Entries that were ever added to the streams.
    """

    entries: int
    pending: int
    accounts: int
    deathless: tuple[str, ...]
    dead: int
    accepted: int

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left to do."""
        return not (self.entries or self.pending or self.accounts)


async def settled(url: str, prefix: str) -> Leftovers:
    """Return what is left once the queue is empty, or does not become so in a minute."""
    telemetry, clock = Telemetry.build(TelemetrySettings(), "chaos"), SystemClock()
    settings = RedisSettings(url=SecretStr(url), outage_tolerance_seconds=30.0)
    last = clock.monotonic() + SETTLING_SECONDS
    async with redis_link(settings, telemetry) as link:
        while True:
            left = await _looked_at(link, QueueKeys(prefix), Deadline.after(30.0, clock))
            if left.is_empty or clock.monotonic() > last:
                return left
            await clock.sleep(POLL_SECONDS)


async def _looked_at(link: RedisLink, keys: QueueKeys, deadline: Deadline) -> Leftovers:
    return await link.run(lambda client: _read(client, keys), deadline)


async def _read(client: Redis, keys: QueueKeys) -> Leftovers:
    streams = [keys.jobs(priority) for priority in Priority]
    entries = pending = accepted = 0
    for stream in streams:
        if not await client.exists(stream):
            continue
        entries += await client.xlen(stream)
        accepted += int((await client.xinfo_stream(stream))["entries-added"])
        pending += sum(int(group["pending"]) for group in await client.xinfo_groups(stream))
    expected = {*streams, keys.dead}
    accounts, deathless = 0, []
    async for key in client.scan_iter(match=f"{keys.prefix}:*", count=1000):
        name = key.decode()
        if name.startswith(keys.tenant("")):
            accounts += 1
        elif name not in expected and await client.ttl(key) == -1:
            deathless.append(name)
    return Leftovers(entries, pending, accounts, tuple(deathless), await client.xlen(keys.dead), accepted)
