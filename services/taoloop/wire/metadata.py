"""What stands in the metadata of a call: tenant, request id and trace context."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from opentelemetry import baggage
from opentelemetry.baggage.propagation import W3CBaggagePropagator
from opentelemetry.context import Context
from opentelemetry.trace import get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from taoloop.core.calls import DEFAULT_TENANT, CallContext
from taoloop.core.errors import FieldViolation, InvalidMetadata
from taoloop.core.telemetry.tracing import current_span, headers_of

TENANT: Final = "x-taoloop-tenant"
REQUEST_ID: Final = "x-request-id"

Entries = tuple[tuple[str, str], ...]

_KEY = re.compile(r"(?!grpc-)[0-9a-z_.-]+(?<!-bin)")
# What gRPC allows in a text value, without spaces at the ends, which a receiver may take away.
_VALUE = re.compile(r"(?:[!-~](?:[ -~]*[!-~])?)?")
_TRACE = TraceContextTextMapPropagator()
_BAGGAGE = W3CBaggagePropagator()
_NOTHING: Final = Context()
_TRACE_KEYS = frozenset({"traceparent", "tracestate", "baggage"})
_NONE: Final[frozenset[str]] = frozenset()
_READ = _TRACE_KEYS | {TENANT, REQUEST_ID}


def checked(entries: Iterable[tuple[str, str]]) -> Entries:
    """Return the entries if they can cross unchanged.

    Raises:
        InvalidMetadata: A key is not lower-case ASCII or is reserved, or a value is not printable ASCII.
    """
    return tuple(_checked(key, value) for key, value in entries)


def outgoing(call: CallContext, constant: Entries, context: Context | None = None) -> Entries:
    """Return the metadata of an outgoing call.

    Args:
        call: Gives tenant and request id.
        constant: Checked entries that every call of the channel has.
        context: Carries trace and baggage; the current one when left out.

    Raises:
        InvalidMetadata: The tenant or the request id is not printable ASCII. Nothing is sent.
    """
    span = current_span() if context is None else get_current_span(context)
    entries = [*constant, *headers_of(span).items()]
    if baggage.get_all(context):
        carrier: dict[str, str] = {}
        _BAGGAGE.inject(carrier, context)
        entries += carrier.items()
    if call.tenant != DEFAULT_TENANT:
        entries.append(_checked(TENANT, call.tenant))
    if call.request_id:
        entries.append(_checked(REQUEST_ID, call.request_id))
    return tuple(entries)


class IncomingMetadata:
    """What is read of the entries of an incoming call.

    Args:
        entries: As gRPC gives them: keys in lower case.
    """

    __slots__ = ("_repeated", "_values")

    def __init__(self, entries: Iterable[tuple[str, str | bytes]]) -> None:
        self._values: dict[str, str] = {}
        self._repeated: set[str] | frozenset[str] = _NONE
        for key, value in entries:
            if key in _READ and isinstance(value, str):
                if key in self._values:
                    self._repeated = self._repeated | {key}
                self._values[key] = value

    def trace(self) -> Mapping[str, str]:
        """Return the entries of trace and baggage; those given twice are ambiguous and left out."""
        if not self._values:
            return self._values
        return {key: self._values[key] for key in _TRACE_KEYS & self._values.keys() - self._repeated}

    def tenant(self, *, is_trusted: bool) -> str:
        """Return the tenant that a trusted peer names; else the default one.

        Raises:
            InvalidMetadata: The entry is given twice.
        """
        return (self._single(TENANT) if is_trusted else "") or DEFAULT_TENANT

    def request_id(self) -> str:
        """Return the caller's id of the request, whole; empty when none was sent.

        Raises:
            InvalidMetadata: The entry is given twice.
        """
        return self._single(REQUEST_ID)

    def _single(self, key: str) -> str:
        if key in self._repeated:  # two readers could take different ones
            raise _refused(key, "is given more than once")
        return self._values.get(key, "")


def trace_context(entries: Mapping[str, str]) -> Context:
    """Return the trace and baggage that the entries name; an empty context when they are missing or malformed."""
    return _BAGGAGE.extract(entries, _TRACE.extract(entries, _NOTHING)) if entries else _NOTHING


def _checked(key: str, value: str) -> tuple[str, str]:
    if _KEY.fullmatch(key) is None:
        raise _refused(key, "is not a key: lower-case ASCII letters, digits, `_`, `-`, `.`, not reserved")
    if _VALUE.fullmatch(value) is None:
        raise _refused(key, "has a value that is not printable ASCII")
    return key, value


def _refused(key: str, description: str) -> InvalidMetadata:
    shown = key.encode("ascii", "backslashreplace").decode()
    return InvalidMetadata(
        f"Metadata entry {shown} {description}.",
        violations=(FieldViolation(shown, description),),
        metadata={"key": shown},
    )
