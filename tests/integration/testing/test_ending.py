"""A child process is ended in order, and in any case."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from taoloop.testing.processes.ending import end_in_order

_DEAF = "trap '' TERM; echo ready; while :; do sleep 0.05; done"
_POLITE = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done"


@contextmanager
def child(script: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a script that says when it hears signals as it wants to; it is gone afterwards."""
    with subprocess.Popen(["/bin/sh", "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        try:
            yield process
        finally:
            process.kill()


async def test_a_process_that_ends_by_itself_is_not_killed() -> None:
    with child(_POLITE) as process:
        await end_in_order(process, 30.0)
        assert process.returncode == 7


async def test_a_process_that_does_not_listen_is_killed_when_its_time_is_over() -> None:
    with child(_DEAF) as process:
        await end_in_order(process, 0.2)
        assert process.returncode == -signal.SIGKILL


async def test_a_caller_that_is_cancelled_leaves_no_process() -> None:
    with child(_DEAF) as process:
        ending = asyncio.get_running_loop().create_task(end_in_order(process, 30.0), name="end")
        await asyncio.sleep(0)
        ending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await ending
        assert process.returncode == -signal.SIGKILL
