"""One side of a round trip in a process of its own.

`python -m benchmarks.queue.sides SIDE URL IN_FLIGHT`, where SIDE is `front`, `worker`, `bare-front` or `bare-worker`. A
front makes as many round trips as a line of standard input says, and answers with how many were right; a worker works
until its input ends.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import AbstractAsyncContextManager

from benchmarks.caller import Work, repeat
from benchmarks.hops import Remembering, bare_front, bare_worker, thought_front, thought_worker
from benchmarks.queue.sample import REQUEST, RESPONSE
from taoloop.core.clock import SystemClock
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.wire.event_loop import run as run_loop


async def ask(work: AbstractAsyncContextManager[Work], in_flight: int) -> None:
    """Make the round trips that standard input asks for."""
    async with work as hop:
        print("ready", flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(await repeat(hop, int(line), in_flight), flush=True)


async def answer(work: AbstractAsyncContextManager[None]) -> None:
    """Answer round trips until standard input ends."""
    async with work:
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read)


async def serve(side: str, url: str, in_flight: int) -> None:
    """Be one side."""
    clock, telemetry = SystemClock(), Telemetry.build(TelemetrySettings(sample_ratio=0.0), "taoloop-benchmark")
    match side:
        case "front":
            await ask(thought_front(url, REQUEST, RESPONSE, telemetry, clock), in_flight)
        case "worker":
            await answer(thought_worker(url, Remembering(RESPONSE), telemetry, clock, slots=in_flight))
        case "bare-front":
            await ask(bare_front(url), in_flight)
        case _:
            await answer(bare_worker(url))


if __name__ == "__main__":
    run_loop(serve(sys.argv[1], sys.argv[2], int(sys.argv[3])))
