"""The real vLLM server on this machine's processor, as `scripts/vllm` installed it."""

from __future__ import annotations

import os
import signal
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Final

from taoloop.testing.ports import LOOPBACK, free_ports

ROOT: Final = Path(__file__).resolve().parents[2]
HOME: Final = ROOT / ".taoloop" / "vllm"
PYTHON: Final = HOME / "venv" / "bin" / "python"
MODEL: Final = HOME / "smollm2"
NAME: Final = "smol"
CONTEXT_TOKENS: Final = 2048
START_SECONDS: Final = 400.0
"""An idle machine takes 45; one whose processors are shared takes minutes."""

_ENVIRONMENT: Final = {
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "WARNING",
    "HF_HUB_OFFLINE": "1",
    "PYTHONPYCACHEPREFIX": "",  # pip has compiled its modules already, beside them
}
_OPTIONS: Final = (
    *("--served-model-name", NAME),
    *("--max-num-seqs", "32"),
    *("--dtype", "bfloat16"),
    "--enforce-eager",
    "--enable-prompt-tokens-details",
    # A small model that is kept to a form against its will fills it with blanks up to the longest reply.
    *("--structured-outputs-config.backend", "xgrammar"),
    *("--structured-outputs-config.disable_any_whitespace", "true"),
)


class VllmServer:
    """One server process with its engine, in a process group of its own, always on the same port.

    Args:
        port: Where; any that is free when left out.
        context_tokens: The longest prompt with its reply; the model can do 8192.

    Raises:
        RuntimeError: vLLM or the model is not installed.
    """

    def __init__(self, port: int | None = None, context_tokens: int = CONTEXT_TOKENS) -> None:
        if not (PYTHON.exists() and MODEL.exists()):
            raise RuntimeError("vLLM is not installed here; run: make test-vllm")
        self.port = port or free_ports(1)[0]
        self._context_tokens = context_tokens
        self._process: subprocess.Popen[bytes] | None = None
        self._log = HOME / "server.log"

    @property
    def url(self) -> str:
        """The base URL that a client is given."""
        return f"http://{LOOPBACK}:{self.port}/v1"

    def start(self) -> float:
        """Start it from the main thread and wait until it is healthy; return the seconds that it took."""
        started = time.monotonic()
        where = ("--model", str(MODEL), "--host", LOOPBACK, "--port", str(self.port))
        # Not the command `vllm`: it looks for a package of that name, which the build for processors does not have.
        size = ("--max-model-len", str(self._context_tokens))
        # Killed, this process would leave gigabytes behind that serve nobody. The signal comes when the thread that
        # starts the server ends, so that must be one that lasts.
        leash = ("setpriv", "--pdeathsig", "TERM")
        command = (*leash, str(PYTHON), "-m", "vllm.entrypoints.openai.api_server", *where, *size, *_OPTIONS)
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **_ENVIRONMENT},
                start_new_session=True,
            )
        while not self._is_healthy():
            seconds = time.monotonic() - started
            if self._process.poll() is not None or seconds > START_SECONDS:
                self.kill()
                raise RuntimeError(f"vLLM did not start in {seconds:.0f} s:\n{self._last_lines()}")
            time.sleep(0.5)
        return time.monotonic() - started

    def running(self) -> int:
        """Return how many requests the engine is generating for now."""
        with urllib.request.urlopen(f"http://{LOOPBACK}:{self.port}/metrics", timeout=30) as answer:
            lines = answer.read().decode().splitlines()
        counts = ("vllm:num_requests_running{", "vllm:num_requests_waiting{")
        return sum(int(float(line.rpartition(" ")[2])) for line in lines if line.startswith(counts))

    def kill(self) -> None:
        """End it with its engine by SIGKILL, as the kernel does when memory runs out."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End it in peace, by force after a while."""
        self._end(signal.SIGTERM)

    def _end(self, by: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for one in (by, signal.SIGKILL):
            try:
                os.killpg(process.pid, one)
            except ProcessLookupError:
                break
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                continue
        process.wait(timeout=20)

    def _is_healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://{LOOPBACK}:{self.port}/health", timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False

    def _last_lines(self) -> str:
        return "\n".join(self._log.read_text(encoding="utf-8", errors="replace").splitlines()[-40:])

    def __repr__(self) -> str:
        return f"<VllmServer {self.url}>"
