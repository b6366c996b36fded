"""What happens around every RPC that a server of ours serves: deadline, metadata, trace, metrics, errors."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from contextlib import aclosing
from types import TracebackType
from typing import Any, NoReturn, Self, TypeAlias

import grpc
import grpc.aio
from opentelemetry.trace import Span

from taoloop.core.calls import CallContext
from taoloop.core.clock import Clock
from taoloop.core.deadlines import Deadline, in_time
from taoloop.core.errors import DeadlineExceeded, MessageTooLarge, TaoError, TooManyCalls
from taoloop.core.settings import GrpcSettings
from taoloop.core.telemetry import Telemetry, names
from taoloop.core.telemetry.metrics import counting, observing
from taoloop.core.telemetry.tracing import mark_failed
from taoloop.wire.context import arrive, arrived, enter_call
from taoloop.wire.failures import as_tao_error, read_message
from taoloop.wire.metadata import IncomingMetadata, trace_context
from taoloop.wire.status import DETAILS_KEY, status_code, status_details, status_text

_LONGEST_SECONDS = 365 * 86_400.0  # above it, gRPC means that there is no deadline
_OK = "OK"
_RETRY_AFTER_SECONDS = 0.5  # a call that is refused for want of room: most calls take less

_Context = grpc.aio.ServicerContext[Any, Any]
_Handler: TypeAlias = "grpc.RpcMethodHandler[Any, Any]"
_Work = Callable[[bytes, _Context], Coroutine[Any, Any, bytes | None]]


class GuardedMethods(grpc.GenericRpcHandler):
    """Serves what is added to it as a server would, with a guard around each method of the given services.

    The guard takes over reading and writing of messages, so that what goes wrong there is mapped like every other
    error. It is no interceptor, which gRPC would ask anew, through three coroutines, for every call.

    Args:
        service_names: Full names of the services; methods of others are served as they are.
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
        self._added: list[grpc.GenericRpcHandler] = []
        self._guarded: dict[str, _Handler] = {}
        self._room = _Room(settings.max_concurrent_rpcs)

    def __repr__(self) -> str:
        return f"GuardedMethods({self._room}, methods={sorted(self._guarded)})"

    def add_generic_rpc_handlers(self, handlers: Sequence[grpc.GenericRpcHandler]) -> None:
        """Add methods, as generated code does to a server."""
        self._added += handlers

    def add_registered_method_handlers(self, _service: str, _handlers: Any) -> None:
        """Take note of nothing: generated code gives a server here once more what it added before."""

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> _Handler | None:
        """Return the guarded handler of the method, made at its first call; None for a method that nobody added."""
        method: str = handler_call_details.method
        guarded = self._guarded.get(method)
        if guarded is None:
            return self._first(method, handler_call_details)
        arrive(handler_call_details.invocation_metadata)
        return guarded

    def _first(self, method: str, details: grpc.HandlerCallDetails) -> _Handler | None:
        found = (added.service(details) for added in self._added)
        handler = next((each for each in found if each is not None), None)
        if handler is None or method[1:].rpartition("/")[0] not in self._service_names:
            return handler
        guard = _Guard(method[1:], handler, self._room, self._settings, self._telemetry, self._clock)
        self._guarded[method] = guard.handler()
        return self.service(details)


