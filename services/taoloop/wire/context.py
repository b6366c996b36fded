"""Hands what was read of a call to those who serve it in the same task."""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any

from taoloop.core.calls import CallContext

Entries = Iterable[tuple[str, str | bytes]]

_current: ContextVar[CallContext] = ContextVar("taoloop_incoming_call")
_metadata: ContextVar[Entries] = ContextVar("taoloop_incoming_metadata", default=())


def incoming_call(_context: Any = None) -> CallContext:
    """Return who calls and until when; the gRPC context is accepted for the reader and not read.

    Raises:
        LookupError: The method is not served by `taoloop.wire.server.serving`.
    """
    return _current.get()


def enter_call(call: CallContext) -> None:
    """Make `call` the incoming one of the current task; each RPC is served in a task of its own."""
    _current.set(call)


def arrive(metadata: Entries | None) -> None:
    """Keep the metadata of the call that the current task serves: gRPC would make it anew for who asks it again."""
    _metadata.set(metadata or ())


def arrived() -> Entries:
    """Return the metadata of the call that the current task serves."""
    return _metadata.get()
