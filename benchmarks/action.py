"""Processor time of a call through the executor beside a bare aiohttp call to the same server, 64 in flight.

The last line is one JSON object; docs/benchmarks.md explains its keys.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from benchmarks.action_calls import IN_FLIGHT, Peers, opened_peers
from benchmarks.action_soak import soak
from benchmarks.caller import Work, repeat
from benchmarks.processor_time import Spread
from taoloop.core.clock import SystemClock
from taoloop.core.logs import configure_logging
from taoloop.testing.ports import LOOPBACK, free_ports
from taoloop.wire.event_loop import run as run_loop

FORM: Final = "taoloop.benchmark.action/v1"
STORED_SHARE: Final = 8
"""A call that the store has to acknowledge takes so much longer than a read that fewer are made."""
ALONE: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How much is measured.

    Attributes:
        rounds: Each measures every kind of call twice, the second time in reverse order.
        calls: Calls of one kind in half a round.
        log_level: Of the measured process, whose log goes to the null device.
        soak_seconds: How long full load is kept up instead; 0 for the comparison.
    """

    rounds: int
    calls: int
    log_level: str
    soak_seconds: float


class WrongAnswer(RuntimeError):
    """A call was not answered as it should be: what it cost says nothing."""


Figures = dict[str, list[float]]


def main() -> None:
    """Measure, show a table, and end with one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=6, help="rounds; each measures every kind of call twice")
    parser.add_argument("--calls", type=int, default=512, help="calls of one kind in half a round")
    parser.add_argument("--log-level", default="info", help="of the measured process; its log goes to the null device")
    parser.add_argument(
        "--soak", type=float, nargs="?", const=1800.0, default=0.0, metavar="SECONDS", help="keep up full load instead"
    )
    given = parser.parse_args()
    options = Options(rounds=given.rounds, calls=given.calls, log_level=given.log_level, soak_seconds=given.soak)
    with ExitStack() as stack:
        configure_logging(options.log_level, stack.enter_context(Path(os.devnull).open("w", encoding="utf-8")))
        url = stack.enter_context(_tool_server())
        stores = stack.enter_context(_stores(with_postgresql=not options.soak_seconds))
        result = run_loop(_measure(url, stores, options))
    print(json.dumps(result))


async def _measure(url: str, stores: Mapping[str, str], options: Options) -> dict[str, object]:
    async with opened_peers(url, stores, SystemClock()) as peers:
        if options.soak_seconds:
            return await soak(peers.works["read"], peers.works["write_sqlite"], options.soak_seconds)
        return await _compared(peers, tuple(stores), options)


async def _compared(peers: Peers, stores: tuple[str, ...], options: Options) -> dict[str, object]:
    used: dict[str, Figures] = {"": defaultdict(list)}
    figures, alone = used[""], defaultdict[str, list[float]](list)
    await _round(peers, options, defaultdict(list))  # connections, caches and lazy imports
    gc.collect()
    gc.freeze()  # what was imported is nobody's work
    for number in range(options.rounds):
        await _round(peers, options, figures)
        for name in ("bare", "read", "read", "bare"):
            alone[name].append(await _alone(peers.works[name]))
        print(f"round {number + 1} of {options.rounds}: {_shown(figures)}", file=sys.stderr)
    result: dict[str, object] = {
        "form": FORM,
        "read_ratio": _ratio(figures, "read", "bare"),
        "read_traced_ratio": _ratio(figures, "read_traced", "bare"),
        "added_p50_ms": round(1000 * (median(alone["read"]) - median(alone["bare"])), 3),
    }
    for store in stores:
        suffix = "" if store == stores[0] else f"_{store}"
        result[f"write_ratio{suffix}"] = _ratio(figures, f"write_{store}", "bare_write")
        result[f"write_ledger_ratio{suffix}"] = _ratio(figures, f"ledger_{store}", "bare_write")
        result[f"write_floor_ratio{suffix}"] = _ratio(figures, f"floor_{store}", "bare_write")
    result["cpu_us"] = {name: Spread.of(values).as_json() for name, values in figures.items()}
    result |= {"rounds": options.rounds, "calls": options.calls, "in_flight": IN_FLIGHT, "stores": stores}
    return result | {"log_level": options.log_level, "load_average": os.getloadavg()}


async def _round(peers: Peers, options: Options, figures: Figures) -> None:
    """Measure every kind of call there and back, so that what grows or shrinks meanwhile touches all alike."""
    names = tuple(peers.works)
    times: dict[str, float] = defaultdict(float)
    for name in (*names, *reversed(names)):
        is_stored = name.partition("_")[0] in {"write", "floor", "ledger"}
        calls = max(IN_FLIGHT, options.calls // STORED_SHARE) if is_stored else options.calls
        times[name] += await _cpu_seconds(peers.works[name], calls) / calls / 2
    for name, seconds in times.items():
        figures[name].append(seconds * 1e6)


async def _cpu_seconds(work: Work, calls: int) -> float:
    began = time.process_time()
    if await repeat(work, calls, IN_FLIGHT) != calls:
        raise WrongAnswer
    return time.process_time() - began


async def _alone(work: Work) -> float:
    """Return the median time of a call that has nothing beside it, in seconds."""
    times = []
    for _ in range(ALONE):
        began = time.perf_counter()
        if not await work():
            raise WrongAnswer
        times.append(time.perf_counter() - began)
    return median(times)


def _ratio(figures: Figures, name: str, peer: str) -> dict[str, float]:
    return Spread.of([mine / other for mine, other in zip(figures[name], figures[peer], strict=True)]).as_json(2)


def _shown(figures: Figures) -> str:
    return ", ".join(f"{name} {values[-1]:.0f}" for name, values in figures.items())


@contextmanager
def _tool_server() -> Iterator[str]:
    """Start the tool's server in a process of its own and give its URL."""
    (port,) = free_ports(1)
    command = (sys.executable, "-m", "benchmarks.tool_server", str(port))
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            process.stdout.readline()
            yield f"http://{LOOPBACK}:{port}"
        finally:
            process.terminate()


@contextmanager
def _stores(*, with_postgresql: bool) -> Iterator[dict[str, str]]:
    """Give a ledger of its own on SQLite, and one on PostgreSQL where that is installed."""
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="taoloop-benchmark-"))
        stores = {"sqlite": f"sqlite+aiosqlite:///{directory}/ledger.sqlite"}
        if with_postgresql and (shutil.which("initdb") or any(Path("/usr/lib/postgresql").glob("*/bin/initdb"))):
            from tests.contract.postgresql import postgresql

            stores["postgresql"] = stack.enter_context(postgresql())
        yield stores


if __name__ == "__main__":
    main()
