"""A call that is not sampled for tracing is made as any other."""

from __future__ import annotations

import pytest
from aiohttp import web
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from taoloop.core.settings import TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.core.telemetry.tracing import current_trace_id, current_traceparent
from tests.integration.action.http_calls import call, contract, server, transport


@pytest.mark.parametrize(("ratio", "is_sampled"), [(0.0, False), (1.0, True)])
async def test_the_tool_is_told_by_the_trace_flag_whether_a_call_is_sampled(ratio: float, is_sampled: bool) -> None:
    seen: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append(request.headers["traceparent"])
        return web.json_response({"ok": True})

    exporter = InMemorySpanExporter()
    telemetry = Telemetry.build(TelemetrySettings(sample_ratio=ratio), "taoloop-action", exporter=exporter)
    async with server(answer) as base, transport(base, seen=telemetry) as under_test:
        reply = await under_test.attempt(call(contract()))
    assert (reply.status_code, reply.body) == (200, b'{"ok": true}')
    assert [bool(int(header.rpartition("-")[2], 16) & 1) for header in seen] == [is_sampled]
    assert bool(exporter.get_finished_spans()) is is_sampled


async def test_in_a_trace_that_is_not_recorded_the_tool_is_told_the_trace_of_its_caller() -> None:
    seen: list[tuple[str, str]] = []

    async def answer(request: web.Request) -> web.Response:
        seen.append((request.headers["traceparent"], request.headers["X-Trace-ID"]))
        return web.json_response({"ok": True})

    telemetry = Telemetry.build(TelemetrySettings(sample_ratio=0.0), "taoloop-action")
    async with server(answer) as base, transport(base, seen=telemetry) as under_test:
        with telemetry.tracing.span("caller"):
            await under_test.attempt(call(contract()))
            around = current_traceparent(), current_trace_id()
    assert seen == [around]
    assert around[0].startswith(f"00-{around[1]}-")
