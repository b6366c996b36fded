"""What happens around every RPC that a server of ours serves: deadline, metadata, trace, metrics, errors."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Any, NoReturn, TypeVar

import grpc
import grpc.aio
from opentelemetry import context as ambient
from opentelemetry.trace import SpanKind

from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline
from taoloop.core.errors import DeadlineExceeded, MessageTooLarge, TaoError, TooManyCalls
from taoloop.core.settings import GrpcSettings
from taoloop.core.telemetry import Telemetry, names
from taoloop.wire.context import enter_call
from taoloop.wire.failures import as_tao_error, read_message
from taoloop.wire.metadata import IncomingMetadata
from taoloop.wire.status import DETAILS_KEY, status_code, status_details, status_text

_LONGEST_SECONDS = 365 * 86_400.0  # above it, gRPC means that there is no deadline
_OK = "OK"
_RETRY_AFTER_SECONDS = 0.5  # a call that is refused for want of room: most calls take less

T = TypeVar("T")

_Context = grpc.aio.ServicerContext[Any, Any]
_Serve = Callable[[], Awaitable[T]]


class CallInterceptor(grpc.aio.ServerInterceptor):
    """Guards the methods of the given services; all others (health, reflection) pass.

    It takes over reading and writing of messages, so that what goes wrong there is mapped like every other error.

    Args:
        service_names: Full names of the services.
        settings: Limits and defaults.
        telemetry: Where spans and metrics go.
        clock: Measures deadlines and durations.
    """

    def __init__(
        self, service_names: frozenset[str], settings: GrpcSettings, telemetry: Telemetry, clock: Clock
    ) -> None:
        self._service_names = service_names
        self._settings = settings
        self._telemetry = telemetry
        self._clock = clock
        self._guarded: dict[str, grpc.RpcMethodHandler[Any, Any]] = {}
        self._room = _Room(settings.max_concurrent_rpcs)

    def __repr__(self) -> str:
        return f"CallInterceptor({self._room}, methods={sorted(self._guarded)})"

    async def intercept_service(
        self,
        continuation: Callable[[grpc.HandlerCallDetails], Awaitable[grpc.RpcMethodHandler[Any, Any] | None]],
        handler_call_details: grpc.HandlerCallDetails,
    ) -> grpc.RpcMethodHandler[Any, Any] | None:
        """Return the guarded handler of the method; it is made at the first call."""
        method: str = handler_call_details.method
        guarded = self._guarded.get(method)
        if guarded is not None:
            return guarded
        handler = await continuation(handler_call_details)
        if handler is None or method[1:].rpartition("/")[0] not in self._service_names:
            return handler
        guarded = self._guard(method[1:], handler)
        self._guarded[method] = guarded
        return guarded

    def _guard(self, method: str, handler: grpc.RpcMethodHandler[Any, Any]) -> grpc.RpcMethodHandler[Any, Any]:
        guard = _Guard(method, handler, self._room, self._settings, self._telemetry, self._clock)
        if handler.request_streaming:
            raise TypeError(f"{method} streams its requests, which no service of ours does")
        if handler.response_streaming:
            return grpc.unary_stream_rpc_method_handler(guard.stream)
        return grpc.unary_unary_rpc_method_handler(guard.unary)


class _Room:
    """How many calls of all methods are in progress, and how many may be.

    gRPC's own limit would refuse without a count, a reason or a time to wait, and would refuse health checks too.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._taken = 0

    def __repr__(self) -> str:
        return f"<{self._taken} of {self._limit} calls in progress>"

    def enter(self, method: str) -> None:
        """Take a place for one call, which `leave` gives back.

        Raises:
            TooManyCalls: There is none.
        """
        if self._taken >= self._limit:
            raise TooManyCalls(
                f"{self._limit} calls are in progress, which is the most.",
                metadata={"rpc": method, "max_concurrent_rpcs": str(self._limit)},
                retry_after_seconds=_RETRY_AFTER_SECONDS,
            )
        self._taken += 1

    def leave(self) -> None:
        """Give a place back."""
        self._taken -= 1


