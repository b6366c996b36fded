"""The transport to Python functions: each tool has worker processes of its own, and a late call costs one its life."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from opentelemetry.trace import Span, SpanKind

from taoloop.action.ports import Reply, ToolCall, TransportFault
from taoloop.action.settings import ToolPythonSettings
from taoloop.action.transports.bound_keys import with_body_key
from taoloop.action.transports.python.frames import Kind
from taoloop.action.transports.python.process import FunctionNotLoaded, Launch, WorkerDied, WorkerProcess
from taoloop.action.transports.python.workers import WorkerPool
from taoloop.core import exact_json
from taoloop.core.clock import Clock
from taoloop.core.faults import FaultCode
from taoloop.core.logs import EventLog
from taoloop.core.redaction import redact_text
from taoloop.core.telemetry import Telemetry, names
from taoloop.core.telemetry.names import Attribute
from taoloop.tools.contract import PythonTransport, ToolContract

_log = EventLog(__name__)

JSON: Final = "application/json"
_SHOWN_CHARACTERS: Final = 200


class PythonFunctionTransport:
    """A `Transport` to functions in worker processes.

    A call that is late or given up ends its process by SIGKILL, with everything the function started in its session:
    no function can hold the service up.

    Args:
        settings: Sizes, limits and the workers' environment.
        telemetry: Counts results that are too large.
        clock: Measures idleness.
        group: Runs what goes on beside the calls.
    """

    def __init__(
        self, settings: ToolPythonSettings, telemetry: Telemetry, clock: Clock, group: asyncio.TaskGroup
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._group = group
        self._tracing = telemetry.tracing
        self._refused = telemetry.metrics.counter(names.RESPONSE_REFUSED)
        self._exhausted = telemetry.metrics.counter(names.POOL_EXHAUSTED)
        self._gauge = telemetry.metrics.gauge(names.POOL_CONNECTIONS)
        self._pools: dict[str, WorkerPool[WorkerProcess]] = {}
        self._sweepers: list[asyncio.Task[None]] = []

    async def attempt(self, call: ToolCall) -> Reply:
        """Make one attempt; see `Transport.attempt`."""
        transport = call.contract.transport
        assert isinstance(transport, PythonTransport)
        arguments = exact_json.dumps(with_body_key(call)).encode()
        attributes = {Attribute.CODE_FUNCTION: transport.entry_point}
        with self._tracing.span(names.function_span(transport.entry_point), attributes, kind=SpanKind.CLIENT) as span:
            return await self._bounded(call, transport, arguments, span)

    async def _bounded(self, call: ToolCall, transport: PythonTransport, arguments: bytes, span: Span) -> Reply:
        pool = self._pool(call.contract, transport)
        attempt = _Attempt(pool)
        try:
            async with asyncio.timeout(call.timeout_seconds):
                kind, text = await attempt.answer(arguments)
        except TimeoutError as exc:
            raise self._late(call, attempt) from exc
        except FunctionNotLoaded as exc:
            message = f"The function cannot be called: {redact_text(str(exc))}."
            raise TransportFault(FaultCode.TOOL_UNREACHABLE, message, may_have_left=False) from exc
        except WorkerDied as exc:
            message = f"{str(exc)[:1].upper()}{str(exc)[1:]}."
            raise TransportFault(FaultCode.RESPONSE_INCOMPLETE, message, may_have_left=True, is_retriable=True) from exc
        reply = self._reply(call.contract.name, kind, text)
        span.set_attribute(Attribute.HTTP_STATUS_CODE, reply.status_code)
        return reply

    def _late(self, call: ToolCall, attempt: _Attempt) -> TransportFault:
        seconds = f"{call.timeout_seconds:g} s"
        if attempt.has_begun:
            message = f"The function did not return within {seconds}, and its process was killed."
            return TransportFault(FaultCode.TOOL_TIMEOUT, message, may_have_left=True, is_retriable=True)
        self._exhausted.labels(tool=call.contract.name).inc()
        message = f"No worker process was ready within {seconds}."
        return TransportFault(FaultCode.POOL_EXHAUSTED, message, may_have_left=False, is_retriable=True)

    def _reply(self, tool: str, kind: Kind, text: bytes) -> Reply:
        match kind:
            case Kind.RETURNED:
                return Reply(status_code=200, content_type=JSON, body=text)
            case Kind.RAISED:
                return _raised(tool, text)
            case Kind.REFUSED:
                refused = _object(text)
                raise TransportFault(
                    FaultCode.INVALID_PARAMETER,
                    redact_text(str(refused["message"])),
                    may_have_left=False,
                    pointer=str(refused["pointer"]),
                )
            case Kind.TOO_LARGE:
                self._refused.labels(tool=tool, limit="max_result_bytes").inc()
                message = f"The result has {text.decode()} bytes, more than {self._settings.max_result_bytes}."
                raise TransportFault(FaultCode.RESPONSE_TOO_LARGE, message, may_have_left=True)
            case Kind.NOT_JSON:
                message = f"The function returned no JSON: {redact_text(text.decode())}."
                raise TransportFault(FaultCode.RESPONSE_MALFORMED, message, may_have_left=True)
            case _:
                message = "The worker process said something that is no answer."
                raise TransportFault(FaultCode.TOOL_PROTOCOL_FAULT, message, may_have_left=True)

    def _pool(self, contract: ToolContract, transport: PythonTransport) -> WorkerPool[WorkerProcess]:
        if contract.name in self._pools:
            return self._pools[contract.name]
        settings, limits = self._settings, contract.pool
        launch = Launch(
            entry_point=transport.entry_point,
            max_result_bytes=settings.max_result_bytes,
            start_timeout_seconds=settings.start_timeout_seconds,
            search_path=settings.search_path,
            environment={name: value.get_secret_value() for name, value in settings.environment.items()},
        )
        size = settings.pool_size if limits is None else limits.size
        idle = settings.pool_idle_timeout_seconds if limits is None else limits.idle_timeout_seconds
        pool = WorkerPool(lambda: WorkerProcess.start(launch), size, idle, self._group, self._clock)
        self._pools[contract.name] = pool
        self._sweepers.append(self._group.create_task(pool.sweep(), name=f"end idle workers of {contract.name}"))
        self._gauge.labels(tool=contract.name, state="busy").set_function(lambda: pool.busy)
        self._gauge.labels(tool=contract.name, state="idle").set_function(lambda: pool.idle)
        return pool

    async def aclose(self) -> None:
        """End every worker process."""
        for sweeper in self._sweepers:
            sweeper.cancel()
        for pool in self._pools.values():
            await pool.aclose()

    def __repr__(self) -> str:
        return f"PythonFunctionTransport({self._pools!r})"


@asynccontextmanager
async def python_transport(
    settings: ToolPythonSettings, telemetry: Telemetry, clock: Clock
) -> AsyncIterator[PythonFunctionTransport]:
    """Open the transport; at the end no worker process is left."""
    async with asyncio.TaskGroup() as group:
        transport = PythonFunctionTransport(settings, telemetry, clock, group)
        try:
            yield transport
        finally:
            await asyncio.shield(transport.aclose())


@dataclass(slots=True)
class _Attempt:
    """One call's hold on a worker."""

    pool: WorkerPool[WorkerProcess]
    has_begun: bool = False

    async def answer(self, arguments: bytes) -> tuple[Kind, bytes]:
        worker = await self.pool.acquire()
        self.has_begun = True
        try:
            answer = await worker.call(arguments)
        except BaseException:  # late, cancelled or dead: what the function still does must end now
            self.pool.release(worker, is_spent=True)
            raise
        self.pool.release(worker, is_spent=False)
        return answer


def _raised(tool: str, text: bytes) -> Reply:
    """Return what stands for an exception: 500 with its class and message; where it came from goes to the log."""
    raised = _object(text)
    kind, message = str(raised["type"]), redact_text(str(raised["message"]))
    stack = raised["stack"]
    assert isinstance(stack, list)
    _log.error(
        "function_raised",
        tool=tool,
        error_type=kind,
        error_message=message,
        error_stack=" < ".join(str(each) for each in reversed(stack)),
    )
    body = {"error": {"type": kind, "message": message}}
    said = f"The function raised {kind}: {message}"
    return Reply(
        status_code=500,
        content_type=JSON,
        body=exact_json.dumps(body).encode(),
        failure=said if len(said) <= _SHOWN_CHARACTERS else said[:_SHOWN_CHARACTERS] + "…",
    )


def _object(text: bytes) -> dict[str, exact_json.JsonValue]:
    read = exact_json.loads(text)
    assert isinstance(read, dict)
    return read
