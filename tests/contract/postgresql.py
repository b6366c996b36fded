"""A PostgreSQL cluster of a test's own, on a free port, thrown away at the end."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from taoloop.testing.ports import free_ports

_DEBIAN_PROGRAMS = Path("/usr/lib/postgresql")


class Cluster:
    """One cluster in a directory.

    PostgreSQL refuses to run as root: then the cluster runs as the user `postgres`, which its package makes.

    Args:
        directory: An empty one of its own.
    """

    def __init__(self, directory: Path) -> None:
        self._user = "postgres" if os.geteuid() == 0 else None
        self._directory = directory
        self._data = directory / "data"
        (self._port,) = free_ports(1)
        if self._user is not None:
            shutil.chown(directory, self._user)
        self._run("initdb", "-D", str(self._data), "-U", "taoloop", "-A", "trust", "--no-sync")

    @property
    def url(self) -> str:
        """The SQLAlchemy URL."""
        return f"postgresql+asyncpg://taoloop@127.0.0.1:{self._port}/postgres"

    def start(self) -> None:
        """Start the server and wait until it answers; after a crash that is when it has recovered."""
        options = f"-p {self._port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self._directory}"
        log = str(self._directory / "log")
        self._run("pg_ctl", "-D", str(self._data), "-w", "-t", "60", "-l", log, "-o", options, "start")

    def crash(self) -> None:
        """End every process of the server by SIGKILL."""
        pid = int((self._data / "postmaster.pid").read_text().split("\n", 1)[0])
        with suppress(psutil.NoSuchProcess):
            server = psutil.Process(pid)
            processes = [server, *server.children(recursive=True)]
            for process in processes:
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            psutil.wait_procs(processes, timeout=30)

    def stop(self) -> None:
        """Stop the server."""
        self._run("pg_ctl", "-D", str(self._data), "-m", "immediate", "stop")

    def _run(self, program: str, *arguments: str) -> None:
        # Not by subprocess's `user`: it would fork, and gRPC's threads do not survive that.
        other_user = ("runuser", "-u", self._user, "--") if self._user is not None else ()
        command = (*other_user, _program(program), *arguments)
        subprocess.run(command, check=True, cwd="/", stdout=subprocess.DEVNULL, timeout=120)


@contextmanager
def postgresql() -> Iterator[str]:
    """Start a cluster and yield its SQLAlchemy URL."""
    with tempfile.TemporaryDirectory(prefix="taoloop-postgresql-") as directory:
        cluster = Cluster(Path(directory))
        cluster.start()
        try:
            yield cluster.url
        finally:
            cluster.stop()


def _program(name: str) -> str:
    """Return the path of a server program; Debian keeps them off PATH, one directory for each version."""
    found = sorted(_DEBIAN_PROGRAMS.glob(f"*/bin/{name}"))
    return str(found[-1]) if found else name
