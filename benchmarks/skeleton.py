"""Processor time of one run of two steps over gRPC, by process and by stage, beside a bare call and a bare hop.

The last line is one JSON object; docs/benchmarks.md explains its keys.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen
from typing import Any, Final

from benchmarks.caller import repeat
from benchmarks.deployment import Deployment, child, deployed, wait_for
from benchmarks.in_process import InProcess
from benchmarks.processor_time import Spread, per_unit_us, used_by
from benchmarks.stages import Ground, Stage, opened_stages
from loadtest.mix import read_mix
from taoloop.action.secrets import ConfiguredSecrets
from taoloop.action.settings import ToolHttpSettings
from taoloop.action.transports.http import http_transport
from taoloop.core.clock import SystemClock
from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.testing.ports import LOOPBACK, free_ports
from taoloop.tools.served_catalogue import read_catalogue
from taoloop.wire.event_loop import run as run_loop

CHECKOUT: Final = Path(__file__).resolve().parents[1]
CATALOGUE: Final = CHECKOUT / "examples" / "customer-service"
TASKS: Final = CATALOGUE / "tasks.yaml"
TASK: Final = "order-then-shipment-zh"
LIMIT_SECONDS: Final = 900.0
FORM: Final = "taoloop.benchmark.skeleton/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How much is measured.

    Attributes:
        rounds: Each does every measurement once, so that a busy moment touches all alike.
        runs: Runs of one round.
        concurrency: Runs that are open at the same time.
        settings: Variables `TAOLOOP_…` that differ from the defaults.
    """

    rounds: int
    runs: int
    concurrency: int
    settings: Mapping[str, str]


class Caller:
    """The calling process: asked by a line, answers by a line when it has done."""

    def __init__(self, process: Popen[bytes], log: Path) -> None:
        self._process = process
        self._log = log

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    async def ask(self, what: str, count: int, concurrency: int) -> None:
        """Have calls made and wait for their end.

        Raises:
            RuntimeError: The process ended, or a call did not bring what it should.
        """
        asked = json.dumps({"what": what, "count": count, "concurrency": concurrency})
        line = await asyncio.to_thread(self._exchange, asked.encode() + b"\n")
        answered = json.loads(line)["answered"] if line else 0
        if answered != count:
            told = self._log.read_text(errors="replace")[-2000:]
            raise RuntimeError(f"{answered} of {count} {what} were answered; the caller said: {told}")

    def _exchange(self, line: bytes) -> bytes:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line)
        self._process.stdin.flush()
        return self._process.stdout.readline()


Figures = defaultdict[str, list[float]]


def main() -> None:
    """Measure, show a table, and end with one line of JSON."""
    options = options_of("python -m benchmarks.skeleton", __doc__)
    print(json.dumps(_result(options, spreads_of(_measured, options))))


