"""Tools that misbehave over real HTTP, called by the executor."""

from __future__ import annotations

import asyncio
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError

from taoloop.action.executor import Executor
from taoloop.action.secrets import ConfiguredSecrets
from taoloop.action.settings import ToolHttpSettings
from taoloop.action.transports.http import http_transport
from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.evaluation.cases.adapters.loops import new_telemetry
from taoloop.evaluation.cases.adapters.refusing import need
from taoloop.evaluation.cases.model import Adapter, CaseInput, Said, Unsupported
from taoloop.evaluation.cases.vocabulary import case_word
from taoloop.plan.acting import ActionResult, ExecuteRequest
from taoloop.testing.effect_ledger import InMemoryEffectLedger
from taoloop.testing.ports import LOOPBACK
from taoloop.tools.catalogue import Catalogue
from taoloop.tools.contract import HttpTransport, Retry, ToolContract
from taoloop.tools.signature import Effect

Behaviour = Callable[[asyncio.StreamWriter], Awaitable[None]]

_TOOL: Final = "tool"
_DEFAULT_DEADLINE_SECONDS: Final = 20.0
_BACKOFF_SECONDS: Final = 0.01
_CHUNK_BYTES: Final = 1 << 20
_HEAD: Final = "HTTP/1.1 {status} Case\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n{more}\r\n"


@dataclass(slots=True)
class _Server:
    """A server that does to every request what it was told, and counts them."""

    behave: Behaviour
    port: int = 0
    requests: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until the client leaves."""
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                self.requests += 1
                await self.behave(writer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.transport.abort()  # what a client did not read is not waited for
            with suppress(ConnectionError):
                await writer.wait_closed()


async def _http_server(case_input: CaseInput) -> Said:
    try:
        settings = ToolHttpSettings(max_response_bytes=case_input.get("limit_bytes", 8 << 20))
    except ValidationError as exc:
        raise Unsupported(f"no such limit can be set: {exc.errors()[0]['msg']}") from exc
    clock = SystemClock()
    seconds = float(case_input.get("deadline_s", _DEFAULT_DEADLINE_SECONDS))
    async with _serving(_behaviour(case_input)) as server:
        tracemalloc.start()
        try:
            before, started = tracemalloc.get_traced_memory()[0], clock.monotonic()
            result = await _called(server.port, settings, seconds, clock, case_input.get("max_attempts", 1))
            elapsed, peak = clock.monotonic() - started, tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    said: Said = {
        "status": result.status.value,
        "elapsed_s": elapsed,
        "peak_extra_bytes": peak - before,
        "requests_on_wire": server.requests,
    }
    if result.fault is not None:
        word = case_word(result.fault.code)
        said |= {"error_class": word, "final_error_class": word, "message": result.fault.message}
    return said


async def _called(
    port: int, settings: ToolHttpSettings, seconds: float, clock: SystemClock, attempts: int
) -> ActionResult:
    """Call the tool on this port with so much time and so many attempts."""
    contract = ToolContract(
        name=_TOOL,
        description="The tool of the case.",
        parameters={"type": "object"},
        response={},
        effect=Effect.READ,
        retry=Retry(attempts=attempts, backoff_seconds=_BACKOFF_SECONDS),
        transport=HttpTransport(method="GET", url=f"http://{LOOPBACK}:{port}/"),
    )
    catalogue, telemetry = Catalogue.of([contract]), new_telemetry()
    async with AsyncExitStack() as stack:
        stack.push_async_callback(telemetry.aclose)
        transport = await stack.enter_async_context(http_transport(settings, {}, ConfiguredSecrets({}), telemetry))
        executor = Executor(catalogue, transport, InMemoryEffectLedger(clock), telemetry, clock)
        call = CallContext(deadline=Deadline.after(seconds, clock))
        return await executor.execute(ExecuteRequest(run_id="0" * 32, tool=_TOOL, step_id="1.t1", arguments={}), call)


@asynccontextmanager
async def _serving(behave: Behaviour) -> AsyncIterator[_Server]:
    seen = _Server(behave)
    connections: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        with suppress(asyncio.CancelledError):  # the end of the case, not of the program
            await seen.serve(reader, writer)

    server = await asyncio.start_server(connected, LOOPBACK, 0)
    seen.port = server.sockets[0].getsockname()[1]
    try:
        yield seen
    finally:
        server.close()
        for task in connections:
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)


def _behaviour(case_input: CaseInput) -> Behaviour:
    name = case_input["behaviour"]
    if name == "drip":
        return _drip(need(case_input, "total_bytes", "the input"), float(need(case_input, "bytes_per_s", "the input")))
    if name == "gzip_zeros":
        return _gzip_zeros(need(case_input, "decoded_bytes", "the input"))
    if name == "always":
        return _always(need(case_input, "status", "the input"))
    raise Unsupported(f"no server behaves as {name}")


def _drip(total_bytes: int, bytes_per_second: float) -> Behaviour:
    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(_HEAD.format(status=200, length=total_bytes, more="").encode())
        for _ in range(total_bytes):
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(1.0 / bytes_per_second)

    return behave


def _gzip_zeros(decoded_bytes: int) -> Behaviour:
    packer = zlib.compressobj(wbits=zlib.MAX_WBITS | 16)
    whole, rest = divmod(decoded_bytes, _CHUNK_BYTES)
    body = b"".join([packer.compress(bytes(_CHUNK_BYTES)) for _ in range(whole)] + [packer.compress(bytes(rest))])
    body += packer.flush()

    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(_HEAD.format(status=200, length=len(body), more="Content-Encoding: gzip\r\n").encode() + body)

    return behave


def _always(status: int) -> Behaviour:
    async def behave(writer: asyncio.StreamWriter) -> None:
        writer.write(_HEAD.format(status=status, length=2, more="").encode() + b"{}")

    return behave


HTTP_SERVER = Adapter(
    feed=_http_server,
    required=("behaviour",),
    optional=(
        "bytes_per_s",
        "total_bytes",
        "deadline_s",
        "decoded_bytes",
        "limit_bytes",
        "status",
        "max_attempts",
    ),
)
