"""Arrivals keep their instants, and latencies count from them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from loadtest.open_loop import Send, send_all
from loadtest.recorder import CLIENT_FULL, Answered, Recorder, Result
from loadtest.schedule import Arrival
from taoloop.plan.task import Outcome, Task
from taoloop.testing.clock import FakeClock
from tests.unit.loadtest.arrivals import arrival

ANSWERED = Answered(Outcome.ANSWERED)


class Service:
    """Answers when the test says so, and notes when it was asked."""

    def __init__(self, clock: FakeClock) -> None:
        self.asked_at: list[float] = []
        self._clock = clock
        self._waiting: list[asyncio.Future[Result]] = []

    async def send(self, _task: Task) -> Result:
        self.asked_at.append(self._clock.monotonic())
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._waiting.append(future)
        return await future

    def answer_all(self) -> None:
        for future in self._waiting:
            future.set_result(ANSWERED)
        self._waiting.clear()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def started(
    arrivals: list[Arrival], max_in_flight: int = 100, send: Callable[[FakeClock], Send] | None = None
) -> tuple[FakeClock, Service, Recorder, asyncio.Task[None]]:
    clock, recorder = FakeClock(), Recorder()
    service = Service(clock)
    work = send(clock) if send is not None else service.send
    sending = asyncio.get_running_loop().create_task(send_all(arrivals, work, recorder, clock, max_in_flight))
    await settle()
    return clock, service, recorder, sending


async def test_arrivals_leave_at_their_instants_although_none_was_answered() -> None:
    clock, service, _, sending = await started([arrival(0.0), arrival(0.5), arrival(1.0)])
    for _ in range(3):
        clock.advance(0.5)
        await settle()

    assert service.asked_at == [0.0, 0.5, 1.0]

    service.answer_all()
    await sending


async def test_latency_counts_from_the_scheduled_instant_when_the_client_is_late() -> None:
    clock, service, recorder, sending = await started([arrival(1.0)])
    clock.advance(3.0)  # the client is held up for two seconds
    await settle()
    clock.advance(0.25)
    service.answer_all()
    await sending

    assert recorder.latencies.percentiles().max == pytest.approx(2.25)
    assert recorder.client_lag.percentiles().max == pytest.approx(2.0)


async def test_client_that_is_late_sends_everything_that_is_due_and_notes_its_lag() -> None:
    def slow_once(clock: FakeClock) -> Send:
        async def send(task: Task) -> Result:
            if clock.monotonic() == 0.0:
                clock.advance(2.0)  # as code that does not give way to the event loop
            return ANSWERED

        return send

    _, _, recorder, sending = await started([arrival(0.0), arrival(0.5), arrival(1.0)], send=slow_once)
    await sending

    assert recorder.client_lag.percentiles().max == pytest.approx(1.5)
    assert recorder.ended == 3


async def test_arrival_above_the_most_in_flight_is_noted_and_not_sent() -> None:
    clock, service, recorder, sending = await started([arrival(0.0), arrival(0.1), arrival(0.2)], max_in_flight=1)
    clock.advance(0.1)
    await settle()

    assert recorder.errors == {CLIENT_FULL: 1}

    service.answer_all()
    await settle()
    clock.advance(0.1)
    await settle()
    service.answer_all()
    await sending

    assert (service.asked_at, recorder.ended) == ([0.0, 0.2], 2)


async def test_cancelled_test_gives_up_what_is_in_flight() -> None:
    _, _, recorder, sending = await started([arrival(0.0), arrival(9.0)])
    sending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await sending

    assert (recorder.sent, recorder.ended, recorder.abandoned) == (1, 0, 1)
