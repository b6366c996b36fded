"""One connection pool to Redis or Valkey, with the outage handling that every adapter needs."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeVar

from redis.asyncio import Redis, RedisCluster
from redis.exceptions import ResponseError

from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.redaction import redact_url
from taoloop.core.settings import RedisSettings
from taoloop.core.telemetry import Telemetry, names
from taoloop.wire.redis.redis_client import redis_client
from taoloop.wire.redis.redis_errors import LIBRARY_ERRORS, is_out_of_memory, is_passing, unavailable

T = TypeVar("T")

FIRST_PAUSE_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 1.0
FIND_SECONDS = 1.0


class RedisLink:
    """Runs operations against one installation and rides out short outages.

    Args:
        client: The connected client; its own retries are off, so that there is one retry layer.
        settings: How long an outage is waited for.
        telemetry: Where reconnects are counted.
    """

    def __init__(self, client: Redis, settings: RedisSettings, telemetry: Telemetry) -> None:
        self.client = client
        self._settings = settings
        self._reconnects = telemetry.metrics.counter(names.REDIS_RECONNECTS)
        self._is_down = False
        self._find_at = 0.0

    def __repr__(self) -> str:
        return f"<RedisLink {redact_url(self._settings.url.get_secret_value())} {'down' if self._is_down else 'up'}>"

    def patience(self, deadline: Deadline) -> Deadline:
        """Return how long an outage is waited for under a caller's deadline."""
        return deadline.shortened(self._settings.outage_tolerance_seconds)

    async def run(self, operation: Callable[[Redis], Awaitable[T]], deadline: Deadline) -> T:
        """Run an operation that may safely be repeated, again and again until it succeeds or time is up.

        Args:
            operation: Called with the client; must be idempotent, since a lost reply leads to a repeat.
            deadline: The caller's; the wait is the smaller of it and `outage_tolerance_seconds`.

        Raises:
            BackendUnavailable: The server did not answer in time, or refused for good.
            BackendOutOfMemory: The server refused a write because `maxmemory` is reached.
        """
        patience = self.patience(deadline)
        pause = Pause()
        while True:
            try:
                return await self.once(operation)
            except LIBRARY_ERRORS as error:
                if isinstance(error, ResponseError) and not is_passing(error) and not is_out_of_memory(error):
                    raise
                if not is_passing(error) or patience.remaining_seconds() <= pause.seconds:
                    raise unavailable(error) from error
            await deadline.clock.sleep(pause.next())
            await self.find_anew(deadline.clock)

    async def once(self, operation: Callable[[Redis], Awaitable[T]]) -> T:
        """Run an operation and raise whatever the library raises; what passes is noted as an outage."""
        try:
            result = await _with_every_cancellation(operation(self.client))
        except LIBRARY_ERRORS as error:
            self._is_down = self._is_down or is_passing(error)
            raise
        if self._is_down:
            self._is_down = False
            self._reconnects.inc()
        return result

    async def find_anew(self, clock: Clock) -> None:
        """Ask a cluster which node holds what, at most once a second; do nothing elsewhere.

        A pipeline of the library does not ask again by itself after its node has died. Sentinels are asked with each
        new connection.
        """
        client: object = self.client  # a cluster's client has the same commands, and is no `Redis`
        if not isinstance(client, RedisCluster) or clock.monotonic() < self._find_at:
            return
        self._find_at = clock.monotonic() + FIND_SECONDS
        with suppress(*LIBRARY_ERRORS):
            await _with_every_cancellation(client.nodes_manager.initialize())

    async def is_alive(self) -> bool:
        """Return whether the server answers a ping within a second."""
        try:
            async with asyncio.timeout(1.0):
                return bool(await _with_every_cancellation(self.client.ping()))
        except (*LIBRARY_ERRORS, TimeoutError):
            return False


class Pause:
    """How long to wait before the next attempt: twice as long each time, with jitter.

    Jitter keeps many hosts from coming back in step.
    """

    def __init__(self) -> None:
        self.seconds = FIRST_PAUSE_SECONDS

    def next(self) -> float:
        """Return the next pause in seconds; the longest is a second."""
        seconds = random.uniform(self.seconds / 2, self.seconds)
        self.seconds = min(self.seconds * 2, LONGEST_PAUSE_SECONDS)
        return seconds


async def _with_every_cancellation(operation: Awaitable[T]) -> T:
    """Await an operation of the library, and cancel what the library did not let be cancelled.

    It sends by `asyncio.wait_for`, which before Python 3.12 forgets a cancellation that comes when the bytes have just
    been written (https://github.com/python/cpython/issues/86296). A task would then go on as if nobody had stopped it:
    a run that was cancelled, or a process that is asked to end.
    """
    task = asyncio.current_task()
    assert task is not None
    asked_before = task.cancelling()
    try:
        return await operation
    finally:
        if task.cancelling() > asked_before:
            raise asyncio.CancelledError


@asynccontextmanager
async def redis_link(settings: RedisSettings, telemetry: Telemetry) -> AsyncIterator[RedisLink]:
    """Open the pool; close it at the end. Connecting is lazy, so a server that is still starting is no error.

    Raises:
        ConfigurationError: The address or a certificate cannot be used.
    """
    async with redis_client(settings) as client:
        yield RedisLink(client, settings, telemetry)
