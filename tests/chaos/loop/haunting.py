"""What is killed or stopped, when, and started again: the services, the server of queue and run log, the store."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Final

from tests.chaos.victims import Replica, Store
from tests.e2e.waiting import is_serving
from tests.redis_servers import RedisProcess

DEAL: Final = (*3 * ("loop",), *2 * ("worker",), *3 * ("action",), "observation", "valkey")
"""Who is killed; each is once or more in a deal of them all, so that a short run sees them all."""
PAUSED: Final = (*2 * ("loop",), "action")
"""Who stands still for longer than its leases and comes back as if nothing had been, once or more in a deal."""
PAUSE_SECONDS: Final = (2.5, 5.0)
MOST_AWAY: Final = 2
"""Of the services; now and then all of one kind are away at once."""


@dataclass
class Haunted:
    """Everything that may be killed.

    Attributes:
        services: By kind, the processes of taoloop.
        valkey: The server of queue, run log and leases, which loses nothing that it acknowledged.
        store: Of the ledger; None where its file has no process.
        random: Chooses whom and when.
        pauses: Shortest and longest pause between two kills, in seconds.
        counts: What happened how often.
    """

    services: Mapping[str, list[Replica]]
    valkey: RedisProcess
    store: Store | None
    random: Random
    pauses: tuple[float, float]
    counts: Counter[str] = field(default_factory=Counter)
    _locks: defaultdict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))

    async def haunt(self, is_over: Callable[[], bool]) -> None:
        """Kill one after the other and start it again, until it is over; at its end all are there."""
        deal: list[tuple[str, bool]] = []
        away: set[asyncio.Task[None]] = set()
        async with asyncio.TaskGroup() as group:
            while not is_over():
                await asyncio.sleep(self.random.uniform(*self.pauses))
                away = {task for task in away if not task.done()}
                if not deal:
                    deal = self._dealt()
                kind, is_pause = deal.pop()
                if kind == "valkey":
                    await self._crash_valkey()
                elif kind == "store":
                    await self._crash_store()
                elif len(away) < MOST_AWAY:
                    happening = self._pause(kind) if is_pause else self._kill(kind)
                    away.add(group.create_task(happening, name=f"{kind} away"))

    def _dealt(self) -> list[tuple[str, bool]]:
        """Return what happens next to whom, and whether it is a pause."""
        stores = () if self.store is None else ("store",)
        deal = [*((kind, False) for kind in (*DEAL, *stores)), *((kind, True) for kind in PAUSED)]
        self.random.shuffle(deal)
        return deal

    async def _kill(self, kind: str) -> None:
        replica = self.random.choice(self.services[kind])
        async with self._locks[replica.address]:
            if await replica.kill():
                self.counts[f"{kind} killed"] += 1
                await replica.start()

    async def _pause(self, kind: str) -> None:
        replica = self.random.choice(self.services[kind])
        async with self._locks[replica.address]:
            if replica.running is None or not await is_serving(replica.address):
                return
            self.counts[f"{kind} paused"] += 1
            replica.running.send(signal.SIGSTOP)
            try:
                await asyncio.sleep(self.random.uniform(*PAUSE_SECONDS))
            finally:
                replica.running.send(signal.SIGCONT)

    async def _crash_valkey(self) -> None:
        self.counts["valkey killed"] += 1
        self.valkey.kill()
        await asyncio.sleep(self.random.uniform(0.0, 1.0))
        await self.valkey.start()

    async def _crash_store(self) -> None:
        assert self.store is not None
        self.counts["store killed"] += 1
        await self.store.crash_and_recover()
