"""The worker's rules, on a queue in memory."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable, CatalogueMismatch, DeadlineExceeded, InternalError, QueueFull
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.task import Priority, Role, Turn
from taoloop.plan.thinking import Refusal, RefusalReason, ThinkRequest, ThinkResponse
from taoloop.testing.job_queue import InMemoryJobQueue, StoredJobs
from taoloop.thought.front import ThoughtFront, error_of, failure_of
from taoloop.thought.model import Lease, LeaseEnd, ThinkFailure, ThinkJob, ThinkReply
from taoloop.thought.worker import MAX_DELIVERIES, ThoughtWorker, WorkerConfig

CLOCK = SystemClock()
REQUEST = ThinkRequest(run_id="r", iteration=1, turns=(Turn(role=Role.USER, text="hello"),))
NOTHING = ThinkResponse(outcome=Refusal(reason=RefusalReason.NO_TOOL, message="none"), run_id="r", iteration=1)


class Mind:
    """Thinks what it is told."""

    def __init__(self, think: Callable[[ThinkRequest], ThinkResponse] = lambda _: NOTHING) -> None:
        self.requests: list[ThinkRequest] = []
        self.deadlines: list[Deadline] = []
        self._think = think

    async def think(self, request: ThinkRequest, deadline: Deadline, tenant: str) -> ThinkResponse:
        self.requests.append(request)
        self.deadlines.append(deadline)
        return await asyncio.to_thread(self._think, request)


class Waiting:
    """Thinks until it is cancelled, or told to be done."""

    def __init__(self) -> None:
        self.has_begun = asyncio.Event()
        self.was_cancelled = asyncio.Event()
        self.may_end = asyncio.Event()

    async def think(self, request: ThinkRequest, deadline: Deadline, tenant: str) -> ThinkResponse:
        self.has_begun.set()
        try:
            await self.may_end.wait()
        except asyncio.CancelledError:
            self.was_cancelled.set()
            raise
        return NOTHING


@asynccontextmanager
async def working(
    queue: InMemoryJobQueue, mind: Mind | Waiting, slots: int = 2, telemetry: Telemetry | None = None
) -> AsyncIterator[tuple[InMemoryJobQueue, ThoughtWorker]]:
    config = WorkerConfig(slots=slots, take_wait_seconds=0.02, renew_every_seconds=0.02, outage_seconds=1.0)
    worker = ThoughtWorker(queue, mind, config, CLOCK, telemetry or Telemetry.build(TelemetrySettings(), "test"))
    async with asyncio.TaskGroup() as group:
        group.create_task(worker.run())
        try:
            yield queue, worker
        finally:
            worker.stop()


@asynccontextmanager
async def at_work(mind: Mind | Waiting, slots: int = 2) -> AsyncIterator[tuple[InMemoryJobQueue, ThoughtWorker]]:
    async with working(InMemoryJobQueue(CLOCK), mind, slots) as both:
        yield both


def call(seconds: float = 5.0) -> CallContext:
    return CallContext(deadline=Deadline.after(seconds, CLOCK), tenant="acme")


def raising(error: Exception) -> Callable[[ThinkRequest], ThinkResponse]:
    def think(_: ThinkRequest) -> ThinkResponse:
        raise error

    return think


async def test_a_request_comes_back_as_a_thought() -> None:
    async with at_work(Mind()) as (queue, _):
        assert await ThoughtFront(queue).think(REQUEST, call()) == NOTHING


async def test_the_mind_is_told_when_nobody_waits_any_more() -> None:
    mind = Mind()
    async with at_work(mind) as (queue, _):
        await ThoughtFront(queue).think(REQUEST, call(seconds=5.0))

    assert 4.0 < mind.deadlines[0].remaining_seconds() <= 5.0


async def test_the_same_run_and_iteration_are_thought_about_once() -> None:
    mind = Mind()
    async with at_work(mind) as (queue, _):
        front = ThoughtFront(queue)
        assert await front.think(REQUEST, call()) == await front.think(REQUEST, call())

    assert len(mind.requests) == 1


async def test_two_tenants_with_one_run_id_do_not_share_a_thought() -> None:
    mind = Mind()
    async with at_work(mind) as (queue, _):
        front = ThoughtFront(queue)
        await front.think(REQUEST, call())
        await front.think(REQUEST, replace(call(), tenant="other"))

    assert len(mind.requests) == 2


async def test_what_the_mind_raises_reaches_the_caller_as_it_is() -> None:
    async with at_work(Mind(raising(CatalogueMismatch.of("a" * 64, "b" * 64)))) as (queue, _):
        with pytest.raises(CatalogueMismatch) as raised:
            await ThoughtFront(queue).think(REQUEST, call())

    assert raised.value.metadata["wanted_digest"] == "a" * 64


async def test_a_fault_of_ours_is_internal_and_says_nothing_of_its_cause() -> None:
    async with at_work(Mind(raising(RuntimeError("secret dsn")))) as (queue, _):
        with pytest.raises(InternalError) as raised:
            await ThoughtFront(queue).think(REQUEST, call())

    assert "secret" not in raised.value.message


async def test_an_expired_job_never_reaches_the_mind() -> None:
    mind = Mind()
    async with at_work(mind) as (queue, _):
        job = ThinkJob(job_id="j", tenant="t", request=REQUEST)
        with pytest.raises(DeadlineExceeded):
            await queue.ask(job, Deadline.after(-1.0, CLOCK))

    assert mind.requests == []


class Handing(InMemoryJobQueue):
    """A queue whose entries are told with other words than they were put there with."""

    def __init__(self, changed: Callable[[Lease], Lease]) -> None:
        super().__init__(CLOCK)
        self._changed = changed

    async def take(self, count: int, wait_seconds: float) -> Sequence[Lease]:
        return [self._changed(lease) for lease in await super().take(count, wait_seconds)]


async def test_an_expired_lease_is_answered_without_a_thought() -> None:
    mind = Mind()
    async with working(Handing(lambda lease: replace(lease, deadline=Deadline.after(-1.0, CLOCK))), mind) as (queue, _):
        with pytest.raises(DeadlineExceeded):
            await ThoughtFront(queue).think(REQUEST, call())

    assert mind.requests == []


async def test_an_entry_that_killed_its_workers_is_set_aside_and_its_caller_told() -> None:
    mind = Mind()
    async with working(Handing(lambda lease: replace(lease, deliveries=MAX_DELIVERIES + 1)), mind) as (queue, _):
        with pytest.raises(InternalError):
            await ThoughtFront(queue).think(REQUEST, call())

    assert [cause for _, cause in queue.stored.dead] == ["handed out 6 times without an answer"]
    assert mind.requests == []


async def test_an_entry_that_cannot_be_read_is_set_aside() -> None:
    async with working(Handing(lambda lease: replace(lease, job=None, fault="entry of version 9")), Mind()) as (
        queue,
        _,
    ):
        with pytest.raises(DeadlineExceeded):
            await ThoughtFront(queue).think(REQUEST, call(0.3))

    assert [cause for _, cause in queue.stored.dead] == ["entry of version 9"]


async def test_a_worker_takes_no_more_jobs_than_it_has_slots() -> None:
    release = threading.Event()
    running: list[int] = []

    def think(_: ThinkRequest) -> ThinkResponse:
        running.append(1)
        release.wait(5.0)
        return NOTHING

    async with at_work(Mind(think), slots=2) as (queue, worker), asyncio.TaskGroup() as group:
        front = ThoughtFront(queue)
        for number in range(4):
            group.create_task(front.think(replace(REQUEST, iteration=number), call()))
        for _ in range(100):
            if "2 of 2 slots busy" in repr(worker):
                break
            await asyncio.sleep(0.01)
        assert len(running) == 2
        assert (await queue.state()).streams[Priority.INTERACTIVE].leased == 2
        release.set()


async def test_a_worker_that_is_stopped_answers_what_it_has_in_hand() -> None:
    has_begun = asyncio.Event()
    loop = asyncio.get_running_loop()
    release = threading.Event()

    def think(_: ThinkRequest) -> ThinkResponse:
        loop.call_soon_threadsafe(has_begun.set)
        release.wait(5.0)
        return NOTHING

    async with at_work(Mind(think)) as (queue, worker), asyncio.TaskGroup() as group:
        asked = group.create_task(ThoughtFront(queue).think(REQUEST, call()))
        await has_begun.wait()
        worker.stop()
        release.set()

    assert asked.result() == NOTHING


async def test_an_outage_of_the_queue_is_ridden_out() -> None:
    async with at_work(Mind()) as (queue, _):
        queue.stored.is_down = True
        await asyncio.sleep(0.05)
        queue.stored.is_down = False

        assert await ThoughtFront(queue).think(REQUEST, call()) == NOTHING


async def test_an_answer_is_stored_when_the_queue_is_back() -> None:
    mind = Waiting()
    async with at_work(mind) as (queue, _), asyncio.TaskGroup() as group:
        asked = group.create_task(ThoughtFront(queue).think(REQUEST, call()))
        await mind.has_begun.wait()
        queue.stored.is_down = True
        mind.may_end.set()
        await asyncio.sleep(0.1)
        queue.stored.is_down = False

    assert asked.result() == NOTHING


async def test_work_whose_caller_is_gone_is_cancelled_and_the_rest_is_answered() -> None:
    mind, telemetry = Waiting(), Telemetry.build(TelemetrySettings(), "test")
    async with working(InMemoryJobQueue(CLOCK), mind, telemetry=telemetry) as (queue, _):
        asked = asyncio.ensure_future(ThoughtFront(queue).think(REQUEST, call()))
        await mind.has_begun.wait()
        asked.cancel()
        await asyncio.wait_for(mind.was_cancelled.wait(), 2.0)
        mind.may_end.set()

        assert await ThoughtFront(queue).think(replace(REQUEST, iteration=2), call()) == NOTHING
        assert (await queue.state()).length == 0

    assert 'taoloop_queue_leases_ended_total{reason="abandoned"} 1.0' in telemetry.metrics.exposition()


async def test_late_work_is_cancelled() -> None:
    mind, telemetry = Waiting(), Telemetry.build(TelemetrySettings(), "test")
    async with working(InMemoryJobQueue(CLOCK), mind, telemetry=telemetry) as (queue, _):
        with pytest.raises(DeadlineExceeded):
            await ThoughtFront(queue).think(REQUEST, call(0.1))
        await asyncio.wait_for(mind.was_cancelled.wait(), 2.0)


async def test_work_that_another_worker_has_is_cancelled_and_not_answered() -> None:
    stored = StoredJobs(CLOCK, lease_seconds=30.0)
    mind, telemetry = Waiting(), Telemetry.build(TelemetrySettings(), "test")
    other = InMemoryJobQueue(CLOCK, stored=stored, consumer="two")
    async with working(InMemoryJobQueue(CLOCK, stored=stored), mind, telemetry=telemetry) as (queue, worker):
        asked = asyncio.ensure_future(ThoughtFront(queue).think(REQUEST, call()))
        await mind.has_begun.wait()
        worker.stop()
        next(iter(stored.entries.values())).owner = "two"
        await asyncio.wait_for(mind.was_cancelled.wait(), 2.0)
        (lease,) = (entry.lease for entry in stored.entries.values())
        await other.answer(lease, ThinkReply(replace(NOTHING, thought_id="f" * 32)))

        assert (await asked).thought_id == "f" * 32

    assert 'taoloop_queue_leases_ended_total{reason="lost"} 1.0' in telemetry.metrics.exposition()


async def test_a_worker_that_is_cancelled_gives_back_what_it_has_in_hand() -> None:
    queue, mind = InMemoryJobQueue(CLOCK), Waiting()
    config = WorkerConfig(slots=2, take_wait_seconds=0.02)
    worker = ThoughtWorker(queue, mind, config, CLOCK, Telemetry.build(TelemetrySettings(), "test"))
    running = asyncio.ensure_future(worker.run())
    asked = asyncio.ensure_future(ThoughtFront(queue).think(REQUEST, call()))
    await mind.has_begun.wait()

    running.cancel()
    await asyncio.wait([running])

    assert (await queue.state()).streams[Priority.INTERACTIVE].waiting == 1
    async with working(queue, Mind()):
        assert await asked == NOTHING


class Refusing(InMemoryJobQueue):
    """A queue that cannot end one job, for a reason that nobody has thought of."""

    async def answer(self, lease: Lease, reply: ThinkReply | None) -> bool:
        if lease.job is not None and lease.job.request.iteration == 1:
            raise RuntimeError("nobody has thought of this")
        return await super().answer(lease, reply)


async def test_a_job_that_cannot_be_ended_does_not_end_the_worker() -> None:
    async with working(Refusing(CLOCK), Mind(), slots=1) as (queue, _):
        with pytest.raises(DeadlineExceeded):
            await ThoughtFront(queue).think(REQUEST, call(0.2))

        assert await ThoughtFront(queue).think(replace(REQUEST, iteration=2), call()) == NOTHING


class Forgetting(InMemoryJobQueue):
    """A queue that is away when a reply is to be stored, and has given the lease up when it is back.

    Args:
        end: What becomes of the first lease.
    """

    def __init__(self, end: LeaseEnd) -> None:
        super().__init__(CLOCK)
        self._end = end
        self._first: object = None
        self._is_told = asyncio.Event()

    async def answer(self, lease: Lease, reply: ThinkReply | None) -> bool:
        self._first = self._first or lease.key
        if lease.key == self._first and not self._is_told.is_set():
            raise BackendUnavailable("away")
        return await super().answer(lease, reply)

    async def renew(self, leases: Sequence[Lease]) -> Mapping[tuple[Priority, str], LeaseEnd]:
        ended = {lease.key: self._end for lease in leases if lease.key == self._first}
        if ended:
            self._is_told.set()
        return ended


@pytest.mark.parametrize("end", list(LeaseEnd))
async def test_a_lease_that_ends_while_its_reply_is_being_stored_does_not_end_the_worker(end: LeaseEnd) -> None:
    async with working(Forgetting(end), Mind(), slots=1) as (queue, _), asyncio.TaskGroup() as group:
        first = group.create_task(ThoughtFront(queue).think(REQUEST, call()))
        second = group.create_task(ThoughtFront(queue).think(replace(REQUEST, iteration=2), call()))

        assert await second == NOTHING
        first.cancel()


async def test_the_queue_is_measured_for_who_scales_the_workers() -> None:
    mind, telemetry = Waiting(), Telemetry.build(TelemetrySettings(), "test")
    queue = InMemoryJobQueue(CLOCK)
    config = WorkerConfig(slots=1, take_wait_seconds=0.02, report_every_seconds=0.02)
    worker = ThoughtWorker(queue, mind, config, CLOCK, telemetry)
    async with asyncio.TaskGroup() as group:
        group.create_task(worker.run())
        requests = [replace(REQUEST, iteration=number, priority=Priority.BACKGROUND) for number in range(3)]
        asked = [group.create_task(ThoughtFront(queue).think(request, call())) for request in requests]
        shown = ""
        for _ in range(100):
            shown = telemetry.metrics.exposition()
            if 'taoloop_queue_jobs{priority="background",state="leased"} 1.0' in shown:
                break
            await asyncio.sleep(0.01)
        mind.may_end.set()
        await asyncio.gather(*asked)
        worker.stop()

    assert 'taoloop_queue_jobs{priority="background",state="waiting"} 2.0' in shown
    assert "taoloop_thought_queue_length 3.0" in shown


def test_an_error_survives_its_way_through_the_queue() -> None:
    error = QueueFull("满了", metadata={"jobs": "3"}, retry_after_seconds=2.5)

    back = error_of(failure_of(error))

    assert isinstance(back, QueueFull)
    assert (back.message, dict(back.metadata), back.retry_after_seconds) == ("满了", {"jobs": "3"}, 2.5)


def test_a_reason_that_is_not_known_is_internal() -> None:
    assert isinstance(error_of(ThinkFailure(reason="FROM_THE_FUTURE", message="?")), InternalError)
