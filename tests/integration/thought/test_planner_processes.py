"""The graph planner in real processes: replies, death, slowness, cancellation, and a worker that stays responsive."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from taoloop.core.clock import SystemClock
from taoloop.core.errors import ConfigurationError, DeadlineExceeded, InternalError
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.task import Role, Turn
from taoloop.plan.thinking import ThinkRequest
from taoloop.thought.pipeline.ports import InThread
from taoloop.thought.planner_processes.planner_pool import InProcesses, planner_processes
from taoloop.thought.planner_processes.planner_process import Launch
from taoloop.thought.planners.graph import GraphPlanner
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.served_catalogue import read_catalogue
from tests.integration.thought.queue_ground import eventually

EXAMPLE = Path(__file__).parents[3] / "examples" / "customer-service"
TELEMETRY = Telemetry.build(TelemetrySettings(), "test")
REPLACED = (
    "import sys, time\n"
    "from taoloop.thought.planner_processes import child\n"
    "class Planner:\n"
    "    def plan(self, request):\n"
    "        words = request.turns[0].text\n"
    "        if words == 'die': import os; os._exit(3)\n"
    "        if words == 'spin':\n"
    "            while True: pass\n"
    "        print('noise on the standard output')\n"
    "        from taoloop.thought.planners.graph import GraphPlanner\n"
    "        from taoloop.tools.served_catalogue import read_catalogue\n"
    "        from pathlib import Path\n"
    "        return GraphPlanner(read_catalogue(Path(sys.argv[1]))).plan(request)\n"
    "child._planner = lambda path, digest: Planner()\n"
    "child.main(sys.argv[1], sys.argv[2])\n"
)


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return read_catalogue(EXAMPLE)


@pytest.fixture
def odd(tmp_path: Path, catalogue: Catalogue) -> Launch:
    """What starts a planner that dies or never ends when it is told so."""
    (tmp_path / "odd_planner.py").write_text(REPLACED)
    search = {"PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    return Launch(catalogue=EXAMPLE, digest=catalogue.digest, module="odd_planner", environment=search)


def asked(text: str = "Where is parcel PX-204881?") -> ThinkRequest:
    return ThinkRequest(run_id="0" * 32, iteration=1, turns=(Turn(role=Role.USER, text=text),))


@asynccontextmanager
async def planners(
    catalogue: Catalogue, launch: Launch | None = None, count: int = 1, timeout_seconds: float = 20.0
) -> AsyncIterator[InProcesses]:
    stand_in = InThread(GraphPlanner(catalogue))
    started = launch or Launch(catalogue=EXAMPLE, digest=catalogue.digest)
    async with planner_processes(
        started, count, timeout_seconds, stand_in, clock=SystemClock(), telemetry=TELEMETRY
    ) as pool:
        yield pool


async def test_a_process_says_what_the_planner_says(catalogue: Catalogue) -> None:
    async with planners(catalogue, count=2) as pool:
        replies = await asyncio.gather(*(pool.plan(asked(text)) for text in ("Where is parcel PX-204881?", "", "你好")))
        pids = pool.pids

    assert list(replies) == [
        GraphPlanner(catalogue).plan(asked(text)) for text in ("Where is parcel PX-204881?", "", "你好")
    ]
    assert len(pids) == 2
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


async def test_a_request_that_kills_its_planner_is_answered_and_the_next_one_is_planned(
    catalogue: Catalogue, odd: Launch
) -> None:
    async with planners(catalogue, odd) as pool:
        (first,) = pool.pids
        with pytest.raises(InternalError):
            await pool.plan(asked("die"))
        await eventually(lambda: len(pool.pids) == 1, 30.0)

        assert await pool.plan(asked()) == GraphPlanner(catalogue).plan(asked())
        assert pool.pids != (first,)


async def test_a_planner_that_does_not_end_is_killed_after_its_time(catalogue: Catalogue, odd: Launch) -> None:
    async with planners(catalogue, odd, timeout_seconds=0.5) as pool:
        (first,) = pool.pids
        with pytest.raises(DeadlineExceeded, match=r"within 0\.5 s"):
            await pool.plan(asked("spin"))
        await eventually(lambda: len(pool.pids) == 1, 30.0)

        assert first not in pool.pids
        with pytest.raises(ProcessLookupError):
            os.kill(first, 0)


async def test_a_plan_that_nobody_wants_any_more_is_killed(catalogue: Catalogue, odd: Launch) -> None:
    async with planners(catalogue, odd) as pool:
        (first,) = pool.pids
        planning = asyncio.ensure_future(pool.plan(asked("spin")))
        await asyncio.sleep(0.1)
        planning.cancel()
        await asyncio.wait([planning])
        await eventually(lambda: first not in pool.pids and len(pool.pids) == 1, 30.0)


async def test_the_event_loop_answers_while_every_planner_computes(catalogue: Catalogue, odd: Launch) -> None:
    async with planners(catalogue, odd, count=2) as pool:
        spinning = [asyncio.ensure_future(pool.plan(asked("spin"))) for _ in range(2)]
        loop, late = asyncio.get_running_loop(), 0.0
        for _ in range(50):
            began = loop.time()
            await asyncio.sleep(0.01)
            late = max(late, loop.time() - began - 0.01)
        nice = [os.getpriority(os.PRIO_PROCESS, pid) for pid in pool.pids]
        for task in spinning:
            task.cancel()
        await asyncio.wait(spinning)

    assert late < 0.5
    assert nice == [os.getpriority(os.PRIO_PROCESS, 0) + 5] * 2


async def test_without_any_process_the_thread_plans(catalogue: Catalogue) -> None:
    async with planners(catalogue) as pool:
        (pid,) = pool.pids
        os.kill(pid, signal.SIGKILL)
        with pytest.raises(InternalError):
            await pool.plan(asked())

        assert await pool.plan(asked()) == GraphPlanner(catalogue).plan(asked())


async def test_a_catalogue_that_is_another_one_by_now_is_told_at_the_start(catalogue: Catalogue) -> None:
    with pytest.raises(ConfigurationError, match="the catalogue is another one by now"):
        async with planners(catalogue, Launch(catalogue=EXAMPLE, digest="0" * 64)):
            pass
