"""The worker's rules, on a queue in memory."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest

from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import CatalogueMismatch, DeadlineExceeded, InternalError, QueueFull
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.task import Role, Turn
from taoloop.plan.thinking import Refusal, RefusalReason, ThinkRequest, ThinkResponse
from taoloop.testing.job_queue import InMemoryJobQueue
from taoloop.thought.front import ThoughtFront, error_of, failure_of
from taoloop.thought.model import Lease, ThinkFailure, ThinkJob
from taoloop.thought.worker import MAX_DELIVERIES, ThoughtWorker, WorkerConfig

CLOCK = SystemClock()
REQUEST = ThinkRequest(run_id="r", iteration=1, turns=(Turn(role=Role.USER, text="hello"),))
NOTHING = ThinkResponse(outcome=Refusal(reason=RefusalReason.NO_TOOL, message="none"), run_id="r", iteration=1)


class Mind:
    """Thinks what it is told."""

    def __init__(self, think: Callable[[ThinkRequest], ThinkResponse] = lambda _: NOTHING) -> None:
        self.requests: list[ThinkRequest] = []
        self._think = think

    def think(self, request: ThinkRequest) -> ThinkResponse:
        self.requests.append(request)
        return self._think(request)


@asynccontextmanager
async def at_work(mind: Mind, slots: int = 2) -> AsyncIterator[tuple[InMemoryJobQueue, ThoughtWorker]]:
    queue = InMemoryJobQueue(CLOCK)
    worker = ThoughtWorker(
        queue,
        mind,
        WorkerConfig(slots=slots, take_wait_seconds=0.02),
        CLOCK,
        Telemetry.build(TelemetrySettings(), "test"),
    )
    async with asyncio.TaskGroup() as group:
        group.create_task(worker.run())
        try:
            yield queue, worker
        finally:
            worker.stop()


def call(seconds: float = 5.0) -> CallContext:
    return CallContext(deadline=Deadline.after(seconds, CLOCK), tenant="acme")


def raising(error: Exception) -> Callable[[ThinkRequest], ThinkResponse]:
    def think(_: ThinkRequest) -> ThinkResponse:
        raise error

    return think


async def test_a_request_comes_back_as_a_thought() -> None:
    async with at_work(Mind()) as (queue, _):
        assert await ThoughtFront(queue).think(REQUEST, call()) == NOTHING


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
        job = ThinkJob(job_id="j", tenant="t", request=REQUEST, expires_at=CLOCK.now() - timedelta(seconds=1))
        reply = await queue.ask(job, Deadline.after(5.0, CLOCK))

    assert isinstance(reply.outcome, ThinkFailure)
    assert reply.outcome.reason == DeadlineExceeded.reason
    assert mind.requests == []


async def test_an_entry_that_killed_its_workers_is_set_aside_and_its_caller_told() -> None:
    mind = Mind()
    queue = InMemoryJobQueue(CLOCK)
    worker = ThoughtWorker(queue, mind, WorkerConfig(slots=1), CLOCK, Telemetry.build(TelemetrySettings(), "test"))
    job = ThinkJob(job_id="j", tenant="t", request=REQUEST, expires_at=CLOCK.now() + timedelta(seconds=9))
    lease = Lease(entry_id="1-0", job=job, deliveries=MAX_DELIVERIES + 1)
    queue._leased["1-0"] = (job, CLOCK.monotonic())
    await worker._slots.acquire()

    await worker._work(lease)

    reply = await queue.ask(job, Deadline.after(1.0, CLOCK))
    assert [entry.entry_id for entry, _ in queue.dead] == ["1-0"]
    assert isinstance(reply.outcome, ThinkFailure)
    assert mind.requests == []


async def test_an_entry_that_cannot_be_read_is_set_aside() -> None:
    queue = InMemoryJobQueue(CLOCK)
    worker = ThoughtWorker(queue, Mind(), WorkerConfig(slots=1), CLOCK, Telemetry.build(TelemetrySettings(), "test"))
    job = ThinkJob(job_id="j", tenant="t", request=REQUEST, expires_at=CLOCK.now())
    queue._leased["1-0"] = (job, CLOCK.monotonic())
    await worker._slots.acquire()

    await worker._work(Lease(entry_id="1-0", job=None, fault="entry of version 9"))

    assert [cause for _, cause in queue.dead] == ["entry of version 9"]


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
        assert len(queue._leased) == 2
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
        queue.is_down = True
        await asyncio.sleep(0.05)
        queue.is_down = False

        assert await ThoughtFront(queue).think(REQUEST, call()) == NOTHING


def test_an_error_survives_its_way_through_the_queue() -> None:
    error = QueueFull("满了", metadata={"jobs": "3"}, retry_after_seconds=2.5)

    back = error_of(failure_of(error))

    assert isinstance(back, QueueFull)
    assert (back.message, dict(back.metadata), back.retry_after_seconds) == ("满了", {"jobs": "3"}, 2.5)


def test_a_reason_that_is_not_known_is_internal() -> None:
    assert isinstance(error_of(ThinkFailure(reason="FROM_THE_FUTURE", message="?")), InternalError)