def spreads_of(
    measured: Callable[[Options, Path], Coroutine[Any, Any, Figures]], options: Options, digits: int = 1
) -> dict[str, Spread]:
    """Measure in a directory that is removed afterwards, show a table with so many decimals, and return its figures."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the children are ended
    with tempfile.TemporaryDirectory(prefix="taoloop-bench-") as directory:
        figures = run_loop(measured(options, Path(directory)))
    spreads = {name: Spread.of(values) for name, values in figures.items()}
    for name, spread in spreads.items():
        print(f"{name:40}{spread.median:>10.{digits}f}{spread.low:>10.{digits}f}{spread.high:>10.{digits}f}")
    return spreads


async def _measured(options: Options, directory: Path) -> Figures:
    figures: Figures = defaultdict(list)
    # A part that hangs is an error that ends everything, not a benchmark that never does.
    async with asyncio.timeout(LIMIT_SECONDS), AsyncExitStack() as stack:
        deployment = await stack.enter_async_context(deployed(CATALOGUE, directory, options.settings))
        echo_port = free_ports(1)[0]
        echo = stack.enter_context(beside("echo", [str(echo_port)], options, directory))
        wait_for(echo, directory / "echo.log", b"serving")
        arguments = [deployment.loop_address, f"{LOOPBACK}:{echo_port}", str(TASKS), TASK]
        asked = stack.enter_context(beside("caller", arguments, options, directory, is_asked=True))
        caller = Caller(asked, directory / "caller.log")
        stages = await stack.enter_async_context(stages_on(deployment, options.concurrency))
        await caller.ask("runs", options.runs // 2 + options.concurrency, options.concurrency)
        await caller.ask("echo", options.runs, options.concurrency)
        for _ in range(options.rounds):
            await measure_runs(caller, deployment, options, figures)
            await _measure_echo(caller, echo.pid, options, figures)
            for stage in stages:
                await measure_stage(stage, deployment, figures)
    return figures


@contextmanager
def beside(
    name: str, arguments: Sequence[str], options: Options, directory: Path, *, is_asked: bool = False
) -> Iterator[Popen[bytes]]:
    """Run a module of this package in a process of its own."""
    path = os.pathsep.join(filter(None, (str(CHECKOUT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, **options.settings, "PYTHONPATH": path}
    command = [sys.executable, "-m", f"benchmarks.{name}", *arguments]
    with (directory / f"{name}.log").open("wb") as log, child(command, environment, log, is_asked=is_asked) as process:
        yield process


@asynccontextmanager
async def stages_on(deployment: Deployment, concurrency: int) -> AsyncIterator[tuple[Stage, ...]]:
    """Give the stages of a run, on the Valkey and the tools of a deployment."""
    clock = SystemClock()
    task = next(each.task for each in read_mix(TASKS) if each.task_id == TASK)
    catalogue = read_catalogue(CATALOGUE, deployment.bases)
    async with AsyncExitStack() as stack:
        traced, untraced = (
            Telemetry.build(TelemetrySettings(sample_ratio=ratio), "taoloop-benchmark") for ratio in (1.0, 0.0)
        )
        await stack.enter_async_context(traced.tracing)
        await stack.enter_async_context(untraced.tracing)
        transport = await stack.enter_async_context(
            http_transport(ToolHttpSettings(), catalogue.bases, ConfiguredSecrets({}), traced)
        )
        ground = Ground(
            traced=InProcess(catalogue, transport, traced, clock),
            untraced=InProcess(catalogue, transport, untraced, clock),
            transport=transport,
            redis_url=deployment.redis_url,
            telemetry=traced,
            clock=clock,
            concurrency=concurrency,
        )
        yield await stack.enter_async_context(opened_stages(ground, task))


async def measure_runs(caller: Caller, deployment: Deployment, options: Options, figures: Figures) -> None:
    """Measure one round of runs."""
    pids = {**deployment.pids, "caller": caller.pid}
    before = used_by(pids)
    await caller.ask("runs", options.runs, options.concurrency)
    used = per_unit_us(before, used_by(pids), options.runs)
    for name, microseconds in used.items():
        figures[f"process.{name}"].append(microseconds)
    figures["run"].append(sum(used.values()))
    # What a run costs the product: neither who calls nor the tools are part of it.
    figures["run_services"].append(sum(us for name, us in used.items() if name not in {"caller", "mock_tools"}))


async def _measure_echo(caller: Caller, echo_pid: int, options: Options, figures: Figures) -> None:
    # Many at once share wake-ups of threads and event loop; a service that a run calls now and then has one for each.
    for name, count, concurrency in (("echo", options.runs * 5, options.concurrency), ("echo_alone", options.runs, 1)):
        pids = {"echo": echo_pid, "caller": caller.pid}
        before = used_by(pids)
        await caller.ask("echo", count, concurrency)
        used = per_unit_us(before, used_by(pids), count)
        figures[f"{name}.server"].append(used["echo"])
        figures[f"{name}.client"].append(used["caller"])
        figures[name].append(sum(used.values()))


async def measure_stage(stage: Stage, deployment: Deployment, figures: Figures) -> None:
    """Measure one round of a stage."""
    pids = {"own": os.getpid(), "valkey": deployment.pids["valkey"]}
    before = used_by(pids)
    good = await repeat(stage.work, stage.repeats, stage.concurrency)
    used = per_unit_us(before, used_by(pids), stage.repeats)
    if good != stage.repeats:
        raise RuntimeError(f"{stage.name}: {good} of {stage.repeats} went well")
    figures[f"stage.{stage.name}"].append(used["own"])
    if stage.concurrency > 1:
        figures[f"stage.{stage.name}.valkey"].append(used["valkey"])


def _result(options: Options, spreads: Mapping[str, Spread]) -> dict[str, object]:
    def us(name: str) -> float:
        return spreads[name].median

    hop, peer = (us(f"stage.{name}") + us(f"stage.{name}.valkey") for name in ("queue_hop", "bare_hop"))
    return {
        "form": FORM,
        "task": TASK,
        "rounds": options.rounds,
        "runs_per_round": options.runs,
        "concurrency": options.concurrency,
        "settings": dict(options.settings),
        "run_us": spreads["run"].as_json(),
        "run_services_us": spreads["run_services"].as_json(),
        "run_vs_echo_ratio": round(us("run") / us("echo"), 2),
        "run_vs_echo_alone_ratio": round(us("run") / us("echo_alone"), 2),
        "hop_ratio": round(hop / peer, 2),
        "process_us": group_of("process", spreads),
        "echo_us": {"all": spreads["echo"].as_json(), **group_of("echo", spreads)},
        "echo_alone_us": {"all": spreads["echo_alone"].as_json(), **group_of("echo_alone", spreads)},
        "stage_us": group_of("stage", spreads),
    }


def group_of(prefix: str, spreads: Mapping[str, Spread]) -> dict[str, dict[str, float]]:
    """Return the figures whose names begin with a prefix, as they stand in the JSON object."""
    head = f"{prefix}."
    return {name.removeprefix(head): each.as_json() for name, each in spreads.items() if name.startswith(head)}


def options_of(program: str, description: str | None) -> Options:
    """Read the options that benchmarks of whole runs share."""
    parser = argparse.ArgumentParser(prog=program, description=description)
    parser.add_argument("--rounds", type=int, default=5, help="of all measurements (5)")
    parser.add_argument("--runs", type=int, default=200, help="in one round (200)")
    parser.add_argument("--concurrency", type=int, default=8, help="runs open at the same time (8)")
    parser.add_argument("--set", action="append", default=[], metavar="TAOLOOP_X=V", help="a setting of all services")
    given = parser.parse_args()
    if min(given.rounds, given.runs, given.concurrency) < 1:
        parser.error("--rounds, --runs and --concurrency must be at least 1")
    settings = dict(pair.partition("=")[::2] for pair in given.set)
    return Options(rounds=given.rounds, runs=given.runs, concurrency=given.concurrency, settings=settings)


if __name__ == "__main__":
    main()
