"""The thought worker: takes jobs as it has room for them, thinks, answers, and leaves nothing half done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol

from taoloop.core.clock import Clock
from taoloop.core.errors import BackendUnavailable, DeadlineExceeded, InternalError, TaoError
from taoloop.core.ids import new_id
from taoloop.core.logs import EventLog, log_context
from taoloop.core.telemetry import Telemetry, names
from taoloop.core.telemetry.tracing import extract
from taoloop.plan.thinking import ThinkRequest, ThinkResponse
from taoloop.thought.front import failure_of
from taoloop.thought.model import Lease, ThinkJob, ThinkReply
from taoloop.thought.ports import JobSource

MAX_DELIVERIES: Final = 5
"""An entry handed out more often than this has killed its workers; it is set aside."""
OUTAGE_PAUSE_SECONDS: Final = 0.5

_log = EventLog(__name__)


class Mind(Protocol):
    """Makes thoughts in this process."""

    def think(self, request: ThinkRequest) -> ThinkResponse:
        """Make one thought.

        Raises:
            TaoError: The request cannot be thought about here.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfig:
    """How much a worker does at a time.

    Attributes:
        slots: Most jobs at the same time. A slot is taken before a job is, so that none waits in this process.
        take_wait_seconds: How long it waits for a job before it looks whether it is to stop.
    """

    slots: int
    take_wait_seconds: float = 1.0


class ThoughtWorker:
    """Works on the queue until it is told to stop.

    Args:
        source: The queue.
        mind: Makes the thoughts, in a thread of its own, since it computes and must not hold up the others.
        config: How much it does at a time.
        clock: For the expiry of jobs.
        telemetry: Spans continue the trace of who asked.
    """

    def __init__(self, source: JobSource, mind: Mind, config: WorkerConfig, clock: Clock, telemetry: Telemetry) -> None:
        self._source = source
        self._mind = mind
        self._slots = asyncio.Semaphore(config.slots)
        self._free_slots = config.slots
        self._config = config
        self._clock = clock
        self._telemetry = telemetry
        self._is_stopping = asyncio.Event()

    def __repr__(self) -> str:
        busy = self._config.slots - self._free_slots
        return f"<ThoughtWorker [{busy} of {self._config.slots} slots busy] {self._source!r}>"

    def stop(self) -> None:
        """Take no new job; `run` returns when those in hand are answered."""
        self._is_stopping.set()

    async def run(self) -> None:
        """Take and answer jobs until `stop` is called. An outage of the queue is ridden out."""
        async with asyncio.TaskGroup() as group:
            while not self._is_stopping.is_set():
                await self._slots.acquire()
                self._slots.release()
                for lease in await self._take():
                    await self._slots.acquire()
                    self._free_slots -= 1
                    group.create_task(self._work(lease), name=f"job {lease.entry_id}")

    async def _take(self) -> list[Lease]:
        try:
            leases = await self._source.take(self._free_slots, self._config.take_wait_seconds)
            self._telemetry.metrics.gauge(names.THOUGHT_QUEUE_LENGTH).set(await self._source.length())
        except BackendUnavailable as error:
            _log.warning("queue_not_read", reason=error.reason)
            await self._clock.sleep(OUTAGE_PAUSE_SECONDS)
            return []
        return list(leases)

    async def _work(self, lease: Lease) -> None:
        self._telemetry.metrics.histogram(names.QUEUE_WAIT).observe(lease.waited_seconds)
        try:
            cause = _cause_to_set_aside(lease)
            if lease.job is None or cause:
                failure = failure_of(InternalError.of(lease.entry_id))
                _log.error("job_set_aside", entry=lease.entry_id, cause=cause, deliveries=lease.deliveries)
                await self._safely(lambda: self._source.set_aside(lease, cause, failure), lease)
            else:
                reply = await self._reply_to(lease.job)
                await self._safely(lambda: self._source.answer(lease, reply), lease)
        finally:
            self._free_slots += 1
            self._slots.release()

    async def _safely(self, end: Callable[[], Awaitable[None]], lease: Lease) -> None:
        """End a lease; where the queue is away the entry stays leased, and comes back when the lease has lapsed."""
        try:
            await end()
        except BackendUnavailable as error:
            _log.warning("lease_not_ended", entry=lease.entry_id, reason=error.reason)

    async def _reply_to(self, job: ThinkJob) -> ThinkReply:
        late_seconds = (self._clock.now() - job.expires_at).total_seconds()
        if late_seconds >= 0:
            _log.warning("job_expired", job_id=job.job_id, late_seconds=round(late_seconds, 3))
            return ThinkReply(failure_of(DeadlineExceeded(f"Job {job.job_id} waited past its deadline.")))
        with (
            log_context(run_id=job.request.run_id),
            self._telemetry.tracing.span(names.queue_span(), _messaging(job), parent=extract(job.trace)),
        ):
            try:
                return ThinkReply(await asyncio.to_thread(self._mind.think, job.request))
            except TaoError as error:
                return ThinkReply(failure_of(error))
            except Exception:  # noqa: BLE001 - a fault of ours is told once, to the log, and the worker goes on
                incident = new_id(self._clock)
                _log.exception("thought_failed", job_id=job.job_id, incident=incident)
                return ThinkReply(failure_of(InternalError.of(incident)))


def _cause_to_set_aside(lease: Lease) -> str:
    """Return why an entry must not be worked on, or nothing."""
    if lease.job is None:
        return lease.fault or "the entry cannot be read"
    if lease.deliveries > MAX_DELIVERIES:
        return f"handed out {lease.deliveries} times without an answer"
    return ""


def _messaging(job: ThinkJob) -> dict[names.Attribute, str]:
    return {
        names.Attribute.MESSAGING_SYSTEM: "redis",
        names.Attribute.MESSAGING_DESTINATION: "thought",
        names.Attribute.MESSAGING_OPERATION: "process",
        names.Attribute.MESSAGING_MESSAGE_ID: job.job_id,
    }
