"""The latest results of reads, so that a request id that comes twice gets one answer."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from taoloop.action.result_text import request_digest
from taoloop.core.clock import Clock
from taoloop.core.errors import RequestIdReused
from taoloop.plan.acting import ActionResult, ExecuteRequest

MAX_ENTRIES: Final = 1024
MAX_AGE_SECONDS: Final = 300.0
MAX_BODY_BYTES: Final = 64 * 1024
"""Larger results are not kept: the read is made again."""


@dataclass(frozen=True, slots=True)
class _Entry:
    request_digest: str
    result: ActionResult
    added_at_seconds: float


class RecentResults:
    """Results of reads by tenant and request id, bounded in number, age and size.

    Args:
        clock: Tells the age.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: OrderedDict[tuple[str, str], _Entry] = OrderedDict()

    def find(self, tenant: str, request: ExecuteRequest) -> ActionResult | None:
        """Return the result that the same request had; None when there is none.

        Raises:
            RequestIdReused: The id came before with another request.
        """
        entry = self._entries.get((tenant, request.request_id)) if request.request_id else None
        if entry is None or self._clock.monotonic() - entry.added_at_seconds > MAX_AGE_SECONDS:
            return None
        if entry.request_digest != request_digest(request):
            raise RequestIdReused.of(request.request_id)
        return entry.result

    def add(self, tenant: str, request: ExecuteRequest, result: ActionResult) -> None:
        """Remember a result, unless its body is large or the request has no id."""
        if not request.request_id or (result.body is not None and result.body.size_bytes > MAX_BODY_BYTES):
            return
        self._entries[tenant, request.request_id] = _Entry(request_digest(request), result, self._clock.monotonic())
        self._entries.move_to_end((tenant, request.request_id))
        while len(self._entries) > MAX_ENTRIES:
            self._entries.popitem(last=False)

    def __repr__(self) -> str:
        return f"RecentResults(entries={len(self._entries)})"
