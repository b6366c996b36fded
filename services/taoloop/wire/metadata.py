"""What stands in the metadata of a call: tenant, request id and trace context."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from opentelemetry.baggage.propagation import W3CBaggagePropagator
from opentelemetry.context import Context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from taoloop.core.calls import DEFAULT_TENANT, CallContext
from taoloop.core.errors import FieldViolation, InvalidMetadata

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
    carrier: dict[str, str] = {}
    _TRACE.inject(carrier, context)
    _BAGGAGE.inject(carrier, context)
    entries = [*constant, *carrier.items()]
    if call.tenant != DEFAULT_TENANT:
        entries.append(_checked(TENANT, call.tenant))
    if call.request_id:
        entries.append(_checked(REQUEST_ID, call.request_id))
    return tuple(entries)


class IncomingMetadata:
    """The text entries of an incoming call.

    Args:
        entries: As gRPC gives them: keys in lower case, binary values as bytes, which are left out.
    """

    def __init__(self, entries: Iterable[tuple[str, str | bytes]]) -> None:
        self._values: dict[str, list[str]] = {}
        for key, value in entries:
            if isinstance(value, str):
                self._values.setdefault(key, []).append(value)

    def single(self, key: str) -> str:
        """Return the value of `key`, whole; empty when it is missing.

        Raises:
            InvalidMetadata: The entry is given twice: two readers could take different ones.
        """
        values = self._values.get(key, [])
        if len(values) > 1:
            raise _refused(key, "is given more than once")
        return values[0] if values else ""

    def tenant(self, *, is_trusted: bool) -> str:
        """Return the tenant that a trusted peer names; else the default one.

        Raises:
            InvalidMetadata: The entry is given twice.
        """
        return (self.single(TENANT) if is_trusted else "") or DEFAULT_TENANT

    def request_id(self) -> str:
        """Return the caller's id of the request, whole; empty when none was sent.

        Raises:
            InvalidMetadata: The entry is given twice.
        """
        return self.single(REQUEST_ID)

    def trace_context(self) -> Context:
        """Return the caller's trace and baggage; an empty context when they are missing, malformed or ambiguous."""
        carrier: Mapping[str, str] = {
            key: values[0] for key, values in self._values.items() if key in _TRACE_KEYS and len(values) == 1
        }
        return _BAGGAGE.extract(carrier, _TRACE.extract(carrier, _NOTHING)) if carrier else _NOTHING


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
