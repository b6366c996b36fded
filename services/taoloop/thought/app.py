"""The thought service and its worker put together: settings to component, settings to process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from taoloop.core.clock import Clock
from taoloop.core.ids import new_id
from taoloop.core.tasks import first_error
from taoloop.core.telemetry import Telemetry
from taoloop.thought.front import ThoughtFront
from taoloop.thought.plan_checking import PlanChecking
from taoloop.thought.planners.graph import GraphPlanner
from taoloop.thought.queue.job_codec import JobCodec
from taoloop.thought.queue.queue_keys import QueueKeys
from taoloop.thought.queue.redis_job_queue import RedisJobQueue, redis_job_queue
from taoloop.thought.queue.redis_job_source import Patience, RedisJobSource
from taoloop.thought.servicer import SERVICE_NAME, ThoughtServicer, record_codec, registrar
from taoloop.thought.settings import ThoughtSettings, ThoughtWorkerSettings
from taoloop.thought.thinker import Thinker
from taoloop.thought.worker import ThoughtWorker, WorkerConfig
from taoloop.tools.served_catalogue import read_catalogue
from taoloop.wire.component import Component
from taoloop.wire.redis.redis_link import redis_link


@asynccontextmanager
async def thought_component(settings: ThoughtSettings, telemetry: Telemetry, clock: Clock) -> AsyncIterator[Component]:
    """Build the front; it is ready when the queue takes jobs.

    Raises:
        CatalogueInvalid: The catalogue has faults.
    """
    catalogue = await asyncio.to_thread(read_catalogue, settings.catalogue)
    async with AsyncExitStack() as stack:
        link = await stack.enter_async_context(redis_link(settings.redis, telemetry))
        keys = QueueKeys(settings.redis.key_prefix)
        queue = RedisJobQueue(link, JobCodec(record_codec()), keys, settings.thought_max_jobs, clock, telemetry)
        await stack.enter_async_context(redis_job_queue(queue))
        checking = PlanChecking(catalogue, settings.plan.limits(), telemetry.metrics)
        servicer = ThoughtServicer(ThoughtFront(queue), checking)
        yield Component(
            name="thought", service_names=(SERVICE_NAME,), register=registrar(servicer), is_ready=queue.is_ready
        )


@dataclass(frozen=True, slots=True)
class RunningWorker:
    """A worker at work, and the component through which its health is asked for."""

    worker: ThoughtWorker
    component: Component


@asynccontextmanager
async def worker_process(
    settings: ThoughtWorkerSettings, telemetry: Telemetry, clock: Clock
) -> AsyncIterator[RunningWorker]:
    """Run a worker while the block runs; at its end the jobs in hand are answered and no new one is taken.

    Raises:
        CatalogueInvalid: The catalogue has faults.
    """
    catalogue = await asyncio.to_thread(read_catalogue, settings.catalogue)
    with first_error():
        async with AsyncExitStack() as stack:
            link = await stack.enter_async_context(redis_link(settings.redis, telemetry))
            source = RedisJobSource(
                link,
                JobCodec(record_codec()),
                QueueKeys(settings.redis.key_prefix),
                consumer=new_id(clock),
                lease_seconds=settings.worker_lease_seconds,
                patience=Patience(settings.worker_outage_seconds, clock),
            )
            mind = Thinker(catalogue, GraphPlanner(catalogue), clock, telemetry, settings.plan.limits())
            worker = ThoughtWorker(source, mind, WorkerConfig(slots=settings.worker_slots), clock, telemetry)
            group = await stack.enter_async_context(asyncio.TaskGroup())
            working = group.create_task(worker.run(), name="thought worker")
            component = Component(name="thought-worker", service_names=(), register=_nothing, is_ready=source.is_ready)
            try:
                yield RunningWorker(worker, component)
            finally:
                worker.stop()
                _, unfinished = await asyncio.wait([working], timeout=settings.shutdown_grace_seconds)
                if unfinished:
                    working.cancel()


def _nothing(_server: object) -> None:
    """Register no service: a worker's server answers for its health alone."""
