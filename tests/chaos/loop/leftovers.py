"""What is left once all callers know what became of their runs: the runs' logs, leases, jobs, effects."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from redis.asyncio import Redis

from taoloop.client import AsyncClient, RunEvent, RunSummary
from tests.chaos.loop.callers import Notes
from tests.chaos.queue.leftovers import settled as settled_queue
from tests.e2e.waiting import eventually
from tests.redis_servers import RedisProcess

SETTLING_SECONDS: Final = 60.0
READ_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What is left.

    Attributes:
        runs: All runs of the tenant.
        logs: By id, the events of each run that a caller knows.
        leases: Runs that a host still holds.
        jobs: Thoughts that are in the queue, or handed out.
    """

    runs: Sequence[RunSummary]
    logs: dict[str, list[RunEvent]]
    leases: Sequence[str]
    jobs: int


async def left_over(client: AsyncClient, notes: Notes, valkey: RedisProcess, url: str, prefix: str) -> Leftovers:
    """Return what is left once no run goes on any more, or does not come to rest in a minute."""
    runs: list[RunSummary] = []
    leases: list[str] = []

    async def all_rest() -> bool:
        runs[:] = [summary async for summary in client.list(page_size=200, timeout_seconds=READ_SECONDS)]
        async with valkey.client() as server:
            leases[:] = await _leases(server, prefix)
        return not leases and all(summary.outcome is not None for summary in runs)

    with suppress(AssertionError):  # the audit says which do not
        await eventually(all_rest, "the end of all runs", SETTLING_SECONDS)
    logs = {
        told.run_id: [event async for event in client.watch(told.run_id, timeout_seconds=READ_SECONDS)]
        for told in notes.told.values()
        if told.result is not None
    }
    queue = await settled_queue(url, prefix)
    return Leftovers(runs, logs, leases, queue.entries + queue.pending)


async def _leases(server: Redis, prefix: str) -> Sequence[str]:
    held = await server.zrange(f"{prefix}:{{run-leases}}", 0, -1)
    return [repr(member) for member in held]
