"""What an error of the Redis library means: it passes, it stays, or the server has no memory left."""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import TracebackType
from typing import Final

from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    ClusterDownError,
    ExternalAuthProviderError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    RedisError,
    ResponseError,
    TryAgainError,
)
from redis.exceptions import (
    ConnectionError as RedisConnectionError,
)
from redis.exceptions import (
    TimeoutError as RedisTimeoutError,
)

from taoloop.core.errors import BackendOutOfMemory, BackendUnavailable
from taoloop.core.redaction import redact_text

LIBRARY_ERRORS: Final = (RedisError, RedisClusterException, OSError)
"""Everything that the library raises; the cluster's exception does not derive from the library's own root."""

# A refused login is no outage: waiting does not heal it. Two of these derive from ConnectionError.
_FINAL: Final = (AuthenticationError, AuthorizationError, NoPermissionError, ExternalAuthProviderError)
_PASSING: Final = (
    RedisConnectionError,
    RedisTimeoutError,
    BusyLoadingError,
    ReadOnlyError,
    ClusterDownError,
    TryAgainError,
    RedisClusterException,
    OSError,
)
# Codes for which the library has no class. During a fail-over the old primary gives blocked readers back, and refuses
# writes for want of replicas; a full disk refuses writes until it is emptied; a script that runs long ends.
_PASSING_CODES: Final = ("UNBLOCKED", "NOREPLICAS", "MISCONF", "BUSY ", "NOMASTERLINK")


def is_passing(error: BaseException) -> bool:
    """Return whether the same operation may succeed in a moment, without anybody's doing."""
    if isinstance(error, _FINAL):
        return False
    return isinstance(error, _PASSING) or (isinstance(error, ResponseError) and str(error).startswith(_PASSING_CODES))


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether the server refused a write because `maxmemory` is reached."""
    # Before Redis 7 a refusal inside a script is told in the text of the script's error.
    return isinstance(error, OutOfMemoryError) or (isinstance(error, ResponseError) and "-OOM " in str(error))


def unavailable(error: BaseException) -> BackendUnavailable:
    """Return the error of ours for one of the library's that ended an operation."""
    text = redact_text(str(error))[:200]
    metadata = {"backend": "redis", "cause": type(error).__name__}
    if is_out_of_memory(error):
        return BackendOutOfMemory(
            f"Redis has no memory left for what is to be written: {text}", metadata=metadata, retry_after_seconds=5.0
        )
    return BackendUnavailable(f"Redis does not serve: {text}", metadata=metadata, retry_after_seconds=1.0)


class _RefusalsTold:
    """See `refusals_told`. A generator would cost five times as much, which counts in a hop."""

    __slots__ = ()

    def __enter__(self) -> None: ...

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(exc, ResponseError):
            raise unavailable(exc) from exc


_REFUSALS_TOLD: Final = _RefusalsTold()


def refusals_told() -> AbstractContextManager[None]:
    """Raise what a server refuses inside the block as an error of ours.

    Raises:
        BackendUnavailable: The server refuses, for example since a key is of another type than it must be.
    """
    return _REFUSALS_TOLD
