"""Processor time of an observation: its core beside plain Python, its RPC beside a bare echo, alone and in batches.

The last line is one JSON object; docs/benchmarks.md explains its keys.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import grpc.aio

from benchmarks.caller import Work, repeat
from benchmarks.echo import METHOD as ECHO_METHOD
from benchmarks.observation_server import BATCH_METHOD, METHOD
from benchmarks.observation_work import ITEMS, TOOL, our_core, plain_python
from benchmarks.processor_time import Spread, used_ns
from taoloop.api.v1 import action_pb2, observation_pb2
from taoloop.core.exact_json import JsonValue
from taoloop.testing.ports import LOOPBACK, free_ports
from taoloop.wire.event_loop import run as run_loop

FORM: Final = "taoloop.benchmark.observation/v1"
IN_FLIGHT: Final = 32
BATCH: Final = 32
SERVERS: Final = ("echo", "bare", "unsampled", "sampled")
_RATE: Final = re.compile(r"finished in [\d.]+m?s, ([\d.]+) req/s")
_FAILED: Final = re.compile(r"(\d+) failed, (\d+) errored")

Figures = dict[str, list[float]]


class WrongAnswer(RuntimeError):
    """A call was not answered as it should be: what it cost says nothing."""


def main() -> None:
    """Measure, show a table, and end with one line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--rounds", type=int, default=8, help="each measures everything there and back")
    parser.add_argument("--calls", type=int, default=1500, help="unary calls of one kind in half a round")
    given = parser.parse_args()
    figures: Figures = defaultdict(list)
    cores = {"core": our_core(), "plain": plain_python()}
    with ExitStack() as stack:
        ports = dict(zip(SERVERS, free_ports(len(SERVERS)), strict=True))
        pids = {name: stack.enter_context(_server(name, port)) for name, port in ports.items()}
        run_loop(_measure(cores, ports, pids, given.rounds, given.calls, figures))
        rate = _one_core_rate(ports["unsampled"], pids["unsampled"])
    result: dict[str, object] = {
        "form": FORM,
        "core_ratio": _ratio(figures, "plain", "core"),
        "rpc_ratio": _ratio(figures, "rpc_bare", "rpc_echo"),
        "rpc_traced_ratio": _ratio(figures, "rpc_unsampled", "rpc_echo"),
        "rpc_sampled_ratio": _ratio(figures, "rpc_sampled", "rpc_echo"),
        "batch_ratio": _ratio(figures, "rpc_unsampled", "batch_unsampled"),
        "unary_per_second_one_core": rate,
        "cpu_us": {name: Spread.of(values).as_json() for name, values in figures.items()},
        "rounds": given.rounds,
        "calls": given.calls,
        "in_flight": IN_FLIGHT,
        "load_average": os.getloadavg(),
    }
    print(json.dumps(result))


async def _measure(
    cores: Mapping[str, Callable[[], None]],
    ports: Mapping[str, int],
    pids: Mapping[str, int],
    rounds: int,
    calls: int,
    figures: Figures,
) -> None:
    async with _Channels(ports) as works:
        await _round(cores, works, pids, calls, defaultdict(list))  # connections, caches, lazy imports
        for number in range(rounds):
            await _round(cores, works, pids, calls, figures)
            print(f"round {number + 1} of {rounds}: {_shown(figures)}", file=sys.stderr)


class _Channels:
    """A channel to each server, and the calls that are made over it."""

    def __init__(self, ports: Mapping[str, int]) -> None:
        self._channels = {name: grpc.aio.insecure_channel(f"{LOOPBACK}:{port}") for name, port in ports.items()}

    async def __aenter__(self) -> dict[str, tuple[str, int, Work]]:
        """Return, by kind of call, its server, how many observations a call makes, and the call."""
        requests = [observe_request(text, arguments) for text, arguments in ITEMS]
        ones = [request.SerializeToString() for request in requests]
        items = itertools.islice(itertools.cycle(requests), BATCH)
        batch = observation_pb2.ObserveBatchRequest(items=items).SerializeToString()
        works = {"rpc_echo": ("echo", 1, self._call("echo", ECHO_METHOD, ones, min(map(len, ones))))}
        for name in SERVERS[1:]:
            works[f"rpc_{name}"] = (name, 1, self._call(name, METHOD, ones, 200))
        works["batch_unsampled"] = ("unsampled", BATCH, self._call("unsampled", BATCH_METHOD, [batch], 200 * BATCH))
        return works

    async def __aexit__(self, *_: object) -> None:
        await asyncio.gather(*(channel.close() for channel in self._channels.values()))

    def _call(self, server: str, method: str, payloads: Sequence[bytes], least_bytes: int) -> Work:
        """Return a call that takes turns with the payloads."""
        call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = self._channels[server].unary_unary(f"/{method}")
        turns = itertools.cycle(payloads)

        async def work() -> bool:
            return len(await call(next(turns), timeout=30.0)) >= least_bytes

        return work


