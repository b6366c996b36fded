"""A real OTLP receiver between the product and the test: rotel, and a sink that keeps what it forwards."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import grpc.aio
import pytest
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2, trace_service_pb2_grpc
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from taoloop.testing.ports import LOOPBACK, free_ports


class SpanSink(trace_service_pb2_grpc.TraceServiceServicer):
    """Keeps every span that arrives."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self._arrived = asyncio.Condition()

    async def Export(  # the RPC's name  # noqa: N802
        self, request: trace_service_pb2.ExportTraceServiceRequest, context: object
    ) -> trace_service_pb2.ExportTraceServiceResponse:
        """Take spans in."""
        async with self._arrived:
            self.spans += [
                span for resource in request.resource_spans for scope in resource.scope_spans for span in scope.spans
            ]
            self._arrived.notify_all()
        return trace_service_pb2.ExportTraceServiceResponse()

    async def wait_for(self, name: str, seconds: float = 15.0) -> None:
        """Wait until a span of this name has arrived."""
        async with asyncio.timeout(seconds), self._arrived:
            await self._arrived.wait_for(lambda: any(span.name == name for span in self.spans))


@dataclass
class Receiver:
    """Where the product sends its spans, and where they end."""

    endpoint: str
    sink: SpanSink


@asynccontextmanager
async def otlp_receiver() -> AsyncIterator[Receiver]:
    """Run a rotel agent that forwards to a sink of ours."""
    found = importlib.util.find_spec("rotel")
    if found is None or found.origin is None:
        pytest.skip("rotel has no wheel for this interpreter")
    sink = SpanSink()
    server = grpc.aio.server()
    trace_service_pb2_grpc.add_TraceServiceServicer_to_server(sink, server)  # type: ignore[no-untyped-call]
    sink_port = server.add_insecure_port(f"{LOOPBACK}:0")
    await server.start()
    grpc_port, http_port = free_ports(2)
    agent = await asyncio.create_subprocess_exec(
        str(Path(found.origin).parent / "rotel-agent"),
        "start",
        f"--otlp-grpc-endpoint={LOOPBACK}:{grpc_port}",
        f"--otlp-http-endpoint={LOOPBACK}:{http_port}",
        "--exporter=otlp",
        f"--otlp-exporter-endpoint=http://{LOOPBACK}:{sink_port}",
        "--otlp-exporter-protocol=grpc",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        await _accepts(grpc_port)
        yield Receiver(f"http://{LOOPBACK}:{grpc_port}", sink)
    finally:
        agent.terminate()
        await agent.wait()
        await server.stop(None)


async def _accepts(port: int, seconds: float = 10.0) -> None:
    async with asyncio.timeout(seconds):
        while True:
            try:
                _, writer = await asyncio.open_connection(LOOPBACK, port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return
