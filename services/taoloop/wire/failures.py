"""Which error an exception is for the caller; what is not meant for callers becomes an incident in the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from google.protobuf.message import DecodeError

from taoloop.core.clock import Clock
from taoloop.core.errors import ConfigurationError, FeatureNotServed, InternalError, InvalidRequest, TaoError
from taoloop.core.ids import new_id
from taoloop.core.logs import EventLog

_log = EventLog(__name__)

# What generated servicers raise for a method that nobody wrote.
_GENERATED_TEXT = "Method not implemented!"

MessageT = TypeVar("MessageT")


def as_tao_error(exc: Exception, method: str, clock: Clock) -> TaoError:
    """Return the error that the caller sees.

    A `TaoError` is itself; a group of them, as a task group raises it, is its first. Anything else is logged
    under a new incident id, and the caller sees that id alone; call it where the exception is handled.
    """
    leaves = tuple(_leaves(exc))
    if all(isinstance(leaf, TaoError) and not isinstance(leaf, ConfigurationError) for leaf in leaves):
        first = leaves[0]
        assert isinstance(first, TaoError)
        return first
    if isinstance(exc, NotImplementedError) and str(exc) == _GENERATED_TEXT:
        return FeatureNotServed.rpc(method)
    incident_id = new_id(clock)
    _log.exception("rpc_failed_unexpectedly", rpc=method, incident_id=incident_id)
    return InternalError.of(incident_id)


def read_message(parse: Callable[[bytes], MessageT], raw: bytes) -> MessageT:
    """Return the message that the bytes hold.

    Raises:
        InvalidRequest: The bytes are no such message, or a text in them is not UTF-8.
    """
    try:
        return parse(raw)
    except DecodeError as exc:
        raise InvalidRequest("The request is not a message of the method's type.") from exc


def _leaves(exc: BaseException) -> Iterator[BaseException]:
    if isinstance(exc, BaseExceptionGroup):
        for inner in exc.exceptions:
            yield from _leaves(inner)
    else:
        yield exc
