"""Places orders while the action service and its store are killed, and compares what was done with what is known.

`python -m tests.chaos.action [--count N] [--store postgresql|sqlite] [--seed N]`; the last line is one JSON object.
Exit code 1: an order took effect twice, an intent was lost, or an unknown outcome is not listed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from taoloop.core.calls import CallContext
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import TaoError
from taoloop.core.settings import GrpcSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.effects import EffectRecord, EffectState, ListEffectsRequest
from taoloop.wire.clients import ActionClient, action_client
from tests.chaos.audit import Audit, audited
from tests.chaos.callers import CLOCK, TENANT, orders, place
from tests.chaos.catalogue import LOOKED_UP, write_catalogue
from tests.chaos.receiver import receiver
from tests.chaos.victims import Replica, Store, Victims, replicas
from tests.contract.postgresql import Cluster
from tests.e2e.processes import json_lines, taoloop
from tests.e2e.waiting import eventually

LEASE_SECONDS = 1.5
SETTLING_SECONDS = 60.0
GRACE_SECONDS = 120.0
"""For the start, the last calls, the settling and the audit."""


@dataclass(frozen=True)
class Plan:
    """How much chaos.

    Attributes:
        count: Orders to place, if there is time.
        store: `postgresql` or `sqlite`.
        parallel: Orders placed at a time.
        placing_seconds: After this no order is begun and nothing is killed; what follows takes a minute at most.
        seed: Of everything that is random here.
        pauses: Shortest and longest pause between two kills.
    """

    count: int = 3000
    store: str = "postgresql"
    parallel: int = 48
    placing_seconds: float = 360.0
    seed: int = 1
    pauses: tuple[float, float] = (1.0, 4.0)


async def chaos(plan: Plan, root: Path) -> Audit:
    """Place the orders, kill meanwhile, and audit what is left.

    Args:
        plan: How much.
        root: An empty directory.
    """
    random = Random(plan.seed)
    async with AsyncExitStack() as stack:
        taking = await stack.enter_async_context(receiver(root / "received.jsonl", random))
        store = await stack.enter_async_context(store_of(plan.store))
        url = store.cluster.url if store else f"sqlite+aiosqlite:///{root}/ledger.sqlite"
        variables = {
            "TAOLOOP_CATALOGUE": str(write_catalogue(root / "catalogue", taking.base_url)),
            "TAOLOOP_LEDGER__URL": url,
            "TAOLOOP_LEDGER__LEASE_SECONDS": str(LEASE_SECONDS),
            "TAOLOOP_LEDGER__LOOK_UP_EVERY_SECONDS": "0.5",
            "TAOLOOP_LEDGER__LOOK_UP_AGAIN_AFTER_SECONDS": "2",
            "TAOLOOP_LEDGER__LOOK_UP_BATCH": "50",
            "TAOLOOP_LEDGER__SETTLE_SECONDS": "3",
            "TAOLOOP_GRPC__IS_TENANT_METADATA_TRUSTED": "true",
        }
        victims = Victims(await stack.enter_async_context(replicas(2, variables)), store, random, plan.pauses)
        clients = [await stack.enter_async_context(_client(replica)) for replica in victims.replicas]
        wanted = orders(plan.count, random)
        async with asyncio.TaskGroup() as group:
            placing = group.create_task(
                place(wanted, clients, plan.parallel, plan.placing_seconds, random), name="callers"
            )
            last = CLOCK.monotonic() + plan.placing_seconds
            group.create_task(victims.haunt(lambda: placing.done() or CLOCK.monotonic() > last), name="killer")
        effects = await settled(clients[0])
        listed = frozenset(await asyncio.to_thread(_listed_unknown, victims.replicas[0].address))
        audit = audited(wanted, placing.result(), taking, effects, listed)
        audit.counts["kills"] = {
            "action": sum(replica.kills for replica in victims.replicas),
            "store": store.kills if store else 0,
        }
        return audit


@asynccontextmanager
async def store_of(name: str) -> AsyncIterator[Store | None]:
    """Run PostgreSQL, where that is the ledger's store."""
    if name == "sqlite":
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="taoloop-chaos-") as directory:
        cluster = await asyncio.to_thread(Cluster, Path(directory))
        await asyncio.to_thread(cluster.start)
        try:
            yield Store(cluster)
        finally:
            await asyncio.to_thread(cluster.stop)


@asynccontextmanager
async def _client(replica: Replica) -> AsyncIterator[ActionClient]:
    telemetry = Telemetry.build(TelemetrySettings(), "taoloop-chaos")
    async with action_client(replica.address, GrpcSettings(), telemetry) as client:
        yield client
    await telemetry.aclose()


async def settled(client: ActionClient) -> Sequence[EffectRecord]:
    """Return the whole ledger once nothing in it changes any more."""
    found: list[EffectRecord] = []

    async def is_settled() -> bool:
        found.clear()
        page = ListEffectsRequest(page_size=1000)
        try:
            while True:
                call = CallContext(deadline=Deadline.after(20.0, CLOCK), tenant=TENANT)
                reply = await client.list_effects(page, call)
                found.extend(reply.effects)
                if not reply.next_page_token:
                    break
                page = ListEffectsRequest(page_size=1000, page_token=reply.next_page_token)
        except TaoError:
            return False
        return not any(_may_still_change(effect) for effect in found)

    await eventually(is_settled, "a ledger that is settled as far as it can be", SETTLING_SECONDS)
    return found


def _may_still_change(effect: EffectRecord) -> bool:
    """Tell whether an entry is not settled, or is unknown and will be looked up."""
    is_looked_up = effect.state is EffectState.UNKNOWN and effect.tool == LOOKED_UP
    return is_looked_up or effect.state in {EffectState.PLANNED, EffectState.STARTED}


def _listed_unknown(address: str) -> list[str]:
    done = taoloop(
        *("effects", "list", "--state", "unknown", "--limit", "100000", "--json"),
        *("--tenant", TENANT, "--address", address, "--deadline", "30"),
    )
    assert done.returncode == 0, done.stderr
    return [line["effect_id"] for line in json_lines(done.stdout)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it as a program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=Plan.count)
    parser.add_argument("--store", choices=("postgresql", "sqlite"), default=Plan.store)
    parser.add_argument("--seed", type=int, default=Plan.seed)
    parser.add_argument("--placing-seconds", type=float, default=Plan.placing_seconds)
    wanted = parser.parse_args(arguments)
    plan = Plan(count=wanted.count, store=wanted.store, seed=wanted.seed, placing_seconds=wanted.placing_seconds)

    async def bounded(root: Path) -> Audit:
        async with asyncio.timeout(plan.placing_seconds + GRACE_SECONDS):
            return await chaos(plan, root)

    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="taoloop-chaos-") as directory:
        audit = asyncio.run(bounded(Path(directory)))
    told = {**audit.counts, "store": plan.store, "seed": plan.seed, "violations": len(audit.violations)}
    sys.stderr.writelines(f"{violation}\n" for violation in audit.violations)
    sys.stdout.write(json.dumps({**told, "seconds": round(time.monotonic() - began, 1)}) + "\n")
    return 1 if audit.violations else 0


if __name__ == "__main__":
    sys.exit(main())
