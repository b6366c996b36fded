"""A worker on the queue as a process of its own, that notes what it begins to plan and how late that is.

`python -m tests.chaos.queue.worker URL PREFIX NOTES`
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
import uuid
from pathlib import Path
from random import Random
from typing import Final

from pydantic import SecretStr

from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.ids import new_id
from taoloop.core.settings import RedisSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.thinking import Refusal, RefusalReason, ThinkRequest, ThinkResponse
from taoloop.thought.queue.job_codec import JobCodec
from taoloop.thought.queue.queue_access import QueueAccess
from taoloop.thought.queue.queue_keys import QueueKeys
from taoloop.thought.queue.redis_job_source import SourceConfig, redis_job_source
from taoloop.thought.servicer import record_codec
from taoloop.thought.worker import ThoughtWorker, WorkerConfig
from taoloop.wire.event_loop import run as run_loop
from taoloop.wire.redis.redis_link import redis_link
from tests.chaos.queue.notes import Notes, orphaned

SLOTS: Final = 8
LEASE_SECONDS: Final = 2.0
RENEW_SECONDS: Final = 0.5
MOST_THOUGHT_SECONDS: Final = 0.1


class NotingMind:
    """Thinks for a moment; each thought has an id of its own, so that two answers to one job are told apart.

    Args:
        notes: Gets a line as a thought is begun: the job, how late it is in milliseconds, and the thought's id. The
            server's clock is this machine's.
    """

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._random = Random()

    async def think(self, request: ThinkRequest, deadline: Deadline, tenant: str) -> ThinkResponse:
        """See `Mind.think`."""
        late_ms = time.time() * 1000 - float(request.turns[0].text)
        thought = uuid.uuid4().hex
        self._notes.add(request.run_id, round(late_ms), thought)
        await asyncio.sleep(self._random.uniform(0.0, MOST_THOUGHT_SECONDS))
        outcome = Refusal(reason=RefusalReason.NO_TOOL)
        return ThinkResponse(outcome=outcome, run_id=request.run_id, iteration=1, thought_id=thought)


async def work(url: str, prefix: str, notes: Notes) -> None:
    """Work until it is killed, or who started it is gone."""
    clock, telemetry = SystemClock(), Telemetry.build(TelemetrySettings(), "chaos")
    async with redis_link(RedisSettings(url=SecretStr(url), command_timeout_seconds=2.0), telemetry) as link:
        access = QueueAccess(link, JobCodec(record_codec()), QueueKeys(prefix), clock, telemetry)
        config = SourceConfig(consumer=f"{os.getpid()}-{new_id(clock)}", lease_seconds=LEASE_SECONDS)
        async with redis_job_source(access, config) as source, asyncio.TaskGroup() as group:
            at_a_time = WorkerConfig(slots=SLOTS, renew_every_seconds=RENEW_SECONDS)
            worker = ThoughtWorker(source, NotingMind(notes), at_a_time, clock, telemetry)
            group.create_task(worker.run(), name="worker")
            await orphaned()
            worker.stop()


if __name__ == "__main__":
    run_loop(work(sys.argv[1], sys.argv[2], Notes(Path(sys.argv[3]))))