class _Room:
    """How many calls of all methods are in progress, and how many may be.

    gRPC's own limit would refuse without a count, a reason or a time to wait, and would refuse health checks too.
    """

    __slots__ = ("_limit", "_taken")

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
    """Serves one method: bytes in, bytes out; what its calls need is looked up once."""

    def __init__(
        self,
        method: str,
        handler: _Handler,
        room: _Room,
        settings: GrpcSettings,
        telemetry: Telemetry,
        clock: Clock,
    ) -> None:
        if handler.request_streaming:
            raise TypeError(f"{method} streams its requests, which no service of ours does")
        self.method = method
        self.room = room
        self.settings = settings
        self.tracing = telemetry.tracing
        self.clock = clock
        self.attributes = {names.Attribute.RPC_SYSTEM: "grpc", names.Attribute.RPC_METHOD: method}
        self.requests = telemetry.metrics.counter(names.RPC_REQUESTS)
        self.count_good = counting(self.requests.labels(method, _OK))
        self.count_refused = counting(telemetry.metrics.counter(names.RPC_REFUSED).labels(method))
        self.observe_duration = observing(telemetry.metrics.histogram(names.RPC_DURATION).labels(method))
        self._too_large = telemetry.metrics.counter(names.MESSAGE_TOO_LARGE)
        self._is_stream = handler.response_streaming
        self._behaviour: Any = handler.unary_stream if self._is_stream else handler.unary_unary
        self._work: _Work = self._replies if self._is_stream else self._reply
        self._read: Any = handler.request_deserializer
        self._write: Any = handler.response_serializer

    def handler(self) -> _Handler:
        """Return what serves the method in place of the handler that is guarded."""
        if self._is_stream:
            return grpc.unary_stream_rpc_method_handler(self._served)
        return grpc.unary_unary_rpc_method_handler(self._served)

    async def _served(self, raw: bytes, context: _Context) -> bytes | None:
        """Serve one call in its place, its span and its time, and count it, however it ends."""
        try:
            with _Call(self) as call:
                return await in_time(call.begin(context), self._work(raw, context), self._late)
        except TaoError as error:
            return await _abort(error, context)

    async def _reply(self, raw: bytes, context: _Context) -> bytes:
        return self._written(await self._behaviour(read_message(self._read, raw), context))

    async def _replies(self, raw: bytes, context: _Context) -> None:
        """Send the replies of a method that has many; a caller that leaves closes the method's generator."""
        async with aclosing(self._behaviour(read_message(self._read, raw), context)) as replies:
            async for reply in replies:
                await context.write(self._written(reply))

    def _written(self, reply: Any) -> bytes:
        encoded: bytes = self._write(reply)
        if len(encoded) > self.settings.max_message_bytes:
            self._too_large.labels("sent").inc()
            raise MessageTooLarge.of(len(encoded), self.settings.max_message_bytes)
        return encoded

    def _late(self) -> DeadlineExceeded:
        return DeadlineExceeded(f"{self.method} took longer than it may.", metadata={"rpc": self.method})


class _Call:
    """One call from its place in the room to its count; what leaves the block is meant for callers."""

    __slots__ = ("_deadline", "_guard", "_span", "_started")

    def __init__(self, guard: _Guard) -> None:
        self._guard = guard
        self._span: Span | None = None

    def __enter__(self) -> Self:
        """Take a place, before anything is done for the call.

        Raises:
            TooManyCalls: There is none.
        """
        guard = self._guard
        self._started = guard.clock.monotonic()
        try:
            guard.room.enter(guard.method)
        except TooManyCalls as error:
            guard.count_refused()
            self._count(error.code)
            raise
        return self

    def begin(self, context: _Context) -> Deadline:
        """Go on in the caller's trace, make the call known to the servicer, and return when it must end.

        Raises:
            DeadlineExceeded: The call arrived after its deadline.
            InvalidMetadata: An entry is given twice.
        """
        guard = self._guard
        entries = IncomingMetadata(arrived())
        remaining: float | None = context.time_remaining()
        if remaining is None or remaining > _LONGEST_SECONDS:
            remaining = guard.settings.default_deadline_seconds
        deadline = self._deadline = Deadline(self._started + remaining, guard.clock)
        # Until the end of the task, which is the call's own.
        self._span = guard.tracing.begin_served(guard.method, guard.attributes, entries.trace(), trace_context)
        if remaining <= 0:
            raise DeadlineExceeded(f"{guard.method} arrived after its deadline.", metadata={"rpc": guard.method})
        tenant = entries.tenant(is_trusted=guard.settings.is_tenant_metadata_trusted)
        enter_call(CallContext(deadline=deadline, tenant=tenant, request_id=entries.request_id()))
        return deadline

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        """Give the place back, end the span and count; nothing may leave unmapped."""
        code, told = (_OK, None) if error is None else self._told(error)
        if self._span is not None:
            if told is not None:
                mark_failed(self._span, told.reason if isinstance(told, TaoError) else type(told).__qualname__)
            self._span.set_attribute(names.Attribute.RPC_STATUS_CODE, code)
            self._span.end()
        self._guard.room.leave()
        self._count(code)
        if told is not error and told is not None:
            raise told from error

    def _told(self, error: BaseException) -> tuple[str, BaseException]:
        """Return the code that the call ends with, and what leaves; here, so that the log's line has the trace."""
        if isinstance(error, grpc.aio.AbortError):  # the servicer ended the call itself
            return "UNKNOWN", error
        if isinstance(error, Exception):
            told = as_tao_error(error, self._guard.method, self._guard.clock)
            return told.code, told
        # The caller left, or its deadline passed.
        return "DEADLINE_EXCEEDED" if self._deadline.is_expired else "CANCELLED", error

    def _count(self, code: str) -> None:
        guard = self._guard
        guard.observe_duration(guard.clock.monotonic() - self._started)
        if code == _OK:
            guard.count_good()
        else:
            guard.requests.labels(guard.method, code).inc()


async def _abort(error: TaoError, context: _Context) -> NoReturn:
    await context.abort(status_code(error), status_text(error), ((DETAILS_KEY, status_details(error)),))
