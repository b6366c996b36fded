"""One run of the test: servers and services as processes, callers, accidents, and the audit of what they left."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final

from prometheus_client import CollectorRegistry

from taoloop.client import AsyncClient
from taoloop.core.settings import GrpcSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.testing.ports import LOOPBACK, free_ports
from taoloop.wire.clients import action_client, loop_client
from tests.chaos.action import settled, store_of
from tests.chaos.loop.audit import Evidence, LoopAudit, audited
from tests.chaos.loop.callers import CLOCK, TENANT, Callers
from tests.chaos.loop.catalogue import write_catalogue
from tests.chaos.loop.haunting import Haunted
from tests.chaos.loop.leftovers import left_over
from tests.chaos.loop.wishes import wishes
from tests.chaos.receiver import receiver
from tests.chaos.victims import Replica
from tests.redis_servers import RedisProcess, running

PREFIX: Final = "chaos"
SURE: Final = {"appendonly": "yes", "appendfsync": "always", "maxmemory-policy": "noeviction"}
LEASE_SECONDS: Final = 2.0
TELL_SECONDS: Final = 5.0


@dataclass(frozen=True, kw_only=True)
class LoopPlan:
    """How much chaos.

    Attributes:
        count: Runs, if there is time.
        store: Of the effect ledger, `postgresql` or `sqlite`.
        parallel: Callers.
        seconds: After this no run is begun and nothing is killed; what follows takes a minute or two.
        seed: Of everything that is random here.
        pauses: Shortest and longest pause between two kills.
        replicas: Processes of each kind but the loop, which always has two.
        is_told: Whether the progress is told on standard error.
    """

    count: int = 3000
    store: str = "postgresql"
    parallel: int = 24
    seconds: float = 360.0
    seed: int = 1
    pauses: tuple[float, float] = (0.5, 2.5)
    replicas: int = 2
    is_told: bool = False


@dataclass(frozen=True)
class Ground:
    """The processes, and how they are reached.

    Attributes:
        haunted: All that may be killed.
        url: Of the server of queue and run log.
        loops: The addresses of both loop services, in one.
        actions: The same of the action services.
    """

    haunted: Haunted
    url: str
    loops: str
    actions: str


async def chaos(plan: LoopPlan, root: Path) -> LoopAudit:
    """Have the runs made, kill meanwhile, and audit what is left.

    Args:
        plan: How much.
        root: An empty directory.
    """
    random = Random(plan.seed)
    async with AsyncExitStack() as stack:
        taking = await stack.enter_async_context(receiver(root / "received.jsonl", random))
        ground = await stack.enter_async_context(_ground(plan, root, taking.base_url, random))
        registry = CollectorRegistry()
        client = await stack.enter_async_context(AsyncClient(ground.loops, tenant=TENANT, registry=registry))
        telemetry = Telemetry.build(TelemetrySettings(), "taoloop-chaos")
        stack.push_async_callback(telemetry.aclose)
        raw = await stack.enter_async_context(loop_client(ground.loops, GrpcSettings(), telemetry))
        acting = await stack.enter_async_context(action_client(ground.actions, GrpcSettings(), telemetry))
        callers = Callers(client, raw, random)
        wanted = wishes(plan.count, random)
        last = CLOCK.monotonic() + plan.seconds
        async with asyncio.TaskGroup() as group:
            calling = group.create_task(callers.fulfil(wanted, plan.parallel, plan.seconds), name="callers")
            group.create_task(ground.haunted.haunt(lambda: calling.done() or CLOCK.monotonic() > last), name="killer")
            if plan.is_told:
                group.create_task(_tell(callers, ground.haunted, calling), name="progress")
        notes = callers.notes
        left = await left_over(client, notes, ground.haunted.valkey, ground.url, PREFIX)
        effects = await settled(acting)
        begun = [wish for wish in wanted if wish.number in notes.told]
        audit = audited(Evidence(begun, notes, taking, effects, left))
        audit.counts["accidents"] = dict(sorted(ground.haunted.counts.items()))
        audit.counts["repeated_by_the_library"] = _repeats(registry)
        return audit


@asynccontextmanager
async def _ground(plan: LoopPlan, root: Path, base_url: str, random: Random) -> AsyncIterator[Ground]:
    async with AsyncExitStack() as stack:
        valkey = RedisProcess(root / "valkey", free_ports(1)[0], SURE)
        await stack.enter_async_context(running(valkey))
        store = await stack.enter_async_context(store_of(plan.store))
        url = f"redis://{LOOPBACK}:{valkey.port}/0"
        common = {
            "TAOLOOP_CATALOGUE": str(write_catalogue(root / "catalogue", base_url)),
            "TAOLOOP_LEDGER__URL": store.cluster.url if store else f"sqlite+aiosqlite:///{root}/ledger.sqlite",
            "TAOLOOP_LEDGER__LEASE_SECONDS": "1.5",
            "TAOLOOP_REDIS__URL": url,
            "TAOLOOP_REDIS__KEY_PREFIX": PREFIX,
            "TAOLOOP_RUNS__LEASE_SECONDS": str(LEASE_SECONDS),
            "TAOLOOP_RUNS__TAKE_OVER_INTERVAL_SECONDS": "0.5",
            "TAOLOOP_GRPC__IS_TENANT_METADATA_TRUSTED": "true",
        }
        services = _services(common, plan.replicas)
        replicas = [replica for kind in services.values() for replica in kind]
        stack.push_async_callback(_stop, replicas)
        async with asyncio.TaskGroup() as group:
            for replica in replicas:
                group.create_task(replica.start(), name=replica.address)
        haunted = Haunted(services, valkey, store, random, plan.pauses)
        yield Ground(haunted, url, _both(services["loop"]), _both(services["action"]))


def _services(common: dict[str, str], count: int) -> dict[str, list[Replica]]:
    action = [Replica.of(common) for _ in range(count)]
    observation = [Replica.of(common, ("observation",), ("TAOLOOP_OBSERVATION_LISTEN",)) for _ in range(count)]
    reached = {
        **common,
        "TAOLOOP_ACTION_ADDRESS": _both(action),
        "TAOLOOP_OBSERVATION_ADDRESS": _both(observation),
    }
    # As in production: loop and thought share a process and a port, and the loop asks the front beside it.
    listen = ("TAOLOOP_LOOP_LISTEN", "TAOLOOP_THOUGHT_LISTEN", "TAOLOOP_THOUGHT_ADDRESS")
    return {
        "loop": [Replica.of(reached, ("thought", "loop"), listen) for _ in range(2)],
        "worker": [Replica.of(common, ("thought-worker",), ("TAOLOOP_WORKER_HEALTH_LISTEN",)) for _ in range(count)],
        "action": action,
        "observation": observation,
    }


def _both(replicas: list[Replica]) -> str:
    """Return one target with the addresses of all, over which calls are spread."""
    return "ipv4:" + ",".join(replica.address for replica in replicas)


async def _stop(replicas: list[Replica]) -> None:
    for replica in replicas:
        if replica.running is not None:
            await asyncio.to_thread(replica.running.stop)


async def _tell(callers: Callers, haunted: Haunted, calling: asyncio.Task[None]) -> None:
    while not calling.done():
        await asyncio.sleep(TELL_SECONDS)
        notes = callers.notes
        accidents = ", ".join(f"{kind} {count}" for kind, count in sorted(haunted.counts.items()))
        sys.stderr.write(f"{notes.done} of {len(notes.told)} begun runs are over; {accidents or 'no accident yet'}\n")


def _repeats(registry: CollectorRegistry) -> dict[str, int]:
    return {
        f"{sample.labels['rpc']} {sample.labels['reason']}": int(sample.value)
        for metric in registry.collect()
        for sample in metric.samples
        if sample.name == "taoloop_client_repeats_total"
    }
