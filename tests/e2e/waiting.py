"""Waiting for what another process does, without guessing how long it takes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import TaoError
from taoloop.wire.health_check import check_health

POLL_SECONDS = 0.05


async def eventually(condition: Callable[[], Awaitable[bool]], what: str, timeout_seconds: float = 30.0) -> None:
    """Wait until the condition holds."""
    try:
        async with asyncio.timeout(timeout_seconds):
            while not await condition():  # noqa: ASYNC110 - another process holds the condition
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError:
        raise AssertionError(f"{what} did not come about in {timeout_seconds:g} s") from None


async def is_serving(address: str) -> bool:
    """Return whether the server at an address says that all of it is ready."""
    call = CallContext(deadline=Deadline.after(2.0, SystemClock()))
    try:
        return await check_health(address, "", call) == "SERVING"
    except TaoError:
        return False