def observe_request(text: str, arguments: Mapping[str, JsonValue]) -> observation_pb2.ObserveRequest:
    """Return the request of one observation as the loop sends it, of this body and these arguments."""
    result = action_pb2.ActionResult(
        run_id="0" * 32,
        thought_id="1" * 32,
        step_id="1.t1",
        tool=TOOL,
        status=action_pb2.ACTION_STATUS_SUCCEEDED,
        status_code=200,
        parsed_json=text,
        body=action_pb2.Body(content_type="application/json", size_bytes=len(text), sha256="2" * 64),
    )
    result.response_time.FromMilliseconds(40)
    return observation_pb2.ObserveRequest(result=result, arguments_json=json.dumps(arguments))


async def _round(
    cores: Mapping[str, Callable[[], None]],
    works: Mapping[str, tuple[str, int, Work]],
    pids: Mapping[str, int],
    calls: int,
    figures: Figures,
) -> None:
    """Measure everything there and back, so that what grows or shrinks meanwhile touches all alike."""
    times: dict[str, float] = defaultdict(float)
    names = (*cores, *works)
    for name in (*names, *reversed(names)):
        if name in cores:
            times[name] += _core_us(cores[name], max(1, calls // 4)) / 2
            continue
        server, items, work = works[name]
        count = max(IN_FLIGHT, calls // items)
        began = used_ns(pids[server])
        if await repeat(work, count, IN_FLIGHT if items == 1 else 2) != count:
            raise WrongAnswer(name)
        times[name] += (used_ns(pids[server]) - began) / 1000 / count / items / 2
    for name, value in times.items():
        figures[name].append(value)


def _core_us(observe: Callable[[], None], count: int) -> float:
    began = time.process_time_ns()
    for _ in range(count):
        observe()
    return (time.process_time_ns() - began) / 1000 / count


def _one_core_rate(port: int, pid: int) -> float | None:
    """Return the unary calls a second that the server holds on one core with h2load on the others; None without it."""
    h2load = shutil.which("h2load")
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if h2load is None or len(cores) < 2:
        print("h2load (package nghttp2-client) or a second core is missing: no rate of one core", file=sys.stderr)
        return None
    _pin(pid, {cores[0]})
    message = observe_request(*ITEMS[0]).SerializeToString()
    with tempfile.NamedTemporaryFile() as framed:
        framed.write(b"\0" + struct.pack(">I", len(message)) + message)
        framed.flush()
        rates = [_h2load(h2load, framed.name, port, set(cores[1:])) for _ in range(3)]
    return sorted(rates)[1]


def _h2load(program: str, body: str, port: int, cores: set[int]) -> float:
    headers = ("content-type: application/grpc", "te: trailers")
    command = [program, "-n", "12000", "-c", "8", "-m", "16", "-t", "1", "-d", body]
    command += [part for header in headers for part in ("-H", header)]
    command.append(f"http://{LOOPBACK}:{port}/{METHOD}")
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=True,
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )
    rate, failed = _RATE.search(done.stdout), _FAILED.search(done.stdout)
    if rate is None or failed is None or failed[1] != "0" or failed[2] != "0":
        raise WrongAnswer(done.stdout)
    return float(rate[1])


def _pin(pid: int, cores: set[int]) -> None:
    for thread in Path(f"/proc/{pid}/task").iterdir():
        os.sched_setaffinity(int(thread.name), cores)


@contextmanager
def _server(name: str, port: int) -> Iterator[int]:
    module = ["benchmarks.echo"] if name == "echo" else ["benchmarks.observation_server", name]
    command = [sys.executable, "-m", *module, str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        try:
            assert process.stdout is not None
            if process.stdout.readline().strip() != b"serving":
                raise WrongAnswer(f"the {name} server did not come up")
            yield process.pid
        finally:
            process.terminate()


def _ratio(figures: Figures, name: str, peer: str) -> dict[str, float]:
    return Spread.of([mine / other for mine, other in zip(figures[name], figures[peer], strict=True)]).as_json(2)


def _shown(figures: Figures) -> str:
    return ", ".join(f"{name} {Spread.of(values).median:.0f}" for name, values in figures.items())


if __name__ == "__main__":
    main()
