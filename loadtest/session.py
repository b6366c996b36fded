"""One load test from its first arrival to its report, or to the signal that ends it early."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from loadtest.mix import MixedTask
from loadtest.open_loop import Send, send_all
from loadtest.recorder import Recorder
from loadtest.report import Measured, Report, report_of
from loadtest.schedule import Schedule, arrivals_of
from loadtest.summary import progress_of
from taoloop.core.clock import Clock

Show = Callable[[str], None]
"""Shows one line of progress in place of the one before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be done.

    Attributes:
        address: Of the service, for the report.
        tasks_file: Where the tasks came from, for the report.
        tasks: The mix.
        schedule: The arrivals.
        max_in_flight: Most calls at the same time.
    """

    address: str
    tasks_file: str
    tasks: tuple[MixedTask, ...]
    schedule: Schedule
    max_in_flight: int


async def run_session(plan: Plan, send: Send, clock: Clock, stop: asyncio.Event, show: Show | None) -> Report:
    """Send everything, wait for the answers and report; when `stop` is set, give up what is under way and report.

    Args:
        plan: What is to be done.
        send: Makes one call.
        clock: Paces and measures.
        stop: Ends the test early.
        show: Gets a line of progress each second; None for none.
    """
    recorder = Recorder()
    started_at, started_seconds, cpu_before = clock.now(), clock.monotonic(), time.process_time()
    arrivals = arrivals_of(plan.schedule, plan.tasks)
    async with asyncio.TaskGroup() as group:
        sending = group.create_task(send_all(arrivals, send, recorder, clock, plan.max_in_flight), name="open loop")
        beside = [group.create_task(_cancel_when_set(stop, sending), name="stop")]
        if show is not None:
            total = plan.schedule.total_seconds
            beside.append(group.create_task(_show_progress(recorder, clock, total, show), name="progress"))
        await asyncio.wait([sending])
        for task in beside:
            task.cancel()
    elapsed = clock.monotonic() - started_seconds
    schedule = plan.schedule
    measured_until = min(elapsed, schedule.total_seconds)
    measured = Measured(
        address=plan.address,
        tasks_file=plan.tasks_file,
        started_at=started_at,
        measured_seconds=max(0.0, measured_until - schedule.warm_up_seconds),
        drain_seconds=elapsed - measured_until,
        client_cpu_share=(time.process_time() - cpu_before) / elapsed if elapsed else 0.0,
        is_interrupted=stop.is_set(),
        max_in_flight=plan.max_in_flight,
    )
    return report_of(recorder, schedule, measured)


@contextmanager
def stopping_by_signal() -> Iterator[asyncio.Event]:
    """Give an event that Ctrl-C and SIGTERM set; a second signal ends the process as usual."""
    loop, stop = asyncio.get_running_loop(), asyncio.Event()

    def note(number: int) -> None:
        stop.set()
        loop.remove_signal_handler(number)

    numbers = (signal.SIGINT, signal.SIGTERM)
    for number in numbers:
        loop.add_signal_handler(number, note, number)
    try:
        yield stop
    finally:
        for number in numbers:
            loop.remove_signal_handler(number)


async def _cancel_when_set(stop: asyncio.Event, sending: asyncio.Task[None]) -> None:
    await stop.wait()
    sending.cancel()


async def _show_progress(recorder: Recorder, clock: Clock, total_seconds: float, show: Show) -> None:
    started = clock.monotonic()
    while True:
        await clock.sleep(1.0)
        show(progress_of(recorder, clock.monotonic() - started, total_seconds))
