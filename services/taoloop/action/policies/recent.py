"""The latest answers to reads, so that a request id that comes twice gets one."""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter
from typing import Final, Generic, TypeVar

from taoloop.core.clock import Clock
from taoloop.core.errors import RequestIdReused
from taoloop.plan.acting import ExecuteRequest

AnswerT = TypeVar("AnswerT")

MAX_ENTRIES: Final = 1024
MAX_AGE_SECONDS: Final = 300.0
MAX_BODY_BYTES: Final = 64 * 1024
"""Larger answers are not kept: the read is made again."""

_asked = attrgetter(
    *(field.name for field in fields(ExecuteRequest) if field.name not in {"arguments", "timeout_seconds"})
)
"""What a request asks for beside its arguments: everything but how long its caller waits."""


_Entry = tuple[tuple[object, ...], str, AnswerT, float]
"""What was asked, the hash of its arguments, the answer, and when it was added, in monotonic seconds."""


class RecentAnswers(Generic[AnswerT]):
    """Answers to reads by tenant and request id, bounded in number, age and size.

    Args:
        clock: Tells the age.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: dict[tuple[str, str], _Entry[AnswerT]] = {}

    def find(self, tenant: str, request: ExecuteRequest, arguments_hash: str) -> AnswerT | None:
        """Return the answer that the same request had; None when there is none.

        Raises:
            RequestIdReused: The id came before with another request.
        """
        entry = self._entries.get((tenant, request.request_id)) if request.request_id else None
        if entry is None:
            return None
        asked, hash_then, answer, added_at = entry
        if self._clock.monotonic() - added_at > MAX_AGE_SECONDS:
            return None
        # The hash stands for the arguments, which may be large.
        if asked != _asked(request) or hash_then != arguments_hash:
            raise RequestIdReused.of(request.request_id)
        return answer

    def add(self, tenant: str, request: ExecuteRequest, arguments_hash: str, answer: AnswerT, size_bytes: int) -> None:
        """Remember an answer, unless it is large or the request has no id.

        Args:
            tenant: Whose.
            request: What was asked.
            arguments_hash: SHA-256 of its canonical arguments.
            answer: Not changed from now on.
            size_bytes: Of its body.
        """
        if not request.request_id or size_bytes > MAX_BODY_BYTES:
            return
        entries, key = self._entries, (tenant, request.request_id)
        entries.pop(key, None)  # an entry that is made anew is the newest
        entries[key] = _asked(request), arguments_hash, answer, self._clock.monotonic()
        if len(entries) > MAX_ENTRIES:
            del entries[next(iter(entries))]

    def __repr__(self) -> str:
        return f"RecentAnswers(entries={len(self._entries)})"
