"""The thought worker: takes jobs as it has room for them, thinks, answers, and leaves nothing half done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, DeadlineExceeded, InternalError, TaoError
from taoloop.core.ids import new_id
from taoloop.core.logs import EventLog, log_context
from taoloop.core.telemetry import Telemetry, names
from taoloop.core.telemetry.metrics import observing
from taoloop.core.telemetry.tracing import extract
from taoloop.plan.thinking import ThinkRequest, ThinkResponse
from taoloop.thought.front import failure_of
from taoloop.thought.model import Lease, LeaseEnd, QueueState, ThinkJob, ThinkReply
from taoloop.thought.ports import JobSource

MAX_DELIVERIES: Final = 5
"""An entry handed out more often than this has killed its workers; it is set aside."""
OUTAGE_PAUSE_SECONDS: Final = 0.5

_log = EventLog(__name__)


class Mind(Protocol):
    """Makes thoughts in this process."""

    async def think(self, request: ThinkRequest, deadline: Deadline, tenant: str) -> ThinkResponse:
        """Make one thought; what computes long does so elsewhere than on the event loop.

        It is cancelled when the thought is late, when nobody waits for it any more, and when another worker has it.

        Args:
            request: What is to be thought about.
            deadline: When nobody waits for the thought any more.
            tenant: Who asks, and pays for models.

        Raises:
            TaoError: The request cannot be thought about here.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerConfig:
    """How much a worker does at a time.

    Attributes:
        slots: Most jobs at the same time. A slot is free before a job is taken, so that none waits in this process.
        take_wait_seconds: How long it waits for a job before it looks whether it is to stop.
        renew_every_seconds: How often leases are renewed, and abandoned jobs noticed; well below the lease.
        report_every_seconds: How often the queue's length is measured.
        outage_seconds: How long it tries to store a reply while the queue is away.
    """

    slots: int
    take_wait_seconds: float = 0.25
    renew_every_seconds: float = 1.0
    report_every_seconds: float = 5.0
    outage_seconds: float = 30.0


@dataclass(eq=False, slots=True)
class _Hand:
    """A job in work.

    Attributes:
        lease: The job.
        ended: Why it has to be given up, once that is known.
        scope: What is interrupted then; None while nothing can be.
    """

    lease: Lease
    ended: LeaseEnd | None = None
    scope: asyncio.Timeout | None = field(default=None)

    def give_up(self, end: LeaseEnd) -> None:
        """Interrupt the work."""
        self.ended = end
        if self.scope is not None and not self.scope.expired():
            self.scope.reschedule(asyncio.get_running_loop().time())


