"""Waits for what other processes bring about."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


async def assert_eventually(holds: Callable[[], bool], *, seconds: float = 10.0) -> None:
    """Wait until the condition holds; fail when it does not in time."""
    try:
        async with asyncio.timeout(seconds):
            while not holds():  # noqa: ASYNC110 - another process makes it true, which tells nobody
                await asyncio.sleep(0.01)
    except TimeoutError:
        assert holds(), "the condition did not come true in time"
