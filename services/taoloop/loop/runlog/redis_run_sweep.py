"""Finds what logs of runs left behind on Redis that nobody will read again, and removes it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from redis.asyncio import Redis

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.loop.ports import RunKey
from taoloop.loop.runlog.redis_leases import lease_name
from taoloop.loop.runlog.retention import Retention
from taoloop.loop.runlog.run_keys import RunKeys
from taoloop.plan.task import Outcome
from taoloop.wire.redis.redis_errors import LIBRARY_ERRORS, unavailable
from taoloop.wire.redis.redis_link import RedisLink

BATCH: Final = 500
STEP_SECONDS: Final = 30.0
"""How long one batch may take."""
YOUNG_SECONDS: Final = 300.0
"""A run that was entered no longer ago may be without an event yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Swept:
    """What a sweep removed or set right, or would."""

    tenants: int = 0
    """Tenants whose lists were looked at."""
    listed: int = 0
    """Entries of lists whose log is gone."""
    contents: int = 0
    """Positions and contents of large events whose log is gone."""
    adopted: int = 0
    """Open runs that no host had a lease of, for example after the store lost some; a host takes them over now."""
    without_expiry: int = 0
    """Logs that would have been kept for ever; they are kept as long as an open run from now on."""


class RedisRunSweep:
    """Sweeps the logs of all tenants. The services may run meanwhile.

    Args:
        link: The connection.
        prefix: What all keys start with.
        retention: How long runs are kept.
        clock: Tells how old an entry is.
        is_dry: Whether nothing is changed.
    """

    def __init__(self, link: RedisLink, prefix: str, retention: Retention, clock: Clock, *, is_dry: bool) -> None:
        self._link = link
        self._keys = RunKeys(prefix)
        self._retention = retention
        self._clock = clock
        self._is_dry = is_dry

    async def sweep(self) -> Swept:
        """Look at every key of the run log once.

        Raises:
            BackendUnavailable: The store does not answer in time.
        """
        swept = Swept()
        async for found in self._scanned(f"{self._keys.prefix}:{{run:*}}:*"):
            orphans, endless = await self._of_logs(found)
            swept = replace(swept, contents=swept.contents + orphans, without_expiry=swept.without_expiry + endless)
        async for found in self._scanned(f"{self._keys.prefix}:{{tenant:*}}:runs"):
            for key in found:
                listed, adopted = await self._of_tenant(key), await self._adopted(key)
                swept = replace(
                    swept,
                    tenants=swept.tenants + 1,
                    listed=swept.listed + listed,
                    adopted=swept.adopted + adopted,
                )
        return swept

    async def _of_logs(self, found: Sequence[str]) -> tuple[int, int]:
        """Remove what belongs to no stream; give an end to streams that have none. Return how many of each."""
        beside = [key for key in found if not key.endswith(":events")]
        streams = await self._each("EXISTS", [f"{key.rpartition(':')[0]}:events" for key in beside])
        orphans = [key for key, exists in zip(beside, streams, strict=True) if not exists]
        logs = [key for key in found if key.endswith(":events")]
        left = await self._each("PTTL", logs)
        endless = [key for key, milliseconds in zip(logs, left, strict=True) if milliseconds == -1]
        if not self._is_dry:
            await self._each("UNLINK", orphans)
            await self._each("PEXPIRE", endless, int(self._retention.open_seconds * 1000))
        return len(orphans), len(endless)

    async def _of_tenant(self, key: str) -> int:
        """Take off a tenant's lists what has no log; return how many runs that were."""
        base, tenant, old = key.removesuffix(":runs"), self._tenant(key), self._old()
        count, cursor = 0, 0
        while True:
            cursor, page = await self._page(key, cursor)
            run_ids = [member.decode() for member, created in page if created < old]
            logs = await self._each("EXISTS", [self._keys.of_run(tenant, run_id)[0] for run_id in run_ids])
            gone = [run_id for run_id, exists in zip(run_ids, logs, strict=True) if not exists]
            count += len(gone)
            if gone and not self._is_dry:
                lists = [key, f"{base}:until", *(f"{base}:runs:{outcome}" for outcome in Outcome)]
                await self._each("ZREM", lists, *gone)
                await self._each("UNLINK", [f"{base}:run:{run_id}" for run_id in gone])
            if cursor == 0:
                return count

    async def _adopted(self, key: str) -> int:
        """Give a lease that has lapsed to each run of a tenant that has not come to rest and has none."""
        lists = [key, *(f"{key}:{outcome}" for outcome in Outcome)]
        found: Any = await self._link.run(lambda client: client.zdiff(lists, withscores=True), self._soon())
        old, tenant = self._old(), self._tenant(key)
        run_ids = [member.decode() for member, created in found if float(created) < old]
        logs = await self._each("EXISTS", [self._keys.of_run(tenant, run_id)[0] for run_id in run_ids])
        names = [lease_name(RunKey(tenant, run_id)) for run_id, exists in zip(run_ids, logs, strict=True) if exists]
        return sum([await self._lease(name) for name in names])

    async def _lease(self, name: str) -> bool:
        leases = self._keys.leases
        if self._is_dry:
            held: Any = await self._link.run(lambda client: client.zscore(leases, name), self._soon())
            return held is None
        added: Any = await self._link.run(lambda client: client.zadd(leases, {name: 1.0}, nx=True), self._soon())
        return bool(added)

    def _tenant(self, key: str) -> str:
        return key.removeprefix(f"{self._keys.prefix}:{{tenant:").removesuffix("}:runs")

    def _old(self) -> float:
        """Return before which moment, in milliseconds, runs were created that have certainly begun."""
        return (self._clock.now().timestamp() - YOUNG_SECONDS) * 1000

    async def _page(self, key: str, cursor: int) -> tuple[int, list[tuple[bytes, float]]]:
        reply: Any = await self._link.run(lambda client: client.zscan(key, cursor, count=BATCH), self._soon())
        return int(reply[0]), list(reply[1])

    async def _scanned(self, pattern: str) -> AsyncIterator[list[str]]:
        """Yield the keys of the whole installation that match, a batch at a time."""
        client: Any = self._link.client
        batch: list[str] = []
        try:
            async for key in client.scan_iter(match=pattern, count=BATCH):
                batch.append(key.decode())
                if len(batch) == BATCH:
                    yield batch
                    batch = []
        except LIBRARY_ERRORS as error:
            raise unavailable(error) from error
        if batch:
            yield batch

    async def _each(self, command: str, keys: Sequence[str], *arguments: str | int) -> list[Any]:
        """Run a command for each key, in one pipeline."""
        if not keys:
            return []

        async def pipelined(client: Redis) -> Any:
            pipeline: Any = client.pipeline(transaction=False)
            for key in keys:
                pipeline.execute_command(command, key, *arguments)
            return await pipeline.execute()

        return list(await self._link.run(pipelined, self._soon()))

    def _soon(self) -> Deadline:
        return Deadline.after(STEP_SECONDS, self._clock)
