"""A channel to one service, and the two kinds of calls over it: each mapped, bounded, traced and counted."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Generic, TypeVar

import grpc
import grpc.aio
from google.protobuf.message import DecodeError, Message
from opentelemetry.trace import Span, SpanKind, set_span_in_context

from taoloop.core.calls import CallContext
from taoloop.core.errors import DeadlineExceeded, InternalError, InvalidRequest, MessageTooLarge, TaoError
from taoloop.core.settings import GrpcSettings
from taoloop.core.telemetry import Telemetry, names
from taoloop.core.telemetry.tracing import mark_failed
from taoloop.wire.channel_arguments import TlsCredentials, client_arguments, encrypted
from taoloop.wire.metadata import checked, outgoing
from taoloop.wire.records.codec import RecordNotEncodable, decode, encode, invalid_request
from taoloop.wire.status import from_rpc_error

ReplyT = TypeVar("ReplyT")


class Channel:
    """A connection to one service; calls are made through clients built on it.

    Args:
        channel: The gRPC channel, without serializers of its own.
        address: What it leads to.
        settings: Sizes.
        telemetry: Where spans and metrics go.
        metadata: Entries that every call has.

    Raises:
        InvalidMetadata: An entry is not printable ASCII.
    """

    def __init__(
        self,
        channel: grpc.aio.Channel,
        address: str,
        settings: GrpcSettings,
        telemetry: Telemetry,
        metadata: Mapping[str, str] | None = None,
    ) -> None:
        self.raw = channel
        self.address = address
        self.max_message_bytes = settings.max_message_bytes
        self.constant_metadata = checked((metadata or {}).items())
        self.tracing = telemetry.tracing
        self._too_large = telemetry.metrics.counter(names.MESSAGE_TOO_LARGE)

    def __repr__(self) -> str:
        return f"Channel({self.address}, {self.raw.get_state().name})"

    def request(self, method: str, record: Any, message_class: type[Message]) -> bytes:
        """Return the bytes of a request.

        Raises:
            InvalidRequest: The record has values that the message cannot carry.
            MessageTooLarge: The request is larger than the channel takes. Nothing is sent.
        """
        try:
            raw = encode(record, message_class).SerializeToString()
        except RecordNotEncodable as exc:
            raise invalid_request(message_class.DESCRIPTOR.name, exc.violations) from exc
        if len(raw) > self.max_message_bytes:
            self._too_large.labels("sent").inc()
            error = MessageTooLarge.of(len(raw), self.max_message_bytes)
            raise MessageTooLarge(error.message, metadata={**error.metadata, "rpc": method})
        return raw

    def failure(self, error: grpc.aio.AioRpcError, method: str) -> TaoError:
        """Return the error that a failed call means."""
        mapped = from_rpc_error(error, method, self.address)
        if isinstance(mapped, MessageTooLarge):
            self._too_large.labels("received").inc()
        return mapped


class _Calling:
    """Maps what a call raises in the block, and writes the outcome to its span."""

    __slots__ = ("_channel", "_method", "_span")

    def __init__(self, channel: Channel, method: str, span: Span) -> None:
        self._channel = channel
        self._method = method
        self._span = span

    def __enter__(self) -> None:
        return

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        if isinstance(error, grpc.aio.AioRpcError):
            self._span.set_attribute(names.Attribute.RPC_STATUS_CODE, error.code().name)
            raise self._channel.failure(error, self._method) from error
        code = error.code if isinstance(error, TaoError) else "OK"
        self._span.set_attribute(names.Attribute.RPC_STATUS_CODE, code)


class _Rpc(Generic[ReplyT]):
    """What both kinds of calls share."""

    def __init__(
        self, channel: Channel, method: str, request: type[Message], reply: type[ReplyT], reply_message: type[Message]
    ) -> None:
        self._channel = channel
        self._method = method
        self._request = request
        self._reply = reply
        self._reply_message = reply_message
        self._attributes = {
            names.Attribute.RPC_SYSTEM: "grpc",
            names.Attribute.RPC_METHOD: method,
            names.Attribute.SERVER_ADDRESS: channel.address,
        }

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._method} at {self._channel.address})"

    def _time_left(self, call: CallContext) -> float:
        remaining = call.deadline.remaining_seconds()
        if remaining <= 0:
            raise DeadlineExceeded(f"{self._method} was not sent: no time is left.", metadata={"rpc": self._method})
        return remaining

    def _read(self, raw: bytes) -> ReplyT:
        try:
            return decode(self._reply, self._reply_message.FromString(raw))
        except (DecodeError, InvalidRequest) as exc:
            raise InternalError(
                f"The reply of {self._method} cannot be read: {exc}", metadata={"rpc": self._method}
            ) from exc


class UnaryRpc(_Rpc[ReplyT]):
    """A method with one reply."""

    def __init__(
        self, channel: Channel, method: str, request: type[Message], reply: type[ReplyT], reply_message: type[Message]
    ) -> None:
        super().__init__(channel, method, request, reply, reply_message)
        self._invoke: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.raw.unary_unary(f"/{method}")

    async def __call__(self, request: Any, call: CallContext) -> ReplyT:
        """Make the call; it ends with the caller's task.

        Raises:
            TaoError: Whatever the service raised, or what kept the call from reaching it.
        """
        channel = self._channel
        with (
            channel.tracing.span(self._method, self._attributes, kind=SpanKind.CLIENT) as span,
            _Calling(channel, self._method, span),
        ):
            raw = channel.request(self._method, request, self._request)
            metadata = outgoing(call, channel.constant_metadata)
            reply = await self._invoke(raw, timeout=self._time_left(call), metadata=metadata, wait_for_ready=False)
            return self._read(reply)


class StreamRpc(_Rpc[ReplyT]):
    """A method with a stream of replies."""

    def __init__(
        self, channel: Channel, method: str, request: type[Message], reply: type[ReplyT], reply_message: type[Message]
    ) -> None:
        super().__init__(channel, method, request, reply, reply_message)
        self._invoke: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = channel.raw.unary_stream(f"/{method}")

    async def __call__(self, request: Any, call: CallContext) -> AsyncGenerator[ReplyT, None]:
        """Make the call and yield its replies; closing the iterator cancels the call.

        Raises:
            TaoError: Whatever the service raised, or what kept the call from reaching it.
        """
        channel = self._channel
        # Not made current: a generator would leave it current in its reader's code between two replies.
        span = channel.tracing.tracer.start_span(
            self._method,
            kind=SpanKind.CLIENT,
            attributes={str(key): value for key, value in self._attributes.items()},
        )
        try:
            with _Calling(channel, self._method, span):
                raw = channel.request(self._method, request, self._request)
                metadata = outgoing(call, channel.constant_metadata, set_span_in_context(span))
                stream = self._invoke(raw, timeout=self._time_left(call), metadata=metadata, wait_for_ready=False)
                try:
                    async for reply in stream:
                        yield self._read(reply)
                finally:
                    stream.cancel()  # changes nothing when the stream has ended
        except TaoError as exc:
            mark_failed(span, exc.reason)
            raise
        finally:
            span.end()


@asynccontextmanager
async def connect(
    address: str,
    settings: GrpcSettings,
    telemetry: Telemetry,
    metadata: Mapping[str, str] | None = None,
    tls: TlsCredentials | None = None,
) -> AsyncIterator[Channel]:
    """Open a channel to a service and close it with the block; connecting begins with the first call.

    Args:
        address: `host:port`, or `dns:///name:port` of a headless service, over whose addresses calls are spread.
        settings: Sizes and keepalive.
        telemetry: Where spans and metrics go.
        metadata: Entries that every call has.
        tls: What the two sides know each other by; None connects without encryption.

    Raises:
        InvalidMetadata: An entry is not printable ASCII.
    """
    options = client_arguments(settings)
    raw = encrypted(address, options, tls) if tls else grpc.aio.insecure_channel(address, options=options)
    try:
        yield Channel(raw, address, settings, telemetry, metadata)
    finally:
        await raw.close()
