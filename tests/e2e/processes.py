"""The processes of taoloop as a user starts them, for tests that look from outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

CHECKOUT: Final = Path(__file__).parents[2]
CATALOGUE: Final = CHECKOUT / "examples" / "customer-service"
PROGRAM: Final = str(Path(sys.executable).with_name("taoloop"))
STOP_SECONDS: Final = 30.0


def environment(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment of a child: ours without settings of taoloop, with these."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("TAOLOOP_")}
    return {**inherited, "NO_COLOR": "1", "PYTHONUNBUFFERED": "1", **(variables or {})}


def taoloop(
    *arguments: str, variables: Mapping[str, str] | None = None, timeout_seconds: float = 50.0, text: str | None = None
) -> subprocess.CompletedProcess[str]:
    """Run one command to its end."""
    return subprocess.run(
        [PROGRAM, *arguments],
        env=environment(variables),
        input=text,
        stdin=subprocess.DEVNULL if text is None else None,
        capture_output=True,
        text=True,
        timeout=timeout_seconds,
        check=False,
        cwd=CHECKOUT,
    )


def json_lines(text: str) -> list[Any]:
    """Read one JSON value a line."""
    return [json.loads(line) for line in text.splitlines() if line.strip()]


@dataclass
class Running:
    """A command that goes on until it is stopped; its output is gathered meanwhile."""

    process: subprocess.Popen[str]
    out: list[str] = field(default_factory=list)
    err: list[str] = field(default_factory=list)
    _readers: list[threading.Thread] = field(default_factory=list)

    @classmethod
    def start(cls, *arguments: str, variables: Mapping[str, str] | None = None, cwd: Path = CHECKOUT) -> Running:
        """Start a command in a process group of its own, as a terminal would."""
        process = subprocess.Popen(
            [PROGRAM, *arguments],
            env=environment(variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=cwd,
            start_new_session=True,
        )
        running = cls(process)
        for stream, lines in ((process.stdout, running.out), (process.stderr, running.err)):
            assert stream is not None
            reader = threading.Thread(target=lines.extend, args=(stream,), daemon=True)
            reader.start()
            running._readers.append(reader)
        return running

    def send(self, number: int) -> None:
        """Send a signal to the whole group, as Ctrl-C in a terminal does."""
        os.killpg(self.process.pid, number)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Ask it to stop and return its exit code."""
        if self.process.poll() is None:
            self.send(number)
        return self.wait()

    def wait(self) -> int:
        """Wait for its end and return its exit code; one that does not end in time is killed."""
        try:
            code = self.process.wait(STOP_SECONDS)
        finally:
            if self.process.poll() is None:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()
            for reader in self._readers:
                reader.join(5.0)
            for stream in (self.process.stdout, self.process.stderr):
                assert stream is not None
                stream.close()
        return code

    def logged(self) -> Sequence[Any]:
        """Return the JSON lines that it logged so far."""
        return [json.loads(line) for line in self.err if line.startswith("{")]

    def told(self) -> str:
        """Return everything that it wrote, for the message of a failed test."""
        return "".join([*self.out, *self.err])
