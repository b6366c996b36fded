"""A whole test on a fake clock: from the first arrival to the report, and its early end."""

from __future__ import annotations

import asyncio

import pytest

from loadtest.recorder import Answered, Result
from loadtest.schedule import Arrivals, Schedule
from loadtest.session import Plan, run_session
from taoloop.plan.task import Outcome, Task
from taoloop.testing.clock import FakeClock
from tests.unit.loadtest.arrivals import task

PLAN = Plan(
    address="127.0.0.1:7701",
    tasks_file="mix.yaml",
    tasks=(task(),),
    schedule=Schedule(
        rate_per_second=10.0, warm_up_seconds=1.0, duration_seconds=2.0, arrivals=Arrivals.CONSTANT, seed=1
    ),
    max_in_flight=100,
)


async def answering(_task: Task) -> Result:
    return Answered(Outcome.ANSWERED)


async def advance(clock: FakeClock, seconds: float) -> None:
    for _ in range(round(seconds * 20)):
        clock.advance(0.05)
        for _ in range(10):
            await asyncio.sleep(0)


async def test_whole_test_is_reported_without_its_warm_up() -> None:
    clock = FakeClock(is_impatient=True)

    report = await run_session(PLAN, answering, clock, asyncio.Event(), None)

    assert (report.scheduled, report.ended, report.outcomes) == (20, 20, {"answered": 20})
    assert not report.measured.is_interrupted


async def test_stopped_test_reports_what_there_was_and_gives_up_the_rest() -> None:
    clock, stop, cancelled = FakeClock(), asyncio.Event(), 0

    async def never(_task: Task) -> Result:
        nonlocal cancelled
        try:
            await asyncio.Event().wait()
        finally:
            cancelled += 1
        raise AssertionError

    running = asyncio.get_running_loop().create_task(run_session(PLAN, never, clock, stop, None))
    await advance(clock, 2.0)
    stop.set()
    report = await running

    assert report.measured.is_interrupted
    assert report.abandoned == report.sent > 0
    assert cancelled == report.sent + 10  # those of the warm-up too
    assert report.measured.measured_seconds == pytest.approx(1.0, abs=0.06)


async def test_progress_is_shown_each_second() -> None:
    clock, lines = FakeClock(), list[str]()
    running = asyncio.get_running_loop().create_task(run_session(PLAN, answering, clock, asyncio.Event(), lines.append))
    await advance(clock, 3.5)
    await running

    assert [line.strip().split(" ")[0] for line in lines] == ["1", "2"]
