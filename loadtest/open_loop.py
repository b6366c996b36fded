"""Sends each arrival at its instant, however long the earlier ones take."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable

from loadtest.recorder import Recorder, Result
from loadtest.schedule import Arrival
from taoloop.core.clock import Clock
from taoloop.plan.task import Task

Send = Callable[[Task], Awaitable[Result]]
"""Sends one task and tells what became of it; it raises nothing but a cancellation."""


async def send_all(
    arrivals: Iterable[Arrival], send: Send, recorder: Recorder, clock: Clock, max_in_flight: int
) -> None:
    """Send the arrivals at their instants and wait until all have ended.

    An arrival that would be one too many is noted and not sent: to let it wait would turn the set rate into whatever
    the service can take.

    Args:
        arrivals: In the order of their offsets, which count from now.
        send: Makes one call.
        recorder: Gets what becomes of each.
        clock: Paces and measures.
        max_in_flight: Most calls at the same time.
    """
    start_seconds = clock.monotonic()

    async def follow(arrival: Arrival) -> None:
        result = await send(arrival.task.task)
        recorder.note_ended(arrival, result, clock.monotonic() - start_seconds - arrival.offset_seconds)

    async with asyncio.TaskGroup() as group:
        for arrival in arrivals:
            due_seconds = start_seconds + arrival.offset_seconds
            # Also when it is late already: the replies that came in meanwhile must be read.
            await clock.sleep(due_seconds - clock.monotonic())
            if recorder.in_flight >= max_in_flight:
                recorder.note_refused(arrival)
                continue
            recorder.note_sent(arrival, clock.monotonic() - due_seconds)
            group.create_task(follow(arrival), name=f"arrival at {arrival.offset_seconds:.3f} s")
