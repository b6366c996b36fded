"""Answers of reads that may stand in for a call: fresh ones instead of it, older good ones when it fails."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

MAX_BYTES: Final = 64 * 1024 * 1024
"""Bodies kept by one process, for all tools together."""

ENTRY_BYTES: Final = 1024
"""What an answer takes beside its body, roughly: many small ones must not count as nothing."""

AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True, slots=True)
class CacheKey:
    """Which call an answer is for; what one tenant reads is never shown to another.

    Attributes:
        tenant: Who asked.
        contract_digest: The tool as it was then: a changed contract finds nothing.
        arguments_hash: Digest of the canonical arguments.
    """

    tenant: str
    contract_digest: str
    arguments_hash: str


@dataclass(frozen=True, slots=True)
class CachedAnswer(Generic[AnswerT]):
    """An earlier answer.

    Attributes:
        answer: As it was kept.
        age_seconds: How long ago it was kept, at least 0.
    """

    answer: AnswerT
    age_seconds: float


@dataclass(slots=True)
class _Entry(Generic[AnswerT]):
    answer: AnswerT
    size_bytes: int
    kept_at: float


class ReadCache(Generic[AnswerT]):
    """Bounded in bytes; the answer that was not used for longest goes first.

    Args:
        max_bytes: Most bytes of bodies, with `ENTRY_BYTES` for each answer.
        on_eviction: Called once for each answer that went before its time.
    """

    def __init__(self, max_bytes: int = MAX_BYTES, *, on_eviction: Callable[[], None] = lambda: None) -> None:
        self._max_bytes = max_bytes
        self._on_eviction = on_eviction
        self._entries: OrderedDict[CacheKey, _Entry[AnswerT]] = OrderedDict()
        self._bytes = 0

    def find(self, key: CacheKey, max_age_seconds: float, now: float) -> CachedAnswer[AnswerT] | None:
        """Return the answer if it is no older than `max_age_seconds`; None otherwise, and always for 0."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        age = max(0.0, now - entry.kept_at)
        if age > max_age_seconds or max_age_seconds <= 0:
            return None
        self._entries.move_to_end(key)
        return CachedAnswer(entry.answer, age)

    def keep(self, key: CacheKey, answer: AnswerT, body_bytes: int, now: float) -> bool:
        """Keep an answer in place of an earlier one; False if it alone is larger than the cache."""
        self.drop(key)
        size = body_bytes + ENTRY_BYTES
        if size > self._max_bytes:
            return False
        self._entries[key] = _Entry(answer, size, now)
        self._bytes += size
        while self._bytes > self._max_bytes:
            self._bytes -= self._entries.popitem(last=False)[1].size_bytes
            self._on_eviction()
        return True

    def drop(self, key: CacheKey) -> None:
        """Forget one answer, if it is there."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self._bytes -= entry.size_bytes

    def __repr__(self) -> str:
        return f"ReadCache({len(self._entries)} answers, {self._bytes} of {self._max_bytes} bytes)"
