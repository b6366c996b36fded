"""A front with its callers as a process of its own, that notes what each of them was told.

`python -m tests.chaos.queue.front URL PREFIX NAME COUNT UNTIL SEED NOTES`; started again, it first asks for what was
asked for and not told, as a caller does whose front has died. From UNTIL on, in seconds since 1970, it begins nothing.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Final

from pydantic import SecretStr

from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock, SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import QueueFull, TaoError
from taoloop.core.settings import RedisSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.task import Priority, Role, Turn
from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.front import ThoughtFront
from taoloop.thought.model import QueueLimits
from taoloop.thought.queue.job_codec import JobCodec
from taoloop.thought.queue.queue_access import QueueAccess
from taoloop.thought.queue.queue_keys import QueueKeys
from taoloop.thought.queue.redis_job_queue import redis_job_queue
from taoloop.thought.servicer import record_codec
from taoloop.wire.event_loop import run as run_loop
from taoloop.wire.redis.redis_link import redis_link
from tests.chaos.queue.notes import ANSWERED, GAVE_UP, FrontNotes, Notes, Told, orphaned

PARALLEL: Final = 64
PATIENT_SECONDS: Final = 30.0
HASTY_SECONDS: Final = (0.02, 0.5)
HASTY_SHARE: Final = 0.1
GIVING_UP_SHARE: Final = 0.05
SHARED: Final = "shared"
SHARED_EVERY: Final = 8
"""One job of so many is asked for by all fronts: the run was taken over, or its caller's gateway repeated it."""
LIMITS: Final = QueueLimits(max_jobs=110, max_background_jobs=70, max_tenant_jobs=60)
"""Low enough that they are met when all callers ask at once."""
TENANTS: Final = ("large", "large", "large", "small", "other")


@dataclass(frozen=True, slots=True)
class Manner:
    """How the caller of a job behaves; the same in each life of its front.

    Attributes:
        seconds: How long it waits.
        gives_up_after: When it is gone, in seconds; None when it waits.
        tenant: Whose it is.
        priority: Which jobs it waits among.
    """

    seconds: float
    gives_up_after: float | None
    tenant: str
    priority: Priority

    @classmethod
    def of(cls, job: str, seed: str) -> Manner:
        """Return how the caller of a job behaves."""
        random = Random(f"{seed} {job}")
        tenant = random.choice(TENANTS)
        priority = Priority.BACKGROUND if random.random() < 1 / 3 else Priority.INTERACTIVE
        if job.startswith(SHARED):  # one deadline for all who ask, as far as can be
            return cls(PATIENT_SECONDS, None, tenant, priority)
        seconds = random.uniform(*HASTY_SECONDS) if random.random() < HASTY_SHARE else PATIENT_SECONDS
        gives_up_after = random.uniform(0.0, 0.1) if random.random() < GIVING_UP_SHARE else None
        return cls(seconds, gives_up_after, tenant, priority)


class Callers:
    """Ask for jobs of one front, and note what each was told.

    Args:
        front: Is asked.
        notes: Get the lines.
        seed: Of how callers behave.
        until_seconds: Since 1970, when no job is begun any more.
    """

    def __init__(self, front: ThoughtFront, notes: Notes, seed: str, until_seconds: float) -> None:
        self._front = front
        self._notes = notes
        self._seed = seed
        self._until_seconds = until_seconds
        self._clock: Clock = SystemClock()

    async def ask_all(self, jobs: Iterator[tuple[str, bool]]) -> None:
        """Ask for one job after the other, with whether it was asked for before, until there is none left."""
        for job, is_again in jobs:
            if not is_again and time.time() >= self._until_seconds:
                return
            self._notes.add("asked", job)
            told = await self._told(job, Manner.of(job, self._seed), is_again)
            words = (told.job, told.outcome, round(told.left_ms), told.thought, told.is_again, told.is_patient)
            self._notes.add("told", *words)

    async def _told(self, job: str, manner: Manner, is_again: bool) -> Told:
        told = Told(job, GAVE_UP, is_again=is_again, is_patient=manner.seconds == PATIENT_SECONDS)
        patience = Deadline.after(PATIENT_SECONDS, self._clock)
        while True:
            deadline = Deadline.after(manner.seconds, self._clock)
            try:
                async with asyncio.timeout(manner.gives_up_after):
                    thought = await self._ask(job, manner, deadline)
            except TimeoutError:
                return told
            except TaoError as error:
                if not isinstance(error, QueueFull) or patience.is_expired:
                    return replace(told, outcome=error.reason, left_ms=deadline.remaining_seconds() * 1000)
                self._notes.add("refused", job, error.reason)
                await asyncio.sleep(0.1 * (error.retry_after_seconds or 1.0))
            else:
                return replace(told, outcome=ANSWERED, thought=thought)

    async def _ask(self, job: str, manner: Manner, deadline: Deadline) -> str:
        """Return the id of the thought; one of another job has no id."""
        turns = (Turn(role=Role.USER, text=str(int((time.time() + manner.seconds) * 1000))),)
        request = ThinkRequest(run_id=job, iteration=1, turns=turns, priority=manner.priority)
        response = await self._front.think(request, CallContext(tenant=manner.tenant, deadline=deadline))
        return response.thought_id if response.run_id == job else f"of-{response.run_id}"


def jobs_of(name: str, count: int, notes: FrontNotes) -> Iterator[tuple[str, bool]]:
    """Give the jobs of a front with whether it asked for them before: those untold first, then those never asked."""
    yield from ((job, True) for job in notes.untold())
    asked = set(notes.asked)
    for number in range(count):
        job = f"{name if number % SHARED_EVERY else SHARED}-{number}"
        if job not in asked:
            yield job, False


async def serve(
    url: str, prefix: str, callers_of: tuple[str, float], jobs: Iterator[tuple[str, bool]], to: Notes
) -> None:
    """Ask for the jobs.

    Args:
        url: Where the queue is.
        prefix: Of its keys.
        callers_of: Seed of the callers, and until when they begin anything.
        jobs: What is asked for.
        to: Where it is noted.
    """
    telemetry = Telemetry.build(TelemetrySettings(), "chaos")
    settings = RedisSettings(url=SecretStr(url), command_timeout_seconds=2.0, outage_tolerance_seconds=15.0)
    async with redis_link(settings, telemetry) as link:
        access = QueueAccess(link, JobCodec(record_codec()), QueueKeys(prefix), SystemClock(), telemetry)
        async with redis_job_queue(access, LIMITS) as queue:
            callers = Callers(ThoughtFront(queue), to, *callers_of)
            async with asyncio.TaskGroup() as group:
                for number in range(PARALLEL):
                    group.create_task(callers.ask_all(jobs), name=f"caller {number}")


async def serve_unless_orphaned(asking: asyncio.Future[None] | asyncio.Task[None]) -> None:
    """Wait for the callers; end at once when who started this process is gone."""
    watching = asyncio.ensure_future(orphaned())
    await asyncio.wait((asking, watching), return_when=asyncio.FIRST_COMPLETED)
    watching.cancel()
    if not asking.done():
        asking.cancel()
    await asking


async def _main(arguments: list[str]) -> None:
    url, prefix, name, count, until, seed, path = arguments
    left = jobs_of(name, int(count), FrontNotes.read(Path(path)))
    asking = asyncio.ensure_future(serve(url, prefix, (seed, float(until)), left, Notes(Path(path))))
    await serve_unless_orphaned(asking)


if __name__ == "__main__":
    run_loop(_main(sys.argv[1:]))
