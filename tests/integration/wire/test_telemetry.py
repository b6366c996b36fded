"""Every call has a span on each side, in one trace, and is counted."""

import logging
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import pytest
from opentelemetry.trace import SpanKind, StatusCode, get_current_span

from taoloop.core import errors
from taoloop.core.calls import CallContext
from taoloop.core.telemetry.tracing import current_trace_id
from taoloop.plan.observing import ObservationResult, ObserveRequest
from taoloop.plan.running import RunEvent
from taoloop.plan.task import Task

_METHOD = "taoloop.api.v1.ObservationService/Observe"
_MOMENT = datetime(2026, 3, 1, tzinfo=UTC)


async def test_caller_client_and_server_are_one_trace(rig: Any) -> None:
    inside = []

    async def observe(request: ObserveRequest, call: CallContext) -> ObservationResult:
        inside.append(get_current_span().get_span_context().span_id)
        return ObservationResult(step_id="1.a", valid=True)

    async with rig.observer(observe) as client:
        with rig.telemetry.tracing.span("caller"):
            await client.observe(rig.request(), rig.call())
    spans = {(span.name, span.kind): span for span in rig.exporter.get_finished_spans()}
    caller = spans["caller", SpanKind.INTERNAL]
    sent, served = spans[_METHOD, SpanKind.CLIENT], spans[_METHOD, SpanKind.SERVER]
    assert sent.parent.span_id == caller.context.span_id
    assert served.parent.span_id == sent.context.span_id
    assert served.parent.is_remote
    assert served.context.trace_id == caller.context.trace_id
    assert inside == [served.context.span_id]
    for span in (sent, served):
        assert span.attributes["rpc.system.name"] == "grpc"
        assert span.attributes["rpc.method"] == _METHOD
        assert span.attributes["rpc.response.status_code"] == "OK"


async def test_failed_call_is_a_failed_span_with_its_code(rig: Any) -> None:
    async def observe(request: ObserveRequest, call: CallContext) -> ObservationResult:
        raise errors.UnknownTool.of("x")

    async with rig.observer(observe) as client:
        with pytest.raises(errors.UnknownTool):
            await client.observe(rig.request(), rig.call())
    spans = rig.exporter.get_finished_spans()
    assert [span.attributes["rpc.response.status_code"] for span in spans] == ["NOT_FOUND", "NOT_FOUND"]
    assert {span.status.status_code for span in spans} == {StatusCode.ERROR}
    assert {span.attributes["error.type"] for span in spans} == {"UNKNOWN_TOOL"}
    assert f'requests_total{{code="NOT_FOUND",method="{_METHOD}"}} 1.0' in rig.telemetry.metrics.exposition()


async def test_unexpected_exception_is_logged_within_its_trace(rig: Any, caplog: pytest.LogCaptureFixture) -> None:
    traces = []

    async def observe(request: ObserveRequest, call: CallContext) -> ObservationResult:
        raise RuntimeError

    class Spy(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            traces.append(current_trace_id())

    async with rig.observer(observe) as client:
        logger = logging.getLogger("taoloop.wire.failures")
        logger.addHandler(spy := Spy())
        with pytest.raises(errors.InternalError):
            await client.observe(rig.request(), rig.call())
        logger.removeHandler(spy)
    served = next(span for span in rig.exporter.get_finished_spans() if span.kind is SpanKind.SERVER)
    assert traces == [f"{served.context.trace_id:032x}"]
    assert served.attributes["error.type"] == "INTERNAL"


async def test_stream_leaves_no_span_current_in_its_readers_code(rig: Any) -> None:
    async def run(task: Task, call: CallContext) -> AsyncIterator[RunEvent]:
        for sequence in (1, 2):
            yield RunEvent(run_id="r", sequence=sequence, time=_MOMENT)

    async with rig.runner(run) as client:
        with rig.telemetry.tracing.span("caller") as caller:
            async for _ in client.run(Task(), rig.call()):
                assert get_current_span() is caller
    sent, served = sorted(
        (span for span in rig.exporter.get_finished_spans() if span.name.endswith("/Run")),
        key=lambda span: span.start_time,
    )
    assert served.parent.span_id == sent.context.span_id
    assert sent.parent.span_id == caller.get_span_context().span_id
    assert {span.attributes["rpc.response.status_code"] for span in (sent, served)} == {"OK"}
