"""What every call across a service border carries besides its request."""

from dataclasses import dataclass

from taoloop.core.deadlines import Deadline
from taoloop.core.records import quickly_made

DEFAULT_TENANT = "default"


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """Who calls, and until when; the trace context is ambient (OpenTelemetry)."""

    deadline: Deadline
    """When the caller stops waiting. Every local time limit is the smaller of its own and what is left."""
    tenant: str = DEFAULT_TENANT
    """Whose data the call may touch; from the peer's identity or trusted metadata, never from a request body."""
    request_id: str = ""
    """The caller's id of the request, as received and never cut; empty when none was sent."""
