"""The latest results of reads, so that a request id that comes twice gets one answer."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Final

from taoloop.core import exact_json
from taoloop.core.clock import Clock
from taoloop.core.errors import RequestIdReused
from taoloop.plan.acting import ActionResult, ExecuteRequest

MAX_ENTRIES: Final = 1024
MAX_AGE_SECONDS: Final = 300.0
MAX_BODY_BYTES: Final = 64 * 1024
"""Larger results are not kept: the read is made again."""

_asked = attrgetter(
    *(field.name for field in fields(ExecuteRequest) if field.name not in {"arguments", "timeout_seconds"})
)
"""What a request asks for beside its arguments: everything but how long its caller waits."""


@dataclass(frozen=True, slots=True)
class _Entry:
    asked: tuple[object, ...]
    arguments_hash: str
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
        if entry.asked != _asked(request) or entry.arguments_hash != _arguments_hash(request):
            raise RequestIdReused.of(request.request_id)
        return entry.result

    def add(self, tenant: str, request: ExecuteRequest, result: ActionResult) -> None:
        """Remember a result, unless its body is large or the request has no id."""
        if not request.request_id or (result.body is not None and result.body.size_bytes > MAX_BODY_BYTES):
            return
        key = tenant, request.request_id
        # The hash stands for the arguments, which may be large; whoever made the call has worked it out.
        arguments_hash = result.arguments_hash or _arguments_hash(request)
        self._entries[key] = _Entry(_asked(request), arguments_hash, result, self._clock.monotonic())
        self._entries.move_to_end(key)
        while len(self._entries) > MAX_ENTRIES:
            self._entries.popitem(last=False)

    def __repr__(self) -> str:
        return f"RecentResults(entries={len(self._entries)})"


def _arguments_hash(request: ExecuteRequest) -> str:
    return exact_json.digest({} if request.arguments is exact_json.ABSENT else request.arguments)
