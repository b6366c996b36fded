"""Hands the call that the interceptor read to the servicer that serves it."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any

from taoloop.core.calls import CallContext

_current: ContextVar[CallContext] = ContextVar("taoloop_incoming_call")


def incoming_call(_context: Any = None) -> CallContext:
    """Return who calls and until when; the gRPC context is accepted for the reader and not read.

    Raises:
        LookupError: The method is not served by `taoloop.wire.server.serving`.
    """
    return _current.get()


def enter_call(call: CallContext) -> None:
    """Make `call` the incoming one of the current task; each RPC is served in a task of its own."""
    _current.set(call)
