"""A channel to a foreign server, and unary calls over it: an answer or a status, whatever the server does."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import grpc
import grpc.aio
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

from taoloop.core.exact_json import JsonValue
from taoloop.core.settings import GrpcSettings
from taoloop.wire.channel_arguments import client_arguments
from taoloop.wire.foreign.errors import AnswerUnreadable, NotConnected
from taoloop.wire.foreign.reflection_client import reflected_files

_STATUS_DETAILS: Final = "grpc-status-details-bin"
_TOO_LARGE: Final = "larger than max"
"""In the texts of grpc itself for a message over the channel's limit."""

_UNCONNECTED: Final = frozenset({grpc.ChannelConnectivity.TRANSIENT_FAILURE, grpc.ChannelConnectivity.SHUTDOWN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Tls:
    """What a client shows and whom it believes, in PEM; all None for the system's authorities alone."""

    authorities: bytes | None = None
    key: bytes | None = field(default=None, repr=False)
    certificate: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignStatus:
    """How a call ended without a reply.

    Attributes:
        code: Name of the gRPC status, such as `NOT_FOUND`.
        message: The server's words.
        reason: Of its ErrorInfo; empty for none.
        domain: Of its ErrorInfo.
        metadata: Of its ErrorInfo.
        retry_after_seconds: Of its RetryInfo; None for none.
    """

    code: str
    message: str = ""
    reason: str = ""
    domain: str = ""
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)
    retry_after_seconds: float | None = None


class ForeignChannel:
    """A connection to a server; a channel that could not connect is closed by its owner, and a new one made.

    Args:
        addresses: `IP:port` of the server, IPv6 in brackets; those that were judged, no name that is resolved again.
        authority: `host:port` as the server knows itself.
        tls: None for plain text.
        settings: Sizes and keepalive.
    """

    def __init__(self, addresses: Sequence[str], authority: str, tls: Tls | None, settings: GrpcSettings) -> None:
        self._authority = authority
        kind = "ipv6" if addresses[0].startswith("[") else "ipv4"
        target = f"{kind}:{','.join(addresses)}"
        options = [*client_arguments(settings), ("grpc.default_authority", authority), ("grpc.enable_retries", 0)]
        if tls is None:
            self._channel = grpc.aio.insecure_channel(target, options=options)
            return
        credentials = grpc.ssl_channel_credentials(tls.authorities, tls.key, tls.certificate)
        host = authority.rpartition(":")[0].strip("[]")
        options.append(("grpc.ssl_target_name_override", host))
        self._channel = grpc.aio.secure_channel(target, credentials, options=options)

    async def connected(self) -> None:
        """Return when there is a connection.

        Raises:
            NotConnected: There is none to be had.
        """
        try:
            state = self._channel.get_state(try_to_connect=True)
            while state is not grpc.ChannelConnectivity.READY:
                if state in _UNCONNECTED:
                    raise NotConnected("no connection to the server could be made")
                await self._channel.wait_for_state_change(state)
                state = self._channel.get_state(try_to_connect=True)
        except grpc.aio.UsageError as exc:  # another call found it broken and closed it
            raise NotConnected("the connection was closed") from exc

    async def unary(
        self, path: str, request: bytes, metadata: Sequence[tuple[str, str]], timeout_seconds: float
    ) -> bytes | ForeignStatus:
        """Call a method; the channel should be connected. Cancelled, the call is cancelled at the server.

        Raises:
            AnswerUnreadable: The reply is larger than the channel takes.
        """
        invoke: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = self._channel.unary_unary(path)
        try:
            reply: bytes = await invoke(request, metadata=tuple(metadata), timeout=timeout_seconds)
        except grpc.aio.AioRpcError as exc:
            return _status(exc)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return ForeignStatus(code="UNAVAILABLE", message="the channel was closed")  # nobody cancelled the caller
        return reply

    async def files(
        self, service: str, metadata: Sequence[tuple[str, str]]
    ) -> tuple[FileDescriptorProto, ...] | ForeignStatus:
        """Return the files of a service by the server's reflection.

        Raises:
            MethodUnusable: The server does not know it.
        """
        try:
            return await reflected_files(self._channel, service, tuple(metadata))
        except grpc.aio.AioRpcError as exc:
            return _status(exc)

    async def aclose(self) -> None:
        """Close the connection; calls in progress end."""
        await self._channel.close()

    def __repr__(self) -> str:
        return f"ForeignChannel({self._authority}, {self._channel.get_state().name})"


def _status(error: grpc.aio.AioRpcError) -> ForeignStatus:
    code, message = error.code().name, error.details() or ""
    if code == "RESOURCE_EXHAUSTED" and _TOO_LARGE in message:
        raise AnswerUnreadable("the answer is larger than a message may be", is_too_large=True) from error
    info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
    has_retry = False
    for detail in _details(error):
        if detail.Is(info.DESCRIPTOR):
            detail.Unpack(info)
        elif detail.Is(retry.DESCRIPTOR):
            has_retry = detail.Unpack(retry)
    seconds = retry.retry_delay.ToTimedelta().total_seconds() if has_retry else None
    return ForeignStatus(
        code=code,
        message=message,
        reason=info.reason,
        domain=info.domain,
        metadata=dict(info.metadata),
        retry_after_seconds=seconds,
    )


def _details(error: grpc.aio.AioRpcError) -> Sequence[Any]:
    for key, value in error.trailing_metadata() or ():
        if key == _STATUS_DETAILS and isinstance(value, bytes):
            try:
                return tuple(status_pb2.Status.FromString(value).details)
            except DecodeError:
                return ()
    return ()
