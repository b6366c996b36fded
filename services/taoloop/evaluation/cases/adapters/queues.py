"""The thought queue against a server: what it makes of claim replies, and of what happens to the server's data."""

from __future__ import annotations

import asyncio
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pydantic import SecretStr

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.settings import RedisSettings
from taoloop.evaluation.cases.adapters.loops import new_telemetry
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said, Unsupported
from taoloop.plan.task import Priority
from taoloop.plan.thinking import ThinkRequest, ThinkResponse
from taoloop.testing.valkey import EmbeddedValkey
from taoloop.thought.model import QueueLimits, ThinkJob
from taoloop.thought.queue.claim_replies import read_claimed
from taoloop.thought.queue.job_codec import JobCodec
from taoloop.thought.queue.queue_access import QueueAccess
from taoloop.thought.queue.queue_keys import QueueKeys
from taoloop.thought.queue.redis_job_queue import RedisJobQueue, redis_job_queue
from taoloop.thought.queue.redis_job_source import SourceConfig, redis_job_source
from taoloop.thought.servicer import record_codec
from taoloop.thought.worker import ThoughtWorker, WorkerConfig
from taoloop.wire.redis.redis_link import redis_link

_JOB_SECONDS: Final = 30.0
_JOIN_POLLS: Final = 500
_POLL_SECONDS: Final = 0.02
_LIMITS: Final = QueueLimits(max_jobs=100, max_background_jobs=100, max_tenant_jobs=100)


def _claim_reply(case_input: CaseInput) -> Said:
    claimed = read_claimed([_as_read(part) for part in case_input["reply"]])
    ids = [entry_id.decode() for entry_id, _ in claimed.entries]
    return {
        "deliver": ids,
        "deleted": [entry_id.decode() for entry_id in claimed.deleted],
        "continue_from": claimed.next_id.decode(),
        "ghost_cleanup": claimed.nameless > 0,
        "crash": False,
    }


def _as_read(part: Any) -> Any:
    """Return a part of a reply as the library hands it on: bytes, and a mapping of each entry's fields."""
    if isinstance(part, str):
        return part.encode()
    if isinstance(part, dict):
        return {name.encode(): value.encode() for name, value in part.items()}
    return [_as_read(each) for each in part] if isinstance(part, list) else part


@dataclass
class _Counting:
    """A `Mind` that counts what it thinks about."""

    executed: Counter[str] = field(default_factory=Counter)

    async def think(self, request: ThinkRequest, deadline: Deadline, tenant: str) -> ThinkResponse:  # noqa: ARG002 - the port's
        """See `Mind.think`."""
        self.executed[request.run_id] += 1
        return ThinkResponse(run_id=request.run_id, iteration=request.iteration)


@dataclass
class _Scenario:
    """A queue on a server of its own, to which things happen."""

    access: QueueAccess
    front: RedisJobQueue
    stack: AsyncExitStack
    group: asyncio.TaskGroup
    mind: _Counting = field(default_factory=_Counting)
    workers: list[ThoughtWorker] = field(default_factory=list)
    asked: list[asyncio.Task[Any]] = field(default_factory=list)

    async def do(self, step: str) -> None:
        """Do one step, such as `enqueue j1 j2`.

        Raises:
            Unsupported: There is no such step.
        """
        verb, *names = step.split()
        match verb:
            case "start_worker":
                await self._start_worker()
            case "flushall":
                await self.access.link.client.flushall()
            case "enqueue":
                for name in names:
                    self._enqueue(name)
            case _:
                raise Unsupported(f"no scenario has the step {verb}")

    async def _start_worker(self) -> None:
        config = SourceConfig(consumer=f"worker-{len(self.workers)}")
        source = await self.stack.enter_async_context(redis_job_source(self.access, config))
        clock, telemetry = self.access.clock, self.access.telemetry
        worker = ThoughtWorker(source, self.mind, WorkerConfig(slots=2), clock, telemetry)
        self.workers.append(worker)
        self.group.create_task(worker.run(), name="worker")
        # It has joined the group once the server knows it.
        jobs = self.access.keys.jobs(Priority.INTERACTIVE)
        for _ in range(_JOIN_POLLS):
            if await self.access.link.client.exists(jobs):
                return
            await clock.sleep(_POLL_SECONDS)
        raise Unsupported("the worker does not join the queue")

    def _enqueue(self, name: str) -> None:
        job = ThinkJob(job_id=name, tenant="default", request=ThinkRequest(run_id=name, iteration=1))
        deadline = Deadline.after(_JOB_SECONDS, self.access.clock)
        self.asked.append(self.group.create_task(self.front.ask(job, deadline), name=name))


async def _redis_scenario(case_input: CaseInput) -> Said:
    clock = SystemClock()
    began = clock.monotonic()
    async with _scenario() as scenario:
        for step in case_input["steps"]:
            await scenario.do(step)
        await asyncio.gather(*scenario.asked)
        seconds = clock.monotonic() - began
        for worker in scenario.workers:
            worker.stop()
    return {"executed": dict(scenario.mind.executed), "elapsed_s": seconds}


@asynccontextmanager
async def _scenario() -> AsyncIterator[_Scenario]:
    async with AsyncExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="taoloop-queue-"))
        valkey = await stack.enter_async_context(EmbeddedValkey(Path(directory)))
        telemetry = new_telemetry()
        stack.push_async_callback(telemetry.aclose)
        settings = RedisSettings(url=SecretStr(valkey.url))
        link = await stack.enter_async_context(redis_link(settings, telemetry))
        access = QueueAccess(link, JobCodec(record_codec()), QueueKeys("case"), SystemClock(), telemetry)
        front = await stack.enter_async_context(redis_job_queue(access, _LIMITS))
        sources = await stack.enter_async_context(AsyncExitStack())
        group = await stack.enter_async_context(asyncio.TaskGroup())
        yield _Scenario(access, front, sources, group)


XAUTOCLAIM_REPLY = Adapter(feed=_claim_reply, required=("reply",), optional=("server",))
REDIS_SCENARIO = Adapter(feed=_redis_scenario, required=("steps",))
