"""What is known of one call on its way through the protocol's library, which tells of failures in words alone."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass, field

from taoloop.action.ports import TransportFault
from taoloop.action.transports.http.failures import Progress


@dataclass(slots=True)
class Exchange:
    """One call, or one connection being made.

    Attributes:
        ends_at: When its time is over, in seconds of the event loop's clock.
        thought_id: Sent to the server as `X-Request-ID`.
        progress: How far its latest HTTP request came; untouched without HTTP.
        fault: Why that failed below HTTP, or beyond a limit; None when it did not.
    """

    ends_at: float
    thought_id: str = ""
    progress: Progress = field(default_factory=Progress)
    fault: TransportFault | None = None


CURRENT: ContextVar[Exchange | None] = ContextVar("taoloop_mcp_exchange", default=None)
"""The call on whose behalf the library sends: it carries the context of who called into its own tasks."""
