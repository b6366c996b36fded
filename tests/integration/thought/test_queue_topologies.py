"""The queue on a Sentinel set and on a Cluster, whose primaries are killed while it works."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from pathlib import Path

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.plan.task import Priority
from taoloop.plan.thinking import Refusal, RefusalReason, ThinkRequest, ThinkResponse
from taoloop.thought.model import ThinkJob
from taoloop.thought.worker import ThoughtWorker, WorkerConfig
from tests.integration.thought.queue_ground import QueueGround, job, soon, topology_ground
from tests.redis_servers import RedisProcess, redis_cluster, sentinel_set

BEFORE, DURING, AFTER = 40, 40, 20


class Counting:
    """A mind that thinks for a moment, and counts about what."""

    def __init__(self) -> None:
        self.thoughts: Counter[str] = Counter()

    async def think(self, request: ThinkRequest, deadline: Deadline, tenant: str) -> ThinkResponse:
        self.thoughts[request.run_id] += 1
        await asyncio.sleep(0.02)
        return ThinkResponse(outcome=Refusal(reason=RefusalReason.NO_TOOL), run_id=request.run_id, iteration=1)


def numbered(number: int) -> ThinkJob:
    priority = Priority.BACKGROUND if number % 4 == 0 else Priority.INTERACTIVE
    return replace(job(f"t:r{number}:1"), request=ThinkRequest(run_id=f"r{number}", iteration=1, priority=priority))


async def all_are_answered_while(ground: QueueGround, primary: RedisProcess) -> None:
    """Ask before, during and after the death of the primary; each caller gets its own answer, once."""
    mind = Counting()
    front, source = await ground.front(outage_tolerance_seconds=30.0), await ground.worker(lease_seconds=2.0)
    worker = ThoughtWorker(source, mind, WorkerConfig(slots=4), SystemClock(), ground.telemetry)
    async with asyncio.TaskGroup() as group:
        group.create_task(worker.run())
        asked = [group.create_task(front.ask(numbered(n), soon(60.0))) for n in range(BEFORE)]
        await asyncio.sleep(0.1)
        primary.kill()
        for n in range(BEFORE, BEFORE + DURING):
            asked.append(group.create_task(front.ask(numbered(n), soon(60.0))))
            await asyncio.sleep(0.05)
        last = range(BEFORE + DURING, BEFORE + DURING + AFTER)
        asked.extend(group.create_task(front.ask(numbered(n), soon(60.0))) for n in last)
        replies = await asyncio.gather(*asked)
        state = await source.state()
        worker.stop()

    outcomes = [reply.outcome for reply in replies]
    assert [outcome.run_id for outcome in outcomes if isinstance(outcome, ThinkResponse)] == [
        f"r{n}" for n in range(BEFORE + DURING + AFTER)
    ]
    assert state.length == 0


async def test_a_sentinel_set_whose_primary_is_killed_loses_nothing_accepted(tmp_path: Path) -> None:
    async with sentinel_set(tmp_path) as servers, topology_ground(servers.url) as ground:
        await all_are_answered_while(ground, await servers.primary())

        assert (await servers.primary()).port != servers.data[0].port
    assert "taoloop_redis_reconnects_total" in ground.telemetry.metrics.exposition()


async def test_a_cluster_whose_primary_of_the_queue_is_killed_loses_nothing_accepted(tmp_path: Path) -> None:
    async with redis_cluster(tmp_path) as servers, topology_ground(servers.url) as ground:
        holder = await servers.holder(ground.keys.jobs(Priority.INTERACTIVE))
        await all_are_answered_while(ground, holder)