class ThoughtWorker:
    """Works on the queue until it is told to stop.

    Args:
        source: The queue.
        mind: Makes the thoughts, several at a time.
        config: How much it does at a time.
        clock: Paces renewals and repeats.
        telemetry: Spans continue the trace of who asked.
    """

    def __init__(self, source: JobSource, mind: Mind, config: WorkerConfig, clock: Clock, telemetry: Telemetry) -> None:
        self._source = source
        self._mind = mind
        self._config = config
        self._clock = clock
        self._telemetry = telemetry
        self._observe_wait = observing(telemetry.metrics.histogram(names.QUEUE_WAIT))
        self._hands: dict[object, _Hand] = {}
        self._has_room = asyncio.Event()
        self._has_room.set()
        self._is_stopping = asyncio.Event()

    def __repr__(self) -> str:
        return f"<ThoughtWorker [{len(self._hands)} of {self._config.slots} slots busy] {self._source!r}>"

    def stop(self) -> None:
        """Take no new job; `run` returns when those in hand are answered."""
        self._is_stopping.set()

    async def run(self) -> None:
        """Take and answer jobs until `stop` is called; an outage of the queue is ridden out.

        When it is cancelled, the jobs in hand are given back, for other workers to take at once.
        """
        try:
            async with asyncio.TaskGroup() as beside:
                tasks = (
                    beside.create_task(self._keep_leases(), name="leases"),
                    beside.create_task(self._report(), name="queue report"),
                )
                await self._work_until_stopped()
                for task in tasks:
                    task.cancel()
        finally:
            if self._hands:
                await self._hand_back()

    async def _work_until_stopped(self) -> None:
        async with asyncio.TaskGroup() as group:
            while not self._is_stopping.is_set():
                await self._has_room.wait()
                if self._is_stopping.is_set():
                    break
                for lease in await self._take():
                    # The server may hand an entry out to us again, whose lease lapsed while this process stood still.
                    if lease.key not in self._hands:
                        hand = self._hands[lease.key] = _Hand(lease)
                        group.create_task(self._work(hand), name=f"job {lease.entry_id}")
                self._note_room()

    async def _take(self) -> list[Lease]:
        try:
            leases = await self._source.take(self._config.slots - len(self._hands), self._config.take_wait_seconds)
        except BackendUnavailable as error:
            _log.warning("queue_not_read", reason=error.reason)
            await self._clock.sleep(OUTAGE_PAUSE_SECONDS)
            return []
        return list(leases)

    def _note_room(self) -> None:
        if len(self._hands) < self._config.slots:
            self._has_room.set()
        else:
            self._has_room.clear()

    async def _keep_leases(self) -> None:
        """Renew what is in hand, and interrupt what is to be given up, until cancelled."""
        while True:
            await self._clock.sleep(self._config.renew_every_seconds)
            try:
                ended = await self._source.renew([hand.lease for hand in self._hands.values()])
            except BackendUnavailable as error:
                _log.warning("leases_not_renewed", leases=len(self._hands), reason=error.reason)
                continue
            for key, end in ended.items():
                hand = self._hands.get(key)
                if hand is not None and hand.ended is None:
                    hand.give_up(end)

    async def _report(self) -> None:
        """Measure the queue, until cancelled."""
        while True:
            try:
                _show(await self._source.state(), self._telemetry)
            except BackendUnavailable as error:
                _log.warning("queue_not_measured", reason=error.reason)
            await self._clock.sleep(self._config.report_every_seconds)

    async def _work(self, hand: _Hand) -> None:
        try:
            await self._deal_with(hand)
        except Exception:  # noqa: BLE001 - one job must not end the others; its lease lapses, and five times are enough
            _log.exception("job_left", entry=hand.lease.entry_id)
        # Not in a `finally`: what was cancelled is given back by `run`.
        del self._hands[hand.lease.key]
        self._note_room()

    async def _deal_with(self, hand: _Hand) -> None:
        lease = hand.lease
        self._observe_wait(lease.waited_seconds)
        if lease.deliveries > 1:
            self._telemetry.metrics.counter(names.QUEUE_REDELIVERED).inc()
        cause = _cause_to_set_aside(lease)
        if lease.job is None or cause:
            await self._set_aside(hand, cause)
        else:
            reply = await self._reply_to(hand, lease.job)
            hand.scope = None  # what was thought can only be told any more
            if hand.ended is not LeaseEnd.LOST:
                await self._until_ended(hand, lambda: self._source.answer(lease, reply))

    async def _set_aside(self, hand: _Hand, cause: str) -> None:
        lease = hand.lease
        failure = failure_of(InternalError.of(lease.entry_id))
        _log.error("job_set_aside", entry=lease.entry_id, cause=cause, deliveries=lease.deliveries)
        counted = "unreadable" if lease.job is None else "deliveries"
        if await self._until_ended(hand, lambda: self._source.set_aside(lease, cause, failure)):
            self._telemetry.metrics.counter(names.QUEUE_SET_ASIDE).labels(cause=counted).inc()

    async def _until_ended(self, hand: _Hand, end: Callable[[], Awaitable[object]]) -> bool:
        """End a lease, again and again while the queue is away; return whether it was ended.

        What cannot be ended in time stays leased, is not renewed any more, and comes back when the lease has lapsed.
        """
        patience = Deadline.after(self._config.outage_seconds, self._clock)
        while hand.ended is not LeaseEnd.LOST:
            try:
                if await end() is False:
                    self._count_ended(hand, LeaseEnd.LOST)
            except BackendUnavailable as error:
                _log.warning("lease_not_ended", entry=hand.lease.entry_id, reason=error.reason)
                if patience.is_expired:
                    return False
                await self._clock.sleep(OUTAGE_PAUSE_SECONDS)
            else:
                return True
        return False

    async def _reply_to(self, hand: _Hand, job: ThinkJob) -> ThinkReply | None:
        """Return the thought or why there is none; None when nobody waits for it, or somebody else makes it."""
        deadline = hand.lease.deadline
        if deadline.is_expired:
            return self._too_late(job)
        with (
            log_context(run_id=job.request.run_id),
            self._telemetry.tracing.span(names.queue_span(), _messaging(job), parent=extract(job.trace)),
        ):
            try:
                async with asyncio.timeout(deadline.remaining_seconds()) as hand.scope:
                    return ThinkReply(await self._mind.think(job.request, deadline, job.tenant))
            except TimeoutError:
                if hand.scope is None or not hand.scope.expired():
                    return self._failed(job)
                return self._interrupted(hand, job)
            except TaoError as error:
                return ThinkReply(failure_of(error))
            except Exception:  # noqa: BLE001 - a fault of ours is told once, to the log, and the worker goes on
                return self._failed(job)

    def _interrupted(self, hand: _Hand, job: ThinkJob) -> ThinkReply | None:
        if hand.ended is None:
            return self._too_late(job)
        self._count_ended(hand, hand.ended)
        return None

    def _too_late(self, job: ThinkJob) -> ThinkReply:
        self._telemetry.metrics.counter(names.QUEUE_LEASES_ENDED).labels(reason="late").inc()
        _log.warning("job_expired", job_id=job.job_id)
        return ThinkReply(failure_of(DeadlineExceeded(f"Job {job.job_id} was not done by its deadline.")))

    def _failed(self, job: ThinkJob) -> ThinkReply:
        incident = new_id(self._clock)
        _log.exception("thought_failed", job_id=job.job_id, incident=incident)
        return ThinkReply(failure_of(InternalError.of(incident)))

    def _count_ended(self, hand: _Hand, end: LeaseEnd) -> None:
        self._telemetry.metrics.counter(names.QUEUE_LEASES_ENDED).labels(reason=end.value).inc()
        _log.warning("job_given_up", entry=hand.lease.entry_id, reason=end.value)

    async def _hand_back(self) -> None:
        leases = [hand.lease for hand in self._hands.values() if hand.ended is not LeaseEnd.LOST]
        self._hands.clear()
        try:
            await self._source.leave(leases)
        except BackendUnavailable as error:
            _log.warning("leases_not_handed_back", leases=len(leases), reason=error.reason)


