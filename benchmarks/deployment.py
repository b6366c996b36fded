"""The deployables as separate processes on loopback, started by `taoloop serve` as in production."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from taoloop.testing.ports import LOOPBACK, free_ports
from taoloop.testing.valkey import EmbeddedValkey

START_SECONDS: Final = 60.0
STOP_SECONDS: Final = 15.0
_POLL_SECONDS: Final = 0.05
_TAOLOOP: Final = (sys.executable, "-m", "taoloop.cli.main")


class NotStarted(RuntimeError):
    """A process did not come up; the message ends with the tail of its log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """The processes of a running deployment.

    Attributes:
        loop_address: Where runs are started.
        redis_url: Of its Valkey.
        bases: Base URLs of the mock tools.
        pids: Process id by part.
    """

    loop_address: str
    redis_url: str
    bases: Mapping[str, str]
    pids: Mapping[str, int]


@asynccontextmanager
async def deployed(catalogue: Path, directory: Path, settings: Mapping[str, str]) -> AsyncIterator[Deployment]:
    """Start Valkey, the mock tools, action, observation, a worker, and thought with the loop; end all with the block.

    Args:
        catalogue: Of the tools.
        directory: Where data and logs go.
        settings: Variables `TAOLOOP_…` that differ from the defaults.

    Raises:
        NotStarted: A process ended or took too long.
    """
    loop, action, observation, worker, mock = free_ports(5)
    async with AsyncExitStack() as stack:
        valkey = await stack.enter_async_context(EmbeddedValkey(directory / "valkey"))
        assert valkey.pid is not None
        tools = stack.enter_context(_mock_tools(catalogue, mock, directory))
        bases = _bases_of(tools, directory)
        environment = {
            **_inherited(),
            "TAOLOOP_CATALOGUE": str(catalogue),
            "TAOLOOP_BASES": json.dumps(bases),
            "TAOLOOP_REDIS__URL": valkey.url,
            "TAOLOOP_LEDGER__URL": f"sqlite+aiosqlite:///{directory / 'ledger.sqlite'}",
            "TAOLOOP_LOOP_LISTEN": f"{LOOPBACK}:{loop}",
            "TAOLOOP_THOUGHT_LISTEN": f"{LOOPBACK}:{loop}",
            "TAOLOOP_THOUGHT_ADDRESS": f"{LOOPBACK}:{loop}",
            "TAOLOOP_ACTION_LISTEN": f"{LOOPBACK}:{action}",
            "TAOLOOP_ACTION_ADDRESS": f"{LOOPBACK}:{action}",
            "TAOLOOP_OBSERVATION_LISTEN": f"{LOOPBACK}:{observation}",
            "TAOLOOP_OBSERVATION_ADDRESS": f"{LOOPBACK}:{observation}",
            "TAOLOOP_WORKER_HEALTH_LISTEN": f"{LOOPBACK}:{worker}",
            "TAOLOOP_TELEMETRY__METRICS_PORT": "0",
            **settings,
        }
        parts = {
            "action": ("action",),
            "observation": ("observation",),
            "thought_worker": ("thought-worker",),
            "thought_loop": ("thought", "loop"),
        }
        started = {
            name: stack.enter_context(_process([*_TAOLOOP, "serve", *names], name, directory, environment))
            for name, names in parts.items()
        }
        for name, process in started.items():
            wait_for(process, directory / f"{name}.log", b'"process_started"')
        yield Deployment(
            loop_address=f"{LOOPBACK}:{loop}",
            redis_url=valkey.url,
            bases=bases,
            pids={
                **{name: process.pid for name, process in started.items()},
                "valkey": valkey.pid,
                "mock_tools": tools.pid,
            },
        )


def wait_for(process: subprocess.Popen[bytes], log: Path, word: bytes) -> bytes:
    """Wait until a process has written a word to its log; return the log.

    Raises:
        NotStarted: It ended, or took too long.
    """
    deadline = time.monotonic() + START_SECONDS
    while word not in (text := log.read_bytes()):
        if process.poll() is not None or time.monotonic() > deadline:
            raise NotStarted(f"{log.stem} did not come up: {text[-500:].decode(errors='replace')}")
        time.sleep(_POLL_SECONDS)
    return text


@contextmanager
def child(
    command: Sequence[str], environment: Mapping[str, str], log: IO[bytes], *, is_asked: bool = False
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process until the block is left: SIGTERM, and SIGKILL when that is not enough.

    Args:
        command: Program and arguments.
        environment: Of the process.
        log: Where its errors go, and its output unless it is asked.
        is_asked: Whether it is talked to through pipes.
    """
    pipe = subprocess.PIPE if is_asked else None
    process = subprocess.Popen(
        command,
        stdin=pipe or subprocess.DEVNULL,
        stdout=pipe or log,
        stderr=log,
        env=dict(environment),
        start_new_session=True,  # Ctrl-C is for the benchmark, which ends its children in order
    )
    try:
        yield process
    finally:
        for pipe_end in (process.stdin, process.stdout):
            if pipe_end is not None:
                pipe_end.close()
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def _process(
    command: Sequence[str], name: str, directory: Path, environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    with (directory / f"{name}.log").open("wb") as log, child(command, environment, log) as process:
        yield process


@contextmanager
def _mock_tools(catalogue: Path, port: int, directory: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [*_TAOLOOP, "tools", "mock", str(catalogue), "--listen", f"{LOOPBACK}:{port}", "--json"]
    with _process(command, "mock_tools", directory, _inherited()) as process:
        yield process


def _bases_of(process: subprocess.Popen[bytes], directory: Path) -> dict[str, str]:
    lines = wait_for(process, directory / "mock_tools.log", b'"bases"').splitlines()
    announced = next(line for line in lines if b'"bases"' in line)
    return {str(name): str(url) for name, url in json.loads(announced)["bases"].items()}


def _inherited() -> dict[str, str]:
    """Return this process's environment without settings: a benchmark measures the defaults."""
    return {name: value for name, value in os.environ.items() if not name.upper().startswith("TAOLOOP_")}
