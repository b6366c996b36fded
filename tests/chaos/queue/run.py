"""One run: servers, workers and fronts as processes, accidents, and the audit of what they left."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from taoloop.testing.ports import free_ports
from tests.chaos.queue.audit import Evidence, QueueAudit, audited
from tests.chaos.queue.haunting import Victims
from tests.chaos.queue.leftovers import settled
from tests.chaos.queue.notes import FrontNotes, read_planned
from tests.chaos.queue.processes import Program
from tests.chaos.queue.proxy import CuttingProxy
from tests.chaos.queue.schedule import Topology, scheduled
from tests.redis_servers import RedisProcess, running, sentinel_set

PREFIX: Final = "chaos"
LAST_CALLS_SECONDS: Final = 120.0
"""Callers that are told nothing for so long after the last accident are lost."""
SURE: Final = {"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction"}


@dataclass(frozen=True, kw_only=True)
class ChaosPlan:
    """How much chaos.

    Attributes:
        count: Requests of all fronts together, if there is time.
        topology: How the server is installed.
        seed: Of the accidents and of how callers behave.
        seconds: After this no request is begun and nothing happens to anybody; what follows takes a minute or two.
        fronts: Processes that ask.
        workers: Processes that plan.
    """

    count: int = 20_000
    topology: Topology = Topology.SINGLE
    seed: int = 1
    seconds: float = 100.0
    fronts: int = 2
    workers: int = 3


async def chaos(plan: ChaosPlan, root: Path) -> QueueAudit:
    """Ask for the thoughts, let accidents happen meanwhile, and audit what is left.

    Args:
        plan: How much.
        root: An empty directory.
    """
    async with _victims(plan, root) as (url, victims):
        try:
            for program in (*victims.workers, *victims.fronts):
                program.start()
            await _haunted(plan, victims)
            left = await settled(url, PREFIX)
            failed = _failed(victims)
        finally:
            for program in (*victims.workers, *victims.fronts):
                program.kill()
    fronts = {front.log.stem: FrontNotes.read(_notes_of(front)) for front in victims.fronts}
    queued_again = sum(front.log.read_text().count("job_lost_and_queued_again") for front in victims.fronts)
    audit = audited(Evidence(fronts, read_planned(root / "planned"), left, queued_again))
    audit.violations.extend(failed)
    audit.counts["kills"] = dict(sorted(victims.counts.items()))
    return audit


async def _haunted(plan: ChaosPlan, victims: Victims) -> None:
    """Let accidents happen until the callers are told or the time is over; then wait for the callers."""
    accidents = scheduled(plan.seed, plan.topology, plan.seconds, plan.workers, plan.fronts)
    await victims.haunt(accidents, lambda: not any(front.is_running for front in victims.fronts))
    last = time.monotonic() + LAST_CALLS_SECONDS
    for front in victims.fronts:
        await front.ended(max(0.0, last - time.monotonic()))


@asynccontextmanager
async def _victims(plan: ChaosPlan, root: Path) -> AsyncIterator[tuple[str, Victims]]:
    async with AsyncExitStack() as stack:
        if plan.topology is Topology.SENTINEL:
            servers = await stack.enter_async_context(sentinel_set(root / "redis"))
            url, victims = servers.url, Victims(sentinel=servers)
        else:
            server = RedisProcess(root / "redis", free_ports(1)[0], SURE)
            await stack.enter_async_context(running(server))
            proxy = await stack.enter_async_context(CuttingProxy(server.port))
            url, victims = proxy.url, Victims(server=server, proxy=proxy)
        until = str(time.time() + plan.seconds)
        for number in range(plan.workers):
            working = ("tests.chaos.queue.worker", url, PREFIX, str(root / "planned"))
            victims.workers.append(Program(working, root / f"worker{number}.log"))
        for number in range(plan.fronts):
            name = f"front{number}"
            asking = ("tests.chaos.queue.front", url, PREFIX, name, str(plan.count // plan.fronts), until)
            program = Program((*asking, str(plan.seed), str(root / f"{name}.notes")), root / f"{name}.log")
            victims.fronts.append(program)
        yield url, victims


def _notes_of(front: Program) -> Path:
    return front.log.with_suffix(".notes")


def _failed(victims: Victims) -> list[str]:
    """Return which programs came to an end of their own: workers work on, and fronts end in peace or not at all."""
    ended = [worker for worker in victims.workers if not worker.is_running]
    ended += [front for front in victims.fronts if front.is_running or front.exit_code]
    return [f"{each.log.stem} ended with {each.exit_code}: {each.log.read_text()[-2000:]}" for each in ended]
