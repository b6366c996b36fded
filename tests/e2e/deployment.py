"""The four services and the worker, each a process of its own, as in production."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from taoloop.testing.ports import free_ports
from tests.e2e.processes import CATALOGUE, Running
from tests.e2e.waiting import eventually, is_serving

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Deployment:
    """Running processes by name, and where each answers."""

    processes: Mapping[str, Running]
    addresses: Mapping[str, str]
    metrics: Mapping[str, str]

    @property
    def loop_address(self) -> str:
        return self.addresses["thought loop"]

    def told(self) -> str:
        """Return everything that the processes wrote."""
        return "\n".join(f"== {name}\n{running.told()}" for name, running in self.processes.items())


@asynccontextmanager
async def deployment(
    directory: Path, valkey_url: str, bases: Mapping[str, str], settings: Mapping[str, str] | None = None
) -> AsyncIterator[Deployment]:
    """Start all processes, wait until each serves, and kill what is left at the end."""
    ports = free_ports(8)
    addresses = {
        "thought loop": f"{HOST}:{ports[0]}",
        "action": f"{HOST}:{ports[1]}",
        "observation": f"{HOST}:{ports[2]}",
        "thought-worker": f"{HOST}:{ports[3]}",
    }
    metrics = {name: f"{HOST}:{port}" for name, port in zip(addresses, ports[4:], strict=True)}
    variables = {
        "TAOLOOP_CATALOGUE": str(CATALOGUE),
        "TAOLOOP_BASES": json.dumps(dict(bases)),
        "TAOLOOP_REDIS__URL": valkey_url,
        "TAOLOOP_LEDGER__URL": f"sqlite+aiosqlite:///{directory / 'ledger.sqlite'}",
        "TAOLOOP_THOUGHT_LISTEN": addresses["thought loop"],
        "TAOLOOP_LOOP_LISTEN": addresses["thought loop"],
        "TAOLOOP_THOUGHT_ADDRESS": addresses["thought loop"],
        "TAOLOOP_ACTION_LISTEN": addresses["action"],
        "TAOLOOP_ACTION_ADDRESS": addresses["action"],
        "TAOLOOP_OBSERVATION_LISTEN": addresses["observation"],
        "TAOLOOP_OBSERVATION_ADDRESS": addresses["observation"],
        "TAOLOOP_WORKER_HEALTH_LISTEN": addresses["thought-worker"],
        **(settings or {}),
    }
    processes: dict[str, Running] = {}
    try:
        for name in addresses:
            port = metrics[name].rpartition(":")[2]
            own = {**variables, "TAOLOOP_TELEMETRY__METRICS_PORT": port}
            processes[name] = Running.start("serve", *name.split(), variables=own)
        running = Deployment(processes, addresses, metrics)
        for name, address in addresses.items():
            await eventually(partial(is_serving, address), f"{name} serving\n{running.told()}")
        yield running
    finally:
        for each in processes.values():
            await asyncio.to_thread(each.stop, signal.SIGKILL)
