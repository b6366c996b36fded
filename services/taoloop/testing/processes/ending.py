"""Ends a child process in order, and by SIGKILL when that takes too long."""

from __future__ import annotations

import asyncio
import subprocess


async def end_in_order(process: subprocess.Popen[bytes], within_seconds: float) -> None:
    """Send SIGTERM and wait; when the time is over, or the caller is cancelled, the process is killed. It is gone then.

    Args:
        process: The child.
        within_seconds: How long it may take to end by itself.
    """
    process.terminate()
    try:
        await asyncio.shield(asyncio.to_thread(process.wait, within_seconds))
    except subprocess.TimeoutExpired:
        process.kill()
    except asyncio.CancelledError:
        process.kill()
        raise
    finally:
        process.wait()
