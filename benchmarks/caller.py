"""The calling side in a process of its own: makes runs or echo calls as the benchmark asks for them, line by line.

A line in is `{"what": "runs" | "echo", "count": 100, "concurrency": 8}`, the line out `{"answered": 100}`.
"""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path

import grpc.aio

from benchmarks.echo import METHOD, PAYLOAD
from loadtest.mix import read_mix
from taoloop.cli.settings import CliSettings
from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.settings import GrpcSettings, load_settings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.running import RunFinished
from taoloop.plan.task import Outcome, Task
from taoloop.wire.clients import LoopClient, loop_client
from taoloop.wire.event_loop import run as run_loop

RUN_SECONDS = 30.0

Work = Callable[[], Awaitable[bool]]


async def one_run(client: LoopClient, task: Task) -> bool:
    """Make one run and say whether it was answered."""
    call = CallContext(deadline=Deadline.after(RUN_SECONDS, SystemClock()), request_id=uuid.uuid4().hex)
    finished = None
    async for event in client.run(task, call):
        if isinstance(event.body, RunFinished):
            finished = event.body
    if finished is not None and finished.outcome is Outcome.ANSWERED:
        return True
    print(f"a run was not answered: {finished}", file=sys.stderr)
    return False


async def repeat(work: Work, count: int, concurrency: int) -> int:
    """Do the work `count` times, `concurrency` at a time; return how often it said yes."""
    left, good = count, 0

    async def lane() -> None:
        nonlocal left, good
        while left > 0:
            left -= 1
            is_good = await work()  # not in the sum: it would be read before the wait and written after it
            good += is_good

    async with asyncio.TaskGroup() as group:
        for number in range(concurrency):
            group.create_task(lane(), name=f"lane {number}")
    return good


async def _serve(loop_address: str, echo_address: str, task: Task) -> None:
    telemetry = Telemetry.build(load_settings(CliSettings).telemetry, "taoloop-benchmark")
    async with (
        telemetry.tracing,
        loop_client(loop_address, GrpcSettings(), telemetry) as client,
        grpc.aio.insecure_channel(echo_address) as channel,
    ):
        echo: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(f"/{METHOD}")

        async def echoed() -> bool:
            return await echo(PAYLOAD, timeout=RUN_SECONDS) == PAYLOAD

        works: dict[str, Work] = {"runs": lambda: one_run(client, task), "echo": echoed}
        # A line is read in a thread, so that the channels live meanwhile.
        while line := await asyncio.to_thread(sys.stdin.readline):
            asked = json.loads(line)
            good = await repeat(works[asked["what"]], asked["count"], asked["concurrency"])
            print(json.dumps({"answered": good}), flush=True)


def main(loop_address: str, echo_address: str, tasks_file: str, task_id: str) -> None:
    """Serve the lines of standard input until it ends."""
    task = next(each.task for each in read_mix(Path(tasks_file)) if each.task_id == task_id)
    run_loop(_serve(loop_address, echo_address, task))


if __name__ == "__main__":
    main(*sys.argv[1:])
