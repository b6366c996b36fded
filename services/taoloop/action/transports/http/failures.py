"""Every way in which aiohttp can fail, as one `TransportFault`; no text of the library's is passed on."""

from __future__ import annotations

import os
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import aiohttp
from aiohttp.http_exceptions import HttpProcessingError, LineTooLong

from taoloop.action.ports import Reply, TransportFault
from taoloop.action.transports.egress_guard import REMEDY, EgressForbidden
from taoloop.action.transports.secret_echoes import masked
from taoloop.core.faults import FaultCode

_CERTIFICATE_CAUSES: Final = {
    9: "its certificate is not valid yet",
    10: "its certificate has expired",
    18: "its certificate is signed by itself",
    19: "its certificate is signed by an authority that is not known",
    20: "its certificate is signed by an authority that is not known",
    21: "its certificate is signed by an authority that is not known",
    62: "its certificate is for another host",
    64: "its certificate is for another address",
}
"""OpenSSL's verification codes (x509_vfy.h) in words."""


@dataclass(slots=True)
class Progress:
    """How far one attempt came: what is known when it breaks off."""

    has_connection: bool = False
    """From here on a byte may have left."""
    reused_connection: bool = False
    is_queued: bool = False
    """Whether it waits for a connection of its pool."""
    status_code: int = 0
    content_type: str = ""
    retry_after: str = ""
    location: str = ""
    received: bytes | bytearray = b""
    is_aftermath: bool = False
    """See `Reply`; true of every answer to come."""
    secrets: tuple[bytes, ...] = ()
    """What was sent as credentials and must not be told when it comes back."""

    def reply(self) -> Reply:
        """Return what arrived, without credentials of ours."""
        reply = Reply(
            status_code=self.status_code,
            content_type=self.content_type,
            body=bytes(self.received),
            retry_after=self.retry_after,
            reused_connection=self.reused_connection,
            is_aftermath=self.is_aftermath,
        )
        return masked(reply, self.secrets) if self.secrets else reply

    def begin_hop(self) -> None:
        """Forget the answer of the request before; that something has left stays true."""
        self.status_code = 0
        self.content_type = self.retry_after = self.location = ""
        self.received = b""
        self.reused_connection = self.is_queued = False

    def fault(self, code: FaultCode, message: str, *, is_retriable: bool = False) -> TransportFault:
        """Return the fault of an attempt that ended here."""
        return TransportFault(
            code,
            message,
            may_have_left=self.has_connection,
            is_retriable=is_retriable,
            received=self.reply() if self.status_code else None,
        )


LIBRARY_FAILURES: Final = (aiohttp.ClientError, HttpProcessingError, ssl.SSLError, OSError)
"""Whatever aiohttp raises for a call that it was right to make."""


@contextmanager
def translated(progress: Progress) -> Iterator[None]:
    """Turn a failure of aiohttp into a fault.

    Raises:
        TransportFault: In place of whatever the library raised.
    """
    try:
        yield
    except LIBRARY_FAILURES as exc:
        raise fault_of(exc, progress) from exc


def fault_of(error: Exception, progress: Progress) -> TransportFault:
    """Return a failure of aiohttp as a fault."""
    if isinstance(error, aiohttp.ClientConnectorError) and isinstance(error.os_error, EgressForbidden):
        fault = egress_fault(error.os_error.reason)
        if not progress.has_connection:
            return fault
        # A redirect led there: the request before it was made.
        message = f"A redirect was not followed: {fault.message}"
        return progress.fault(FaultCode.REDIRECT_FORBIDDEN, message)
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return progress.fault(FaultCode.TOOL_UNREACHABLE, f"The server is not trusted: {_certificate_cause(error)}.")
    if isinstance(error, aiohttp.ClientSSLError | ssl.SSLError):
        return progress.fault(FaultCode.TOOL_UNREACHABLE, "No secure connection to the tool could be made.")
    if isinstance(error, aiohttp.ClientConnectorError):
        message = f"No connection to the tool could be made: {_os_cause(error)}."
        return progress.fault(FaultCode.TOOL_UNREACHABLE, message, is_retriable=True)
    if isinstance(error, aiohttp.InvalidURL):
        return progress.fault(FaultCode.TOOL_UNREACHABLE, "The tool's URL cannot be requested.")
    if isinstance(error, aiohttp.ClientResponseError | HttpProcessingError):
        return progress.fault(FaultCode.TOOL_PROTOCOL_FAULT, _protocol_cause(error))
    if isinstance(error, aiohttp.ClientPayloadError):
        message = "The body ended before its announced length."
        return progress.fault(FaultCode.RESPONSE_INCOMPLETE, message, is_retriable=True)
    if not progress.has_connection:
        message = "No connection to the tool could be made."
        return progress.fault(FaultCode.TOOL_UNREACHABLE, message, is_retriable=True)
    message = "The tool closed the connection before it had answered."
    return progress.fault(FaultCode.RESPONSE_INCOMPLETE, message, is_retriable=True)


def egress_fault(reason: str) -> TransportFault:
    """Return the fault of a call that must not be made, since its address is forbidden."""
    message = f"The tool must not be called there: {reason}; {REMEDY}."
    return TransportFault(FaultCode.EGRESS_FORBIDDEN, message, may_have_left=False)


def _certificate_cause(error: aiohttp.ClientConnectorCertificateError) -> str:
    code = getattr(error.certificate_error, "verify_code", 0)
    return _CERTIFICATE_CAUSES.get(code, "its certificate cannot be verified")


def exceeds_headers(error: Exception) -> bool:
    """Tell whether an answer was refused since its headers are larger, or more, than the client allows."""
    cause: BaseException | None = error
    while cause is not None:
        # The parser has a class of its own for what is too long, and only a text for what is too many.
        if isinstance(cause, LineTooLong) or "Too many headers" in str(cause):
            return True
        cause = cause.__cause__
    return False


def _protocol_cause(error: Exception) -> str:
    if exceeds_headers(error):
        return "The tool's headers are larger, or more, than allowed."
    return "The tool did not answer in HTTP."


def _os_cause(error: aiohttp.ClientConnectorError) -> str:
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "the name of the host is not known"
    # The error's own text holds the address, which is nobody's business.
    number = error.os_error.errno
    return os.strerror(number).lower() if number else "the network refused it"
