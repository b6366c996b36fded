"""The leases of open runs on Redis: one sorted set by when they lapse, by the server's clock alone."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.ids import new_id
from taoloop.loop.ports import RunKey
from taoloop.loop.runlog.run_keys import RunKeys
from taoloop.loop.runlog.run_scripts import run_script
from taoloop.wire.redis.redis_link import RedisLink
from taoloop.wire.redis.script_batch import Argument, ScriptBatch, script_batch

BATCH: Final = 500
"""Most leases of one script: the server does nothing else meanwhile, and this many take it half a millisecond."""


class RedisRunLeases:
    """`RunLeases` of one host on Redis or Valkey. Use it as `redis_run_leases` opens it.

    Args:
        scripts: Sends scripts.
        keys: Where the leases are.
        host: Names the host among all.
        lease_seconds: How long a lease lasts without being renewed.
    """

    def __init__(self, scripts: ScriptBatch, keys: RunKeys, host: str, lease_seconds: float) -> None:
        self._scripts = scripts
        self._keys = (keys.leases, f"{keys.leases}:hosts")
        self._host = host
        self._lease_ms = int(lease_seconds * 1000)

    def __repr__(self) -> str:
        return f"<RedisRunLeases of {self._host} for {self._lease_ms} ms at {self._keys[0]}>"

    async def hold(self, run: RunKey, deadline: Deadline) -> None:
        """See `RunLeases.hold`."""
        await self._run("hold_lease", [lease_name(run), self._host, self._lease_ms], deadline)

    async def renew(self, runs: Sequence[RunKey], deadline: Deadline) -> tuple[RunKey, ...]:
        """See `RunLeases.renew`."""
        return await self._let_last(runs, self._lease_ms, deadline)

    async def release(self, run: RunKey, deadline: Deadline) -> None:
        """See `RunLeases.release`."""
        await self._run("release_lease", [lease_name(run), self._host], deadline)

    async def hand_back(self, runs: Sequence[RunKey], deadline: Deadline) -> None:
        """See `RunLeases.hand_back`."""
        await self._let_last(runs, 0, deadline)

    async def claim(self, most: int, deadline: Deadline) -> tuple[RunKey, ...]:
        """See `RunLeases.claim`."""
        reply = await self._run("claim_leases", [self._host, self._lease_ms, min(most, BATCH)], deadline)
        return tuple(map(_run_of, reply))

    async def lapsed(self, deadline: Deadline) -> int:
        """See `RunLeases.lapsed`."""
        return int(await self._run("count_lapsed", [], deadline))

    async def _let_last(self, runs: Sequence[RunKey], lease_ms: int, deadline: Deadline) -> tuple[RunKey, ...]:
        lost: list[RunKey] = []
        for start in range(0, len(runs), BATCH):
            members = map(lease_name, runs[start : start + BATCH])
            reply = await self._run("renew_leases", [self._host, lease_ms, *members], deadline)
            lost += map(_run_of, reply)
        return tuple(lost)

    async def _run(self, script: str, arguments: Sequence[Argument], deadline: Deadline) -> Any:
        return await self._scripts.run(run_script(script), self._keys, arguments, deadline)


@asynccontextmanager
async def redis_run_leases(
    link: RedisLink, prefix: str, lease_seconds: float, clock: Clock
) -> AsyncIterator[RedisRunLeases]:
    """Open the leases of a host on a link."""
    async with script_batch(link) as scripts:
        yield RedisRunLeases(scripts, RunKeys(prefix), new_id(clock), lease_seconds)


def lease_name(run: RunKey) -> str:
    """Return the name of a run's lease among all."""
    # The run's id has no space in it, and stands first, since a tenant's name may have any.
    return f"{run.run_id} {run.tenant}"


def _run_of(member: bytes) -> RunKey:
    run_id, _, tenant = member.decode().partition(" ")
    return RunKey(tenant, run_id)
