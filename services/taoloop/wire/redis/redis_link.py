"""One connection pool to Redis or Valkey, with the outage handling that every adapter needs."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    NoPermissionError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)
from redis.exceptions import (
    ConnectionError as RedisConnectionError,
)
from redis.exceptions import (
    TimeoutError as RedisTimeoutError,
)

from taoloop.core.deadlines import Deadline
from taoloop.core.errors import BackendUnavailable
from taoloop.core.redaction import redact_text, redact_url
from taoloop.core.settings import RedisSettings
from taoloop.core.telemetry import Telemetry, names

# A refused login is no outage: waiting does not heal it. These derive from ConnectionError in redis-py.
_FINAL = (AuthenticationError, AuthorizationError, NoPermissionError)
_PASSING = (RedisConnectionError, RedisTimeoutError, BusyLoadingError, ReadOnlyError)

T = TypeVar("T")

FIRST_PAUSE_SECONDS = 0.05
LONGEST_PAUSE_SECONDS = 1.0


class RedisLink:
    """Runs operations against one server and rides out short outages.

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

    def __repr__(self) -> str:
        return f"<RedisLink {redact_url(self._settings.url.get_secret_value())} {'down' if self._is_down else 'up'}>"

    async def run(self, operation: Callable[[Redis], Awaitable[T]], deadline: Deadline) -> T:
        """Run an operation that may safely be repeated, again and again until it succeeds or time is up.

        Args:
            operation: Called with the client; must be idempotent, since a lost reply leads to a repeat.
            deadline: The caller's; the wait is the smaller of it and `outage_tolerance_seconds`.

        Raises:
            BackendUnavailable: The server did not answer in time, or refused for good.
        """
        patience = deadline.shortened(self._settings.outage_tolerance_seconds)
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                result = await _with_every_cancellation(operation(self.client))
            except _PASSING as error:
                if isinstance(error, _FINAL) or patience.remaining_seconds() <= pause:
                    raise _unavailable(error) from error
                self._is_down = True
            except ResponseError:
                raise
            except RedisError as error:
                raise _unavailable(error) from error
            else:
                self._note_success()
                return result
            # Jitter keeps many hosts from coming back in step.
            await deadline.clock.sleep(random.uniform(pause / 2, pause))
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)

    async def is_alive(self) -> bool:
        """Return whether the server answers a ping within a second."""
        try:
            async with asyncio.timeout(1.0):
                return bool(await _with_every_cancellation(self.client.ping()))
        except (RedisError, TimeoutError, OSError):
            return False

    def _note_success(self) -> None:
        if self._is_down:
            self._is_down = False
            self._reconnects.inc()


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


def _unavailable(error: RedisError) -> BackendUnavailable:
    text = redact_text(str(error))[:200]
    return BackendUnavailable(
        f"Redis does not serve: {text}",
        metadata={"backend": "redis", "cause": type(error).__name__},
        retry_after_seconds=1.0,
    )


@asynccontextmanager
async def redis_link(settings: RedisSettings, telemetry: Telemetry) -> AsyncIterator[RedisLink]:
    """Open the pool; close it at the end. Connecting is lazy, so a server that is still starting is no error."""
    options: dict[str, Any] = {
        "retry": Retry(NoBackoff(), 0),
        "socket_timeout": settings.command_timeout_seconds,
        "socket_connect_timeout": settings.connect_timeout_seconds,
        "health_check_interval": 0,
        "max_connections": settings.max_connections,
        "protocol": 3,
    }
    client: Redis = Redis.from_url(settings.url.get_secret_value(), **options)
    try:
        yield RedisLink(client, settings, telemetry)
    finally:
        await client.aclose()
