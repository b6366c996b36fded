"""The processes that are killed and started again: the action service's replicas and the store."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random

from taoloop.testing.ports import free_ports
from tests.contract.postgresql import Cluster
from tests.e2e.processes import Running
from tests.e2e.waiting import eventually, is_serving


@dataclass
class Replica:
    """One process of a service on an address of its own.

    Attributes:
        variables: Its environment.
        address: Where it listens.
        deployables: What it serves.
        running: The process; None before the first start.
        kills: How often it was killed.
    """

    variables: Mapping[str, str]
    address: str
    deployables: tuple[str, ...] = ("action",)
    running: Running | None = None
    kills: int = 0

    @classmethod
    def of(
        cls,
        variables: Mapping[str, str],
        deployables: tuple[str, ...] = ("action",),
        listen: tuple[str, ...] = ("TAOLOOP_ACTION_LISTEN",),
    ) -> Replica:
        """Return one that is not started; `listen` are the variables that give it its address."""
        (port,) = free_ports(1)
        address = f"127.0.0.1:{port}"
        own = {**dict.fromkeys(listen, address), "TAOLOOP_TELEMETRY__METRICS_PORT": "0"}
        return cls({**variables, **own}, address, deployables)

    async def start(self) -> None:
        """Start it, and again if its store is away; return when it serves."""
        while True:
            self.running = running = Running.start("serve", *self.deployables, variables=self.variables)

            async def is_up_or_gone(running: Running = running) -> bool:
                return running.process.poll() is not None or await is_serving(self.address)

            await eventually(is_up_or_gone, f"the service on {self.address}", 60.0)
            if running.process.poll() is None:
                return
            await asyncio.to_thread(running.wait)

    async def kill(self) -> bool:
        """End it by SIGKILL, if it serves; return whether it did."""
        if self.running is None or self.running.process.poll() is not None or not await is_serving(self.address):
            return False
        self.kills += 1
        await asyncio.to_thread(self.running.stop, signal.SIGKILL)
        return True


@dataclass
class Store:
    """The PostgreSQL cluster."""

    cluster: Cluster
    kills: int = 0

    async def crash_and_recover(self) -> None:
        """End it by SIGKILL and start it again."""
        self.kills += 1
        await asyncio.to_thread(self.cluster.crash)
        await asyncio.to_thread(self.cluster.start)


@dataclass
class Victims:
    """Everything that may be killed.

    Attributes:
        replicas: The processes of the action service.
        store: The store; None where its file has no process.
        random: Chooses whom and when.
    """

    replicas: list[Replica]
    store: Store | None
    random: Random
    pauses: tuple[float, float] = (0.5, 2.5)

    async def haunt(self, is_over: Callable[[], bool]) -> None:
        """Kill one thing after the other and start it again, until the callers are done.

        Now and then all replicas are away at once; mostly one is left, so that there is something to be killed.
        """
        async with asyncio.TaskGroup() as group:
            restarts: list[asyncio.Task[None]] = []
            while not is_over():
                await asyncio.sleep(self.random.uniform(*self.pauses))
                if self.store is not None and self.random.random() < 0.25:
                    await self.store.crash_and_recover()
                    continue
                restarts = [task for task in restarts if not task.done()]
                if restarts and self.random.random() < 0.85:
                    continue
                replica = self.random.choice(self.replicas)
                if await replica.kill():
                    restarts.append(group.create_task(replica.start(), name=replica.address))


@asynccontextmanager
async def replicas(count: int, variables: Mapping[str, str]) -> AsyncIterator[list[Replica]]:
    """Start so many processes of the action service, and stop what is left of them at the end."""
    started = [Replica.of(variables) for _ in range(count)]
    try:
        async with asyncio.TaskGroup() as group:
            for replica in started:
                group.create_task(replica.start(), name=replica.address)
        yield started
    finally:
        for replica in started:
            if replica.running is not None:
                await asyncio.to_thread(replica.running.stop)
