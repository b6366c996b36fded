"""Lets scheduled accidents happen to workers, fronts, and the servers of Redis."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field

from redis.exceptions import RedisError

from taoloop.core.clock import SystemClock
from tests.chaos.queue.processes import Program
from tests.chaos.queue.proxy import CuttingProxy
from tests.chaos.queue.schedule import Accident, AccidentKind
from tests.redis_servers import RedisProcess, SentinelSet

BACK_SECONDS = 3.0
"""A server that was the primary learns that it is a replica now, and catches up."""
POLL_SECONDS = 0.1


@dataclass
class Victims:
    """Everything that may be killed, paused and cut off.

    Attributes:
        workers: Programs that are always started again.
        fronts: Programs that are started again until they end by themselves.
        server: The one server; None with Sentinel.
        proxy: Before the one server.
        sentinel: The Sentinel set; None with one server.
        counts: What happened how often.
    """

    workers: list[Program] = field(default_factory=list)
    fronts: list[Program] = field(default_factory=list)
    server: RedisProcess | None = None
    proxy: CuttingProxy | None = None
    sentinel: SentinelSet | None = None
    counts: Counter[str] = field(default_factory=Counter)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def haunt(self, accidents: Iterable[Accident], is_over: Callable[[], bool]) -> None:
        """Let the accidents happen, each at its time, also several at once; return when the last one is over.

        Args:
            accidents: In order of time.
            is_over: Whether nothing is to happen any more; it is asked now and then.
        """
        clock = SystemClock()
        began = clock.monotonic()
        async with asyncio.TaskGroup() as group:
            for accident in accidents:
                while (left := began + accident.at_seconds - clock.monotonic()) > 0 and not is_over():  # noqa: ASYNC110 - other processes
                    await asyncio.sleep(min(left, POLL_SECONDS))
                if is_over():
                    return
                group.create_task(self._happen(accident), name=accident.kind.value)

    async def _happen(self, accident: Accident) -> None:
        match accident.kind:
            case AccidentKind.KILL_WORKER:
                has_happened = await _killed(self.workers[accident.victim])
            case AccidentKind.PAUSE_WORKER:
                has_happened = await _paused(self.workers[accident.victim], accident.seconds)
            case AccidentKind.KILL_FRONT:
                has_happened = await _killed(self.fronts[accident.victim])
            case _:
                async with self.lock:
                    has_happened = await self._trouble_redis(accident)
        self.counts[accident.kind.value] += has_happened

    async def _trouble_redis(self, accident: Accident) -> bool:
        if accident.kind is AccidentKind.CUT_OFF and self.proxy is not None:
            await self.proxy.cut(accident.seconds)
            return True
        server = self.server or await self._primary()
        if accident.kind is AccidentKind.DROP:
            return await _dropped(server)
        if accident.kind is AccidentKind.KILL_REDIS:
            server.kill()
            await asyncio.sleep(accident.seconds)
            await server.start()
        else:
            server.pause()
            await asyncio.sleep(accident.seconds)
            server.resume()
        await asyncio.sleep(BACK_SECONDS if self.sentinel else 0.0)
        return True

    async def _primary(self) -> RedisProcess:
        assert self.sentinel is not None
        return await self.sentinel.primary()


async def _killed(program: Program) -> bool:
    """Kill a program and start it again; one that has ended by itself is left so."""
    async with program.lock:
        if not program.is_running:
            return False
        program.kill()
        program.start()
        return True


async def _paused(program: Program, seconds: float) -> bool:
    """Stop a program for so long, then let it go on as if nothing were."""
    async with program.lock:
        program.send(signal.SIGSTOP)
        await asyncio.sleep(seconds)
        program.send(signal.SIGCONT)
        return True


async def _dropped(server: RedisProcess) -> bool:
    """Have the server drop the connections of its clients."""
    async with server.client() as client:
        with suppress(RedisError, OSError):
            await client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            return True
    return False