class _Guard:
    """Serves one method: bytes in, bytes out."""

    def __init__(
        self,
        method: str,
        handler: grpc.RpcMethodHandler[Any, Any],
        room: _Room,
        settings: GrpcSettings,
        telemetry: Telemetry,
        clock: Clock,
    ) -> None:
        self._method = method
        self._room = room
        self._behaviour: Any = handler.unary_stream if handler.response_streaming else handler.unary_unary
        self._read: Any = handler.request_deserializer
        self._write: Any = handler.response_serializer
        self._settings = settings
        self._tracing = telemetry.tracing
        self._clock = clock
        self._attributes = {names.Attribute.RPC_SYSTEM: "grpc", names.Attribute.RPC_METHOD: method}
        self._requests = telemetry.metrics.counter(names.RPC_REQUESTS)
        self._good = self._requests.labels(method, _OK)
        self._duration = telemetry.metrics.histogram(names.RPC_DURATION).labels(method)
        self._refused = telemetry.metrics.counter(names.RPC_REFUSED).labels(method)
        self._too_large = telemetry.metrics.counter(names.MESSAGE_TOO_LARGE)

    async def unary(self, raw: bytes, context: _Context) -> bytes:
        """Serve one call of a method that replies once."""

        async def serve() -> bytes:
            request = read_message(self._read, raw)
            return self._written(await self._behaviour(request, context))

        return await self._served(serve, context)

    async def stream(self, raw: bytes, context: _Context) -> None:
        """Serve one call of a method that replies many times; a caller that leaves closes the method's generator."""

        async def serve() -> None:
            async with aclosing(self._behaviour(read_message(self._read, raw), context)) as replies:
                async for reply in replies:
                    await context.write(self._written(reply))

        await self._served(serve, context)

    async def _served(self, serve: _Serve[T], context: _Context) -> T:
        """Serve one call and count it, however it ends."""
        started = self._clock.monotonic()
        outcome = _Outcome()
        try:
            return await self._admitted(serve, context, outcome)
        except TaoError as error:
            return await _abort(error, context)
        finally:
            self._duration.observe(self._clock.monotonic() - started)
            counter = self._good if outcome.code == _OK else self._requests.labels(self._method, outcome.code)
            counter.inc()

    async def _admitted(self, serve: _Serve[T], context: _Context, outcome: _Outcome) -> T:
        """Hold a place for the call, before anything is done for it."""
        try:
            self._room.enter(self._method)
        except TooManyCalls as error:
            outcome.code = error.code
            self._refused.inc()
            raise
        try:
            return await self._entered(serve, context, outcome)
        finally:
            self._room.leave()

    async def _entered(self, serve: _Serve[T], context: _Context, outcome: _Outcome) -> T:
        """Serve in a span of the caller's trace, with the call made known to the servicer."""
        entries = IncomingMetadata(context.invocation_metadata() or ())
        token = ambient.attach(entries.trace_context())
        deadline = self._deadline(context)
        try:
            with self._tracing.span(self._method, self._attributes, kind=SpanKind.SERVER) as span:
                try:
                    enter_call(self._call(entries, deadline))
                    return await self._bounded(serve, deadline.remaining_seconds())
                except grpc.aio.AbortError:  # the servicer ended the call itself
                    outcome.code = "UNKNOWN"
                    raise
                except Exception as exc:
                    # Nothing may leave unmapped; here, so that the log's line has the trace and the span the reason.
                    error = as_tao_error(exc, self._method, self._clock)
                    outcome.code = error.code
                    if error is exc:
                        raise
                    raise error from exc
                except BaseException:  # the caller left, or its deadline passed
                    outcome.code = "DEADLINE_EXCEEDED" if deadline.is_expired else "CANCELLED"
                    raise
                finally:
                    span.set_attribute(names.Attribute.RPC_STATUS_CODE, outcome.code)
        finally:
            ambient.detach(token)

    async def _bounded(self, serve: _Serve[T], seconds: float) -> T:
        """Serve until the time is up, also where the transport knows no deadline."""
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                return await serve()
        except TimeoutError as exc:
            if not limit.expired():
                raise
            raise DeadlineExceeded(f"{self._method} took longer than it may.", metadata={"rpc": self._method}) from exc

    def _deadline(self, context: _Context) -> Deadline:
        remaining: float | None = context.time_remaining()
        if remaining is None or remaining > _LONGEST_SECONDS:
            remaining = self._settings.default_deadline_seconds
        return Deadline.after(remaining, self._clock)

    def _call(self, entries: IncomingMetadata, deadline: Deadline) -> CallContext:
        if deadline.is_expired:
            raise DeadlineExceeded(f"{self._method} arrived after its deadline.", metadata={"rpc": self._method})
        tenant = entries.tenant(is_trusted=self._settings.is_tenant_metadata_trusted)
        return CallContext(deadline=deadline, tenant=tenant, request_id=entries.request_id())

    def _written(self, reply: Any) -> bytes:
        encoded: bytes = self._write(reply)
        if len(encoded) > self._settings.max_message_bytes:
            self._too_large.labels("sent").inc()
            raise MessageTooLarge.of(len(encoded), self._settings.max_message_bytes)
        return encoded


class _Outcome:
    """The code that a call ended with, as far as it is known."""

    __slots__ = ("code",)

    def __init__(self) -> None:
        self.code = _OK


async def _abort(error: TaoError, context: _Context) -> NoReturn:
    await context.abort(status_code(error), status_text(error), ((DETAILS_KEY, status_details(error)),))
