"""One W3C trace from the caller through gRPC, the stream entry and the tool's headers, seen by a real OTLP receiver."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from taoloop.core.calls import CallContext
from taoloop.core.clock import SystemClock
from taoloop.core.deadlines import Deadline
from taoloop.core.settings import GrpcSettings, TelemetrySettings
from taoloop.core.telemetry import Telemetry
from taoloop.plan.running import RunFinished, ThoughtMade
from taoloop.plan.task import Outcome, Role, Task, Turn
from taoloop.testing.stack import StackOptions, dev_stack
from taoloop.wire.channel import connect
from taoloop.wire.clients import LoopClient
from tests.integration.otlp import otlp_receiver

CATALOGUE = Path(__file__).parents[2] / "examples" / "customer-service"
TASK = Task(
    turns=(Turn(role=Role.USER, text="订单 20260308000012345 的快递到哪里了？"),),
    reference_time=datetime(2026, 3, 10, tzinfo=UTC),
    time_zone="Asia/Shanghai",
    locale="zh-CN",
)
# Each span and the span that it hangs on; `X` stands for the one tool of the run.
TREE = {
    "taoloop.api.v1.LoopService/Run client": "caller",
    "taoloop.api.v1.LoopService/Run server": "taoloop.api.v1.LoopService/Run client",
    "invoke_agent taoloop": "taoloop.api.v1.LoopService/Run server",
    "taoloop.api.v1.ThoughtService/Think client": "invoke_agent taoloop",
    "taoloop.api.v1.ThoughtService/Think server": "taoloop.api.v1.ThoughtService/Think client",
    "process thought": "taoloop.api.v1.ThoughtService/Think server",
    "plan graph": "process thought",
    "taoloop.api.v1.ActionService/Execute client": "invoke_agent taoloop",
    "taoloop.api.v1.ActionService/Execute server": "taoloop.api.v1.ActionService/Execute client",
    "execute_tool get_shipment": "taoloop.api.v1.ActionService/Execute server",
    "GET /shipments/{order_id}": "execute_tool get_shipment",
    "taoloop.api.v1.ObservationService/Observe client": "invoke_agent taoloop",
    "taoloop.api.v1.ObservationService/Observe server": "taoloop.api.v1.ObservationService/Observe client",
    "observe get_shipment": "taoloop.api.v1.ObservationService/Observe server",
}
_KINDS = {Span.SPAN_KIND_CLIENT: " client", Span.SPAN_KIND_SERVER: " server"}


def name_of(span: Span) -> str:
    """Return a span's name, with its side where both sides of a call have the same."""
    return span.name + _KINDS.get(span.kind, "") if span.name.startswith("taoloop.api") else span.name


@pytest.mark.timeout(90)
async def test_a_run_is_one_trace_from_its_caller_to_the_headers_of_its_tool() -> None:
    clock = SystemClock()
    async with otlp_receiver() as receiver:
        settings = TelemetrySettings(otlp_endpoint=receiver.endpoint)
        callers = Telemetry.build(settings, "caller")
        stack_options = StackOptions(
            catalogue=CATALOGUE, settings={"loop": {"telemetry": {"otlp_endpoint": receiver.endpoint}}}
        )
        async with dev_stack(stack_options) as stack, connect(stack.loop_address, GrpcSettings(), callers) as channel:
            with callers.tracing.span("caller"):
                call = CallContext(deadline=Deadline.after(20.0, clock))
                events = [event async for event in LoopClient(channel).run(TASK, call)]
            assert stack.mock is not None
            [received] = stack.mock.requests
        await callers.aclose()
        await receiver.sink.wait_for("caller")

    last = events[-1].body
    assert isinstance(last, RunFinished)
    assert last.outcome is Outcome.ANSWERED
    spans = {span.span_id: span for span in receiver.sink.spans}
    root = next(span for span in spans.values() if span.name == "caller")
    of_this_trace = [span for span in spans.values() if span.trace_id == root.trace_id]
    parents = {
        name_of(span): name_of(spans[span.parent_span_id]) if span.parent_span_id in spans else ""
        for span in of_this_trace
    }
    assert {name: parents.get(name) for name in TREE} == TREE

    thought_id = next(event.body.response.thought_id for event in events if isinstance(event.body, ThoughtMade))  # type: ignore[union-attr]
    http = next(span for span in of_this_trace if span.name.startswith("GET "))
    headers = {name.lower(): value for name, value in received.headers.items()}
    assert headers["traceparent"].split("-")[1:3] == [root.trace_id.hex(), http.span_id.hex()]
    assert headers["x-trace-id"] == root.trace_id.hex()
    assert headers["x-request-id"] == thought_id
