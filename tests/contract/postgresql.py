"""A PostgreSQL cluster of a test's own, on a free port, thrown away at the end."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_DEBIAN_PROGRAMS = Path("/usr/lib/postgresql")


@contextmanager
def postgresql() -> Iterator[str]:
    """Start a cluster and yield its SQLAlchemy URL.

    PostgreSQL refuses to run as root: then the cluster runs as the user `postgres`, which its package makes.
    """
    user = "postgres" if os.geteuid() == 0 else None
    with tempfile.TemporaryDirectory(prefix="taoloop-postgresql-") as directory:
        if user is not None:
            shutil.chown(directory, user)
        data = str(Path(directory) / "data")
        port = _free_port()
        options = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={directory}"
        _run(_program("initdb"), "-D", data, "-U", "taoloop", "-A", "trust", "--no-sync", user=user)
        control = _program("pg_ctl")
        log = str(Path(directory) / "log")
        _run(control, "-D", data, "-w", "-t", "60", "-l", log, "-o", options, "start", user=user)
        try:
            yield f"postgresql+asyncpg://taoloop@127.0.0.1:{port}/postgres"
        finally:
            _run(control, "-D", data, "-m", "immediate", "stop", user=user)


def _program(name: str) -> str:
    """Return the path of a server program; Debian keeps them off PATH, one directory for each version."""
    found = sorted(_DEBIAN_PROGRAMS.glob(f"*/bin/{name}"))
    return str(found[-1]) if found else name


def _run(*command: str, user: str | None) -> None:
    subprocess.run(command, check=True, user=user, cwd="/", stdout=subprocess.DEVNULL, timeout=120)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
