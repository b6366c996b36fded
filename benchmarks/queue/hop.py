"""Compares the queue's hop with a bare round trip, in turns, each with front and worker in processes of their own."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from benchmarks.processor_time import Spread, used_by
from taoloop.testing.valkey import EmbeddedValkey

ROOT: Final = Path(__file__).parents[2]
WAYS: Final = {"hop": ("front", "worker"), "bare": ("bare-front", "bare-worker")}


@dataclass(frozen=True)
class HopPlan:
    """How much is measured.

    Attributes:
        rounds: Each has all ways in turn.
        count: Round trips of one way in one round.
        in_flight: At the same time.
    """

    rounds: int = 15
    count: int = 1000
    in_flight: int = 32


@dataclass
class Figures:
    """What one way costs, round by round, in microseconds of processor time for each round trip."""

    by_process: dict[str, list[float]] = field(default_factory=dict)
    per_second: list[float] = field(default_factory=list)

    @property
    def total_us(self) -> list[float]:
        """Return the time of all processes together."""
        return [sum(each) for each in zip(*self.by_process.values(), strict=True)]

    def as_json(self) -> dict[str, Any]:
        """Return the figures."""
        return {
            "us": Spread.of(self.total_us).as_json(),
            **{f"{name}_us": Spread.of(values).as_json() for name, values in self.by_process.items()},
            "per_second": Spread.of(self.per_second).as_json(0),
        }


@dataclass(frozen=True)
class Way:
    """Front and worker of one way, and the server.

    Attributes:
        front: Makes round trips.
        pids: Of all whose time counts, by name.
        figures: What was measured.
    """

    front: asyncio.subprocess.Process
    pids: dict[str, int]
    figures: Figures = field(default_factory=Figures)

    async def make(self, count: int) -> None:
        """Make so many round trips.

        Raises:
            RuntimeError: One brought something else back.
        """
        assert self.front.stdin is not None
        assert self.front.stdout is not None
        self.front.stdin.write(f"{count}\n".encode())
        good = int(await self.front.stdout.readline() or b"0")
        if good != count:
            raise RuntimeError(f"{count - good} of {count} round trips brought something else back")

    async def measure(self, count: int) -> None:
        """Make so many round trips and note what they cost."""
        began, before = time.perf_counter(), used_by(self.pids)
        await self.make(count)
        self.figures.per_second.append(count / (time.perf_counter() - began))
        for name, after in used_by(self.pids).items():
            self.figures.by_process.setdefault(name, []).append((after - before[name]) / 1000 / count)


async def compare(plan: HopPlan) -> dict[str, Any]:
    """Measure both ways in turns; return the figures."""
    async with AsyncExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="taoloop-bench-")))
        valkey = await stack.enter_async_context(EmbeddedValkey(directory))
        assert valkey.pid is not None
        ways: dict[str, Way] = {}
        for name, (front, worker) in WAYS.items():
            answering = await stack.enter_async_context(_side(worker, valkey.url, plan.in_flight))
            asking = await stack.enter_async_context(_side(front, valkey.url, plan.in_flight))
            ways[name] = Way(asking, {"front": asking.pid, "worker": answering.pid, "server": valkey.pid})
        for way in ways.values():  # connections, scripts and code are warm
            await way.make(max(plan.count // 4, 2 * plan.in_flight))
        for number in range(plan.rounds):
            for way in ways.values() if number % 2 else reversed(ways.values()):
                await way.measure(plan.count)
    hop, bare = ways["hop"].figures, ways["bare"].figures
    ratios = Spread.of([one / other for one, other in zip(hop.total_us, bare.total_us, strict=True)])
    return {
        "hop_ratio": round(ratios.median, 3),
        "hop_ratio_spread": ratios.as_json(3),
        "hop": hop.as_json(),
        "bare": bare.as_json(),
        "in_flight": plan.in_flight,
        "rounds": plan.rounds,
        "count": plan.count,
    }


@asynccontextmanager
async def _side(side: str, url: str, in_flight: int) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run one side while the block runs."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.queue.sides", side, url, str(in_flight)), stdin=pipe, stdout=pipe, cwd=ROOT
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        if await process.stdout.readline() != b"ready\n":
            raise RuntimeError(f"{side} did not start")
        yield process
    finally:
        process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), 10.0)
        except TimeoutError:
            process.kill()
            await process.wait()