def _cause_to_set_aside(lease: Lease) -> str:
    """Return why an entry must not be worked on, or nothing."""
    if lease.job is None:
        return lease.fault or "the entry cannot be read"
    if lease.deliveries > MAX_DELIVERIES:
        return f"handed out {lease.deliveries} times without an answer"
    return ""


def _show(state: QueueState, telemetry: Telemetry) -> None:
    metrics = telemetry.metrics
    metrics.gauge(names.THOUGHT_QUEUE_LENGTH).set(state.length)
    metrics.gauge(names.QUEUE_DEAD_LETTERS).set(state.dead)
    for priority, stream in state.streams.items():
        jobs = metrics.gauge(names.QUEUE_JOBS)
        jobs.labels(priority=priority.value, state="waiting").set(stream.waiting)
        jobs.labels(priority=priority.value, state="leased").set(stream.leased)
        metrics.gauge(names.QUEUE_OLDEST).labels(priority=priority.value).set(stream.oldest_seconds)


def _messaging(job: ThinkJob) -> dict[names.Attribute, str]:
    return {
        names.Attribute.MESSAGING_SYSTEM: "redis",
        names.Attribute.MESSAGING_DESTINATION: "thought",
        names.Attribute.MESSAGING_OPERATION: "process",
        names.Attribute.MESSAGING_MESSAGE_ID: job.job_id,
    }
